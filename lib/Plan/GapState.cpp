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

static int32_t findTouch(const GapState::Touches &touches, int32_t stage) {
  // Lists are short, and most questions are about their end.
  int32_t i = touches.size();
  while (i > 0 && touches[i - 1].stage >= stage)
    --i;
  return i;
}

GapState::GapState(const GapProblem &problem, int64_t limit)
    : instance(&problem), limitBytes(limit), touchList(problem.numNodes()), repeatList(problem.numNodes() + 1),
      levels(problem.numNodes() + 1), inner(problem.numNodes() + 1), partSpans(problem.numNodes()),
      priceBefore(problem.numNodes() + 2), touchStamp(problem.numNodes()), stageStamp(problem.numNodes() + 1),
      dirtyStamp(problem.numNodes() + 1), placeStamp(problem.numPlaces()), bornStamp(problem.numNodes()),
      lastReader(problem.numPlaces()), bornAt(problem.numNodes()) {
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
    findSpans(node, touchList[node], newSpans);
    if (hasParts(node))
      partSpans[node] = newSpans;
    for (const Span &span : newSpans)
      addBytes(span.first, span.last, span.bytes);
  }
  for (int32_t t = 0; t <= count; ++t)
    levels[t] += inner[t] = innerPeak(t);
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
    int32_t i = findTouch(touches, stage);
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

void GapState::addRepeat(int32_t node, int32_t stage, SearchRandom &random) {
  editStage(stage);
  std::vector<int32_t> &list = repeatList[stage];
  list.insert(std::ranges::lower_bound(list, node), node);
  extraCost += instance->node(node).cost;
  ++repeatCount;
  for (int32_t input : instance->inputs(node))
    addReader(input, stage, random);
}

void GapState::removeRepeat(int32_t node, int32_t stage, SearchRandom &random) {
  editStage(stage);
  std::vector<int32_t> &list = repeatList[stage];
  list.erase(std::ranges::lower_bound(list, node));
  extraCost -= instance->node(node).cost;
  --repeatCount;
  for (int32_t input : instance->inputs(node))
    removeReader(input, stage, random);
}

