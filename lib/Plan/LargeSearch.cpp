//===- LargeSearch.cpp - Plans of large graphs under a limit ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargeSearch.h"

#include "CutPlan.h"
#include "LargeSearchGreedy.h"
#include "Stopper.h"
#include "remat/Plan/Planners.h"

#include <cmath>

namespace remat {

LargeSearch::LargeSearch(const GapProblem &problem, const LargeSearchOptions &options)
    : problem(problem), options(options), down(Ladder{LargeState(problem)}), rungs(down->state.peak()),
      lowest(down->state.peak()) {}

/// Goes down rung by rung. False if the ladder does not reach so far.
bool LargeSearch::goDown(Ladder &ladder, int target) {
  LargeState &state = ladder.state;
  while (ladder.number < target && !ladder.failed && !isInterrupted()) {
    double costAbove = state.cost();
    ++ladder.number;
    LargeGreedy greedy(state, rungs[ladder.number], ladder.price, options.interrupt);
    ladder.failed = !greedy.lower();
    greedy.takeBack(costAbove);
    lowest = std::min(lowest, state.peak());
  }
  return state.peak() <= rungs[target];
}

/// Recomputes all of the forward part in segments: its blocks, and about sqrt(n) pieces of equal bytes.
void LargeSearch::findSegments() {
  segmentPlans = options.starts;
  const Graph &graph = problem.graph();
  double count = std::sqrt(double(graph.numOps()));
  for (const Segments &segments :
       {autoSegments(graph), balancedSegments(graph, uint32_t(count / 2)), balancedSegments(graph, uint32_t(count))}) {
    if (segments.count < 2 || isInterrupted())
      continue;
    PolicyRequest request;
    request.policy = Policy::saveNothing();
    request.segments = segments;
    if (Expected<PolicyPlan> made = planPolicy(graph, request))
      segmentPlans->push_back(std::move(made->plan));
  }
}

/// From the lowest rung that the segments keep: up or down to the target.
void LargeSearch::tryFrom(const Plan &segments, int target, std::optional<Found> &best) {
  Ladder ladder{LargeState(problem)};
  LargeState &state = ladder.state;
  state.load(segments);
  lowest = std::min(lowest, state.peak());
  ladder.number = rungs.within(state.peak());
  if (rungs[ladder.number] < state.peak())
    --ladder.number;
  for (; ladder.number > target && !isInterrupted(); --ladder.number)
    LargeGreedy(state, rungs[ladder.number], ladder.price, options.interrupt).takeBack(0);
  // What the lowest rung keeps is the same whichever way the ladder goes on.
  if (ladder.number >= 0)
    LargeGreedy(state, rungs[ladder.number], ladder.price, options.interrupt).takeBack(0);
  if (ladder.number >= 0 && goDown(ladder, target) && (!best || state.cost() < best->extraCost))
    best = found(state);
}

/// Down from what the cut holds to the limit, not only to the rung within it.
void LargeSearch::tryCut(const Plan &cut, int64_t limitBytes, std::optional<Found> &best) {
  Ladder ladder{LargeState(problem)};
  LargeState &state = ladder.state;
  state.load(cut);
  ladder.number = std::max(0, rungs.within(state.peak()) - 1);
  goDown(ladder, std::max(0, rungs.within(limitBytes) - 1));
  LargeGreedy greedy(state, limitBytes, ladder.price, options.interrupt);
  if (state.peak() > limitBytes)
    greedy.lower();
  greedy.takeBack(0);
  lowest = std::min(lowest, state.peak());
  if (state.peak() <= limitBytes && (!best || state.cost() < best->extraCost))
    best = found(state);
}

std::optional<LargeSearch::Found> LargeSearch::search(int64_t limitBytes) {
  int target = rungs.within(limitBytes);
  if (target == Rungs::count)
    return std::nullopt;
  std::optional<Found> best;
  if (target < failedAt) {
    if (!down || target < down->number) {
      down.reset();
      down = Ladder{LargeState(problem)};
    }
    if (goDown(*down, target))
      best = found(down->state);
    else if (!isInterrupted())
      failedAt = down->number;
  }
  if (isInterrupted() || (best && (problem.numNodes() > options.segmentsUpTo || best->extraCost == 0)))
    return best;
  if (!best)
    down.reset(); // Two states of a large graph take too much memory.
  if (!segmentPlans)
    findSegments();
  for (const Plan &segments : *segmentPlans)
    tryFrom(segments, target, best);
  for (const Plan &plan : planByCut(problem, limitBytes))
    tryCut(plan, limitBytes, best);
  return best;
}

std::optional<LargeSearch::Found> LargeSearch::searchQuickly(int64_t limitBytes) {
  options.interrupt = nullptr;
  double seconds = 0.5 + 5e-6 * problem.numNodes();
  if (!down)
    down = Ladder{LargeState(problem)};
  LargeGreedy(down->state, limitBytes, down->price, Stopper(seconds).flag()).lower();
  lowest = std::min(lowest, down->state.peak());
  std::optional<Found> best = down->state.peak() <= limitBytes ? std::optional(found(down->state)) : std::nullopt;
  down.reset(); // It stands on no rung.
  if (best)
    return best;
  findSegments();
  Stopper stopper(seconds);
  for (const Plan &segments : *segmentPlans) {
    LargeState state(problem);
    state.load(segments);
    lowest = std::min(lowest, state.peak());
    if (state.peak() > limitBytes)
      continue;
    double price = 0;
    LargeGreedy(state, limitBytes, price, stopper.flag()).takeBack(0);
    if (!best || state.cost() < best->extraCost)
      best = found(state);
  }
  return best;
}

GapState::Snapshot snapshotOf(const GapProblem &problem, const Plan &plan) {
  LargeState state(problem);
  state.load(plan);
  GapState::Snapshot snapshot{std::vector<GapState::Touches>(problem.numNodes()), state.cost()};
  for (int32_t node = 0; node < problem.numNodes(); ++node)
    for (LargeState::Touch touch : state.touches(node))
      snapshot.touches[node].push_back({touch.stage, int32_t(touch.readers), bool(touch.repeats), false});
  return snapshot;
}

} // namespace remat
