//===- Cpu.h - A training step for the CPU -----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"
#include "remat/Runtime/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <vector>

namespace remat {

struct CpuOptions {
  int threads = 1;
  /// The function's type before it was imported: it tells which integers are unsigned. Null: none is.
  mlir::FunctionType signature = {};
  /// Not empty: the object also holds the program's image, the table of its kernels and the function
  /// `remat_program *ENTRY_open(void)`, the only one that is seen from outside (remat-c/Remat.h), so it is for a file,
  /// not for `loadKernels`.
  std::string entry = {};
};

/// A step as a program and an object file that holds its kernels.
struct CpuStep {
  runtime::Program program;
  std::vector<char> object;
  Graph graph;                ///< The clusters that are really stored, sizes rounded up to 64 bytes.
  int64_t livePeakBytes = 0;  ///< Of `graph`; the arena is at least that.
  bool provenPacking = false; ///< No arena is smaller for these lifetimes.
};

/// Compiles a flat function of StableHLO or upstream ops, which is imported and clustered on the way. Its order of ops
/// is kept as far as clusters allow. Emits an error at an op that has no code.
mlir::FailureOr<CpuStep> compileForCpu(mlir::func::FuncOp function, const CpuOptions &options);

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
