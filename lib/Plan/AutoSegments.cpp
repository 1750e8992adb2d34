//===- AutoSegments.cpp - The repeated blocks of a network --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks repeat blocks, and programs that trace them repeat the blocks' ops. The dots, convolutions and loops
// ("anchors") of the forward part, each with the ops up to the next one, make a sequence whose repetitions are found by
// their hashes. Where in a period a block begins is not in the hashes: it begins where the fewest bytes cross, at the
// same place in every repetition. Between two repetitions of different size (the stages of a ResNet) stands a block
// that leads from one to the other; it repeats only up to sizes.
//
// Rejected: cutting at single tensors that separate the graph (articulation points). Shared masks, random keys and
// auxiliary losses run through all layers of real graphs, and a chain has such points everywhere.
//
//===----------------------------------------------------------------------===//

#include "ForwardCuts.h"
#include "Repeats.h"

#include <algorithm>
#include <functional>
#include <set>

namespace remat {

namespace {

uint64_t combine(uint64_t seed, uint64_t value) {
  seed ^= value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2);
  return seed * 0xff51afd7ed558ccd ^ (seed >> 32);
}

/// Cuts `[begin, end)` around anchors `[firstAnchor, endAnchor)`.
struct Block {
  size_t begin, end, firstAnchor, endAnchor;
};

class BlockFinder {
public:
  explicit BlockFinder(const Graph &graph) : graph(graph), forward(graph) {
    hashOps();
    hashAnchors();
  }

  Segments run() {
    constexpr double enough = 0.25, enoughUpToSizes = 0.5;
    addRepeats(tokens, heads);
    if (!cover(enough)) { // Perhaps it repeats up to sizes, as the levels of a U-Net do.
      blocks.clear();
      std::vector<uint64_t> coarseHeads;
      for (size_t x : anchors)
        coarseHeads.push_back(coarse[x]);
      addRepeats(coarseTokens, coarseHeads);
      if (!cover(enoughUpToSizes))
        return segmentsBetween(graph, forward, {});
    }
    closeGaps();
    splitBlocks();
    return toSegments();
  }

private:
  void hashOps() {
    for (OpId op : forward.ops) {
      const OpInfo &info = graph.op(op);
      uint64_t hash = combine(std::hash<std::string_view>()(info.kind), uint64_t(info.opClass));
      hash = combine(hash, graph.operands(op).size());
      coarse.push_back(hash);
      for (size_t r = 0; r < graph.numResults(op); ++r)
        hash = combine(hash, graph.value(graph.result(op, r)).bytes);
      exact.push_back(combine(hash, info.flops));
    }
  }

  bool isAnchor(size_t x) const {
    OpClass opClass = graph.op(forward.ops[x]).opClass;
    return opClass == OpClass::Dot || opClass == OpClass::Convolution || opClass == OpClass::Loop;
  }

  bool isFree(size_t x) const {
    OpClass opClass = graph.op(forward.ops[x]).opClass;
    return opClass == OpClass::Constant || opClass == OpClass::View;
  }

  void hashAnchors() {
    for (size_t x = 0; x < forward.ops.size(); ++x) {
      if (isAnchor(x)) {
        anchors.push_back(x);
        heads.push_back(exact[x]);
        tokens.push_back(exact[x]);
        coarseTokens.push_back(coarse[x]);
      } else if (!anchors.empty() && !isFree(x)) {
        tokens.back() = combine(tokens.back(), exact[x]);
        coarseTokens.back() = combine(coarseTokens.back(), coarse[x]);
      }
    }
  }

  /// Repetitions by chance cover little.
  bool cover(double share) const {
    size_t covered = 0;
    for (const Block &block : blocks)
      covered += block.endAnchor - block.firstAnchor;
    return covered > 0 && double(covered) >= share * double(anchors.size());
  }

  /// Where a block that begins with anchor `a` can begin: behind the anchor before it.
  size_t firstBeginOf(size_t a) const { return a == 0 ? 0 : anchors[a - 1] + 1; }
  size_t beginOf(size_t a) const { return forward.leastCrossing(firstBeginOf(a), anchors[a] + 1); }

  /// The first anchor of the first block, of the places where the most blocks fit, or where far fewer bytes cross.
  size_t firstAnchorOf(const Repeat &repeat) const {
    size_t best = 0, bestCount = 0;
    double bestBytes = 0;
    for (size_t offset = 0; offset < repeat.period; ++offset) {
      size_t count = (repeat.length - offset) / repeat.period;
      if (count < 2)
        break;
      double bytes = 0;
      for (size_t b = 1; b < count; ++b)
        bytes += double(forward.crossingBytes[beginOf(repeat.begin + offset + b * repeat.period)]);
      bytes /= double(count - 1);
      constexpr double farFewer = 0.75;
      if (bestCount == 0 || bytes < bestBytes * (count < bestCount ? farFewer : 1)) {
        best = repeat.begin + offset;
        bestCount = count;
        bestBytes = bytes;
      }
    }
    return best;
  }

