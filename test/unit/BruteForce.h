//===- BruteForce.h - The lowest peak there is, by search ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <vector>

namespace remat::test {

/// The lowest peak of any order with any amount of recomputation, results computed once. A search over what is alive,
/// for graphs of about ten ops; nothing for larger ones and for ops in place.
class BruteForce {
public:
  explicit BruteForce(const Graph &graph)
      : graph(graph), bitOf(graph.numValues(), none), doneBitOf(graph.numOps(), none) {
    std::vector<bool> isResult(graph.numValues());
    for (ValueId value : graph.results())
      isResult[graph.base(value).index()] = true;
    for (size_t i = 0; i < graph.numOps(); ++i) {
      OpId op(i);
      bool once = graph.mustRunOnce(op), read = false;
      for (size_t r = 0; r < graph.numResults(op); ++r) {
        ValueId value = graph.result(op, r);
        read |= !graph.users(value).empty();
        inPlace |= graph.value(value).inplaceOf.isValid();
        if (graph.isView(value))
          continue;
        bitOf[value.index()] = bits++;
        bytesOfBit.push_back(graph.value(value).bytes);
        once |= isResult[value.index()];
        keptBits |= isResult[value.index()] ? 1u << bitOf[value.index()] : 0;
      }
      // That an op has run must be remembered if it must not run again, or if nothing else shows that it has.
      if (once || !read) {
        doneBitOf[i] = bits++;
        bytesOfBit.push_back(0);
        runsOnce.push_back(OpId(i));
      }
    }
  }

  std::optional<int64_t> lowestPeak() {
    constexpr size_t most = 22;
    if (bits > most || inPlace)
      return std::nullopt;
    // Dijkstra's search, with the highest bytes on the way as its length.
    std::vector<int64_t> best(size_t(1) << bits, INT64_MAX);
    using Entry = std::pair<int64_t, uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    auto visit = [&](int64_t peak, uint32_t state) {
      if (peak < best[state]) {
        best[state] = peak;
        queue.push({peak, state});
      }
    };
    visit(0, 0);
    while (!queue.empty()) {
      auto [peak, state] = queue.top();
      queue.pop();
      if (peak > best[state])
        continue;
      if (isFinal(state))
        return peak;
      for (size_t bit = 0; bit < bits; ++bit) // Drop a value.
        if ((state >> bit & 1) && !(keptBits >> bit & 1) && !isDoneBit(bit))
          visit(peak, state & ~(1u << bit));
      for (size_t i = 0; i < graph.numOps(); ++i)
        if (canRun(OpId(i), state)) {
          uint32_t after = state | madeBits(OpId(i));
          visit(std::max(peak, liveBytes(after) + graph.op(OpId(i)).workspaceBytes), after);
        }
    }
    return std::nullopt;
  }

private:
  static constexpr size_t none = ~size_t(0);

  bool isDoneBit(size_t bit) const { return std::ranges::find(doneBitOf, bit) != doneBitOf.end(); }

  bool isFinal(uint32_t state) const {
    return std::ranges::all_of(runsOnce, [&](OpId op) { return state >> doneBitOf[op.index()] & 1; });
  }

  bool canRun(OpId op, uint32_t state) const {
    size_t doneBit = doneBitOf[op.index()];
    if (doneBit != none && (state >> doneBit & 1))
      return false;
    return std::ranges::all_of(graph.operands(op), [&](ValueId operand) {
      size_t bit = bitOf[graph.base(operand).index()];
      return bit == none || (state >> bit & 1);
    });
  }

  uint32_t madeBits(OpId op) const {
    uint32_t made = doneBitOf[op.index()] == none ? 0 : 1u << doneBitOf[op.index()];
    for (size_t r = 0; r < graph.numResults(op); ++r)
      if (size_t bit = bitOf[graph.result(op, r).index()]; bit != none)
        made |= 1u << bit;
    return made;
  }

  int64_t liveBytes(uint32_t state) const {
    int64_t bytes = 0;
    for (size_t bit = 0; bit < bits; ++bit)
      bytes += (state >> bit & 1) ? bytesOfBit[bit] : 0;
    return bytes;
  }

  const Graph &graph;
  std::vector<size_t> bitOf, doneBitOf; ///< By value that has storage, and by op.
  std::vector<int64_t> bytesOfBit;
  std::vector<OpId> runsOnce;
  uint32_t keptBits = 0; ///< Results of the function.
  size_t bits = 0;
  bool inPlace = false;
};

} // namespace remat::test
