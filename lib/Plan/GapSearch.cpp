//===- GapSearch.cpp - Annealing over gaps -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GapSearch.h"

#include <algorithm>
#include <cmath>

namespace remat {

/// Bytes cost something in stages that have less room than this share of the limit.
static constexpr double nearness = 0.03;

/// Where many ops run again in one stage, a change takes long: with more work for each, there are fewer of them.
static constexpr double workPerMove = 60;

GapSearch::GapSearch(GapState &state, uint64_t seed, const std::atomic<bool> *interrupt)
    : state(state), random(seed), interrupt(interrupt) {
  const GapProblem &problem = state.problem();
  for (int32_t node = 0; node < problem.numNodes(); ++node)
    if (problem.node(node).mayRepeat && state.touches(node).size() > 1)
      droppable.push_back(node);
  // What large ops cost decides how hot it must be for them to move; how many small ones there are does not.
  std::vector<double> costs;
  for (int32_t node : droppable)
    if (double cost = problem.node(node).cost; cost > 0)
      costs.push_back(cost);
  if (costs.empty())
    return;
  auto large = costs.begin() + (costs.size() - 1) * 95 / 100;
  std::ranges::nth_element(costs, large);
  scale = *large;
}

void GapSearch::findOverloaded() {
  overloaded.clear();
  prices.resize(state.problem().numNodes() + 1);
  for (int32_t t = 0; t <= state.problem().numNodes(); ++t) {
    double room = state.limit() - state.level(t);
    prices[t] = room <= 0 ? price : price * std::max(0.0, 1 - room / (nearness * state.limit()));
    if (room < 0)
      overloaded.push_back(t);
  }
  state.setPrices(prices);
}

/// A kept gap that covers the stage; of two, mostly the one that frees more bytes for its cost.
std::optional<GapSearch::Gap> GapSearch::pickCovering(int32_t stage) {
  std::optional<Gap> found;
  double worth = 0;
  for (int tries = 0, hits = 0; tries < 60 && hits < 2; ++tries) {
    int32_t node = droppable[random.below(droppable.size())];
    std::span<const GapState::Touch> touches = state.touches(node);
    if (node >= stage || touches.back().stage < stage)
      continue;
    int32_t i = touches.size() - 1;
    while (touches[i - 1].stage >= stage)
      --i;
    if (touches[i].repeats)
      continue;
    ++hits;
    double own = state.problem().totalSize(node) / (state.problem().node(node).cost + 1e-9);
    if (!found || own > worth) {
      found = Gap{node, i};
      worth = own;
    }
    if (random.chance(0.4))
      break;
  }
  return found;
}

std::optional<GapSearch::Gap> GapSearch::pickAny() {
  int32_t node = droppable[random.below(droppable.size())];
  int32_t count = state.touches(node).size();
  if (count < 2)
    return std::nullopt;
  return Gap{node, 1 + int32_t(random.below(count - 1))};
}

std::optional<GapSearch::Gap> GapSearch::pickRepeat() {
  for (int tries = 0; tries < 200; ++tries) {
    std::span<const int32_t> repeats = state.repeats(random.below(state.problem().numNodes() + 1));
    if (repeats.empty())
      continue;
    int32_t node = repeats[random.below(repeats.size())];
    std::span<const GapState::Touch> touches = state.touches(node);
    // Any repetition of the op will do.
    int32_t i = 1 + random.below(touches.size() - 1);
    for (size_t k = 1; k < touches.size(); ++k, i = i + 1 == int32_t(touches.size()) ? 1 : i + 1)
      if (touches[i].repeats)
        return Gap{node, i};
  }
  return std::nullopt;
}

/// Drops what is not hopeless: most of what costs far more than the bytes it frees is not tried at all.
bool GapSearch::dropSome(Gap gap) {
  double worse = state.estimateDrop(gap.node, gap.touch);
  if (worse > 12 * temperature && !random.chance(0.03))
    return false;
  return state.drop(gap.node, gap.touch, random);
}

/// Makes one change; false if there was none to make.
bool GapSearch::change() {
  state.setHoldsMostly(random.chance(holdShare));
  double choice = random.unit();
  bool tooHigh = state.excess() > 0;
  if (tooHigh && choice < 0.55) {
    if (overloaded.empty())
      return false;
    std::optional<Gap> gap = pickCovering(overloaded[random.below(overloaded.size())]);
    return gap && dropSome(*gap);
  }
  if (choice < 0.85) {
    std::optional<Gap> gap = !tooHigh && choice < 0.4 ? pickRepeat() : pickAny();
    if (!gap)
      return false;
    if (!state.touches(gap->node)[gap->touch].repeats)
      return dropSome(*gap);
    state.keep(gap->node, gap->touch, random);
    return true;
  }
  std::optional<Gap> gap = pickRepeat();
  if (!gap)
    return false;
  std::span<const GapState::Touch> touches = state.touches(gap->node);
  int32_t first = touches[gap->touch - 1].stage + 1, last = touches[gap->touch].stage;
  if (first >= last)
    return false;
  int32_t reach = random.chance(0.5) ? std::min(last - first, 8) : last - first;
  return state.runEarlier(gap->node, gap->touch, last - 1 - random.below(reach), random);
}

void GapSearch::noteBest() {
  if (state.excess() == 0 && (!best || state.cost() < best->cost * (1 - 1e-6) - 1e-9))
    best = state.snapshot();
}

bool GapSearch::accept() {
  double now = state.cost() + price * state.excess();
  double worse = now - energy;
  return worse <= 0 || random.unit() < std::exp(-worse / temperature);
}

void GapSearch::anneal(const AnnealOptions &options) {
  noteBest();
  if (droppable.empty())
    return;
  holdShare = options.holdShare;
  const GapProblem &problem = state.problem();
  if (price == 0)
    price = scale / state.limit();
  // Looking at all stages pays once a while only where there are many; a short search looks more often.
  const uint64_t period = std::max<uint64_t>(problem.numNodes() / 16, std::clamp<uint64_t>(options.moves / 500, 8, 64));
  const uint64_t workBefore = state.workDone();
  auto share = [&](uint64_t move) {
    double byWork = double(state.workDone() - workBefore) / (workPerMove * double(options.moves));
    return std::max(double(move) / double(options.moves), byWork);
  };
  size_t feasible = 0;
  for (uint64_t move = 0; move < options.moves; ++move) {
    if (move % period == 0) {
      double done = share(move);
      if ((interrupt && interrupt->load(std::memory_order_relaxed)) || (best && best->cost <= options.enough) ||
          done > 1)
        break;
      findOverloaded();
      temperature = options.hot * scale * std::pow(options.cold / options.hot, done);
      // In the end only what meets the limit counts.
      bool isLate = done > 0.9;
      price *= feasible > period / 2 ? (isLate ? 1 : 0.96) : 1.05;
      feasible = 0;
    }
    energy = state.cost() + price * state.excess();
    if (!change()) {
      state.rollback();
      continue;
    }
    state.settle();
    if (accept()) {
      state.commit();
      noteBest();
    } else {
      state.rollback();
    }
    feasible += state.excess() == 0;
  }
}

} // namespace remat
