//===- PeakBound.cpp - What any plan needs at least -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While op t is executed for the first time, its operands, results and workspace are alive. Besides: let s be made by
// an op that must run once and has run, and let d be an op that has not. On every path of reads from s to d some value
// is alive (or touched by t), for otherwise the instance that d reads, the one that its maker reads, and so on back to
// s would all be born after t, and the maker of s would run twice. So a minimum vertex cut in bytes is alive as well.
//
//===----------------------------------------------------------------------===//

#include "MaxFlow.h"
#include "remat/Plan/Bounds.h"

#include <algorithm>

namespace remat {

namespace {

class PeakBounder {
public:
  PeakBounder(const Graph &graph, bool givenOrder) : graph(graph), givenOrder(givenOrder) {
    for (size_t op = 0; op < graph.numOps(); ++op)
      anyOnce |= graph.mustRunOnce(OpId(op));
  }

  PeakBound run() {
    boundEnd();
    std::vector<int64_t> needs(graph.numOps());
    for (size_t t = 0; t < needs.size(); ++t) {
      needs[t] = graph.op(OpId(t)).workspaceBytes;
      for (ValueId value : touchedAt(t))
        needs[t] += graph.value(value).bytes;
      if (needs[t] > best.bytes)
        best = {needs[t], t, touchedAt(t)};
    }
    if (anyOnce)
      boundCuts(needs);
    return std::move(best);
  }

private:
  void boundEnd() {
    for (ValueId result : graph.results())
      if (ValueId storage = graph.base(result); !graph.isArgument(storage) && graph.value(storage).bytes > 0)
        best.values.push_back(storage);
    std::ranges::sort(best.values);
    best.values.erase(std::unique(best.values.begin(), best.values.end()), best.values.end());
    for (ValueId value : best.values)
      best.bytes += graph.value(value).bytes;
    best.stage = graph.numOps();
  }

  /// The storages that are alive because op `t` runs.
  std::vector<ValueId> touchedAt(size_t t) const {
    std::vector<ValueId> touched;
    auto add = [&](ValueId value) {
      if (ValueId storage = graph.base(value); !graph.isArgument(storage) && graph.value(storage).bytes > 0)
        touched.push_back(storage);
    };
    for (ValueId operand : graph.operands(OpId(t)))
      add(operand);
    for (size_t r = 0; r < graph.numResults(OpId(t)); ++r)
      if (!graph.isView(graph.result(OpId(t), r)))
        add(graph.result(OpId(t), r));
    std::ranges::sort(touched);
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    return touched;
  }

  /// Looks at the stages with the largest need first; the bytes of all that runs once bound what a cut can add.
  void boundCuts(const std::vector<int64_t> &needs) {
    int64_t onceBytes = 0;
    size_t reads = 1;
    for (size_t op = 0; op < graph.numOps(); ++op) {
      reads += graph.operands(OpId(op)).size() + graph.numResults(OpId(op));
      for (size_t r = 0; graph.mustRunOnce(OpId(op)) && r < graph.numResults(OpId(op)); ++r)
        onceBytes += graph.value(graph.result(OpId(op), r)).bytes;
    }
    std::vector<size_t> stages(needs.size());
    for (size_t t = 0; t < stages.size(); ++t)
      stages[t] = t;
    std::ranges::sort(stages, [&](size_t a, size_t b) { return needs[a] != needs[b] ? needs[a] > needs[b] : a < b; });
    constexpr size_t mostReads = 50'000'000;
    for (size_t i = 0; i < stages.size() && (i + 1) * reads <= mostReads; ++i) {
      if (needs[stages[i]] + onceBytes <= best.bytes)
        break;
      std::vector<ValueId> alive = touchedAt(stages[i]);
      int64_t bytes = needs[stages[i]] + addCut(stages[i], alive);
      if (bytes > best.bytes)
        best = {bytes, stages[i], std::move(alive)};
    }
  }

  /// Marks the ops that have run before op `t` in every plan of the class, and those that run after it.
  void findSides(size_t t, std::vector<bool> &ran, std::vector<bool> &later) const {
    ran.assign(graph.numOps(), false);
    later.assign(graph.numOps(), false);
    if (givenOrder) {
      std::fill(ran.begin(), ran.begin() + t, true);
      std::fill(later.begin() + t + 1, later.end(), true);
      return;
    }
    for (size_t op = t + 1; op-- > 0;)
      if (op == t || ran[op])
        for (ValueId operand : graph.operands(OpId(op)))
          if (OpId maker = graph.producer(operand))
            ran[maker.index()] = true;
    for (size_t op = t + 1; op < graph.numOps(); ++op)
      later[op] = std::ranges::any_of(graph.operands(OpId(op)), [&](ValueId operand) {
        OpId maker = graph.producer(operand);
        return maker && (maker.index() == t || later[maker.index()]);
      });
  }

  /// Bytes of the minimum cut at stage `t`; adds its values to `alive`, which holds those that cost nothing more.
  int64_t addCut(size_t t, std::vector<ValueId> &alive) const {
    std::vector<bool> ran, later;
    findSides(t, ran, later);
    // Storage v is the edge from node 2v to node 2v + 1.
    uint32_t source = 2 * graph.numValues(), sink = source + 1;
    MaxFlow flow(sink + 1);
    auto isStorage = [&](ValueId value) { return !graph.isView(value) && !graph.isArgument(value); };
    for (size_t op = 0; op < graph.numOps(); ++op) {
      bool once = graph.mustRunOnce(OpId(op)) && ran[op];
      for (size_t r = 0; r < graph.numResults(OpId(op)); ++r) {
        ValueId result = graph.result(OpId(op), r);
        if (!isStorage(result))
          continue;
        bool free = std::ranges::binary_search(alive, result);
        flow.addEdge(2 * result.index(), 2 * result.index() + 1, free ? 0 : graph.value(result).bytes);
        if (once)
          flow.addEdge(source, 2 * result.index(), MaxFlow::infinity);
        for (ValueId operand : graph.operands(OpId(op)))
          if (ValueId storage = graph.base(operand); !once && isStorage(storage))
            flow.addEdge(2 * storage.index() + 1, 2 * result.index(), MaxFlow::infinity);
      }
      for (ValueId operand : graph.operands(OpId(op)))
        if (ValueId storage = graph.base(operand); later[op] && isStorage(storage))
          flow.addEdge(2 * storage.index() + 1, sink, MaxFlow::infinity);
    }
    for (ValueId result : graph.results())
      if (ValueId storage = graph.base(result); isStorage(storage))
        flow.addEdge(2 * storage.index() + 1, sink, MaxFlow::infinity);
    flow.run(source, sink);
    int64_t bytes = 0;
    std::vector<ValueId> cutValues;
    for (size_t v = graph.numArguments(); v < graph.numValues(); ++v)
      if (isStorage(ValueId(v)) && !flow.sinkSide()[2 * v] && flow.sinkSide()[2 * v + 1] &&
          graph.value(ValueId(v)).bytes > 0 && !std::ranges::binary_search(alive, ValueId(v))) {
        bytes += graph.value(ValueId(v)).bytes;
        cutValues.push_back(ValueId(v));
      }
    alive.insert(alive.end(), cutValues.begin(), cutValues.end());
    std::ranges::sort(alive);
    return bytes;
  }

  const Graph &graph;
  bool givenOrder, anyOnce = false;
  PeakBound best;
};

} // namespace

PeakBound boundPeakFreeOrder(const Graph &graph) { return PeakBounder(graph, false).run(); }

PeakBound boundPeakGivenOrder(const Graph &graph) { return PeakBounder(graph, true).run(); }

} // namespace remat
