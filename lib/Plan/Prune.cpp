//===- Prune.cpp - Saving again what recomputing does not help ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op is worth saving again if its results fit under the peak from their last read in the forward part to the step
// that now recomputes them. Ops are taken by recompute cost per byte, and their room is kept in a tree over the
// timeline. That saved values lengthen nothing else is not certain (what they were made from may now be recomputed
// later), so each batch is planned and measured, and cut in half until the peak holds. Small graphs are finished op by
// op.
//
//===----------------------------------------------------------------------===//

#include "Prune.h"

#include "TimelineTree.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>

namespace remat {

namespace {

class Pruner {
public:
  Pruner(const Graph &graph, Decisions decisions, PolicyPlan plan)
      : graph(graph), decisions(std::move(decisions)), current(std::move(plan)), tried(graph.numOps()) {
    peak = simulate(graph, current.plan).peakBytes;
  }

  PolicyPlan run() {
    constexpr size_t rounds = 8;
    for (size_t i = 0; i < rounds; ++i)
      if (!saveBatch(findBatch()))
        break;
    finishOneByOne();
    return std::move(current);
  }

private:
  struct Clone {
    OpId op;
    int64_t bytes;
    size_t freeFrom, until; ///< Steps in which its results are gone between forward and backward part.
  };

  /// The ops that the plan recomputes, the dearest by byte first.
  std::vector<Clone> findClones() const {
    const std::vector<OpId> &steps = current.plan.steps;
    std::vector<size_t> execution(graph.numOps(), steps.size()), lastRead(graph.numValues());
    std::vector<Clone> clones;
    for (size_t t = 0; t < steps.size(); ++t) {
      OpId op = steps[t];
      if (execution[op.index()] < t) {
        if (std::optional<Clone> clone = describe(op, t, lastRead))
          clones.push_back(*clone);
        continue; // What the clone's results are read for is not the forward part's business.
      }
      execution[op.index()] = t;
      for (size_t r = 0; r < graph.numResults(op); ++r)
        lastRead[graph.base(graph.result(op, r)).index()] = t;
      for (ValueId operand : graph.operands(op))
        lastRead[graph.base(operand).index()] = t;
    }
    std::ranges::sort(clones, [&](const Clone &a, const Clone &b) {
      double left = graph.op(a.op).costNs * double(b.bytes), right = graph.op(b.op).costNs * double(a.bytes);
      return std::tuple(right, a.op) < std::tuple(left, b.op);
    });
    return clones;
  }

  bool isRecomputed(ValueId value) const {
    return !graph.isView(value) && current.reasons[value.index()] == Reason::Recomputed;
  }

  /// The clone of `op` at step t; nothing if there is nothing to save of it, or it was tried.
  std::optional<Clone> describe(OpId op, size_t t, const std::vector<size_t> &lastRead) const {
    Clone clone{op, 0, 0, t};
    bool any = false;
    for (size_t r = 0; r < graph.numResults(op); ++r)
      if (ValueId value = graph.result(op, r); isRecomputed(value)) {
        any = true;
        clone.bytes += graph.value(value).bytes;
        clone.freeFrom = std::max(clone.freeFrom, lastRead[value.index()] + 1);
      }
    return any && !tried[op.index()] ? std::optional(clone) : std::nullopt;
  }

  std::vector<OpId> findBatch() {
    TimelineTree room(simulate(graph, current.plan).timeline);
    std::vector<OpId> batch;
    for (const Clone &clone : findClones()) {
      if (clone.freeFrom < clone.until && room.maximum(clone.freeFrom, clone.until) + clone.bytes > peak)
        continue;
      room.add(clone.freeFrom, clone.until, clone.bytes);
      batch.push_back(clone.op);
    }
    return batch;
  }

  /// Saves the first ops of the batch, as many as keep the peak; false if not even one does.
  bool saveBatch(std::vector<OpId> batch) {
    while (!batch.empty()) {
      if (save(batch))
        return true;
      if (batch.size() == 1)
        tried[batch.front().index()] = true;
      batch.resize(batch.size() / 2);
    }
    return false;
  }

  bool save(const std::vector<OpId> &batch) {
    Decisions attempt = decisions;
    for (OpId op : batch)
      for (size_t r = 0; r < graph.numResults(op); ++r)
        if (ValueId value = graph.result(op, r); isRecomputed(value))
          attempt.reasons[value.index()] = Reason::Pruned;
    PolicyPlan plan = planDecided(graph, attempt);
    if (simulate(graph, plan.plan).peakBytes > peak)
      return false;
    decisions = std::move(attempt);
    current = std::move(plan);
    for (OpId op : batch)
      tried[op.index()] = true;
    return true;
  }

  void finishOneByOne() {
    constexpr size_t affordableOps = 10'000'000;
    std::vector<Clone> clones = findClones();
    if (clones.size() * graph.numOps() > affordableOps)
      return;
    for (const Clone &clone : clones)
      save({clone.op});
  }

  const Graph &graph;
  Decisions decisions;
  PolicyPlan current;
  std::vector<bool> tried; ///< By op: saved, or known to raise the peak.
  int64_t peak;            ///< Of the plan that came in.
};

} // namespace

PolicyPlan prune(const Graph &graph, Decisions decisions, PolicyPlan plan) {
  return Pruner(graph, std::move(decisions), std::move(plan)).run();
}

} // namespace remat
