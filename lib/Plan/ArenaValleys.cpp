//===- ArenaValleys.cpp - Greedy packing along the skyline --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the best-fit heuristic of Burke, Kendall and Whitwell ("A new placement heuristic for the orthogonal
// stock-cutting problem", 2004), with the horizontal places given. The lifetimes of a training step are nearly nested,
// and then the longest that lies between the walls leaves no waste: on the graphs that we know, one of three orders
// ends at the live peak. First fit by size or lifetime, the usual greedy, is up to 38 % above it, and looks at all
// pairs.
//
//===----------------------------------------------------------------------===//

#include "ArenaParts.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <queue>
#include <utility>

namespace remat {

namespace {

constexpr uint32_t never = ~uint32_t(0);

/// The items that are left, under a tree over the plane of begins and ends (a k-d tree), with the least rank of each
/// part: asking for an item between two walls visits about the square root of all nodes at most.
class Remaining {
public:
  explicit Remaining(std::span<const ArenaItem> items)
      : width(std::bit_ceil(std::max<size_t>(1, items.size()))), nodes(2 * width), leafOf(items.size()) {
    std::vector<Node> leaves(width);
    for (uint32_t item = 0; item < items.size(); ++item)
      leaves[item] = {items[item].begin, items[item].begin, items[item].end, items[item].end, item};
    split(leaves, true);
    for (size_t leaf = 0; leaf < width; ++leaf) {
      nodes[width + leaf] = leaves[leaf];
      if (leaves[leaf].leastRank != never)
        leafOf[leaves[leaf].leastRank] = leaf;
    }
    for (size_t node = width; --node > 0;)
      join(node);
    all = nodes;
  }

  /// Puts all items back, ranked as they stand in the order.
  void fill(std::span<const uint32_t> newOrder) {
    order = newOrder;
    nodes = all;
    for (uint32_t rank = 0; rank < order.size(); ++rank)
      nodes[width + leafOf[order[rank]]].leastRank = rank;
    for (size_t node = width; --node > 0;)
      nodes[node].leastRank = std::min(nodes[2 * node].leastRank, nodes[2 * node + 1].leastRank);
  }

  /// Takes the item of the least rank that lies in [begin, end); `never` if there is none.
  uint32_t take(uint32_t begin, uint32_t end) {
    uint32_t rank = never;
    find(1, begin, end, rank);
    if (rank == never)
      return never;
    size_t node = width + leafOf[order[rank]];
    nodes[node] = {};
    while (node /= 2)
      join(node);
    return order[rank];
  }

  int64_t visitCount = 0;

private:
  struct Node {
    uint32_t firstBegin = never, lastBegin = 0, firstEnd = never, lastEnd = 0;
    uint32_t leastRank = never;
  };

  /// Halves by begin and by end in turn.
  static void split(std::span<Node> leaves, bool byBegin) {
    if (leaves.size() < 2)
      return;
    size_t half = leaves.size() / 2;
    std::ranges::nth_element(leaves, leaves.begin() + half, {}, [&](const Node &leaf) {
      return std::pair(byBegin ? leaf.firstBegin : leaf.firstEnd, leaf.leastRank);
    });
    split(leaves.first(half), !byBegin);
    split(leaves.subspan(half), !byBegin);
  }

  void join(size_t node) {
    const Node &left = nodes[2 * node], &right = nodes[2 * node + 1];
    nodes[node] = {std::min(left.firstBegin, right.firstBegin), std::max(left.lastBegin, right.lastBegin),
                   std::min(left.firstEnd, right.firstEnd), std::max(left.lastEnd, right.lastEnd),
                   std::min(left.leastRank, right.leastRank)};
  }

  void find(size_t node, uint32_t begin, uint32_t end, uint32_t &rank) {
    const Node &part = nodes[node];
    ++visitCount;
    if (part.leastRank >= rank || part.lastBegin < begin || part.firstEnd > end)
      return;
    if (part.firstBegin >= begin && part.lastEnd <= end) {
      rank = part.leastRank;
      return;
    }
    bool rightFirst = nodes[2 * node + 1].leastRank < nodes[2 * node].leastRank;
    find(2 * node + rightFirst, begin, end, rank);
    find(2 * node + !rightFirst, begin, end, rank);
  }

