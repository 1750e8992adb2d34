//===- GapBytes.h - Bytes that kept gaps take, by stage -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What GapState and LargeState have in common. A `State` has `problem()`, `touches(op)` and `repeats(stage)`, both as
// spans; a touch has a `stage`, and `repeats` where the op runs again. Touches are in the order of their stages.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "GapProblem.h"

#include <algorithm>
#include <utility>

namespace remat {

/// Stages that a value lives through from beginning to end.
struct LifeSpan {
  int32_t first, last;
  int64_t bytes;
};

/// The first touch in the stage or behind it.
template <typename Touch>
int32_t lowerTouch(std::span<const Touch> touches, int32_t stage) {
  // Most lists are short, and most questions are about their end.
  constexpr size_t shortList = 16;
  if (touches.size() > shortList)
    return std::ranges::lower_bound(touches, stage, {}, &Touch::stage) - touches.begin();
  int32_t i = touches.size();
  while (i > 0 && touches[i - 1].stage >= stage)
    --i;
  return i;
}

/// Calls `visit` for the stages where a value begins, ends or is passed on in another way than before; with `all`, for
/// all that are touched.
template <typename Touch, typename Visit>
void forEachChangedStage(std::span<const Touch> before, std::span<const Touch> after, bool all, Visit visit) {
  auto kind = [](std::span<const Touch> list, size_t i) {
    return std::pair(bool(list[i].repeats), i + 1 < list.size() && !list[i + 1].repeats);
  };
  for (size_t a = 0, b = 0; a < before.size() || b < after.size();) {
    if (b == after.size() || (a < before.size() && before[a].stage < after[b].stage)) {
      visit(before[a++].stage);
    } else if (a == before.size() || after[b].stage < before[a].stage) {
      visit(after[b++].stage);
    } else {
      if (all || kind(before, a) != kind(after, b))
        visit(after[b].stage);
      ++a, ++b;
    }
  }
}

class GapBytes {
public:
  explicit GapBytes(const GapProblem &problem)
      : placeStamp(problem.numPlaces()), bornStamp(problem.numNodes()), lastReader(problem.numPlaces()),
        bornAt(problem.numNodes()) {}

  /// Adds the stages that the op's results live through with these touches.
  template <typename State, typename Touch>
  static void findSpans(const State &state, int32_t node, std::span<const Touch> touches,
                        std::vector<LifeSpan> &spans) {
    std::span<const int64_t> sizes = state.problem().sizes(node);
    for (size_t begin = 0, end; begin < touches.size(); begin = end) {
      for (end = begin + 1; end < touches.size() && !touches[end].repeats;)
        ++end;
      for (int32_t r = 0; r < int32_t(sizes.size()); ++r) {
        size_t last = end - 1;
        while (sizes.size() > 1 && last > begin && !isRead(state, {node, r}, touches[last].stage))
          --last;
        if (touches[last].stage > touches[begin].stage + 1)
          spans.push_back({touches[begin].stage + 1, touches[last].stage - 1, sizes[r]});
      }
    }
  }

  /// Calls `add(first, last, bytes)` where the two differ: most spans only move one end.
  template <typename Add>
  void forEachDifference(std::span<const LifeSpan> before, std::span<const LifeSpan> after, Add add) {
    steps.clear();
    auto note = [&](std::span<const LifeSpan> spans, int64_t sign) {
      for (const LifeSpan &span : spans) {
        steps.push_back({span.first, sign * span.bytes});
        steps.push_back({span.last + 1, -sign * span.bytes});
      }
    };
    note(before, -1);
    note(after, 1);
    std::ranges::sort(steps);
    int64_t bytes = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      bytes += steps[i].second;
      if (bytes != 0 && steps[i + 1].first > steps[i].first)
        add(steps[i].first, steps[i + 1].first - 1, bytes);
    }
  }

