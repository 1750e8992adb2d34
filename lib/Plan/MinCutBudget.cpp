//===- MinCutBudget.cpp - Saving a part of the minimum cut ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's budget is a knapsack over the bytes of the values that min-cut saves. The bytes saved are not what a device
// runs out of: saving nothing at all rebuilds every activation before the first of them is read, and needs about as
// much memory as saving all. So here plans are measured. The choices with low peaks are those that save what crosses
// between segments of the forward part, as in Chen et al., "Training deep nets with sublinear memory cost" (2016). From
// the best of them ladders of limits lead up to the peak of the whole cut. On each rung, what of the cut is dearest to
// run again per byte is saved where the timeline has room for it, starting from the rung below.
//
//===----------------------------------------------------------------------===//

#include "MinCutBudget.h"

#include "TimelineTree.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace remat {

namespace {

class BudgetSearch {
public:
  BudgetSearch(const Graph &graph, Decisions given)
      : graph(graph), decisions(std::move(given)), itemOfOp(graph.numOps(), noItem) {
    for (ValueId value : decisions.cut)
      if (OpId op = graph.producer(value); decisions.mayClone[op.index()])
        items[itemAt(op)].values.push_back(value);
    cutItems = items.size();
    findCosts();
    constexpr size_t affordableOps = 12'000'000;
    trialsLeft = std::clamp<size_t>(affordableOps / std::max<size_t>(1, graph.numOps()), 12, 400);
  }

  Decisions run(double ratio) {
    measure(std::vector<bool>(cutItems, true));
    tryLowPeaks();
    climbAll();
    return decide(choose(ratio).saved);
  }

private:
  static constexpr uint32_t noItem = ~uint32_t(0);

  /// The results of one op that are saved or not together.
  struct Item {
    OpId op;
    std::vector<ValueId> values;
    int64_t bytes = 0;
    double costNs = 0; ///< Of the ops that run again only if the item isn't saved.
  };
  struct Choice {
    std::vector<bool> saved; ///< By item; the last ones, if they are missing, are not saved.
    int64_t peakBytes;
    double costNs;
  };
  /// Steps in which an item that runs again is gone between forward and backward part.
  struct Gap {
    uint32_t item;
    size_t begin, end;
  };

  uint32_t itemAt(OpId op) {
    uint32_t &item = itemOfOp[op.index()];
    if (item == noItem) {
      item = items.size();
      items.push_back({op, {}});
    }
    return item;
  }

  /// An op that only one op reads runs again for that one's sake.
  void findCosts() {
    std::vector<double> cost(graph.numOps());
    for (size_t i = 0; i < graph.numOps(); ++i) {
      OpId op(i);
      cost[i] = graph.op(op).costNs;
      ValueId last;
      for (ValueId operand : graph.operands(op)) {
        OpId producer = graph.producer(operand);
        bool repeats = producer && graph.op(producer).phase == Phase::Forward && graph.numResults(producer) == 1 &&
                       graph.users(operand).size() == 1 &&
                       decisions.reasons[graph.base(operand).index()] == Reason::Recomputed;
        if (repeats && operand != last)
          cost[i] += cost[producer.index()];
        last = operand;
      }
    }
    for (Item &item : items) {
      item.costNs = cost[item.op.index()];
      for (ValueId value : item.values)
        item.bytes += graph.value(value).bytes;
    }
  }

  Decisions decide(const std::vector<bool> &saved) const {
    Decisions result = decisions;
    for (size_t i = 0; i < items.size(); ++i)
      for (ValueId value : items[i].values)
        result.reasons[value.index()] = i >= saved.size() || !saved[i] ? Reason::Recomputed
                                        : i < cutItems                 ? Reason::Policy
                                                                       : Reason::Crosses;
    return result;
  }

  struct Trial {
    Plan plan;
    Simulation simulation;
  };

