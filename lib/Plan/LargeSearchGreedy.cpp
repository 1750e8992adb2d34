//===- LargeSearchGreedy.cpp - From one limit to a lower one ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargeSearchGreedy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace remat {

/// Bytes cost something in stages that have less room than this share of the limit.
static constexpr double nearness = 0.03;
/// How far inputs that are dead are followed where it is decided what to drop.
static constexpr int depth = 4;
/// Passes over all gaps at one limit: the second and later ones deal with what the first made.
static constexpr int maxPasses = 8;
/// Keys that rise by less are not put back.
static constexpr double tolerance = 1 + 1e-3;

void LargeGreedy::findWeights() {
  std::vector<int64_t> levels = state.levels();
  std::vector<double> weights(levels.size());
  overloadedBefore.assign(levels.size() + 1, 0);
  mostAbove = 0;
  for (size_t t = 0; t < levels.size(); ++t) {
    double room = double(limitBytes - levels[t]);
    weights[t] = std::clamp(1 - room / (nearness * double(limitBytes)), 0.0, 1.0);
    overloadedBefore[t + 1] = overloadedBefore[t] + (levels[t] > limitBytes);
    mostAbove = std::max(mostAbove, levels[t] - limitBytes);
  }
  state.setPrices(weights, price);
}

/// At least what a byte costs that the gap in front of the touch frees.
double LargeGreedy::leastRate(int32_t node, int32_t i) const {
  std::span<const LargeState::Touch> touches = state.touches(node);
  double useful = std::min(state.problem().totalSize(node), mostAbove);
  return state.problem().node(node).cost / (useful * state.weight(touches[i - 1].stage + 1, touches[i].stage));
}

/// What a byte costs, if `bytes` are freed by dropping the gap in front of the touch. Infinite if nothing is freed.
///
/// What is held for it is subtracted from what it frees, so whether to hold an input depends on what a byte costs.
/// At the price that is paid already it is what costs least; a gap that is dearer than that is taken at the least price
/// at which it pays (Dinkelbach's method for ratios, from above).
double LargeGreedy::rate(int32_t node, int32_t i, double bytes) const {
  constexpr double infinity = std::numeric_limits<double>::infinity(), dear = 1e100;
  std::span<const LargeState::Touch> touches = state.touches(node);
  double crossed = bytes * state.weight(touches[i - 1].stage + 1, touches[i].stage);
  auto at = [&](double bytePrice) {
    LargeState::Estimate estimate = state.estimate(node, touches[i].stage, depth, bytePrice);
    return estimate.held < crossed ? estimate.cost / (crossed - estimate.held) : infinity;
  };
  if (double paid = at(price); paid <= price)
    return paid;
  double best = infinity, bytePrice = dear;
  for (int round = 0; round < 4; ++round) {
    double next = at(bytePrice);
    if (next >= best)
      break;
    best = next;
    bytePrice = std::max(next, price);
  }
  return best;
}

static bool isLater(double a, double b) { return a > b; }

void LargeGreedy::push(Candidate candidate) {
  heap.push_back(candidate);
  std::ranges::push_heap(heap, isLater, &Candidate::key);
}

void LargeGreedy::collect() {
  heap.clear();
  for (int32_t node = 0; node < state.problem().numNodes(); ++node) {
    if (!state.mayRepeat(node) || state.problem().totalSize(node) == 0)
      continue;
    std::span<const LargeState::Touch> touches = state.touches(node);
    for (int32_t i = 1; i < int32_t(touches.size()); ++i) {
      int32_t first = touches[i - 1].stage + 1, end = touches[i].stage;
      if (touches[i].repeats || first >= end || overloadedBefore[first] == overloadedBefore[end] ||
          !state.mayAddIn(node, end))
        continue;
      heap.push_back({leastRate(node, i), node, end});
    }
  }
  std::ranges::make_heap(heap, isLater, &Candidate::key);
}

void LargeGreedy::tryDrop(int32_t node, int32_t touch) {
  int64_t before = state.peak();
  double costBefore = state.cost();
  state.drop(node, touch);
  state.settle();
  // What costs less at a lower limit would have to count at the higher ones too.
  if (state.highestChanged() > before || state.cost() < costBefore)
    return state.rollback();
  pushInputs();
  state.commit();
}

