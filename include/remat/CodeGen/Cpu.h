//===- Cpu.h - A training step for the CPU -----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/CodeGen/StepLayout.h"

#include <memory>
#include <string>
#include <vector>

namespace remat {

struct CpuOptions : LayoutOptions {
  int threads = 1;
  /// Not empty: the object also holds the program's image, the table of its kernels and the function
  /// `remat_program *ENTRY_open(void)`, the only one that is seen from outside (remat-c/Remat.h), so it is for a file,
  /// not for `loadKernels`.
  std::string entry = {};
};

/// A step as a program and object files that hold its kernels.
struct CpuStep : StepLayout {
  std::vector<std::vector<char>> objects; ///< One where CpuOptions has an entry.
};

/// Compiles a flat function of StableHLO or upstream ops, which is imported and clustered on the way. Its order of ops
/// is kept as far as clusters allow; with `planClusters` it is the plan's, and what the plan recomputes is computed
/// again. The live peak is then at most the plan's, for results take the place of inputs. Emits an error at an op that
/// has no code.
mlir::FailureOr<CpuStep> compileForCpu(mlir::func::FuncOp function, const CpuOptions &options);

/// The graph that `CpuOptions::planClusters` is asked to plan; nothing is compiled. The function's ops are to carry
/// `remat.phase`; it is left joined into clusters. Emits errors.
mlir::FailureOr<Graph> extractClusters(mlir::func::FuncOp function, const CpuOptions &options);

/// The live peak that compiling would find: clusters the function, lays it out and compiles nothing.
mlir::FailureOr<int64_t> findClusterPeak(mlir::func::FuncOp function, const CpuOptions &options);

/// The kernels of a compiled step, loaded into this process.
struct LoadedKernels {
  std::vector<runtime::KernelFunction> functions;
  std::shared_ptr<void> code;
};
mlir::FailureOr<LoadedKernels> loadKernels(const CpuStep &step, mlir::Location location);

/// Dialects that compiling needs.
void registerCodeGenDialects(mlir::DialectRegistry &registry);

/// Registers `remat-cluster`.
void registerCodeGenPasses();

} // namespace remat
