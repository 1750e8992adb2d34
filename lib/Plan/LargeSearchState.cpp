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
      placeStamp(problem.numPlaces()), bornStamp(problem.numNodes()), lastReader(problem.numPlaces()),
      bornAt(problem.numNodes()) {
  makeTouches();
  rebuild();
}

void LargeState::rebuild() {
  extraCost = 0;
  repeatCount = 0;
  std::ranges::fill(change, 0);
  for (int32_t node = 0; node < instance->numNodes(); ++node) {
    newSpans.clear();
    findSpans(node, newSpans);
    for (const Span &span : newSpans) {
      change[span.first] += span.bytes;
      change[span.last + 1] -= span.bytes;
    }
  }
  for (int32_t t = 0; t <= instance->numNodes(); ++t) {
    inner[t] = innerPeak(t);
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

int32_t LargeState::lowerTouch(std::span<const Touch> touches, int32_t stage) {
  // Most lists are short.
  if (touches.size() > 16)
    return std::ranges::lower_bound(touches, stage, {}, &Touch::stage) - touches.begin();
  int32_t i = touches.size();
  while (i > 0 && touches[i - 1].stage >= stage)
    --i;
  return i;
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
  findSpans(node, savedSpans);
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

bool LargeState::isRead(GapProblem::Place place, int32_t stage) const {
  // The last stage reads all results of the function.
  auto before = [](GapProblem::Place a, GapProblem::Place b) {
    return a.node != b.node ? a.node < b.node : a.result < b.result;
  };
  auto reads = [&](int32_t op) { return std::ranges::binary_search(instance->reads(op), place, before); };
  return reads(stage) || std::ranges::any_of(repeats(stage), reads);
}

/// True if what is made or held in the stage's touch is read in a later stage before the op runs again.
bool LargeState::livesOn(GapProblem::Place place, int32_t stage) const {
  std::span<const Touch> list = touches(place.node);
  int32_t i = lowerTouch(list, stage);
  if (!hasParts(place.node))
    return i + 1 < int32_t(list.size()) && !list[i + 1].repeats;
  for (++i; i < int32_t(list.size()) && !list[i].repeats; ++i)
    if (isRead(place, list[i].stage))
      return true;
  return false;
}

/// Adds the stages that the op's results live through from beginning to end.
void LargeState::findSpans(int32_t node, std::vector<Span> &spans) const {
  std::span<const int64_t> sizes = instance->sizes(node);
  std::span<const Touch> list = touches(node);
  for (size_t begin = 0, end; begin < list.size(); begin = end) {
    for (end = begin + 1; end < list.size() && !list[end].repeats;)
      ++end;
    for (int32_t r = 0; r < int32_t(sizes.size()); ++r) {
      size_t last = end - 1;
      while (sizes.size() > 1 && last > begin && !isRead({node, r}, list[last].stage))
        --last;
      if (list[last].stage > list[begin].stage + 1)
        spans.push_back({list[begin].stage + 1, list[last].stage - 1, sizes[r]});
    }
  }
}

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
  auto kind = [](std::span<const Touch> list, size_t i) {
    return std::pair(bool(list[i].repeats), i + 1 < list.size() && !list[i + 1].repeats);
  };
  for (size_t a = 0, b = 0; a < before.size() || b < after.size();) {
    if (b == after.size() || (a < before.size() && before[a].stage < after[b].stage))
      markDirty(before[a++].stage);
    else if (a == before.size() || after[b].stage < before[a].stage)
      markDirty(after[b++].stage);
    else {
      if (parts || kind(before, a) != kind(after, b))
        markDirty(after[b].stage);
      ++a, ++b;
    }
  }
  newSpans.clear();
  findSpans(edited[number], newSpans);
  moveSpans(std::span(savedSpans).subspan(firstSpan, spansEnd[number] - firstSpan), newSpans);
}

/// Changes the levels by the difference alone: most spans only move one end.
void LargeState::moveSpans(std::span<const Span> before, std::span<const Span> after) {
  steps.clear();
  for (const Span &span : before) {
    steps.push_back({span.first, -span.bytes});
    steps.push_back({span.last + 1, span.bytes});
  }
  for (const Span &span : after) {
    steps.push_back({span.first, span.bytes});
    steps.push_back({span.last + 1, -span.bytes});
  }
  std::ranges::sort(steps);
  int64_t bytes = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    bytes += steps[i].second;
    if (bytes == 0 || steps[i + 1].first == steps[i].first)
      continue;
    addBytes(steps[i].first, steps[i + 1].first - 1, bytes);
    added.push_back({steps[i].first, steps[i + 1].first - 1, bytes});
  }
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
    if (int64_t bytes = innerPeak(stage); bytes != inner[stage]) {
      savedInner.push_back({stage, inner[stage]});
      setInner(stage, bytes);
    }
}

int64_t LargeState::highestChanged() const {
  int64_t most = 0;
  for (const Span &span : added)
    if (span.bytes > 0)
      most = std::max(most, highest(span.first, span.last + 1));
  for (auto [stage, before] : savedInner)
    if (inner[stage] > before)
      most = std::max(most, highest(stage, stage + 1));
  return most;
}

void LargeState::notePlace(GapProblem::Place place, int32_t position) {
  uint32_t number = instance->number(place);
  if (placeStamp[number] != innerStamp) {
    placeStamp[number] = innerStamp;
    seen.push_back(place);
  }
  lastReader[number] = position;
}

/// The most bytes alive at one step of the stage, but for what lives through all of it.
int64_t LargeState::innerPeak(int32_t stage) {
  ++innerStamp;
  seen.clear();
  executed.assign(repeats(stage).begin(), repeats(stage).end());
  executed.push_back(stage); // The last stage has no op, but reads.
  int32_t count = executed.size();
  stepChange.assign(count + 1, 0);
  for (int32_t p = 0; p < count; ++p) {
    for (GapProblem::Place place : instance->reads(executed[p]))
      notePlace(place, p);
    if (executed[p] == instance->numNodes())
      continue;
    bornStamp[executed[p]] = innerStamp;
    bornAt[executed[p]] = p;
    for (int32_t r = 0; r < int32_t(instance->sizes(executed[p]).size()); ++r)
      notePlace({executed[p], r}, p);
  }
  for (GapProblem::Place place : seen) {
    bool isBorn = bornStamp[place.node] == innerStamp, goesOn = livesOn(place, stage);
    if (!isBorn && goesOn)
      continue;
    int64_t bytes = instance->sizes(place.node)[place.result];
    stepChange[isBorn ? bornAt[place.node] : 0] += bytes;
    if (!goesOn)
      stepChange[lastReader[instance->number(place)] + 1] -= bytes;
  }
  int64_t live = 0, highestLive = 0;
  for (int32_t p = 0; p < count; ++p) {
    live += stepChange[p];
    int64_t workspace = executed[p] < instance->numNodes() ? instance->node(executed[p]).workspaceBytes : 0;
    highestLive = std::max(highestLive, live + workspace);
  }
  return highestLive;
}

} // namespace remat