  /// Plans and measures a choice and remembers it.
  Trial measure(std::vector<bool> saved) {
    Trial trial;
    trial.plan = planDecided(graph, decide(saved)).plan;
    trial.simulation = simulate(graph, trial.plan);
    choices.push_back({std::move(saved), trial.simulation.peakBytes, trial.simulation.costNs});
    trialsLeft -= trialsLeft > 0;
    return trial;
  }

  /// Nothing of the cut, and what crosses between segments.
  void tryLowPeaks() {
    measure({});
    size_t tries = std::clamp<size_t>(trialsLeft / 4, 3, 24);
    if (Segments blocks = autoSegments(graph); blocks.count > 1)
      for (uint32_t group = 1; group <= blocks.count / 2 && group <= tries; group *= 2)
        measure(crossing(grouped(blocks, group)));
    // Counts in geometric steps from 2: the best is near the square root of what is not known.
    uint32_t last = 1;
    double most = std::clamp(double(items.size()), 2.0, 512.0);
    for (size_t i = 0; i < tries; ++i) {
      uint32_t count = std::lround(2 * std::pow(most / 2, double(i) / double(tries - 1)));
      if (count != last)
        measure(crossing(balancedSegments(graph, count)));
      last = count;
    }
  }

  static Segments grouped(Segments blocks, uint32_t size) {
    for (uint32_t &segment : blocks.ofOp)
      if (segment != Segments::outside)
        segment /= size;
    blocks.count = (blocks.count + size - 1) / size;
    return blocks;
  }

  /// What a forward op of another segment reads.
  std::vector<bool> crossing(const Segments &segments) {
    std::vector<bool> saved(items.size());
    for (size_t i = 0; i < graph.numOps(); ++i) {
      OpId op(i);
      if (graph.op(op).phase != Phase::Forward || graph.op(op).opClass == OpClass::View)
        continue;
      for (ValueId operand : graph.operands(op)) {
        ValueId base = graph.base(operand);
        OpId producer = graph.producer(base);
        if (producer && segments.ofOp[producer.index()] != segments.ofOp[i])
          saveCrossing(base, producer, saved);
      }
    }
    return saved;
  }

  void saveCrossing(ValueId value, OpId producer, std::vector<bool> &saved) {
    uint32_t item = itemOfOp[producer.index()];
    if (item >= cutItems) {
      if (!decisions.mayClone[producer.index()] || decisions.reasons[value.index()] != Reason::Recomputed)
        return;
      item = itemAt(producer);
      if (std::ranges::find(items[item].values, value) == items[item].values.end())
        items[item].values.push_back(value);
    }
    saved.resize(items.size());
    saved[item] = true;
  }

  const Choice &lowest() const {
    return *std::ranges::min_element(choices, {}, [](const Choice &c) { return std::tuple(c.peakBytes, c.costNs); });
  }

  int64_t limitAt(double ratio) const {
    int64_t low = lowest().peakBytes, high = choices.front().peakBytes;
    return low + int64_t(std::floor(ratio * double(high - low)));
  }

  /// Climbs from those choices that no other one beats in peak and in cost, the lowest first.
  void climbAll() {
    size_t most = std::clamp<size_t>(trialsLeft / 16, 1, 4), count = 0;
    std::vector<Choice> starts = choices;
    std::ranges::sort(starts, {}, [](const Choice &c) { return std::tuple(c.peakBytes, c.costNs); });
    for (size_t i = 0; i < starts.size() && count < most; ++i)
      if (count == 0 || starts[i].costNs < starts[count - 1].costNs)
        std::swap(starts[count++], starts[i]);
    int64_t low = limitAt(0), high = limitAt(1);
    for (size_t i = 0; i < count; ++i)
      climb(starts[i], low, high, trialsLeft / (count - i));
  }

  /// Saves more and more until the peak of the whole cut is reached.
  void climb(const Choice &start, int64_t low, int64_t high, size_t trials) {
    constexpr size_t trialsPerRung = 4;
    size_t rungs = std::clamp<size_t>(std::bit_floor(trials / trialsPerRung), 2, 64), last = trialsLeft - trials;
    std::vector<bool> saved = start.saved;
    saved.resize(std::max(saved.size(), cutItems));
    Trial current = measure(saved);
    for (size_t i = 0; i <= rungs && trialsLeft > last; ++i)
      if (int64_t limit = low + int64_t(double(high - low) * double(i) / double(rungs)); limit >= start.peakBytes)
        fill(saved, current, limit, std::max<size_t>(1, (trialsLeft - last) / (rungs + 1 - i)));
  }

