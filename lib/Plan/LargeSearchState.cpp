//===- LargeSearchState.cpp - Kept and dropped gaps of a large graph ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargeSearchState.h"

#include <algorithm>
#include <numeric>

namespace remat {

/// How far inputs that are dead are followed where it is decided what to do about them.
static constexpr int decisionDepth = 2;

LargeState::LargeState(const GapProblem &problem)
    : instance(&problem), touchLists(problem.numNodes()), repeatLists(problem.numNodes() + 1),
      inner(problem.numNodes() + 1), change(problem.numNodes() + 2), tree({}), weightBefore(problem.numNodes() + 2),
      nodeStamp(problem.numNodes()), stageStamp(problem.numNodes() + 1), dirtyStamp(problem.numNodes() + 1),
      bytes(problem) {
  makeTouches();
  rebuild();
}

void LargeState::rebuild() {
  extraCost = 0;
  repeatCount = 0;
  std::ranges::fill(change, 0);
  for (int32_t node = 0; node < instance->numNodes(); ++node) {
    newSpans.clear();
    bytes.findSpans(*this, node, touches(node), newSpans);
    for (const LifeSpan &span : newSpans) {
      change[span.first] += span.bytes;
      change[span.last + 1] -= span.bytes;
    }
  }
  for (int32_t t = 0; t <= instance->numNodes(); ++t) {
    inner[t] = bytes.innerPeak(*this, t);
    repeatCount += repeats(t).size();
    for (int32_t node : repeats(t))
      extraCost += instance->node(node).cost;
  }
  tree = TimelineTree(levels());
  commit();
}

/// Fills the touches in for what runs in the stages; all that runs again is read in its stage.
void LargeState::makeTouches() {
  int32_t count = instance->numNodes();
  std::vector<uint32_t> sizes(count, 1);
  std::vector<int32_t> last(count, -1);
  auto forEachRead = [&](int32_t t, auto visit) {
    for (int32_t node : repeats(t))
      std::ranges::for_each(instance->inputs(node), visit);
    std::ranges::for_each(instance->inputs(t), visit);
  };
  for (int32_t t = 0; t <= count; ++t)
    forEachRead(t, [&](int32_t input) {
      sizes[input] += last[input] != t;
      last[input] = t;
    });
  touchLists.reserve(sizes);
  for (int32_t t = 0; t <= count; ++t) {
    forEachRead(t, [&](int32_t input) {
      if (touches(input).back().stage == t)
        ++touchLists[input].back().readers;
      else
        touchLists.append(input, {t, 1, false});
    });
    for (int32_t node : repeats(t))
      touchLists[node].back().repeats = true;
    if (t < count)
      touchLists.append(t, {t, 0, false});
  }
}

std::vector<int64_t> LargeState::levels() const {
  std::vector<int64_t> result(instance->numNodes() + 1);
  std::partial_sum(change.begin(), change.end() - 1, result.begin());
  for (size_t t = 0; t < result.size(); ++t)
    result[t] += inner[t];
  return result;
}

void LargeState::setPrices(std::span<const double> weights, double priceOfWeight) {
  std::partial_sum(weights.begin(), weights.end(), weightBefore.begin() + 1);
  price = priceOfWeight;
}

int32_t LargeState::findTouch(int32_t node, int32_t stage) const {
  std::span<const Touch> list = touches(node);
  int32_t i = lowerTouch(list, stage);
  return i < int32_t(list.size()) && list[i].stage == stage ? i : -1;
}

LargeState::Estimate LargeState::estimate(int32_t node, int32_t stage, int depth, double bytePrice) const {
  Estimate sum{instance->node(node).cost, 0};
  for (int32_t input : instance->inputs(node)) {
    std::span<const Touch> list = touches(input);
    int32_t i = lowerTouch(list, stage);
    if (i < int32_t(list.size()) && (list[i].stage == stage || !list[i].repeats))
      continue;
    double bytes = instance->totalSize(input);
    Estimate best{0, bytes * weight(list[i - 1].stage + 1, stage)};
    if (mayAddIn(input, stage)) {
      // The repetition behind may run here and be held.
      if (i < int32_t(list.size()))
        best.held = std::min(best.held, bytes * weight(stage + 1, list[i].stage));
      double own = instance->node(input).cost;
      if (depth > 0 && own < best.at(bytePrice))
        if (Estimate again = estimate(input, stage, depth - 1, bytePrice); again.at(bytePrice) < best.at(bytePrice))
          best = again;
    }
    sum.cost += best.cost;
    sum.held += best.held;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

void LargeState::edit(int32_t node) {
  if (nodeStamp[node] == stamp)
    return;
  nodeStamp[node] = stamp;
  edited.push_back(node);
  std::span<const Touch> list = touches(node);
  savedTouches.insert(savedTouches.end(), list.begin(), list.end());
  bytes.findSpans(*this, node, touches(node), savedSpans);
  touchesEnd.push_back(savedTouches.size());
  spansEnd.push_back(savedSpans.size());
}

void LargeState::editStage(int32_t stage) {
  if (stageStamp[stage] == stamp)
    return;
  stageStamp[stage] = stamp;
  editedStages.push_back(stage);
  savedRepeats.insert(savedRepeats.end(), repeats(stage).begin(), repeats(stage).end());
  repeatsEnd.push_back(savedRepeats.size());
}

void LargeState::addRepeat(int32_t node, int32_t stage) {
  // What the inputs' spans were before depends on who runs in the stage.
  for (int32_t input : instance->inputs(node))
    edit(input);
  editStage(stage);
  repeatLists.insert(stage, std::ranges::lower_bound(repeats(stage), node) - repeats(stage).begin(), node);
  extraCost += instance->node(node).cost;
  ++repeatCount;
  for (int32_t input : instance->inputs(node))
    readerChanges.push_back({input, stage, true});
}

void LargeState::removeRepeat(int32_t node, int32_t stage) {
  for (int32_t input : instance->inputs(node))
    edit(input);
  editStage(stage);
  repeatLists.erase(stage, std::ranges::lower_bound(repeats(stage), node) - repeats(stage).begin());
  extraCost -= instance->node(node).cost;
  --repeatCount;
  for (int32_t input : instance->inputs(node))
    readerChanges.push_back({input, stage, false});
}

/// First come, first served: what is read again is so before what served it goes. Not by recursion, since chains are as
/// long as the graph.
void LargeState::changeReaders() {
  for (size_t i = 0; i < readerChanges.size(); ++i) {
    auto [node, stage, adds] = readerChanges[i];
    if (adds)
      addReader(node, stage);
    else
      removeReader(node, stage);
  }
  readerChanges.clear();
}

void LargeState::addReader(int32_t node, int32_t stage) {
  edit(node);
  int32_t i = lowerTouch(touches(node), stage);
  if (i < int32_t(touches(node).size()) && touches(node)[i].stage == stage) {
    ++touchLists[node][i].readers;
    return;
  }
  touchLists.insert(node, i, {stage, 1, false});
  std::span<Touch> list = touchLists[node];
  bool isLast = i + 1 == int32_t(list.size());
  if (!mayAddIn(node, stage) || (!isLast && !list[i + 1].repeats))
    return;
  double bytes = instance->totalSize(node), before = price * bytes * weight(list[i - 1].stage + 1, stage);
  if (before <= instance->node(node).cost && isLast)
    return;
  double again = estimate(node, stage, decisionDepth, price).at(price);
  if (isLast) {
    if (before <= again)
      return;
  } else {
    // What is alive in front of the reader may serve it, or the repetition behind it, which then runs here.
    int32_t next = list[i + 1].stage;
    double behind = price * bytes * weight(stage + 1, next);
    if (before <= std::min(again, behind))
      return;
    if (behind <= again) {
      list[i + 1].repeats = false;
      list[i].repeats = true;
      addRepeat(node, stage);
      removeRepeat(node, next);
      return;
    }
  }
  list[i].repeats = true;
  addRepeat(node, stage);
}

void LargeState::removeReader(int32_t node, int32_t stage) {
  edit(node);
  int32_t i = lowerTouch(touches(node), stage);
  if (--touchLists[node][i].readers > 0 || i == 0)
    return;
  Touch touch = touches(node)[i];
  touchLists.erase(node, i);
  if (!touch.repeats)
    return;
  // What served the next touch runs there now, or the value is held from the touch before, whichever is cheaper.
  std::span<Touch> list = touchLists[node];
  if (i < int32_t(list.size()) && !list[i].repeats && mayAddIn(node, list[i].stage)) {
    double hold = price * instance->totalSize(node) * weight(list[i - 1].stage + 1, list[i].stage);
    if (estimate(node, list[i].stage, decisionDepth, price).at(price) < hold) {
      int32_t next = list[i].stage;
      list[i].repeats = true;
      addRepeat(node, next);
    }
  }
  removeRepeat(node, stage);
}

void LargeState::drop(int32_t node, int32_t i) {
  edit(node);
  touchLists[node][i].repeats = true;
  addRepeat(node, touches(node)[i].stage);
  changeReaders();
}

void LargeState::keep(int32_t node, int32_t i) {
  edit(node);
  int32_t stage = touches(node)[i].stage;
  touchLists[node][i].repeats = false;
  removeRepeat(node, stage);
  changeReaders();
}

void LargeState::commit() {
  edited.clear();
  editedStages.clear();
  savedTouches.clear();
  savedSpans.clear();
  savedRepeats.clear();
  touchesEnd.clear();
  spansEnd.clear();
  repeatsEnd.clear();
  added.clear();
  savedInner.clear();
  savedCost = extraCost;
  savedRepeatCount = repeatCount;
  ++stamp;
}

void LargeState::rollback() {
  for (size_t i = added.size(); i-- > 0;)
    addBytes(added[i].first, added[i].last, -added[i].bytes);
  for (size_t i = savedInner.size(); i-- > 0;)
    setInner(savedInner[i].first, savedInner[i].second);
  for (size_t i = 0; i < edited.size(); ++i) {
    uint32_t begin = i == 0 ? 0 : touchesEnd[i - 1];
    touchLists.assign(edited[i], std::span(savedTouches).subspan(begin, touchesEnd[i] - begin));
  }
  for (size_t i = 0; i < editedStages.size(); ++i) {
    uint32_t begin = i == 0 ? 0 : repeatsEnd[i - 1];
    repeatLists.assign(editedStages[i], std::span(savedRepeats).subspan(begin, repeatsEnd[i] - begin));
  }
  extraCost = savedCost;
  repeatCount = savedRepeatCount;
  commit();
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

void LargeState::markDirty(int32_t stage) {
  if (dirtyStamp[stage] == settleStamp)
    return;
  dirtyStamp[stage] = settleStamp;
  dirtyStages.push_back(stage);
}

/// Marks the stages where the value begins, ends or is passed on in another way than before, and moves its bytes.
void LargeState::noteChange(size_t number) {
  uint32_t firstTouch = number == 0 ? 0 : touchesEnd[number - 1], firstSpan = number == 0 ? 0 : spansEnd[number - 1];
  std::span<const Touch> before = std::span(savedTouches).subspan(firstTouch, touchesEnd[number] - firstTouch),
                         after = touches(edited[number]);
  bool parts = hasParts(edited[number]);
  if (!parts && std::ranges::equal(before, after))
    return;
  forEachChangedStage(before, after, parts, [&](int32_t stage) { markDirty(stage); });
  newSpans.clear();
  bytes.findSpans(*this, edited[number], after, newSpans);
  std::span<const LifeSpan> spansBefore = std::span(savedSpans).subspan(firstSpan, spansEnd[number] - firstSpan);
  bytes.forEachDifference(spansBefore, newSpans, [&](int32_t first, int32_t last, int64_t more) {
    addBytes(first, last, more);
    added.push_back({first, last, more});
  });
}

void LargeState::addBytes(int32_t first, int32_t last, int64_t bytes) {
  change[first] += bytes;
  change[last + 1] -= bytes;
  tree.add(first, last + 1, bytes);
}

void LargeState::setInner(int32_t stage, int64_t bytes) {
  tree.add(stage, stage + 1, bytes - inner[stage]);
  inner[stage] = bytes;
}

void LargeState::settle() {
  ++settleStamp;
  dirtyStages.clear();
  for (size_t i = 0; i < edited.size(); ++i)
    noteChange(i);
  for (int32_t stage : editedStages)
    markDirty(stage);
  for (int32_t stage : dirtyStages)
    if (int64_t highest = bytes.innerPeak(*this, stage); highest != inner[stage]) {
      savedInner.push_back({stage, inner[stage]});
      setInner(stage, highest);
    }
}

int64_t LargeState::highestChanged() const {
  int64_t most = 0;
  for (const LifeSpan &span : added)
    if (span.bytes > 0)
      most = std::max(most, highest(span.first, span.last + 1));
  for (auto [stage, before] : savedInner)
    if (inner[stage] > before)
      most = std::max(most, highest(stage, stage + 1));
  return most;
}

} // namespace remat
