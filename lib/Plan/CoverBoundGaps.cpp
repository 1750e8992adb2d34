//===- CoverBoundGaps.cpp - The gaps of a graph under a limit -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoverBound.h"

#include <algorithm>
#include <limits>

namespace remat::cover {

namespace {

/// Touches of every storage in order (compressed sparse rows by value).
struct Touches {
  explicit Touches(const Graph &graph) : begin(graph.numValues() + 1), lastOp(graph.numValues(), none) {
    visit(graph, [&](ValueId storage, uint32_t) { ++begin[storage.index() + 1]; });
    for (size_t v = 0; v < graph.numValues(); ++v)
      begin[v + 1] += begin[v];
    stages.resize(begin.back());
    std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
    visit(graph, [&](ValueId storage, uint32_t stage) { stages[next[storage.index()]++] = stage; });
  }
  std::span<const uint32_t> of(ValueId storage) const {
    return {stages.data() + begin[storage.index()], stages.data() + begin[storage.index() + 1]};
  }

private:
  static constexpr uint32_t none = ~uint32_t(0);

  template <typename Visit>
  void visit(const Graph &graph, Visit each) {
    std::fill(lastOp.begin(), lastOp.end(), none);
    auto touch = [&](ValueId value, uint32_t stage) {
      ValueId storage = graph.base(value);
      if (graph.isArgument(storage) || lastOp[storage.index()] == stage)
        return;
      lastOp[storage.index()] = stage;
      each(storage, stage);
    };
    for (uint32_t op = 0; op < graph.numOps(); ++op) {
      for (ValueId operand : graph.operands(OpId(op)))
        touch(operand, op);
      for (size_t r = 0; r < graph.numResults(OpId(op)); ++r)
        if (ValueId result = graph.result(OpId(op), r); !graph.isView(result))
          touch(result, op);
    }
    for (ValueId result : graph.results())
      touch(result, graph.numOps());
  }

  std::vector<uint32_t> begin, lastOp, stages;
};

struct Builder {
  Builder(const Graph &graph, std::span<const double> costByOp, int64_t limitBytes)
      : graph(graph), limitBytes(limitBytes), touches(graph), load(graph.numOps() + 2), droppable(graph.numOps() + 2) {
    problem.cost.assign(costByOp.begin(), costByOp.end());
    for (size_t op = 0; op < graph.numOps(); ++op)
      if (graph.mustRunOnce(OpId(op)))
        problem.cost[op] = std::numeric_limits<double>::infinity();
  }

  /// Calls `visit(storage, begin, end)` for each gap with a stage inside whose op may run again.
  template <typename Visit>
  void forEachGap(OpId op, Visit visit) const {
    for (size_t r = 0; r < graph.numResults(op); ++r) {
      ValueId value = graph.result(op, r);
      if (graph.isView(value) || graph.value(value).bytes == 0 || graph.mustRunOnce(op))
        continue;
      std::span<const uint32_t> stages = touches.of(value);
      for (size_t i = 0; i + 1 < stages.size(); ++i)
        if (stages[i + 1] > stages[i] + 1)
          visit(value, stages[i], stages[i + 1]);
    }
  }

  void findLoads() {
    problem.death.assign(graph.numOps(), 0);
    for (size_t op = 0; op < graph.numOps(); ++op) {
      load[op] += graph.op(OpId(op)).workspaceBytes;
      load[op + 1] -= graph.op(OpId(op)).workspaceBytes;
      problem.death[op] = op;
      for (size_t r = 0; r < graph.numResults(OpId(op)); ++r)
        if (ValueId value = graph.result(OpId(op), r); !graph.isView(value)) {
          load[op] += graph.value(value).bytes;
          load[touches.of(value).back() + 1] -= graph.value(value).bytes;
          problem.death[op] = std::max(problem.death[op], touches.of(value).back());
        }
      forEachGap(OpId(op), [&](ValueId value, uint32_t begin, uint32_t end) {
        droppable[begin + 1] += graph.value(value).bytes;
        droppable[end] -= graph.value(value).bytes;
      });
    }
    for (size_t t = 0; t < graph.numOps(); ++t) {
      load[t + 1] += load[t];
      droppable[t + 1] += droppable[t];
    }
  }

