//===- OrderSearchState.cpp - An order under small moves ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrderSearchState.h"

#include <algorithm>

namespace remat {

/// Moves of more ops at once are rarely good, and dear.
static constexpr size_t mostMoved = 16;

OrderState::OrderState(const OrderProblem &problem, OpOrder order)
    : problem(problem), ops(std::move(order)), steps(ops.size()), lastReader(problem.numStorages()), freed(ops.size()),
      levels(levelsOf(problem, ops)), stamps(ops.size()), movedStamps(ops.size()) {
  for (uint32_t t = 0; t < ops.size(); ++t) {
    steps[ops[t]] = t;
    freed[ops[t]] = problem.unreadBytes(ops[t]);
    for (uint32_t storage : problem.reads(ops[t]))
      lastReader[storage] = ops[t];
  }
  for (uint32_t storage = 0; storage < problem.numStorages(); ++storage)
    freed[lastReader[storage]] += problem.storageBytes(storage);
}

int64_t OrderState::peak() const { return levels.empty() ? 0 : std::ranges::max(levels); }

std::pair<uint32_t, uint32_t> OrderState::range(uint32_t op) const {
  uint32_t first = 0, last = ops.size() - 1;
  for (uint32_t other : problem.before(op))
    first = std::max(first, steps[other] + 1);
  for (uint32_t other : problem.behind(op))
    last = std::min(last, steps[other] - 1);
  return {first, last};
}

static void add(OrderState::Excess &excess, std::span<const int64_t> levels, int64_t low, int64_t high) {
  int64_t bytes = 0, reaching = 0;
  for (int64_t level : levels) {
    bytes += std::max<int64_t>(0, level - low);
    reaching += level >= high;
  }
  excess.bytes += double(bytes);
  excess.reaching += reaching;
}

void OrderState::setBounds(int64_t newLow, int64_t newHigh) {
  low = newLow;
  high = newHigh;
  now = {};
  add(now, levels, low, high);
}

/// Fills `window` with the ops between the op and its target as they stand afterwards, `moved` with those that move.
void OrderState::arrange(uint32_t op, uint32_t target) {
  uint32_t from = steps[op];
  moved.assign(1, op);
  rest.clear();
  ++stamp;
  if (target < from) {
    for (uint32_t other : problem.before(op))
      stamps[other] = stamp;
    for (uint32_t t = from; t-- > target;) {
      uint32_t other = ops[t];
      if (stamps[other] != stamp) {
        rest.push_back(other);
        continue;
      }
      if (moved.size() == mostMoved) {
        target = t + 1;
        break;
      }
      moved.push_back(other);
      for (uint32_t needed : problem.before(other))
        stamps[needed] = stamp;
    }
    windowBegin = target;
    window.assign(moved.rbegin(), moved.rend());
    window.insert(window.end(), rest.rbegin(), rest.rend());
  } else {
    for (uint32_t other : problem.behind(op))
      stamps[other] = stamp;
    for (uint32_t t = from + 1; t <= target; ++t) {
      uint32_t other = ops[t];
      if (stamps[other] != stamp) {
        rest.push_back(other);
        continue;
      }
      if (moved.size() == mostMoved) {
        target = t - 1;
        break;
      }
      moved.push_back(other);
      for (uint32_t user : problem.behind(other))
        stamps[user] = stamp;
    }
    windowBegin = from;
    window = rest;
    window.insert(window.end(), moved.begin(), moved.end());
  }
}

uint32_t OrderState::lastReaderOf(uint32_t storage) const {
  std::span<const uint32_t> readers = problem.readers(storage);
  return *std::ranges::max_element(readers, {}, [&](uint32_t reader) { return steps[reader]; });
}

/// Storages whose last reader changes: one of its readers moves, and the last one is in the window.
void OrderState::moveFrees(uint32_t begin, uint32_t end) {
  for (uint32_t op : moved)
    for (uint32_t storage : problem.reads(op)) {
      uint32_t before = lastReader[storage];
      if (steps[before] < begin || steps[before] >= end)
        continue;
      // Ops that stay keep their order, and each that moves is looked at.
      uint32_t after = movedStamps[before] == stamp ? lastReaderOf(storage) : steps[op] > steps[before] ? op : before;
      if (after == before)
        continue;
      changedReaders.push_back({storage, before});
      lastReader[storage] = after;
      freed[before] -= problem.storageBytes(storage);
      freed[after] += problem.storageBytes(storage);
    }
}

OrderState::Excess OrderState::propose(uint32_t op, uint32_t target) {
  arrange(op, target);
  for (uint32_t other : moved)
    movedStamps[other] = stamp;
  uint32_t begin = windowBegin, end = begin + window.size();
  int64_t live = levels[begin] - problem.neededBytes(ops[begin]);
  for (uint32_t t = begin; t < end; ++t)
    steps[window[t - begin]] = t;
  changedReaders.clear();
  moveFrees(begin, end);
  windowLevels.resize(window.size());
  for (size_t i = 0; i < window.size(); ++i) {
    uint32_t other = window[i];
    windowLevels[i] = live + problem.neededBytes(other);
    live += problem.madeBytes(other) - freed[other];
  }
  Excess was;
  add(was, {levels.data() + begin, window.size()}, low, high);
  proposed = {};
  add(proposed, windowLevels, low, high);
  proposed.bytes += now.bytes - was.bytes;
  proposed.reaching += now.reaching - was.reaching;
  return proposed;
}

void OrderState::commit() {
  std::ranges::copy(window, ops.begin() + windowBegin);
  std::ranges::copy(windowLevels, levels.begin() + windowBegin);
  now = proposed;
}

void OrderState::rollback() {
  for (uint32_t t = windowBegin; t < windowBegin + window.size(); ++t)
    steps[ops[t]] = t;
  for (size_t i = changedReaders.size(); i-- > 0;) {
    auto [storage, op] = changedReaders[i];
    freed[lastReader[storage]] -= problem.storageBytes(storage);
    freed[op] += problem.storageBytes(storage);
    lastReader[storage] = op;
  }
}

} // namespace remat
