//===- Clusters.h - Loops joined into kernels --------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace remat {

/// Joins the element-wise loops and reductions of a function in imported form (Import.h), and of the loops and branches
/// in it, into `remat.kernel` ops whose members form a cluster (ClusterForm.h). Every op is computed as often as
/// before, but for ops without operands and broadcasts, which are rebuilt at their readers. Afterwards every
/// `linalg.generic` that isn't a matrix product stands in a kernel. Barriers are dropped: nothing merges equal ops any
/// more.
///
/// A kernel stands where the last of its members stood; other ops keep their order where operands allow it.
/// O(ops × ops that lie between the members of a cluster).
void formClusters(mlir::func::FuncOp function);

/// Makes one kernel of neighbouring ops, whose results replace theirs.
void makeKernel(llvm::ArrayRef<mlir::Operation *> members);

} // namespace remat
