//===- BuildProgram.h - A clustered function as a program --------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Target.h"

#include "remat/CodeGen/Cpu.h"

namespace remat {

/// An op that takes time: a kernel, a matrix product, a convolution, a loop, a branch.
struct BuiltItem {
  mlir::Operation *op;
  int64_t workspaceBytes = 0; ///< Scratch; of loops and branches the peak of their blocks.
};

struct BuiltProgram {
  runtime::Program program;
  std::vector<mlir::Operation *> origins; ///< By step in preorder: the op that it is a part of.
  llvm::SmallVector<BuiltItem, 0> items;  ///< Of the function's block, in its order.
  Graph graph;
  int64_t livePeakBytes = 0;
  bool provenPacking = false;
};

/// Lays out a clustered function (Clusters.h): steps in its order, every value in a slot of one arena, kernels in
/// `kernels`, whose numbers are the program's.
///
/// A result takes the place of an input that nobody reads later where the kernel reads every element before it writes
/// it; a function's result takes that of a donated argument the same way. A loop's carried values have one place each,
/// which the loop's body writes where nobody reads the old value any more, and copies to otherwise. Emits an error at
/// an op that no step can do.
mlir::FailureOr<BuiltProgram> buildProgram(mlir::func::FuncOp function, KernelTable &kernels, int64_t enoughBytes = 0);

} // namespace remat
