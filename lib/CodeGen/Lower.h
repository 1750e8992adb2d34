//===- Lower.h - Kernels to machine code -------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Kernels.h"

#include <memory>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace remat {

/// Lowers a module of emitted kernels to the LLVM dialect; every kernel is then a function of its symbol.
/// The module may hold modules of kernels instead (`dealKernels`), which are lowered at the same time. Emits errors.
mlir::LogicalResult lowerKernels(mlir::ModuleOp module, llvm::ArrayRef<EmittedKernel> kernels);

/// Patterns that write exp, log, tanh and the like with simple ops: polynomials that are the same for every device.
void populateFunctionPatterns(mlir::RewritePatternSet &patterns);

/// Patterns that write conversions from and to f8E5M2 and f8E4M3FN with integers (Float8.cpp).
/// `populateFunctionPatterns` has them.
void populateFloat8Patterns(mlir::RewritePatternSet &patterns);

/// Deals the functions of a module to up to `parts` modules in it, of about as many ops each. Kernels are functions of
/// their own, so what becomes of one doesn't depend on its neighbours.
void dealKernels(mlir::ModuleOp module, unsigned parts);

/// Object files for this machine's CPU: one, or one for each module that the module was dealt to, made at the same
/// time. Emits errors at the modules.
mlir::FailureOr<std::vector<std::vector<char>>> compileObjects(mlir::ModuleOp module);

/// LLVM's usual passes for a target, of any device, but for vectors of neighbouring scalars: kernels have vectors where
/// they are worth it.
void optimize(llvm::Module &module, llvm::TargetMachine &target);

/// Code in this process. `owner` keeps it.
struct LoadedCode {
  std::shared_ptr<void> owner;
  std::vector<void *> functions; ///< By number of `symbols`.
};
mlir::FailureOr<LoadedCode> loadObjects(mlir::Location location, llvm::ArrayRef<std::vector<char>> objects,
                                        llvm::ArrayRef<std::string> symbols);

} // namespace remat
