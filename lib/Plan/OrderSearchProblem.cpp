//===- OrderSearchProblem.cpp - What an order must keep -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrderSearchProblem.h"

#include <algorithm>
#include <limits>

namespace remat {

static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

NumberLists::NumberLists(size_t count, std::span<const std::pair<uint32_t, uint32_t>> pairs)
    : begin(count + 1), numbers(pairs.size()) {
  for (auto [list, number] : pairs)
    ++begin[list + 1];
  for (size_t i = 0; i < count; ++i)
    begin[i + 1] += begin[i];
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (auto [list, number] : pairs)
    numbers[next[list]++] = number;
}

/// Relations as lists of pairs, while they are found.
struct OrderProblem::Pairs {
  using List = std::vector<std::pair<uint32_t, uint32_t>>;

  explicit Pairs(const Graph &graph) : graph(graph), lastOfPair(graph.numOps(), none) {
    findStorages();
    readSince.resize(graph.numValues());
    for (uint32_t op = 0; op < graph.numOps(); ++op)
      addOp(op);
  }

  void findStorages() {
    std::vector<bool> isKept(graph.numValues());
    for (ValueId value : graph.results())
      isKept[graph.base(value).index()] = true;
    std::vector<bool> isRead(graph.numValues());
    overwritten.resize(graph.numValues());
    for (uint32_t op = 0; op < graph.numOps(); ++op) {
      for (ValueId operand : graph.operands(OpId(op)))
        isRead[graph.base(operand).index()] = true;
      for (size_t i = 0; i < graph.numResults(OpId(op)); ++i)
        if (ValueId target = graph.value(graph.result(OpId(op), i)).inplaceOf)
          overwritten[graph.base(target).index()] = true;
    }
    storageOf.assign(graph.numValues(), none);
    unread.resize(graph.numOps());
    for (size_t i = graph.numArguments(); i < graph.numValues(); ++i) {
      const ValueInfo &value = graph.value(ValueId(i));
      if (graph.isView(ValueId(i)) || value.bytes == 0 || isKept[i])
        continue;
      if (!isRead[i]) {
        unread[graph.producer(ValueId(i)).index()] += value.bytes;
        continue;
      }
      storageOf[i] = bytes.size();
      bytes.push_back(value.bytes);
    }
    lastReader.assign(bytes.size(), none);
  }

  void addOp(uint32_t op) {
    const OpInfo &info = graph.op(OpId(op));
    for (ValueId operand : graph.operands(OpId(op))) {
      if (OpId producer = graph.producer(operand))
        addEdge(producer.index(), op);
      ValueId base = graph.base(operand);
      if (overwritten[base.index()])
        readSince[base.index()].push_back(op);
      uint32_t storage = storageOf[base.index()];
      if (storage != none && lastReader[storage] != op) {
        lastReader[storage] = op;
        reads.push_back({op, storage});
      }
    }
    for (size_t i = 0; i < graph.numResults(OpId(op)); ++i)
      if (ValueId target = graph.value(graph.result(OpId(op), i)).inplaceOf)
        overwrite(graph.base(target), op);
    // What such an op does outside the graph is seen in this order.
    if (info.opClass == OpClass::Opaque || info.opClass == OpClass::Collective || info.opClass == OpClass::Random) {
      if (lastWithEffects != none)
        addEdge(lastWithEffects, op);
      lastWithEffects = op;
    }
  }

  /// All readers since the last overwrite must have run; those before it ran before that.
  void overwrite(ValueId base, uint32_t op) {
    std::vector<uint32_t> &readers = readSince[base.index()];
    for (uint32_t reader : readers)
      if (reader != op)
        addEdge(reader, op);
    readers.assign(1, op);
  }

  void addEdge(uint32_t from, uint32_t to) {
    if (lastOfPair[from] == to)
      return;
    lastOfPair[from] = to;
    edges.push_back({from, to});
  }

  const Graph &graph;
  std::vector<uint32_t> lastOfPair, lastReader, storageOf;
  std::vector<bool> overwritten; ///< By value that is a base.
  std::vector<std::vector<uint32_t>> readSince;
  uint32_t lastWithEffects = none;
  List edges, reads;
  std::vector<int64_t> bytes, unread;
};

static std::vector<std::pair<uint32_t, uint32_t>> turned(std::vector<std::pair<uint32_t, uint32_t>> pairs) {
  for (auto &[a, b] : pairs)
    std::swap(a, b);
  return pairs;
}

OrderProblem::OrderProblem(const Graph &graph) : OrderProblem(Pairs(graph)) {}

OrderProblem::OrderProblem(Pairs pairs)
    : made(pairs.graph.numOps()), needed(pairs.graph.numOps()), unread(std::move(pairs.unread)),
      bytes(std::move(pairs.bytes)), earlier(made.size(), turned(pairs.edges)), later(made.size(), pairs.edges),
      readsOf(made.size(), pairs.reads), readersOf(bytes.size(), turned(pairs.reads)) {
  for (uint32_t op = 0; op < made.size(); ++op) {
    for (size_t i = 0; i < pairs.graph.numResults(OpId(op)); ++i)
      if (ValueId result = pairs.graph.result(OpId(op), i); !pairs.graph.isView(result))
        made[op] += pairs.graph.value(result).bytes;
    needed[op] = made[op] + pairs.graph.op(OpId(op)).workspaceBytes;
  }
}

std::vector<int64_t> levelsOf(const OrderProblem &problem, std::span<const uint32_t> order) {
  std::vector<uint32_t> lastStep(problem.numStorages());
  for (uint32_t t = 0; t < order.size(); ++t)
    for (uint32_t storage : problem.reads(order[t]))
      lastStep[storage] = t;
  std::vector<int64_t> levels(order.size());
  int64_t live = 0;
  for (uint32_t t = 0; t < order.size(); ++t) {
    levels[t] = live + problem.neededBytes(order[t]);
    live += problem.madeBytes(order[t]) - problem.unreadBytes(order[t]);
    for (uint32_t storage : problem.reads(order[t]))
      if (lastStep[storage] == t)
        live -= problem.storageBytes(storage);
  }
  return levels;
}

int64_t peakOf(const OrderProblem &problem, std::span<const uint32_t> order) {
  std::vector<int64_t> levels = levelsOf(problem, order);
  return levels.empty() ? 0 : std::ranges::max(levels);
}

} // namespace remat