  /// How many of the `limit` ops before cuts a and b look alike.
  size_t alikeBefore(size_t a, size_t b, size_t limit, const std::vector<uint64_t> &hashes) const {
    size_t count = 0;
    while (count < limit && count < a && count < b && hashes[a - count - 1] == hashes[b - count - 1])
      ++count;
    return count;
  }
  size_t alikeBehind(size_t a, size_t b, size_t limit, const std::vector<uint64_t> &hashes) const {
    size_t count = 0;
    while (count < limit && a + count < hashes.size() && b + count < hashes.size() &&
           hashes[a + count] == hashes[b + count])
      ++count;
    return count;
  }

  /// Begin of a block at anchor `a` that is to look like one that begins at cut `model` with anchor `modelAnchor`.
  size_t beginLike(size_t a, size_t model, size_t modelAnchor, const std::vector<uint64_t> &hashes) const {
    size_t wanted = anchors[modelAnchor] - model;
    size_t room = anchors[a] - firstBeginOf(a);
    size_t alike = alikeBefore(anchors[a], anchors[modelAnchor], std::min(wanted, room), hashes);
    return alike == wanted ? anchors[a] - wanted : forward.leastCrossing(anchors[a] - alike, anchors[a] + 1);
  }

  /// End of a block behind anchor `a` that is to look like one that ends at cut `model` behind anchor `modelAnchor`.
  size_t endLike(size_t a, size_t model, size_t modelAnchor, const std::vector<uint64_t> &hashes) const {
    size_t wanted = model - anchors[modelAnchor];
    size_t room = (a + 1 < anchors.size() ? anchors[a + 1] : forward.ops.size()) - anchors[a];
    size_t alike = std::max<size_t>(1, alikeBehind(anchors[a], anchors[modelAnchor], std::min(wanted, room), hashes));
    return alike == wanted ? anchors[a] + wanted : forward.leastCrossing(anchors[a] + 1, anchors[a] + alike + 1);
  }

  void addRepeats(const std::vector<uint64_t> &anchorTokens, const std::vector<uint64_t> &anchorHeads) {
    for (const Repeat &repeat : findRepeats(anchorTokens, anchorHeads))
      addRepeat(repeat);
  }

  void addRepeat(const Repeat &repeat) {
    size_t first = firstAnchorOf(repeat), period = repeat.period;
    size_t count = (repeat.begin + repeat.length - first) / period;
    std::vector<size_t> cuts{0};
    for (size_t b = 1; b < count; ++b)
      cuts.push_back(beginOf(first + b * period));
    cuts[0] = beginLike(first, cuts[1], first + period, exact);
    size_t last = first + count * period - 1;
    cuts.push_back(endLike(last, cuts[count - 1], last - period, exact));
    if (!blocks.empty() && cuts[0] < blocks.back().end)
      blocks.back().end = cuts[0] = forward.leastCrossing(cuts[0], blocks.back().end + 1);
    for (size_t b = 0; b < count; ++b)
      blocks.push_back({cuts[b], cuts[b + 1], first + b * period, first + (b + 1) * period});
  }

  /// True if the blocks' anchors look alike up to sizes when `block`'s are laid at `anchor`.
  bool isLike(const Block &block, size_t anchor) const {
    size_t count = block.endAnchor - block.firstAnchor;
    for (size_t i = 0; i < count; ++i) {
      const std::vector<uint64_t> &compared = i + 1 < count ? coarseTokens : coarse;
      size_t own = i + 1 < count ? anchor + i : anchors[anchor + i];
      size_t other = i + 1 < count ? block.firstAnchor + i : anchors[block.firstAnchor + i];
      if (compared[own] != compared[other])
        return false;
    }
    return true;
  }

  /// Blocks that differ up to sizes, the longest first: what stands between repetitions is compared with these.
  std::vector<Block> models() const {
    constexpr size_t most = 16;
    std::vector<Block> list;
    std::set<uint64_t> seen;
    auto consider = [&](const Block &block) {
      uint64_t hash = 0;
      for (size_t a = block.firstAnchor; a < block.endAnchor; ++a)
        hash = combine(hash, a + 1 < block.endAnchor ? coarseTokens[a] : coarse[anchors[a]]);
      if (list.size() < most && seen.insert(hash).second)
        list.push_back(block);
    };
    std::ranges::for_each(blocks, consider);
    auto size = [](const Block &block) { return block.endAnchor - block.firstAnchor; };
    std::ranges::sort(list, [&](const Block &a, const Block &b) {
      return std::pair(size(b), a.begin) < std::pair(size(a), b.begin);
    });
    return list;
  }

