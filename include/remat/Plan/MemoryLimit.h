//===- MemoryLimit.h - The cheapest plan under a hard limit ------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Bounds.h"
#include "remat/Plan/Plan.h"

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace remat {

enum class ExecutionOrder : uint8_t {
  Given, ///< First executions stand as in the graph.
  Free,  ///< They may move to lower the peak.
};

/// The floor of peaks for the order: `boundPeakGivenOrder` or `boundPeakFreeOrder`.
PeakBound boundPeak(const Graph &graph, ExecutionOrder order);

/// What a search has reached so far.
struct SearchProgress {
  int64_t limitBytes = 0;         ///< The limit it looks at now; it goes down.
  std::optional<double> bestCost; ///< Extra cost of the cheapest plan within the limit asked for, if there is one.
};

struct LimitOptions {
  ExecutionOrder order = ExecutionOrder::Free;
  double effort = 1; ///< Times the work of the search; the default takes seconds for a thousand ops.
  uint64_t seed = 1;
  /// By op: false where it must not run again although the graph allows it, such as what a policy saves. Empty: all.
  std::vector<bool> mayRepeat = {};
  /// Ends the search early: the best plan so far is the result. Looked at many times a second.
  const std::atomic<bool> *interrupt = nullptr;
  std::function<void(const SearchProgress &)> progress = {};
  bool keepsFurther = false; ///< Whether `LimitedPlan::further` is wanted.
};

/// A plan of the front: none that was found is as cheap with as low a peak.
struct FrontPlan {
  Plan plan;
  int64_t peakBytes = 0;
  double extraCost = 0; ///< Of recomputation, on top of every op once.
};

struct LimitedPlan {
  FrontPlan best;
  /// No plan of its class costs less on top of every op once: plans in the graph's order for `Given`; all for `Free`,
  /// where only 0 is known for graphs too large for an exact search.
  double extraCostBound = 0;
  bool interrupted = false;
  /// Some of what was found besides: plans with lower peaks, each cheaper and larger than the next.
  std::vector<FrontPlan> further = {};
};

/// The cheapest plan with a peak of at most `limitBytes` that the search finds. It looks at fixed limits at and below
/// `limitBytes`, so that a larger limit does not cost more: proven where bounds end the descent, else as far as it goes
/// (docs/Planning.md). Tiny graphs are solved exactly. `costByOp` is what one execution costs, in any unit.
/// Deterministic, unless it is interrupted. Error: no plan keeps the limit, with the op and the values at the floor; or
/// none was found.
Expected<LimitedPlan> planMemoryLimit(const Graph &graph, std::span<const double> costByOp, int64_t limitBytes,
                                      const LimitOptions &options);

/// Plans from the cheapest to the smallest that is found, each cheaper and larger than the next.
std::vector<FrontPlan> planFront(const Graph &graph, std::span<const double> costByOp, const LimitOptions &options);

} // namespace remat
