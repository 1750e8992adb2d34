//===- GapProblem.h - Which values live where, in numbers --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph in one order of first executions, as the search under a memory limit sees it (docs/Planning.md). Op number t
// of the order runs first in stage t; before it, stage t may run ops again. Behind the last op stands one more stage
// without an op, which all results reach.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Plan.h"

#include <limits>
#include <span>
#include <vector>

namespace remat {

class GapProblem {
public:
  /// What an op reads or makes: result `result` of the op of stage `node`.
  struct Place {
    int32_t node;
    int32_t result;
    bool operator==(const Place &) const = default;
  };

  struct Node {
    double cost = 0;
    int64_t workspaceBytes = 0;
    bool mayRepeat = false;    ///< In the plans that are searched.
    bool isRepeatable = false; ///< In some plan: bounds hold for those that the search leaves out, too.
    /// The last stage that may run the op again: in it, or behind it, something it reads is overwritten.
    int32_t lastRepeat = std::numeric_limits<int32_t>::max();
  };

  /// `order` holds every op once, producers first. `costs` is by op. `mayRepeat`, if not empty, says by op which may
  /// run again if the graph allows it.
  GapProblem(const Graph &graph, std::vector<OpId> order, std::span<const double> costs,
             const std::vector<bool> &mayRepeat = {});

  int32_t numNodes() const { return nodes.size(); }
  const Node &node(int32_t t) const { return nodes[t]; }
  /// What the op reads, each place once, sorted; what takes no bytes is left out. The last stage "reads" the results.
  std::span<const Place> reads(int32_t t) const {
    return {readList.data() + readBegin[t], readList.data() + readBegin[t + 1]};
  }
  /// What reads a result of an op that has several, ascending; nothing for others.
  std::span<const int32_t> readers(Place place) const {
    uint32_t i = number(place);
    return {readerList.data() + readerBegin[i], readerList.data() + readerBegin[i + 1]};
  }
  /// The ops among `reads`, each once, ascending.
  std::span<const int32_t> inputs(int32_t t) const {
    return {inputList.data() + inputBegin[t], inputList.data() + inputBegin[t + 1]};
  }
  /// Bytes of the op's results that take bytes of their own.
  std::span<const int64_t> sizes(int32_t t) const {
    return {sizeList.data() + sizeBegin[t], sizeList.data() + sizeBegin[t + 1]};
  }
  /// Of all results of the function.
  int64_t resultBytes() const { return bytesOfResults; }
  bool isResult(Place place) const { return resultFlags[number(place)]; }
  int64_t totalSize(int32_t t) const { return totals[t]; }
  /// A number for every place, dense.
  uint32_t number(Place place) const { return sizeBegin[place.node] + place.result; }
  uint32_t numPlaces() const { return sizeList.size(); }
  OpId op(int32_t t) const { return order[t]; }
  const Graph &graph() const { return *source; }
  const std::vector<OpId> &firstExecutions() const { return order; }
  /// Of all ops, each once.
  double baseCost() const { return costOfAll; }

private:
  void addPlaces();
  void addReads();
  void addReaders();
  void forbidLateRepeats();
  void forbidCostlyViews();

  const Graph *source;
  std::vector<OpId> order;
  std::vector<Node> nodes;
  std::vector<int64_t> sizeList, totals;
  std::vector<Place> readList, placeOf; ///< placeOf: by value; node -1 where it takes no bytes.
  std::vector<int32_t> inputList, readerList;
  std::vector<uint32_t> readBegin, inputBegin, sizeBegin, readerBegin;
  double costOfAll = 0;
  int64_t bytesOfResults = 0;
  std::vector<bool> resultFlags; ///< By place.
};

} // namespace remat