  size_t width;
  std::vector<Node> nodes, all; ///< `all`: as they are while no item is taken.
  std::vector<uint32_t> leafOf; ///< By item.
  std::span<const uint32_t> order;
};

/// The height by section, as a list of flat stretches.
class Skyline {
public:
  struct Stretch {
    int64_t level = -1; ///< Of none.
    uint32_t begin = 0, end = 0;

    auto operator<=>(const Stretch &) const = default;
  };

  explicit Skyline(uint32_t sectionCount) : stretches(sectionCount), beginOf(sectionCount) {
    insert({0, 0, sectionCount});
  }

  /// The leftmost of the lowest stretches.
  Stretch lowest() {
    while (stretches[heap.top().begin] != heap.top())
      heap.pop();
    return heap.top();
  }

  void raiseToWall(const Stretch &valley) {
    stretches[valley.begin] = {};
    int64_t wall = INT64_MAX;
    if (valley.begin > 0)
      wall = std::min(wall, stretches[beginOf[valley.begin - 1]].level);
    if (valley.end < stretches.size())
      wall = std::min(wall, stretches[valley.end].level);
    insert({wall, valley.begin, valley.end});
  }

  void place(const Stretch &valley, const ArenaItem &item) {
    stretches[valley.begin] = {};
    if (valley.begin < item.begin)
      put({valley.level, valley.begin, item.begin});
    if (item.end < valley.end)
      put({valley.level, item.end, valley.end});
    insert({valley.level + item.units, item.begin, item.end});
  }

private:
  /// Adds a stretch and joins it with its equals on both sides.
  void insert(Stretch stretch) {
    if (stretch.end < stretches.size() && stretches[stretch.end].level == stretch.level) {
      uint32_t right = stretch.end;
      stretch.end = stretches[right].end;
      stretches[right] = {};
    }
    if (stretch.begin > 0)
      if (uint32_t left = beginOf[stretch.begin - 1]; stretches[left].level == stretch.level)
        stretch.begin = left;
    put(stretch);
  }

  void put(const Stretch &stretch) {
    stretches[stretch.begin] = stretch;
    beginOf[stretch.end - 1] = stretch.begin;
    heap.push(stretch);
  }

  std::vector<Stretch> stretches; ///< By the section where they begin; what stands elsewhere is out of date.
  std::vector<uint32_t> beginOf;  ///< By the last section of a stretch.
  std::priority_queue<Stretch, std::vector<Stretch>, std::greater<>> heap;
};

} // namespace

struct ValleyFiller::State {
  State(std::span<const ArenaItem> items, uint32_t sectionCount)
      : items(items), sectionCount(sectionCount), remaining(items) {}

  std::span<const ArenaItem> items;
  uint32_t sectionCount;
  Remaining remaining;
};

ValleyFiller::ValleyFiller(std::span<const ArenaItem> items, uint32_t sectionCount)
    : state(std::make_unique<State>(items, sectionCount)) {}
ValleyFiller::~ValleyFiller() = default;

std::vector<int64_t> ValleyFiller::fill(std::span<const uint32_t> order, int64_t &effort) {
  std::vector<int64_t> offsets(state->items.size());
  Remaining &remaining = state->remaining;
  remaining.fill(order);
  int64_t visitsBefore = remaining.visitCount;
  Skyline skyline(state->sectionCount);
  for (size_t left = order.size(); left > 0;) {
    Skyline::Stretch valley = skyline.lowest();
    uint32_t item = remaining.take(valley.begin, valley.end);
    if (item == never) {
      skyline.raiseToWall(valley);
      continue;
    }
    offsets[item] = valley.level;
    skyline.place(valley, state->items[item]);
    --left;
  }
  effort -= remaining.visitCount - visitsBefore;
  return offsets;
}

} // namespace remat