  /// Saves what fits under the limit.
  void fill(std::vector<bool> &saved, Trial &current, int64_t limitBytes, size_t trials) {
    for (bool fits = true; fits;) {
      std::vector<uint32_t> batch = findBatch(current, saved, limitBytes);
      fits = false;
      for (; !batch.empty() && !fits && trials > 0; batch.resize(batch.size() / 2), --trials) {
        std::vector<bool> more = saved;
        for (uint32_t item : batch)
          more[item] = true;
        Trial trial = measure(more);
        fits = trial.simulation.peakBytes <= limitBytes;
        if (fits) {
          saved = std::move(more);
          current = std::move(trial);
        }
      }
    }
  }

  /// The items that run again, the dearest by byte first.
  std::vector<Gap> findGaps(const Plan &plan, const std::vector<bool> &saved) const {
    std::vector<size_t> execution(graph.numOps(), plan.steps.size()), lastRead(graph.numValues());
    std::vector<Gap> gaps;
    for (size_t t = 0; t < plan.steps.size(); ++t) {
      OpId op = plan.steps[t];
      uint32_t item = itemOfOp[op.index()];
      if (execution[op.index()] < t) {
        if (item < cutItems && !saved[item])
          gaps.push_back({item, lastReadOf(item, lastRead) + 1, t});
        continue; // What a clone reads is not the forward part's business.
      }
      execution[op.index()] = t;
      for (size_t r = 0; r < graph.numResults(op); ++r)
        lastRead[graph.base(graph.result(op, r)).index()] = t;
      for (ValueId operand : graph.operands(op))
        lastRead[graph.base(operand).index()] = t;
    }
    std::ranges::sort(gaps, [&](const Gap &a, const Gap &b) {
      const Item &x = items[a.item], &y = items[b.item];
      return std::tuple(x.costNs * double(y.bytes), y.op) > std::tuple(y.costNs * double(x.bytes), x.op);
    });
    return gaps;
  }

  size_t lastReadOf(uint32_t item, const std::vector<size_t> &lastRead) const {
    size_t last = 0;
    for (ValueId value : items[item].values)
      last = std::max(last, lastRead[value.index()]);
    return last;
  }

  std::vector<uint32_t> findBatch(const Trial &current, const std::vector<bool> &saved, int64_t limitBytes) const {
    TimelineTree room(current.simulation.timeline);
    std::vector<uint32_t> batch;
    for (const Gap &gap : findGaps(current.plan, saved)) {
      int64_t bytes = items[gap.item].bytes;
      if (gap.begin < gap.end && room.maximum(gap.begin, gap.end) + bytes > limitBytes)
        continue;
      room.add(gap.begin, gap.end, bytes);
      batch.push_back(gap.item);
    }
    return batch;
  }

  /// The cheapest within the budget; of equal ones the one with the lowest peak, then the first.
  const Choice &choose(double ratio) const {
    int64_t limit = limitAt(ratio);
    return *std::ranges::min_element(
        choices, {}, [&](const Choice &c) { return std::tuple(c.peakBytes > limit, c.costNs, c.peakBytes); });
  }

  const Graph &graph;
  Decisions decisions;     ///< With the whole cut saved.
  std::vector<Item> items; ///< First those of the cut, then what crosses between segments.
  std::vector<uint32_t> itemOfOp;
  size_t cutItems = 0;
  std::vector<Choice> choices; ///< The first saves the whole cut.
  size_t trialsLeft;
};

} // namespace

Decisions spendBudget(const Graph &graph, Decisions decisions, double ratio) {
  return BudgetSearch(graph, std::move(decisions)).run(ratio);
}

} // namespace remat