  /// The stage that is furthest above the limit with all dropped that can be.
  void findShortage(Shortage &shortage) const {
    int64_t worst = limitBytes;
    for (size_t t = 0; t <= graph.numOps(); ++t)
      if (load[t] - droppable[t] > worst) {
        worst = load[t] - droppable[t];
        shortage.any = true;
        shortage.stage = t;
      }
    for (size_t v = graph.numArguments(); shortage.any && v < graph.numValues(); ++v) {
      ValueId value(v);
      if (graph.isView(value) || graph.value(value).bytes == 0)
        continue;
      std::span<const uint32_t> stages = touches.of(value);
      bool touched = std::ranges::binary_search(stages, shortage.stage);
      bool across = stages.front() < shortage.stage && stages.back() > shortage.stage;
      if (touched || (across && graph.mustRunOnce(graph.producer(value))))
        shortage.alive.push_back(value);
    }
  }

  void makeRows() {
    int64_t most = 0;
    rowsBefore.assign(graph.numOps() + 2, 0);
    for (size_t t = 0; t <= graph.numOps(); ++t) {
      rowsBefore[t + 1] = rowsBefore[t] + (load[t] > limitBytes);
      most = std::max(most, load[t] - limitBytes);
    }
    problem.bytesPerUnit = std::max<int64_t>(most, 1);
    for (size_t t = 0; t <= graph.numOps(); ++t)
      if (load[t] > limitBytes) {
        problem.rowStage.push_back(t);
        problem.exactDeficit.push_back(load[t] - limitBytes);
        problem.deficit.push_back(double(load[t] - limitBytes) / problem.bytesPerUnit);
      }
  }

  void makeGaps() {
    for (size_t op = 0; op < graph.numOps(); ++op) {
      uint32_t firstGap = problem.gaps.size();
      ValueId storage;
      bool several = false;
      forEachGap(OpId(op), [&](ValueId value, uint32_t begin, uint32_t end) {
        if (rowsBefore[begin + 1] == rowsBefore[end])
          return;
        several |= storage && storage != value;
        storage = value;
        problem.gaps.push_back({value, begin, end, rowsBefore[begin + 1], rowsBefore[end], graph.value(value).bytes,
                                double(graph.value(value).bytes) / problem.bytesPerUnit});
      });
      if (problem.gaps.size() == firstGap)
        continue;
      std::sort(problem.gaps.begin() + firstGap, problem.gaps.end(),
                [](const Gap &a, const Gap &b) { return a.end != b.end ? a.end < b.end : a.value < b.value; });
      problem.ops.push_back({OpId(op), firstGap, uint32_t(problem.gaps.size()), several});
    }
  }

  void makeInputs() {
    std::vector<std::pair<ValueId, uint32_t>> reads;
    problem.inputBegin.push_back(0);
    for (size_t op = 0; op < graph.numOps(); ++op) {
      reads.clear();
      for (ValueId operand : graph.operands(OpId(op)))
        if (ValueId storage = graph.base(operand); !graph.isArgument(storage) && graph.value(storage).bytes > 0)
          reads.push_back({storage, graph.producer(storage).index()});
      std::ranges::sort(reads);
      reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
      // Results of one op are consecutive values, so reads of one op stand together.
      for (auto [storage, maker] : reads) {
        double bytes = double(graph.value(storage).bytes) / problem.bytesPerUnit;
        if (problem.inputs.size() > problem.inputBegin.back() && problem.inputs.back().op == maker)
          problem.inputs.back().bytes += bytes;
        else
          problem.inputs.push_back({maker, bytes});
      }
      problem.inputBegin.push_back(problem.inputs.size());
    }
  }

  const Graph &graph;
  int64_t limitBytes;
  Touches touches;
  std::vector<int64_t> load, droppable;
  std::vector<uint32_t> rowsBefore;
  Problem problem;
};

} // namespace

Problem makeProblem(const Graph &graph, std::span<const double> costByOp, int64_t limitBytes, size_t inputDepth,
                    Shortage &shortage) {
  Builder builder(graph, costByOp, limitBytes);
  builder.findLoads();
  builder.findShortage(shortage);
  builder.problem.inputDepth = inputDepth;
  if (shortage.any)
    return std::move(builder.problem);
  builder.makeRows();
  builder.makeGaps();
  builder.makeInputs();
  return std::move(builder.problem);
}

} // namespace remat::cover
