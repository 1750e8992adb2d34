//===- CoverBound.cpp - A lower bound on the cost of recomputation --------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoverBound.h"
#include "remat/Plan/Bounds.h"

#include <algorithm>
#include <cmath>

namespace remat {

CostBound boundCost(const Graph &graph, std::span<const double> costByOp, int64_t limitBytes,
                    const BoundEffort &effort) {
  cover::Shortage shortage;
  cover::Problem problem = cover::makeProblem(graph, costByOp, limitBytes, effort.inputDepth, shortage);
  CostBound result;
  if (shortage.any) {
    result.infeasible = true;
    result.stage = shortage.stage;
    result.blocking = std::move(shortage.alive);
    return result;
  }
  if (problem.numRows() == 0)
    return result;
  cover::Dual dual(problem);
  cover::Duals duals = dual.start();
  double bound = dual.ascend(duals, effort.rounds, effort.enough, effort.ascentWork);
  // Small problems are cheap enough for restarts, which reset the length of the steps.
  constexpr size_t cheapWork = 4'000'000;
  for (double last = -1; bound > last * (1 + 1e-5) && dual.workDone() < cheapWork && bound < effort.enough;) {
    last = bound;
    bound = dual.ascend(duals, effort.rounds, effort.enough);
  }
  if (effort.work > 0 && bound < effort.enough)
    bound = cover::branchAndBound(problem, duals, bound, effort.work, effort.enough);
  if (!std::isfinite(bound)) {
    result.infeasible = true;
    result.stage = problem.rowStage[std::ranges::max_element(problem.deficit) - problem.deficit.begin()];
    return result;
  }
  // More than what sums of a million doubles err by.
  result.extraCost = std::max(0.0, bound * (1 - 1e-9));
  return result;
}

} // namespace remat
