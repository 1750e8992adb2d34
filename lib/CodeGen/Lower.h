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

namespace remat {

/// Lowers a module of emitted kernels to the LLVM dialect; every kernel is then a function of its symbol.
/// Emits errors.
mlir::LogicalResult lowerKernels(mlir::ModuleOp module, llvm::ArrayRef<EmittedKernel> kernels);

/// An object file for this machine's CPU. Emits errors at the module.
mlir::FailureOr<std::vector<char>> compileObject(mlir::ModuleOp module);

/// Code in this process. `owner` keeps it.
struct LoadedCode {
  std::shared_ptr<void> owner;
  std::vector<void *> functions; ///< By number of `symbols`.
};
mlir::FailureOr<LoadedCode> loadObject(mlir::Location location, llvm::ArrayRef<char> object,
                                       llvm::ArrayRef<std::string> symbols);

} // namespace remat
