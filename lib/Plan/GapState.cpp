//===- GapState.cpp - A plan as kept and dropped gaps ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GapState.h"

#include "PlanWriter.h"

#include <algorithm>
#include <cmath>

namespace remat {

GapState::GapState(const GapProblem &problem, int64_t limit)
    : instance(&problem), limitBytes(limit), touchList(problem.numNodes()), repeatList(problem.numNodes() + 1),
      levels(problem.numNodes() + 1), inner(problem.numNodes() + 1), partSpans(problem.numNodes()),
      priceBefore(problem.numNodes() + 2), touchStamp(problem.numNodes()), stageStamp(problem.numNodes() + 1),
      dirtyStamp(problem.numNodes() + 1), bytes(problem) {
  for (int32_t t = 0; t <= problem.numNodes(); ++t) {
    for (int32_t input : problem.inputs(t))
      touchList[input].push_back({t, 1, false, false});
    if (t < problem.numNodes())
      touchList[t].push_back({t, 0, false, false});
  }
  rebuild();
}

void GapState::rebuild() {
  for (auto &list : repeatList)
    list.clear();
  std::ranges::fill(levels, 0);
  std::ranges::fill(inner, 0);
  extraCost = 0;
  repeatCount = 0;
  int32_t count = instance->numNodes();
  for (int32_t node = 0; node < count; ++node)
    for (const Touch &touch : touchList[node])
      if (touch.repeats) {
        repeatList[touch.stage].push_back(node);
        extraCost += instance->node(node).cost;
        ++repeatCount;
      }
  excessBytes = 0;
  for (int32_t node = 0; node < count; ++node) {
    newSpans.clear();
    bytes.findSpans(*this, node, touches(node), newSpans);
    if (hasParts(node))
      partSpans[node] = newSpans;
    for (const LifeSpan &span : newSpans)
      addBytes(span.first, span.last, span.bytes);
  }
  for (int32_t t = 0; t <= count; ++t)
    levels[t] += inner[t] = double(bytes.innerPeak(*this, t));
  setLimit(limitBytes);
  addedSpans.clear();
  commit();
}

void GapState::setLimit(int64_t bytes) {
  limitBytes = bytes;
  excessBytes = 0;
  for (double level : levels)
    excessBytes += std::max(0.0, level - limitBytes);
  savedExcess = excessBytes;
}

double GapState::peak() const { return *std::ranges::max_element(levels); }

void GapState::restore(const Snapshot &saved) {
  touchList = saved.touches;
  rebuild();
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

GapState::Touches &GapState::edit(int32_t node) {
  if (touchStamp[node] != stamp) {
    touchStamp[node] = stamp;
    if (touchesInUse == savedTouches.size())
      savedTouches.emplace_back();
    SavedTouches &saved = savedTouches[touchesInUse++];
    saved.node = node;
    saved.touches.assign(touchList[node].begin(), touchList[node].end());
    if (hasParts(node))
      saved.spans = partSpans[node];
  }
  return touchList[node];
}

void GapState::editStage(int32_t stage) {
  if (stageStamp[stage] == stamp)
    return;
  stageStamp[stage] = stamp;
  if (stagesInUse == savedStages.size())
    savedStages.emplace_back();
  SavedStage &saved = savedStages[stagesInUse++];
  saved.stage = stage;
  saved.repeats.assign(repeatList[stage].begin(), repeatList[stage].end());
}

/// An estimate, for the stages' prices change: bytes that are held between the stages, at what they cost there.
double GapState::holdingCost(int32_t node, int32_t from, int32_t to) const {
  return instance->totalSize(node) * (priceBefore[to] - priceBefore[from + 1]);
}

/// What running the op again in the stage costs, with the inputs that are not alive there.
double GapState::costAgain(int32_t node, int32_t stage, int depth) const {
  double cost = instance->node(node).cost;
  for (int32_t input : instance->inputs(node)) {
    const Touches &touches = touchList[input];
    int32_t i = lowerTouch(std::span<const Touch>(touches), stage);
    if (i < int32_t(touches.size()) && (touches[i].stage == stage || !touches[i].repeats))
      continue;
    double hold = holdingCost(input, touches[i - 1].stage, stage);
    if (hold > 0 && mayRepeatIn(input, stage))
      hold = std::min(hold, depth > 0 ? costAgain(input, stage, depth - 1) : 3 * instance->node(input).cost);
    cost += hold;
  }
  return cost;
}

void GapState::setPrices(std::span<const double> prices) {
  double sum = 0;
  for (size_t t = 0; t < prices.size(); ++t) {
    priceBefore[t] = sum;
    sum += prices[t];
  }
  priceBefore[prices.size()] = sum;
}

void GapState::addRepeat(int32_t node, int32_t stage, Random &random) {
  editStage(stage);
  std::vector<int32_t> &list = repeatList[stage];
  list.insert(std::ranges::lower_bound(list, node), node);
  extraCost += instance->node(node).cost;
  ++repeatCount;
  for (int32_t input : instance->inputs(node))
    addReader(input, stage, random);
}

void GapState::removeRepeat(int32_t node, int32_t stage, Random &random) {
  editStage(stage);
  std::vector<int32_t> &list = repeatList[stage];
  list.erase(std::ranges::lower_bound(list, node));
  extraCost -= instance->node(node).cost;
  --repeatCount;
  for (int32_t input : instance->inputs(node))
    removeReader(input, stage, random);
}

void GapState::addReader(int32_t node, int32_t stage, Random &random) {
  Touches &touches = edit(node);
  int32_t i = lowerTouch(std::span<const Touch>(touches), stage);
  if (i < int32_t(touches.size()) && touches[i].stage == stage) {
    ++touches[i].readers;
    return;
  }
  touches.insert(touches.begin() + i, {stage, 1, false, false});
  bool isLast = i + 1 == int32_t(touches.size());
  if (!mayRepeatIn(node, stage) || (!isLast && !touches[i + 1].repeats))
    return;
  if (holdsMostly && random.chance(isLast ? 0.9 : 0.5))
    return;
  double again = costAgain(node, stage, 1) * std::exp2(2 * random.unit() - 0.5),
         before = holdingCost(node, touches[i - 1].stage, stage);
  if (isLast) {
    if (before <= again)
      return;
  } else {
    // What is alive in front of the reader may serve it, or the repetition behind it, which then runs here.
    int32_t next = touches[i + 1].stage;
    double behind = holdingCost(node, stage, next);
    if (before <= std::min(again, behind))
      return;
    if (behind <= again) {
      touches[i + 1].repeats = touches[i + 1].pinned = false;
      if (touches[i + 1].readers == 0)
        touches.erase(touches.begin() + i + 1);
      removeRepeat(node, next, random);
    }
  }
  touches[i].repeats = true;
  addRepeat(node, stage, random);
}

void GapState::removeReader(int32_t node, int32_t stage, Random &random) {
  Touches &touches = edit(node);
  int32_t i = lowerTouch(std::span<const Touch>(touches), stage);
  if (--touches[i].readers == 0 && !touches[i].pinned && i > 0)
    eraseTouch(node, i, random);
}

void GapState::eraseTouch(int32_t node, int32_t i, Random &random) {
  Touches &touches = edit(node);
  Touch touch = touches[i];
  touches.erase(touches.begin() + i);
  bool isLast = i == int32_t(touches.size());
  if (touch.repeats) {
    // What served the next touch either runs there now, or the value is held from the touch before.
    if (!isLast && !touches[i].repeats && mayRepeatIn(node, touches[i].stage) &&
        costAgain(node, touches[i].stage, 1) * std::exp2(2 * random.unit() - 0.5) <
            holdingCost(node, touches[i - 1].stage, touches[i].stage)) {
      touches[i].repeats = true;
      addRepeat(node, touches[i].stage, random);
    }
    removeRepeat(node, touch.stage, random);
  }
  eraseUselessPin(node, i - 1, random);
}

/// Erases touch `i` if it is there for what comes behind alone, and that doesn't need it any more.
void GapState::eraseUselessPin(int32_t node, int32_t i, Random &random) {
  const Touches &touches = touchList[node];
  if (touches[i].pinned && touches[i].readers == 0 && (i + 1 == int32_t(touches.size()) || touches[i + 1].repeats))
    eraseTouch(node, i, random);
}

bool GapState::drop(int32_t node, int32_t i, Random &random) {
  if (!mayRepeatIn(node, touchList[node][i].stage))
    return false;
  Touches &touches = edit(node);
  touches[i].repeats = true;
  addRepeat(node, touches[i].stage, random);
  eraseUselessPin(node, i - 1, random);
  return true;
}

void GapState::keep(int32_t node, int32_t i, Random &random) {
  Touches &touches = edit(node);
  int32_t stage = touches[i].stage;
  touches[i].repeats = touches[i].pinned = false;
  if (touches[i].readers == 0)
    touches.erase(touches.begin() + i);
  removeRepeat(node, stage, random);
}

bool GapState::runEarlier(int32_t node, int32_t i, int32_t stage, Random &random) {
  if (!mayRepeatIn(node, stage))
    return false;
  Touches &touches = edit(node);
  int32_t from = touches[i].stage;
  touches[i].repeats = touches[i].pinned = false;
  if (touches[i].readers == 0)
    touches.erase(touches.begin() + i);
  touches.insert(touches.begin() + i, {stage, 0, true, true});
  addRepeat(node, stage, random);
  removeRepeat(node, from, random);
  return true;
}

void GapState::commit() {
  touchesInUse = stagesInUse = 0;
  addedSpans.clear();
  savedInner.clear();
  savedCost = extraCost;
  savedExcess = excessBytes;
  savedRepeatCount = repeatCount;
  ++stamp;
}

void GapState::rollback() {
  for (const LifeSpan &span : addedSpans)
    for (int32_t t = span.first; t <= span.last; ++t)
      levels[t] -= span.bytes;
  for (size_t i = savedInner.size(); i-- > 0;) {
    auto [stage, bytes] = savedInner[i];
    levels[stage] += bytes - inner[stage];
    inner[stage] = bytes;
  }
  for (size_t i = 0; i < touchesInUse; ++i) {
    SavedTouches &saved = savedTouches[i];
    touchList[saved.node].swap(saved.touches);
    if (hasParts(saved.node))
      partSpans[saved.node].swap(saved.spans);
  }
  for (size_t i = 0; i < stagesInUse; ++i)
    repeatList[savedStages[i].stage].swap(savedStages[i].repeats);
  extraCost = savedCost;
  excessBytes = savedExcess;
  repeatCount = savedRepeatCount;
  commit();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

void GapState::markDirty(int32_t stage) {
  if (dirtyStamp[stage] == settleStamp)
    return;
  dirtyStamp[stage] = settleStamp;
  dirtyStages.push_back(stage);
}

void GapState::noteChange(SavedTouches &saved) {
  bool parts = hasParts(saved.node);
  if (!parts && saved.touches == touchList[saved.node])
    return;
  std::span<const Touch> before = saved.touches;
  forEachChangedStage(before, touches(saved.node), parts, [&](int32_t stage) { markDirty(stage); });
  oldSpans.clear();
  newSpans.clear();
  // What parts of several were read by is not known any more, so their spans were saved.
  if (!parts)
    bytes.findSpans(*this, saved.node, before, oldSpans);
  bytes.findSpans(*this, saved.node, touches(saved.node), newSpans);
  bytes.forEachDifference(parts ? saved.spans : oldSpans, newSpans,
                          [&](int32_t first, int32_t last, int64_t added) { addBytes(first, last, added); });
  if (parts)
    partSpans[saved.node] = newSpans;
}

/// All numbers are integers that a double holds exactly, so the order of sums does not matter.
void GapState::addBytes(int32_t first, int32_t last, int64_t addedBytes) {
  addedSpans.push_back({first, last, addedBytes});
  double added = double(addedBytes);
  double *level = levels.data() + first;
  int32_t count = last - first + 1, t = 0;
  double sum[4] = {0, 0, 0, 0};
  for (; t + 4 <= count; t += 4)
    for (int32_t k = 0; k < 4; ++k) {
      double old = level[t + k] - limitBytes, now = old + added;
      sum[k] += std::max(now, 0.0) - std::max(old, 0.0);
      level[t + k] += added;
    }
  for (; t < count; ++t) {
    double old = level[t] - limitBytes, now = old + added;
    sum[0] += std::max(now, 0.0) - std::max(old, 0.0);
    level[t] += added;
  }
  excessBytes += (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void GapState::settle() {
  ++settleStamp;
  dirtyStages.clear();
  for (size_t i = 0; i < touchesInUse; ++i)
    noteChange(savedTouches[i]);
  for (size_t i = 0; i < stagesInUse; ++i)
    markDirty(savedStages[i].stage);
  for (int32_t stage : dirtyStages) {
    double highest = double(bytes.innerPeak(*this, stage));
    if (highest == inner[stage])
      continue;
    savedInner.push_back({stage, inner[stage]});
    double old = levels[stage], now = old + highest - inner[stage];
    excessBytes += std::max(0.0, now - limitBytes) - std::max(0.0, old - limitBytes);
    levels[stage] = now;
    inner[stage] = highest;
  }
}

Plan GapState::plan() const {
  PlanWriter writer(instance->graph());
  for (int32_t t = 0; t <= instance->numNodes(); ++t) {
    for (int32_t node : repeatList[t])
      writer.execute(instance->op(node));
    if (t < instance->numNodes())
      writer.execute(instance->op(t));
  }
  return writer.finish();
}

} // namespace remat