void GapState::addReader(int32_t node, int32_t stage, SearchRandom &random) {
  Touches &touches = edit(node);
  int32_t i = findTouch(touches, stage);
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

void GapState::removeReader(int32_t node, int32_t stage, SearchRandom &random) {
  Touches &touches = edit(node);
  int32_t i = findTouch(touches, stage);
  if (--touches[i].readers == 0 && !touches[i].pinned && i > 0)
    eraseTouch(node, i, random);
}

void GapState::eraseTouch(int32_t node, int32_t i, SearchRandom &random) {
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
void GapState::eraseUselessPin(int32_t node, int32_t i, SearchRandom &random) {
  const Touches &touches = touchList[node];
  if (touches[i].pinned && touches[i].readers == 0 && (i + 1 == int32_t(touches.size()) || touches[i + 1].repeats))
    eraseTouch(node, i, random);
}

bool GapState::drop(int32_t node, int32_t i, SearchRandom &random) {
  if (!mayRepeatIn(node, touchList[node][i].stage))
    return false;
  Touches &touches = edit(node);
  touches[i].repeats = true;
  addRepeat(node, touches[i].stage, random);
  eraseUselessPin(node, i - 1, random);
  return true;
}

void GapState::keep(int32_t node, int32_t i, SearchRandom &random) {
  Touches &touches = edit(node);
  int32_t stage = touches[i].stage;
  touches[i].repeats = touches[i].pinned = false;
  if (touches[i].readers == 0)
    touches.erase(touches.begin() + i);
  removeRepeat(node, stage, random);
}

bool GapState::runEarlier(int32_t node, int32_t i, int32_t stage, SearchRandom &random) {
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
  for (const Span &span : addedSpans)
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

bool GapState::isRead(GapProblem::Place place, int32_t stage) const {
  auto reads = [&](int32_t op) { return std::ranges::find(instance->reads(op), place) != instance->reads(op).end(); };
  return reads(stage) || std::ranges::any_of(repeatList[stage], reads);
}

/// True if what is made or held in the stage's touch is read in a later stage before the op runs again.
bool GapState::livesOn(GapProblem::Place place, int32_t stage) const {
  const Touches &touches = touchList[place.node];
  int32_t i = findTouch(touches, stage);
  if (!hasParts(place.node))
    return i + 1 < int32_t(touches.size()) && !touches[i + 1].repeats;
  for (++i; i < int32_t(touches.size()) && !touches[i].repeats; ++i)
    if (isRead(place, touches[i].stage))
      return true;
  return false;
}

void GapState::findSpans(int32_t node, const Touches &touches, std::vector<Span> &spans) const {
  spans.clear();
  std::span<const int64_t> sizes = instance->sizes(node);
  for (size_t begin = 0, end; begin < touches.size(); begin = end) {
    for (end = begin + 1; end < touches.size() && !touches[end].repeats;)
      ++end;
    for (int32_t r = 0; r < int32_t(sizes.size()); ++r) {
      size_t last = end - 1;
      while (sizes.size() > 1 && last > begin && !isRead({node, r}, touches[last].stage))
        --last;
      if (touches[last].stage > touches[begin].stage + 1)
        spans.push_back({touches[begin].stage + 1, touches[last].stage - 1, double(sizes[r])});
    }
  }
}

void GapState::markDirty(int32_t stage) {
  if (dirtyStamp[stage] == settleStamp)
    return;
  dirtyStamp[stage] = settleStamp;
  dirtyStages.push_back(stage);
}

/// Marks the stages where the value begins, ends or is passed on in another way than before.
void GapState::noteStages(const Touches &before, const Touches &after) {
  auto kind = [](const Touches &touches, size_t i) {
    return std::pair(touches[i].repeats, i + 1 < touches.size() && !touches[i + 1].repeats);
  };
  size_t a = 0, b = 0;
  while (a < before.size() || b < after.size()) {
    if (b == after.size() || (a < before.size() && before[a].stage < after[b].stage))
      markDirty(before[a++].stage);
    else if (a == before.size() || after[b].stage < before[a].stage)
      markDirty(after[b++].stage);
    else {
      if (kind(before, a) != kind(after, b))
        markDirty(after[b].stage);
      ++a, ++b;
    }
  }
}

void GapState::noteChange(SavedTouches &saved) {
  const Touches &touches = touchList[saved.node];
  if (!hasParts(saved.node)) {
    if (saved.touches == touches)
      return;
    noteStages(saved.touches, touches);
    findSpans(saved.node, saved.touches, oldSpans);
    findSpans(saved.node, touches, newSpans);
    moveSpans(oldSpans, newSpans);
    return;
  }
  for (const Touch &touch : saved.touches)
    markDirty(touch.stage);
  for (const Touch &touch : touches)
    markDirty(touch.stage);
  findSpans(saved.node, touches, newSpans);
  moveSpans(saved.spans, newSpans);
  partSpans[saved.node] = newSpans;
}

/// Changes the levels by the difference alone: most spans only move one end.
void GapState::moveSpans(std::span<const Span> before, std::span<const Span> after) {
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
  double bytes = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    bytes += steps[i].second;
    if (bytes != 0 && steps[i + 1].first > steps[i].first)
      addBytes(steps[i].first, steps[i + 1].first - 1, bytes);
  }
}

/// All numbers are integers that a double holds exactly, so the order of sums does not matter.
void GapState::addBytes(int32_t first, int32_t last, double bytes) {
  addedSpans.push_back({first, last, bytes});
  double *level = levels.data() + first;
  int32_t count = last - first + 1, t = 0;
  double sum[4] = {0, 0, 0, 0};
  for (; t + 4 <= count; t += 4)
    for (int32_t k = 0; k < 4; ++k) {
      double old = level[t + k] - limitBytes, now = old + bytes;
      sum[k] += std::max(now, 0.0) - std::max(old, 0.0);
      level[t + k] += bytes;
    }
  for (; t < count; ++t) {
    double old = level[t] - limitBytes, now = old + bytes;
    sum[0] += std::max(now, 0.0) - std::max(old, 0.0);
    level[t] += bytes;
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
    double bytes = innerPeak(stage);
    if (bytes == inner[stage])
      continue;
    savedInner.push_back({stage, inner[stage]});
    double old = levels[stage], now = old + bytes - inner[stage];
    excessBytes += std::max(0.0, now - limitBytes) - std::max(0.0, old - limitBytes);
    levels[stage] = now;
    inner[stage] = bytes;
  }
}

void GapState::notePlace(GapProblem::Place place, int32_t position) {
  uint32_t number = instance->number(place);
  if (placeStamp[number] != innerStamp) {
    placeStamp[number] = innerStamp;
    seen.push_back(place);
  }
  lastReader[number] = position;
}

/// The most bytes alive at one step of the stage, but for what lives through all of it.
double GapState::innerPeak(int32_t stage) {
  ++innerStamp;
  seen.clear();
  executed.assign(repeatList[stage].begin(), repeatList[stage].end());
  executed.push_back(stage); // The last stage has no op, but reads.
  int32_t count = executed.size();
  change.assign(count + 1, 0);
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
    double bytes = instance->sizes(place.node)[place.result];
    change[isBorn ? bornAt[place.node] : 0] += bytes;
    if (!goesOn)
      change[lastReader[instance->number(place)] + 1] -= bytes;
  }
  double live = 0, highest = 0;
  for (int32_t p = 0; p < count; ++p) {
    live += change[p];
    double workspace = executed[p] < instance->numNodes() ? instance->node(executed[p]).workspaceBytes : 0;
    highest = std::max(highest, live + workspace);
  }
  return highest;
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
