//===- RunOnceCut.cpp - What to save behind ops that run once -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunOnceCut.h"

#include "MaxFlow.h"

#include <algorithm>

namespace remat {

namespace {

class RunOnceCut {
public:
  explicit RunOnceCut(const RunOnceQuery &query)
      : query(query), graph(query.graph), needed(graph.numOps()), readDirectly(graph.numValues()),
        nodeOf(graph.numValues(), noNode) {}

  std::vector<ValueId> run() {
    if (!findNeeded())
      return {};
    findTainted();
    return cut();
  }

private:
  static constexpr uint32_t noNode = ~uint32_t(0), source = 0, sink = 1;

  /// The ops that would have to run in the backward part; true if one of them must not.
  bool findNeeded() {
    bool blocked = false;
    std::vector<OpId> work;
    auto require = [&](ValueId operand) {
      OpId producer = graph.producer(operand);
      if (query.isAvailable(operand) || !producer || needed[producer.index()])
        return;
      needed[producer.index()] = true;
      if (query.mayClone[producer.index()])
        work.push_back(producer);
      else
        blocked = true;
    };
    for (size_t i = 0; i < graph.numOps(); ++i)
      if (graph.op(OpId(i)).phase == Phase::Backward)
        for (ValueId operand : graph.operands(OpId(i))) {
          require(operand);
          if (!query.isAvailable(operand))
            readDirectly[contentOf(operand).index()] = true;
        }
    while (!work.empty()) {
      OpId op = work.back();
      work.pop_back();
      std::ranges::for_each(graph.operands(op), require);
    }
    return blocked;
  }

  /// The value that is read where `value` is: views look at what their base holds, an op in place makes content of its
  /// own. Of the contents of one base the last can be saved.
  ValueId contentOf(ValueId value) const {
    while (graph.isView(value) && !graph.value(value).inplaceOf)
      value = graph.value(value).viewOf;
    return value;
  }

  bool isTainted(ValueId operand) const {
    return nodeOf[contentOf(operand).index()] != noNode && !query.isAvailable(operand);
  }

  /// Numbers the values that come from an op that must not run again, and notes how they come from each other.
  void findTainted() {
    for (size_t i = 0; i < graph.numOps(); ++i) {
      OpId op(i);
      if (!needed[i])
        continue;
      bool origin = !query.mayClone[i];
      if (!origin && std::ranges::none_of(graph.operands(op), [&](ValueId v) { return isTainted(v); }))
        continue;
      for (size_t r = 0; r < graph.numResults(op); ++r) {
        ValueId content = contentOf(graph.result(op, r));
        if (graph.isArgument(graph.base(content)))
          continue; // It is the caller's: nothing has to be saved.
        uint32_t &node = nodeOf[content.index()];
        if (node == noNode) {
          node = tainted.size();
          tainted.push_back(content);
        }
        if (origin)
          origins.push_back(node);
        else
          for (ValueId operand : graph.operands(op))
            if (isTainted(operand) && contentOf(operand) != content)
              arcs.push_back({nodeOf[contentOf(operand).index()], node});
      }
    }
  }

  std::vector<ValueId> cut() {
    auto in = [](uint32_t node) { return 2 + 2 * node; };
    auto out = [](uint32_t node) { return 3 + 2 * node; };
    MaxFlow flow(2 + 2 * tainted.size());
    for (uint32_t node = 0; node < tainted.size(); ++node) {
      ValueId value = tainted[node];
      bool savable = !query.overwritten[value.index()];
      flow.addEdge(in(node), out(node), savable ? graph.value(graph.base(value)).bytes : MaxFlow::infinity);
      if (readDirectly[value.index()])
        flow.addEdge(out(node), sink, MaxFlow::infinity);
    }
    for (uint32_t node : origins)
      flow.addEdge(source, in(node), MaxFlow::infinity);
    // What is read directly is cut off at the latest there: nothing behind it matters.
    for (auto [from, to] : arcs)
      if (!readDirectly[tainted[from].index()])
        flow.addEdge(out(from), in(to), MaxFlow::infinity);
    flow.run(source, sink);
    std::vector<ValueId> saved;
    for (uint32_t node = 0; node < tainted.size(); ++node)
      if (!flow.sinkSide()[in(node)] && flow.sinkSide()[out(node)])
        saved.push_back(graph.base(tainted[node]));
    return saved;
  }

  const RunOnceQuery &query;
  const Graph &graph;
  std::vector<bool> needed, readDirectly;
  std::vector<uint32_t> nodeOf;
  std::vector<ValueId> tainted;
  std::vector<uint32_t> origins;
  std::vector<std::pair<uint32_t, uint32_t>> arcs;
};

} // namespace

std::vector<ValueId> findRunOnceCut(const RunOnceQuery &query) { return RunOnceCut(query).run(); }

} // namespace remat
