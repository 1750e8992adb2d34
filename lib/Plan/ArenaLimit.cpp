//===- ArenaLimit.cpp - A limit on the arena instead of the peak ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan's peak counts a place for every value. The arena is smaller where results take the place of inputs and clones
// become parts of their readers, and larger where lifetimes don't pack. By how much depends on the plan, but changes
// little from one to the next: so plans are made for peaks around the limit, each as far off as the last arena was.
//
//===----------------------------------------------------------------------===//

#include "ArenaLimit.h"

#include "Text.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace remat {

namespace {

class ArenaLimitSearch {
public:
  ArenaLimitSearch(const Graph &graph, std::span<const double> costs, int64_t limitBytes, const LimitOptions &options,
                   const ArenaOf &arenaOf)
      : graph(graph), costs(costs), limitBytes(limitBytes), closeBytes(limitBytes / 100), options(options),
        arenaOf(arenaOf) {}

  Expected<LimitedPlan> run() {
    Plan given = programOrder(graph);
    int64_t givenPeak = simulate(graph, given).peakBytes;
    Expected<int64_t> givenArena = arenaOf(given, limitBytes);
    if (!givenArena)
      return givenArena.error();
    if (*givenArena <= limitBytes)
      return LimitedPlan{{std::move(given), givenPeak, 0}};
    // What the arena of the step as it came saves over its peak, those of plans save, too, as a rule.
    int64_t peakLimit = limitBytes + std::max<int64_t>(0, givenPeak - *givenArena);
    for (int i = 0; i < maxTries && (i == 0 || !isInterrupted()); ++i) {
      double costBefore = best ? best->extraCost : std::numeric_limits<double>::infinity();
      Expected<LimitedPlan> found = planMemoryLimit(graph, costs, peakLimit, options);
      std::optional<int64_t> next;
      if (found) {
        Expected<std::optional<int64_t>> tried = take(std::move(*found), peakLimit);
        if (!tried)
          return tried.error();
        next = *tried;
      } else {
        low = std::max(low.value_or(0), peakLimit);
      }
      if (!next || (low && *next <= *low) || (high && *next >= *high))
        next = low && high && *high - *low > closeBytes ? std::optional((*low + *high) / 2) : std::nullopt;
      bool pays = !best || best->extraCost < costBefore * (1 - leastGain);
      if (!next || !pays)
        break;
      peakLimit = *next;
    }
    return result();
  }

private:
  static constexpr int maxTries = 8;
  /// Once a plan fits, a further one is made as long as the last one cost less by this share.
  static constexpr double leastGain = 0.01;

  bool isInterrupted() const { return options.interrupt && options.interrupt->load(std::memory_order_relaxed); }

  /// Looks for one that fits among what was found within `peakLimit`. Returns the peak to plan for next, if that
  /// promises more.
  Expected<std::optional<int64_t>> take(LimitedPlan found, int64_t peakLimit) {
    interrupted |= found.interrupted;
    double costBound = found.extraCostBound;
    Expected<int64_t> arena = arenaOf(found.best.plan, limitBytes);
    if (!arena)
      return arena.error();
    int64_t excess = *arena - limitBytes;
    if (excess <= 0) {
      low = std::max(low.value_or(0), peakLimit);
      bool isBest = found.best.extraCost <= costBound;
      offer(std::move(found.best), costBound);
      return isBest || -excess <= closeBytes ? std::nullopt : std::optional(peakLimit - excess);
    }
    high = std::min(high.value_or(peakLimit), peakLimit);
    int64_t next = std::min(found.best.peakBytes, peakLimit) - excess;
    for (FrontPlan &plan : found.further) {
      if (best && best->extraCost <= plan.extraCost)
        break;
      arena = arenaOf(plan.plan, limitBytes);
      if (!arena)
        return arena.error();
      if (*arena <= limitBytes) {
        low = std::max(low.value_or(0), plan.peakBytes);
        offer(std::move(plan), costBound);
      } else if (!best) {
        next = std::min(next, plan.peakBytes - std::max(*arena - limitBytes, closeBytes));
      }
    }
    return std::optional(next);
  }

  void offer(FrontPlan plan, double costBound) {
    if (best && best->extraCost <= plan.extraCost)
      return;
    best = std::move(plan);
    bestBound = costBound;
  }

  Expected<LimitedPlan> result() {
    if (best)
      return LimitedPlan{std::move(*best), bestBound, interrupted || isInterrupted()};
    if (isInterrupted())
      return Error{formatText("the search ended before it found a plan whose arena fits into {} bytes", limitBytes),
                   {},
                   "give it more time"};
    int64_t floor = boundPeak(graph, options.order).bytes;
    return Error{
        formatText("found no plan whose arena fits into {} bytes; it is not proven that there is none", limitBytes),
        {},
        formatText("plans that give every value a place need at least {}, arenas may take less; allow more, or "
                   "search longer with --effort",
                   floor)};
  }

  const Graph &graph;
  std::span<const double> costs;
  int64_t limitBytes;
  int64_t closeBytes; ///< As near to the limit as it pays to get.
  const LimitOptions &options;
  const ArenaOf &arenaOf;
  std::optional<int64_t> low, high; ///< Peaks whose plan fits, or which have none; and whose plan doesn't.
  std::optional<FrontPlan> best;
  double bestBound = 0;
  bool interrupted = false;
};

} // namespace

Expected<LimitedPlan> planArenaLimit(const Graph &graph, std::span<const double> costByOp, int64_t limitBytes,
                                     LimitOptions options, const ArenaOf &arenaOf) {
  options.keepsFurther = true;
  return ArenaLimitSearch(graph, costByOp, limitBytes, options, arenaOf).run();
}

} // namespace remat