/// New gaps of what is read again may have to be dropped too.
void LargeGreedy::pushInputs() {
  for (int32_t node : state.changedNodes()) {
    std::span<const LargeState::Touch> touches = state.touches(node);
    for (int32_t i = 1; i < int32_t(touches.size()); ++i) {
      int32_t first = touches[i - 1].stage + 1, end = touches[i].stage;
      if (!touches[i].repeats && first < end && state.mayAddIn(node, end) && state.weight(first, end) > 0 &&
          state.highest(first, end) > limitBytes)
        push({leastRate(node, i), node, end});
    }
  }
}

/// One pass over the gaps.
void LargeGreedy::pass() {
  findWeights();
  collect();
  while (!heap.empty() && state.peak() > limitBytes && !isInterrupted()) {
    std::ranges::pop_heap(heap, isLater, &Candidate::key);
    Candidate top = heap.back();
    heap.pop_back();
    int32_t touch = state.findTouch(top.node, top.stage);
    if (touch < 1 || state.touches(top.node)[touch].repeats || !state.mayAddIn(top.node, top.stage))
      continue;
    int32_t first = state.touches(top.node)[touch - 1].stage + 1;
    int64_t above = first < top.stage ? state.highest(first, top.stage) - limitBytes : 0;
    if (above <= 0)
      continue;
    int64_t size = state.problem().totalSize(top.node);
    double key = rate(top.node, touch, double(std::min(size, above)));
    if (!std::isfinite(key))
      continue;
    if (key > top.key * tolerance && !heap.empty() && key > heap.front().key) {
      push({key, top.node, top.stage});
      continue;
    }
    // Single dear gaps for the last few bytes must not make all that is held dear.
    price = std::max(price, size <= above ? key : rate(top.node, touch, double(size)));
    state.setPrice(price);
    tryDrop(top.node, touch);
  }
}

/// What a byte in one stage costs at least where it is not worth anything yet.
double LargeGreedy::leastPrice() const {
  return state.problem().baseCost() / (double(limitBytes) * state.problem().numNodes()) * 1e-3;
}

bool LargeGreedy::lower() {
  int64_t before = state.peak();
  for (int i = 0; i < maxPasses && state.peak() > limitBytes && !isInterrupted(); ++i) {
    // Where nothing helps, too much is held for what runs again.
    if (i > 0)
      price = std::max(4 * price, leastPrice());
    pass();
    if (i >= 3 && state.peak() == before)
      break;
    before = state.peak();
  }
  return state.peak() <= limitBytes;
}

//===----------------------------------------------------------------------===//
// Taking back
//===----------------------------------------------------------------------===//

bool LargeGreedy::tryKeep(int32_t node, int32_t stage, double leastCost) {
  int32_t touch = state.findTouch(node, stage);
  if (touch < 1 || !state.touches(node)[touch].repeats)
    return false;
  int32_t first = state.touches(node)[touch - 1].stage + 1;
  double before = state.cost();
  if (first < stage && state.highest(first, stage) + state.problem().totalSize(node) > limitBytes)
    return false;
  state.keep(node, touch);
  state.settle();
  if (state.highestChanged() > limitBytes || state.cost() >= before || state.cost() < leastCost) {
    state.rollback();
    return false;
  }
  state.commit();
  return true;
}

void LargeGreedy::takeBack(double leastCost) {
  findWeights();
  heap.clear();
  for (int32_t stage = 0; stage <= state.problem().numNodes(); ++stage)
    for (int32_t node : state.repeats(stage)) {
      int32_t touch = state.findTouch(node, stage);
      double weight = state.weight(state.touches(node)[touch - 1].stage + 1, stage);
      heap.push_back({state.problem().node(node).cost / (state.problem().totalSize(node) * weight), node, stage});
    }
  std::ranges::sort(heap, [](const Candidate &a, const Candidate &b) {
    return std::tuple(b.key, a.stage, a.node) < std::tuple(a.key, b.stage, b.node);
  });
  for (size_t i = 0; i < heap.size() && !isInterrupted(); ++i)
    tryKeep(heap[i].node, heap[i].stage, leastCost);
}

} // namespace remat