  /// The most bytes alive at one step of the stage, but for what lives through all of it.
  template <typename State>
  int64_t innerPeak(const State &state, int32_t stage) {
    const GapProblem &problem = state.problem();
    findLives(state, stage);
    work += seen.size() + executed.size();
    change.assign(executed.size() + 1, 0);
    for (GapProblem::Place place : seen) {
      bool isBorn = bornStamp[place.node] == stamp, goesOn = livesOn(state, place, stage);
      if (!isBorn && goesOn)
        continue;
      int64_t bytes = problem.sizes(place.node)[place.result];
      change[isBorn ? bornAt[place.node] : 0] += bytes;
      if (!goesOn)
        change[lastReader[problem.number(place)] + 1] -= bytes;
    }
    int64_t live = held, highest = 0;
    for (size_t p = 0; p < executed.size(); ++p) {
      live += change[p];
      int64_t workspace = executed[p] < problem.numNodes() ? problem.node(executed[p]).workspaceBytes : 0;
      highest = std::max(highest, live + workspace);
    }
    return highest;
  }

  /// Places and executions that were looked at so far.
  uint64_t workDone() const { return work; }

private:
  /// For a result of an op that has several: whether the stage's op reads it, or what runs again there.
  template <typename State>
  static bool isRead(const State &state, GapProblem::Place place, int32_t stage) {
    auto repeats = state.repeats(stage);
    for (int32_t reader : state.problem().readers(place)) {
      if (reader >= stage)
        return reader == stage;
      if (std::ranges::binary_search(repeats, reader))
        return true;
    }
    return false;
  }

  /// True if what is made or held in the stage's touch is read in a later stage before the op runs again.
  template <typename State>
  static bool livesOn(const State &state, GapProblem::Place place, int32_t stage) {
    auto touches = state.touches(place.node);
    size_t i = lowerTouch(touches, stage) + 1;
    if (state.problem().sizes(place.node).size() == 1)
      return i < touches.size() && !touches[i].repeats;
    for (; i < touches.size() && !touches[i].repeats; ++i)
      if (isRead(state, place, touches[i].stage))
        return true;
    return false;
  }

  /// What runs in the stage, what that reads and makes, and where.
  template <typename State>
  void findLives(const State &state, int32_t stage) {
    const GapProblem &problem = state.problem();
    ++stamp;
    seen.clear();
    executed.assign(state.repeats(stage).begin(), state.repeats(stage).end());
    executed.push_back(stage); // The last stage has no op, but reads.
    held = 0;
    for (int32_t p = 0; p < int32_t(executed.size()); ++p) {
      if (executed[p] == problem.numNodes()) {
        holdResults(problem, p);
        continue;
      }
      for (GapProblem::Place place : problem.reads(executed[p]))
        notePlace(problem, place, p);
      bornStamp[executed[p]] = stamp;
      bornAt[executed[p]] = p;
      for (int32_t r = 0; r < int32_t(problem.sizes(executed[p]).size()); ++r)
        notePlace(problem, {executed[p], r}, p);
    }
  }

  /// There are often hundreds of results, and most of them don't take part in what the last stage runs again.
  void holdResults(const GapProblem &problem, int32_t position) {
    held = problem.resultBytes();
    for (GapProblem::Place place : seen)
      if (problem.isResult(place)) {
        lastReader[problem.number(place)] = position;
        held -= problem.sizes(place.node)[place.result];
      }
  }

  void notePlace(const GapProblem &problem, GapProblem::Place place, int32_t position) {
    uint32_t number = problem.number(place);
    if (placeStamp[number] != stamp) {
      placeStamp[number] = stamp;
      seen.push_back(place);
    }
    lastReader[number] = position;
  }

  std::vector<std::pair<int32_t, int64_t>> steps;
  std::vector<int32_t> executed;
  std::vector<uint32_t> placeStamp, bornStamp;
  std::vector<int32_t> lastReader, bornAt;
  std::vector<GapProblem::Place> seen;
  std::vector<int64_t> change;
  uint64_t work = 0;
  int64_t held = 0; ///< Bytes that live through all of the stage, but are not passed on.
  uint32_t stamp = 0;
};

} // namespace remat
