//===- LargeSearch.h - Plans of large graphs under a limit --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Annealing makes some hundred thousand changes a second, which is nothing for a million ops. This search goes down a
// ladder of limits, 1 % of the first peak at a time, and keeps its state: at each limit it drops the gaps that free
// most for their cost until nothing is above it, cheapest first (a lazy heap), and then takes back what turns out not
// to be needed. What inputs that are dead by then cost is part of it: each is held from where it is alive, at the price
// of bytes that the last gaps were worth, or computed again as well.
//
// Where memory is tight, good plans recompute whole segments, which single gaps lead to only part of the way. So there
// are ladders that start at the bottom too: from segments, up to the limit, taking recomputation back, or down to it.
// And there are plans that a minimum cut makes for the limit (CutPlan.h); where ops are alike, they are the best.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "GapState.h"
#include "LargeSearchState.h"
#include "Rungs.h"

#include <atomic>
#include <optional>

namespace remat {

struct LargeSearchOptions {
  const std::atomic<bool> *interrupt = nullptr;
  /// Graphs of up to so many ops try segments and cuts at every limit, larger ones where nothing else is found.
  int32_t segmentsUpTo = 50'000;
  /// Plans to start from besides.
  std::vector<Plan> starts = {};
};

/// Searches limit by limit. What is found for a limit does not depend on the limits asked for before. Near linear:
/// about O((n + reads) log n) for each 1 % of the peak; about 150 bytes for an op and 20 for a read besides the
/// problem.
class LargeSearch {
public:
  explicit LargeSearch(const GapProblem &problem, const LargeSearchOptions &options = {});

  struct Found {
    Plan plan;
    int64_t peakBytes;
    double extraCost;
  };
  /// A plan with a peak of at most `limitBytes`, or nothing. A lower limit costs at least as much. Limits that fall
  /// from call to call are cheapest.
  std::optional<Found> search(int64_t limitBytes);
  /// A plan after an interrupt, in about a second for each 100,000 ops: from where it left the ladder at once to the
  /// limit, or, where that takes longer, segments that keep it.
  std::optional<Found> searchQuickly(int64_t limitBytes);

  std::span<const Plan> starts() const { return options.starts; }
  /// The lowest peak that a ladder reached so far.
  int64_t lowestPeak() const { return lowest; }
  bool isInterrupted() const { return options.interrupt && options.interrupt->load(std::memory_order_relaxed); }

private:
  struct Ladder {
    LargeState state;
    int number = 0; ///< Of the rung where the state stands.
    bool failed = false;
    double price = 0; ///< Of a byte there.
  };

  bool goDown(Ladder &ladder, int target);
  void tryFrom(const Plan &segments, int target, std::optional<Found> &best);
  void tryCut(const Plan &cut, int64_t limitBytes, std::optional<Found> &best);
  void findSegments();
  Found found(const LargeState &state) const { return {state.plan(), state.peak(), state.cost()}; }

  const GapProblem &problem;
  LargeSearchOptions options;
  std::optional<Ladder> down; ///< From the top.
  Rungs rungs;
  int64_t lowest;
  int failedAt = std::numeric_limits<int>::max(); ///< The first rung that the ladder from the top did not reach.
  std::optional<std::vector<Plan>> segmentPlans;
};

/// The plan as a state of the annealing, such as to go on from it: what it runs again, as far as it may, with the first
/// executions of the problem.
GapState::Snapshot snapshotOf(const GapProblem &problem, const Plan &plan);

} // namespace remat
