//===- Bounds.h - What no plan can do better ---------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every bound names the class of plans it holds for. Two classes occur; in both an op may be executed any number of
// times and at any moment, but for those that must run once (`Graph::mustRunOnce`), and results of the function may be
// computed again:
//
// - given order: the FIRST executions of the ops stand in program order;
// - free order: they stand in any order that respects the reads.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include <limits>
#include <span>
#include <vector>

namespace remat {

/// How much work a bound may take. Counted, not timed: the same input gives the same bound.
struct BoundEffort {
  size_t rounds = 300;             ///< Rounds of dual ascent; a round is linear in ops and reads.
  size_t ascentWork = 150'000'000; ///< Reads of gaps and inputs after which ascent ends: some seconds.
  size_t work = 0;                 ///< Reads of gaps that branch and bound may make on top; 0: no branching.
  /// A bound of this much is enough: work ends when it is reached, such as at the cost of the plan at hand.
  double enough = std::numeric_limits<double>::infinity();
  size_t inputDepth = 32; ///< How far inputs that are dead when their reader is computed again are followed.

  /// Linear programming alone, for graphs of any size.
  static BoundEffort fast() { return {}; }
  /// Some seconds for graphs of up to about 2000 ops.
  static BoundEffort thorough() { return {.rounds = 2000, .work = 400'000'000}; }
};

/// A lower bound on the cost of recomputation.
struct CostBound {
  double extraCost = 0;          ///< No plan of the class costs less on top of executing every op once.
  bool infeasible = false;       ///< Proven: no plan of the class keeps the limit.
  size_t stage = 0;              ///< The op that cannot run within the limit, if infeasible; `numOps()` is the end.
  std::vector<ValueId> blocking; ///< The values that must be alive there; empty if the proof takes several stages.
};

/// The least cost of recomputation of any plan in the given order with a peak of at most `limitBytes`, from below.
/// `costByOp` is what one execution costs, in any unit. The bound is rounded down by more than the error of its
/// arithmetic. A limit that no plan keeps is not always found out to be infeasible;
/// `boundPeakGivenOrder` finds some of those that this does not, where ops must run once.
CostBound boundCost(const Graph &graph, std::span<const double> costByOp, int64_t limitBytes,
                    const BoundEffort &effort = BoundEffort::fast());

/// A lower bound on the peak, and what sets it.
struct PeakBound {
  int64_t bytes = 0;
  size_t stage = 0;            ///< The op during which that much is alive; `numOps()` is the end of the step.
  std::vector<ValueId> values; ///< What is alive there; the rest is the op's workspace.
};

/// The least peak of any plan in free order, from below: an op's operands, results and workspace are alive while it
/// runs, and what only ops that must run once can make, if they have run and it is read later, or as few bytes as it
/// can be computed again from; the function's results are alive at the end.
PeakBound boundPeakFreeOrder(const Graph &graph);

/// The same for plans in the given order, where it is known which ops have run before and which read later.
PeakBound boundPeakGivenOrder(const Graph &graph);

} // namespace remat
