//===- OrderSearchStart.cpp - Orders by rule ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Near-linear: where the search by moves starts, and what graphs of a million ops get.
//
//===----------------------------------------------------------------------===//

#include "OrderSearchProblem.h"

#include <algorithm>
#include <queue>

namespace remat {

namespace {

/// The places of ops while they are moved one after another: an op that moves takes the place of another one.
struct Places {
  Places(const OrderProblem &problem, std::span<const uint32_t> order)
      : problem(problem), order(order), place(order.size()), movedTo(order.size()) {
    for (uint32_t t = 0; t < order.size(); ++t)
      place[order[t]] = t;
  }

  /// The ops with a new place stand at `movedTo`, `ahead` of the op there or behind it.
  OpOrder sorted(const std::vector<uint32_t> &moved, bool ahead) const {
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (uint32_t op : moved)
      pairs.push_back({movedTo[op], op});
    NumberLists at(order.size(), pairs);
    std::vector<bool> isMoved(order.size());
    for (uint32_t op : moved)
      isMoved[op] = true;
    OpOrder result;
    for (uint32_t t = 0; t < order.size(); ++t) {
      if (!ahead && !isMoved[order[t]])
        result.push_back(order[t]);
      result.insert(result.end(), at[t].begin(), at[t].end());
      if (ahead && !isMoved[order[t]])
        result.push_back(order[t]);
    }
    return result;
  }

  const OrderProblem &problem;
  std::span<const uint32_t> order;
  std::vector<uint32_t> place, movedTo;
};

} // namespace

/// Ops go to the first op behind them if what they make is larger than what they hold until then. Constants and views,
/// which have no bytes, go too: they would hold up others.
static OpOrder sinkOps(const OrderProblem &problem, std::span<const uint32_t> order) {
  Places places(problem, order);
  std::vector<uint32_t> moved;
  for (uint32_t t = order.size(); t-- > 0;) {
    uint32_t op = order[t];
    if (problem.behind(op).empty())
      continue;
    uint32_t target = order.size();
    for (uint32_t other : problem.behind(op))
      target = std::min(target, places.place[other]);
    if (target == t + 1)
      continue;
    int64_t held = 0;
    for (uint32_t storage : problem.reads(op))
      if (std::ranges::none_of(problem.readers(storage),
                               [&](uint32_t other) { return other != op && places.place[other] >= target; }))
        held += problem.storageBytes(storage);
    if (held > problem.madeBytes(op) || (held == problem.madeBytes(op) && held > 0))
      continue;
    places.place[op] = places.movedTo[op] = target;
    moved.push_back(op);
  }
  // Ops at the same place stand in their old order.
  std::ranges::reverse(moved);
  return places.sorted(moved, /*ahead=*/true);
}

/// Ops go to the last op that they need if they free more there than they make.
static OpOrder hoistOps(const OrderProblem &problem, std::span<const uint32_t> order) {
  Places places(problem, order);
  std::vector<uint32_t> moved;
  for (uint32_t t = 0; t < order.size(); ++t) {
    uint32_t op = order[t];
    if (problem.before(op).empty())
      continue;
    uint32_t target = 0;
    for (uint32_t other : problem.before(op))
      target = std::max(target, places.place[other]);
    if (target + 1 == t)
      continue;
    int64_t freed = 0;
    for (uint32_t storage : problem.reads(op))
      if (std::ranges::none_of(problem.readers(storage),
                               [&](uint32_t other) { return other != op && places.place[other] > target; }))
        freed += problem.storageBytes(storage);
    if (freed <= problem.madeBytes(op) - problem.unreadBytes(op))
      continue;
    places.place[op] = places.movedTo[op] = target;
    moved.push_back(op);
  }
  return places.sorted(moved, /*ahead=*/false);
}

OpOrder tightenOrder(const OrderProblem &problem, std::span<const uint32_t> order) {
  return sinkOps(problem, hoistOps(problem, order));
}

namespace {

/// List scheduling.
class Lister {
public:
  Lister(const OrderProblem &problem, std::span<const double> noise)
      : problem(problem), noise(noise), missing(problem.numOps()), growth(problem.numOps()),
        unread(problem.numStorages()) {
    for (uint32_t storage = 0; storage < problem.numStorages(); ++storage)
      unread[storage] = problem.readers(storage).size();
    for (uint32_t op = 0; op < problem.numOps(); ++op) {
      missing[op] = problem.before(op).size();
      growth[op] = double(problem.neededBytes(op)) + (noise.empty() ? 0 : noise[op]);
      for (uint32_t storage : problem.reads(op))
        growth[op] -= share(storage);
      if (missing[op] == 0)
        ready.push({growth[op], op});
    }
  }

  OpOrder run() {
    OpOrder order;
    std::vector<bool> isDone(problem.numOps());
    while (!ready.empty()) {
      auto [bytes, op] = ready.top();
      ready.pop();
      if (isDone[op] || bytes != growth[op])
        continue;
      isDone[op] = true;
      order.push_back(op);
      for (uint32_t storage : problem.reads(op))
        read(storage, isDone);
      for (uint32_t next : problem.behind(op))
        if (--missing[next] == 0)
          ready.push({growth[next], next});
    }
    return order;
  }

private:
  /// Storages with more readers than this left count for none of them.
  static constexpr uint32_t fewReaders = 3;

  /// What a reader is given of the bytes that are freed when all have run.
  double share(uint32_t storage) const {
    return unread[storage] <= fewReaders ? double(problem.storageBytes(storage)) / unread[storage] : 0;
  }

  void read(uint32_t storage, const std::vector<bool> &isDone) {
    double before = share(storage);
    if (--unread[storage] == 0 || unread[storage] > fewReaders)
      return;
    for (uint32_t reader : problem.readers(storage))
      if (!isDone[reader]) {
        growth[reader] -= share(storage) - before;
        if (missing[reader] == 0)
          ready.push({growth[reader], reader});
      }
  }

  const OrderProblem &problem;
  std::span<const double> noise;
  std::vector<uint32_t> missing; ///< By op: ops before it that have not run.
  std::vector<double> growth;    ///< By op.
  std::vector<uint32_t> unread;  ///< By storage: readers that have not run.
  std::priority_queue<std::pair<double, uint32_t>, std::vector<std::pair<double, uint32_t>>, std::greater<>> ready;
};

} // namespace

OpOrder listOrder(const OrderProblem &problem, std::span<const double> noise) { return Lister(problem, noise).run(); }

} // namespace remat
