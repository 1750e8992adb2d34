//===- ArenaParts.h - The parts of packArena ---------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace remat {

/// A buffer as the packers see it. Time is cut into sections where buffers begin, and sizes are in units that all of
/// them are multiples of: an offset that is a sum of sizes is aligned.
struct ArenaItem {
  uint32_t begin, end; ///< Sections, half-open, not empty.
  int64_t units;       ///< Above 0.

  friend bool operator==(const ArenaItem &, const ArenaItem &) = default;
};

/// Packs by orders. It keeps what doesn't depend on them, for packers that try many.
class ValleyFiller {
public:
  /// The items must outlive it.
  ValleyFiller(std::span<const ArenaItem> items, uint32_t sectionCount);
  ~ValleyFiller();

  /// Fills the lowest valley of the skyline with the first item of `order` that lies between its walls; where none
  /// does, raises the valley to the lower wall. Returns the offsets by item; takes its work off `effort`.
  std::vector<int64_t> fill(std::span<const uint32_t> order, int64_t &effort);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Offsets by item, and where the highest item ends.
struct ItemPacking {
  std::vector<int64_t> offsets;
  int64_t height = INT64_MAX;
};

ItemPacking makePacking(std::span<const ArenaItem> items, std::vector<int64_t> offsets);

/// Looks for orders that pack well, until the height is at most a target.
class OrderPacker {
public:
  /// The items must outlive it.
  OrderPacker(std::span<const ArenaItem> items, uint32_t sectionCount);

  /// Three orders that suit many lifetimes.
  void packByKeys(int64_t target);
  /// Many more, until `effort` is used up; takes its work off.
  void improve(int64_t target, uint64_t seed, int64_t &effort);

  ItemPacking best;

private:
  void pack(int64_t &effort);

  std::span<const ArenaItem> items;
  ValleyFiller filler;
  std::vector<uint32_t> order;
  std::vector<double> weights, bestWeights; ///< By item; the heaviest come first.
};

enum class SearchOutcome : uint8_t { Found, Impossible, OutOfEffort };

/// The largest problem that searchArena should be given: it lists the pairs of items that are alive together, and goes
/// as deep as there are items.
constexpr size_t maxSearchItems = 4000, maxSearchPairs = 4'000'000;

/// Looks for offsets within `capacity` units until `effort` is used up, and takes off what it used. `offsets` is
/// written where the outcome is Found. Impossible is a proof.
SearchOutcome searchArena(std::span<const ArenaItem> items, uint32_t sectionCount, int64_t capacity, uint64_t seed,
                          int64_t &effort, std::vector<int64_t> &offsets);

} // namespace remat
