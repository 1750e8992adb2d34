//===- ClusterPlan.h - Plans on what is really stored ------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The clusters of the step as it came are the ops of a planner graph: values between members of a cluster take no
// memory there and cost no traffic. Code generation decides nothing: it makes the graph, and runs the plan it is given.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "BuildProgram.h"

#include "remat/IR/DeviceProfile.h"
#include "remat/Plan/Plan.h"

namespace remat {

/// The phases of a clustered function's ops.
using ClusterPhases = llvm::DenseMap<mlir::Operation *, Phase>;

/// Reads the phase of every op in the function's block from the `remat.phase` of it and of the ops in it: backward if
/// one of them is. An op that says nothing goes with what it reads. Then takes all marks of planning off, for equal
/// kernels are to be compiled once.
ClusterPhases takePhases(mlir::func::FuncOp function);

/// A planner graph and the op of each of its ops.
struct ClusterGraph {
  Graph graph;
  llvm::SmallVector<mlir::Operation *> ops; ///< By OpId.
};

/// The graph of a laid out function: one op for each item, values with their bytes rounded up to 64, costs by the
/// device's roofline. Reshapes and constants are no ops; loops, branches and random numbers run once. Nothing is
/// written in place, though the layout of the planned function will do so: its peak is at most the plan's. O(ops).
ClusterGraph makeClusterGraph(mlir::func::FuncOp function, llvm::ArrayRef<BuiltItem> items, const ClusterPhases &phases,
                              const DeviceProfile &device);

/// Makes the function's block run the plan: first executions move, later ones are clones, reads find the newest
/// instance, and kernels lose the results that nobody reads. A kernel that is recomputed for one reader alone becomes a
/// part of it where one cluster can hold both and that takes no more memory (FuseClones.h).
/// `ops`: by OpId; stale afterwards. Precondition: the plan is legal.
void applyClusterPlan(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Operation *> ops, const Plan &plan);

} // namespace remat
