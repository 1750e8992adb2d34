//===- BuildProgram.h - A clustered function as a program --------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Kernels.h"

#include "remat/CodeGen/Cpu.h"

namespace remat {

struct BuiltProgram {
  runtime::Program program;
  llvm::SmallVector<EmittedKernel, 0> kernels; ///< By number of the program's kernels.
  Graph graph;
  int64_t livePeakBytes = 0;
  bool provenPacking = false;
};

/// Lays out a clustered function (Clusters.h): steps in its order, every value in a slot of one arena, kernels appended
/// to `module`, equal ones once.
///
/// A result takes the place of an input that nobody reads later where the kernel reads every element before it writes
/// it. A loop's carried values have one place each, which the loop's body writes where nobody reads the old value any
/// more, and copies to otherwise. Emits an error at an op that no step can do.
mlir::FailureOr<BuiltProgram> buildProgram(mlir::func::FuncOp function, mlir::ModuleOp module, int threads);

} // namespace remat
