//===- Apply.h - From a plan to a rewritten function -------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Simulator.h"
#include "remat/Transforms/Extract.h"

namespace remat {

/// Rewrites the function so that its block runs the plan's steps in order: moves first executions, clones second ones,
/// and puts a barrier before every group of clones (an `optimization_barrier` where the function holds StableHLO ops,
/// else `remat.barrier`s) that ties what they read to a value of the backward part that is alive there anyway.
/// Precondition: `verify(graph, plan)` found nothing. Clones keep every attribute; their location names the original's.
/// `backwardArgument` is the number of an argument that only the backward part has (a cotangent, where the step is two
/// functions): barriers hang on it where no gradient is alive. After it `extracted` is stale. Returns the number of
/// clones that are guarded.
mlir::FailureOr<int64_t> applyPlan(mlir::func::FuncOp function, const ExtractedGraph &extracted, const Plan &plan,
                                   std::optional<unsigned> backwardArgument = std::nullopt);

/// Measures the rewritten function again, barriers being views, and emits an error unless its peak equals
/// `plannedPeakBytes`. Its residual bytes may exceed the plan's by a result of the forward part (the loss) that a
/// barrier names.
mlir::FailureOr<Simulation> verifyRewrite(mlir::func::FuncOp function, int64_t plannedPeakBytes,
                                          const ExtractOptions &options);

struct SurvivalCount {
  int64_t planned = 0;
  int64_t survived = 0;
};

/// Counts the recomputations that a rewritten function was given and those that later passes left: a clone survived if
/// it still reads through its barrier.
SurvivalCount countSurvivors(mlir::func::FuncOp function);

} // namespace remat
