//===- OrderSearchAnneal.cpp - Annealing over orders ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrderSearchAnneal.h"

#include <algorithm>
#include <cmath>

namespace remat {

/// Moves that pass more ops than this take too long.
static constexpr uint32_t longestMove = 2000;

namespace {

class OrderAnnealer {
public:
  OrderAnnealer(const OrderProblem &problem, OpOrder start, const OrderAnnealOptions &options)
      : state(problem, std::move(start)), options(options), random(options.seed), best(state.order()),
        bestPeak(state.peak()), depth(options.depth) {
    follow();
    bestExcess = state.excess().bytes;
  }

  OpOrder run() {
    uint32_t n = state.size();
    if (n < 2)
      return best;
    // Looking at all steps pays once a while only where there are many.
    const uint64_t period = std::max<uint64_t>(256, n / 4);
    double rounds = std::max(1.0, double(options.moves) / double(period));
    double cooling = std::pow(options.cold / options.hot, 1 / rounds), rising = std::pow(depthRatio, 1 / rounds);
    temperature = options.hot;
    for (uint64_t move = 0; move < options.moves && bestPeak > options.targetBytes; ++move) {
      if (move % period == 0) {
        if (options.interrupt && options.interrupt->load(std::memory_order_relaxed))
          break;
        temperature *= cooling;
        depth *= rising;
        follow();
      }
      tryMove();
    }
    return best;
  }

private:
  static constexpr double depthRatio = 0.02;

  /// Counts from below the best peak on.
  void follow() {
    overloaded.clear();
    if (options.countFrom) {
      state.setBounds(*options.countFrom, bestPeak + 1);
      for (uint32_t t = 0; t < state.size(); ++t)
        if (state.level(t) > *options.countFrom)
          overloaded.push_back(t);
      return;
    }
    // In large graphs, orders that are hardly better are not worth looking at all steps for.
    double share = std::min(1e-3, 1e-12 * double(state.size()) * double(state.size()));
    int64_t step = std::max<int64_t>(1, int64_t(double(bestPeak) * share));
    state.setBounds(int64_t(double(bestPeak) * (1 - depth)), bestPeak - step + 1);
    for (uint32_t t = 0; t < state.size(); ++t)
      if (double(state.level(t)) > double(bestPeak) * (1 - depth))
        overloaded.push_back(t);
  }

  /// In [1, count], near 1 mostly.
  uint32_t distance(uint32_t count) {
    return std::min<uint32_t>(count, uint32_t(std::exp(random.unit() * std::log(double(count) + 1))));
  }

  /// A step near one where much is alive.
  uint32_t pickStep(uint32_t &focus) {
    uint32_t n = state.size();
    focus = overloaded.empty() ? random.below(n) : overloaded[random.below(overloaded.size())];
    uint32_t offset = distance(n) - 1;
    if (random.chance(0.5))
      return focus >= offset ? focus - offset : focus;
    return focus + offset < n ? focus + offset : focus;
  }

  void tryMove() {
    uint32_t n = state.size(), focus;
    uint32_t from = pickStep(focus);
    uint32_t op = state.order()[from];
    bool backwards = random.chance(0.15) ? random.chance(0.5) : from > focus;
    auto [first, last] = random.chance(alone) ? state.range(op) : std::pair(0u, n - 1);
    if (backwards ? first == from : last == from)
      return;
    // Over the step where much is alive, or some way.
    uint32_t room = std::min(backwards ? from - first : last - from, longestMove);
    uint32_t target = backwards ? from - distance(room) : from + distance(room);
    if (bool over = random.chance(0.4); over && from != focus && backwards == (from > focus)) {
      uint32_t gap = backwards ? from - focus : focus - from;
      if (gap < room)
        target = backwards ? focus - (distance(room - gap) - 1) : focus + (distance(room - gap) - 1);
    }
    OrderState::Excess before = state.excess(), after = state.propose(op, target);
    double worse = (after.bytes - before.bytes) / double(bestPeak);
    bool isAccepted = worse <= 0 || random.unit() < std::exp(-worse / temperature);
    if (!isAccepted || (options.countFrom && after.reaching > 0))
      return state.rollback();
    state.commit();
    if (options.countFrom ? after.bytes < bestExcess : after.reaching == 0)
      noteBest();
  }

  void noteBest() {
    best = state.order();
    if (options.countFrom) {
      bestExcess = state.excess().bytes * (1 - 1e-4);
      return;
    }
    bestPeak = state.peak();
    follow();
  }

  static constexpr double alone = 0.7;

  OrderState state;
  const OrderAnnealOptions &options;
  Random random;
  OpOrder best;
  int64_t bestPeak;
  double depth, temperature = 0, bestExcess = 0;
  std::vector<uint32_t> overloaded;
};

} // namespace

OpOrder annealOrder(const OrderProblem &problem, OpOrder start, const OrderAnnealOptions &options) {
  return OrderAnnealer(problem, std::move(start), options).run();
}

OpOrder straightenOrder(const OrderProblem &problem, OpOrder order, int64_t countFrom) {
  OrderState state(problem, std::move(order));
  state.setBounds(countFrom, state.peak() + 1);
  for (uint32_t op = 0; op < state.size(); ++op) {
    uint32_t from = state.step(op), target = from;
    uint32_t first = std::max(state.range(op).first, from - std::min(from, longestMove));
    while (target > first && state.order()[target - 1] > op)
      --target;
    if (target == from)
      continue;
    double before = state.excess().bytes;
    OrderState::Excess after = state.propose(op, target);
    if (after.bytes <= before && after.reaching == 0)
      state.commit();
    else
      state.rollback();
  }
  return state.order();
}

} // namespace remat
