//===- ArenaOrders.cpp - Packings by orders -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What fills a valley first decides how well the rest fits. No rule for it is good everywhere, so many are tried: a
// packing takes a fraction of a millisecond. Random orders find the kind of order that suits; small changes to the best
// one gain the rest.
//
//===----------------------------------------------------------------------===//

#include "ArenaParts.h"
#include "Random.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace remat {

/// What the greedy packing takes first: the longest-lived, the largest, or those with the largest product.
enum class GreedyKey : uint8_t { Lifetime, Units, Area };
static constexpr GreedyKey greedyKeys[] = {GreedyKey::Lifetime, GreedyKey::Units, GreedyKey::Area};

static double weigh(const ArenaItem &item, GreedyKey key) {
  double lifetime = item.end - item.begin, units = double(item.units);
  return key == GreedyKey::Lifetime ? lifetime : key == GreedyKey::Units ? units : lifetime * units;
}

/// Times 1 to 1 + `most`, or divided by it.
static double disturb(double weight, double most, Random &random) {
  double factor = 1 + most * random.unit();
  return random.chance(0.5) ? weight * factor : weight / factor;
}

ItemPacking makePacking(std::span<const ArenaItem> items, std::vector<int64_t> offsets) {
  int64_t height = 0;
  for (size_t i = 0; i < items.size(); ++i)
    height = std::max(height, offsets[i] + items[i].units);
  return {std::move(offsets), height};
}

OrderPacker::OrderPacker(std::span<const ArenaItem> items, uint32_t sectionCount)
    : items(items), filler(items, sectionCount), order(items.size()), weights(items.size()) {}

void OrderPacker::pack(int64_t &effort) {
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    if (weights[a] != weights[b])
      return weights[a] > weights[b];
    return items[a].units != items[b].units ? items[a].units > items[b].units : a < b;
  });
  ItemPacking packing = makePacking(items, filler.fill(order, effort));
  if (packing.height > best.height)
    return;
  best = std::move(packing);
  bestWeights = weights;
}

void OrderPacker::packByKeys(int64_t target) {
  int64_t uncounted = 0;
  for (GreedyKey key : greedyKeys)
    if (best.height > target) {
      std::ranges::transform(items, weights.begin(), [&](const ArenaItem &item) { return weigh(item, key); });
      pack(uncounted);
    }
}

void OrderPacker::improve(int64_t target, uint64_t seed, int64_t &effort) {
  Random random(seed);
  int64_t half = effort / 2;
  while (best.height > target && effort > half) {
    GreedyKey key = greedyKeys[random.below(std::size(greedyKeys))];
    double most = 3 * random.unit();
    for (size_t i = 0; i < items.size(); ++i)
      weights[i] = disturb(weigh(items[i], key), most, random);
    pack(effort);
  }
  while (best.height > target && effort > 0) {
    double most = random.unit(), share = random.unit();
    share *= share;
    for (size_t i = 0; i < items.size(); ++i)
      weights[i] = random.chance(share) ? disturb(bestWeights[i], most * most, random) : bestWeights[i];
    pack(effort);
  }
}

} // namespace remat