  /// What stands between two repetitions leads from one to the other and is a block too, unless it is far larger than
  /// its neighbours. Before the first and behind the last repetition, only what looks like a block is one.
  void closeGaps() {
    std::vector<Block> all;
    for (Block block : blocks) {
      if (!all.empty() && all.back().end != block.begin)
        closeGap(all, block);
      all.push_back(block);
    }
    blocks = std::move(all);
    std::vector<Block> known = models();
    extendToFront(known);
    extendToBack(known);
  }

  void closeGap(std::vector<Block> &all, Block &next) {
    Block previous = all.back();
    size_t count = next.firstAnchor - previous.endAnchor;
    size_t neighbour = std::max(previous.endAnchor - previous.firstAnchor, next.endAnchor - next.firstAnchor);
    if (count == 0)
      next.begin = previous.end; // Ops such as a pooling between two stages.
    else if (count <= 2 * neighbour + 1)
      all.push_back({previous.end, next.begin, previous.endAnchor, next.firstAnchor});
  }

  void extendToFront(const std::vector<Block> &known) {
    for (bool found = true; found;) {
      found = false;
      size_t end = blocks.front().firstAnchor;
      for (const Block &model : known) {
        size_t count = model.endAnchor - model.firstAnchor;
        if (found || count > end || !isLike(model, end - count))
          continue;
        size_t begin = beginLike(end - count, model.begin, model.firstAnchor, coarse);
        blocks.insert(blocks.begin(), {begin, blocks.front().begin, end - count, end});
        found = true;
      }
    }
  }

  void extendToBack(const std::vector<Block> &known) {
    for (bool found = true; found;) {
      found = false;
      size_t first = blocks.back().endAnchor;
      for (const Block &model : known) {
        size_t count = model.endAnchor - model.firstAnchor;
        if (found || first + count > anchors.size() || !isLike(model, first))
          continue;
        size_t end = endLike(first + count - 1, model.end, model.endAnchor - 1, coarse);
        blocks.push_back({blocks.back().end, end, first, first + count});
        found = true;
      }
    }
  }

  /// The cuts inside a block that no more bytes cross than its ends, at most one between two anchors.
  std::vector<size_t> narrowCuts(const Block &block) const {
    int64_t allowed = std::max(forward.crossingBytes[block.begin], forward.crossingBytes[block.end]);
    std::vector<size_t> cuts;
    for (size_t a = block.firstAnchor + 1; a < block.endAnchor; ++a)
      if (size_t cut = beginOf(a); forward.crossingBytes[cut] <= allowed)
        cuts.push_back(a);
    return cuts;
  }

  /// Where alternating layers share a part (attention with another feed-forward network each time), the period is
  /// several layers. It is cut at narrow places into as many equal groups of pieces as have one piece in common.
  void splitBlocks() {
    std::vector<Block> all;
    for (const Block &block : blocks) {
      std::vector<size_t> starts = narrowCuts(block);
      starts.insert(starts.begin(), block.firstAnchor);
      size_t group = groupSize(starts, block.endAnchor);
      for (size_t i = 0; i < starts.size(); i += group) {
        bool isLast = i + group >= starts.size();
        all.push_back({i == 0 ? block.begin : all.back().end, isLast ? block.end : beginOf(starts[i + group]),
                       starts[i], isLast ? block.endAnchor : starts[i + group]});
      }
    }
    blocks = std::move(all);
  }

  size_t groupSize(const std::vector<size_t> &starts, size_t endAnchor) const {
    std::vector<uint64_t> pieces;
    for (size_t i = 0; i < starts.size(); ++i) {
      size_t end = i + 1 < starts.size() ? starts[i + 1] : endAnchor;
      uint64_t hash = 0;
      for (size_t a = starts[i]; a < end; ++a)
        hash = combine(hash, a + 1 < end ? tokens[a] : heads[a]);
      pieces.push_back(hash);
    }
    for (size_t group = 1; group * 2 <= pieces.size(); ++group)
      if (pieces.size() % group == 0)
        for (size_t first = 0; first < group; ++first) {
          bool common = true;
          for (size_t i = first; i < pieces.size(); i += group)
            common &= pieces[i] == pieces[first];
          if (common)
            return group;
        }
    return pieces.size();
  }

  Segments toSegments() const {
    Segments segments{std::vector<uint32_t>(graph.numOps(), Segments::outside), uint32_t(blocks.size())};
    for (size_t b = 0; b < blocks.size(); ++b)
      for (size_t x = blocks[b].begin; x < blocks[b].end; ++x)
        segments.ofOp[forward.ops[x].index()] = b;
    return segments;
  }

  const Graph &graph;
  ForwardCuts forward;
  std::vector<uint64_t> exact, coarse;               ///< By forward op: with sizes and without.
  std::vector<size_t> anchors;                       ///< Places of the anchors among the forward ops.
  std::vector<uint64_t> tokens, heads, coarseTokens; ///< By anchor: with the ops behind it, and alone.
  std::vector<Block> blocks;                         ///< In order.
};

} // namespace

Segments autoSegments(const Graph &graph) { return BlockFinder(graph).run(); }

} // namespace remat
