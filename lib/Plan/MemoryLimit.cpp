//===- MemoryLimit.cpp - The cheapest plan under a hard limit -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/MemoryLimit.h"

#include "Chain.h"
#include "LargeSearch.h"
#include "LimitSearch.h"
#include "OrderSearch.h"
#include "Rungs.h"
#include "Text.h"
#include "remat/Plan/Exact.h"
#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace remat {

/// Graphs up to this size are solved exactly where the search of all plans ends soon.
static constexpr size_t exactOps = ExactLimits::ops;
static constexpr size_t exactStates = 200'000;
/// Orders come from the same few moves whatever the limit: more work on them gains little.
static constexpr double orderEffort = 0.2;

static std::optional<std::vector<ExactPlan>> solveExactly(const Graph &graph, std::span<const double> costs,
                                                          const LimitOptions &options) {
  if (graph.numOps() > exactOps || !options.mayRepeat.empty())
    return std::nullopt;
  FirstExecutions order =
      options.order == ExecutionOrder::Given ? FirstExecutions::GivenOrder : FirstExecutions::FreeOrder;
  return findExactFront(graph, costs, order, exactStates);
}

static int64_t peakOf(const Graph &graph) { return simulate(graph, programOrder(graph)).peakBytes; }

static std::string describeFloor(const Graph &graph, const PeakBound &bound) {
  bool isAtEnd = bound.stage >= graph.numOps();
  std::string text =
      isAtEnd ? "at the end of the step" : formatText("while '{}' runs", graph.op(OpId(bound.stage)).name);
  std::vector<ValueId> values = bound.values;
  std::ranges::sort(values, [&](ValueId a, ValueId b) {
    return std::pair(-graph.value(a).bytes, a) < std::pair(-graph.value(b).bytes, b);
  });
  static constexpr size_t shown = 3;
  for (size_t i = 0; i < values.size() && i < shown; ++i)
    text += formatText("{} '{}' ({} bytes)", i == 0 ? "," : " and", graph.value(values[i]).name,
                       graph.value(values[i]).bytes);
  if (values.size() > shown)
    text += formatText(" and {} more", values.size() - shown);
  if (int64_t workspace = isAtEnd ? 0 : graph.op(OpId(bound.stage)).workspaceBytes)
    text += formatText("{} {} bytes of workspace", values.empty() ? "," : " and", workspace);
  return text + " must be alive";
}

PeakBound boundPeak(const Graph &graph, ExecutionOrder order) {
  return order == ExecutionOrder::Given ? boundPeakGivenOrder(graph) : boundPeakFreeOrder(graph);
}

static std::string_view nameOf(ExecutionOrder order) {
  return order == ExecutionOrder::Given ? "any plan in the given order" : "any plan";
}

/// `lowestBytes`: the lowest peak that the search reached.
static Error noneFound(const Graph &graph, int64_t limitBytes, int64_t lowestBytes, const LimitOptions &options) {
  PeakBound floor = boundPeak(graph, options.order);
  if (options.interrupt && *options.interrupt)
    return Error{formatText("the search ended before it found a plan that fits into {} bytes", limitBytes),
                 {},
                 formatText("{} needs at least {}; give it more time", nameOf(options.order), floor.bytes)};
  return Error{formatText("found no plan that fits into {} bytes; it is not proven that there is none: {} needs at "
                          "least {}",
                          limitBytes, nameOf(options.order), floor.bytes),
               {},
               formatText("{}; {} are enough, fewer may be: allow as much, or search longer with --effort",
                          describeFloor(graph, floor), lowestBytes)};
}

static Error belowFloor(const Graph &graph, int64_t limitBytes, const PeakBound &bound, std::string_view which) {
  return Error{formatText("no plan fits into {} bytes: {} needs at least {}", limitBytes, which, bound.bytes),
               {},
               describeFloor(graph, bound)};
}

static Expected<LimitedPlan> pickExact(const Graph &graph, std::vector<ExactPlan> front, int64_t limitBytes,
                                       const LimitOptions &options) {
  auto first = std::ranges::find_if(front, [&](const ExactPlan &point) { return point.peakBytes <= limitBytes; });
  if (first != front.end()) {
    LimitedPlan result{{std::move(first->plan), first->peakBytes, first->extraCost}, first->extraCost};
    if (options.keepsFurther)
      for (ExactPlan &point : std::ranges::subrange(std::next(first), front.end()))
        result.further.push_back({std::move(point.plan), point.peakBytes, point.extraCost});
    return result;
  }
  return Error{formatText("no plan fits into {} bytes: {} needs at least {}", limitBytes, nameOf(options.order),
                          front.back().peakBytes),
               {},
               describeFloor(graph, boundPeak(graph, options.order))};
}

/// Larger graphs are planned near linearly, in the program order, at the limit alone.
static constexpr size_t descentOps = 50'000;
/// Orders are looked for in graphs of some thousand ops.
static constexpr size_t reorderedOps = 6000;
/// In the largest graphs even a bound takes longer than the plan.
static constexpr size_t boundedOps = 200'000;

/// After an interrupt it ends with the first plan that it comes to.
static Expected<LimitedPlan> planLarge(const Graph &graph, std::span<const double> costs, int64_t limitBytes,
                                       const LimitOptions &options) {
  GapProblem problem(graph, programOrder(graph).steps, costs, options.mayRepeat);
  LargeSearch search(problem, {.interrupt = options.interrupt});
  std::optional<LargeSearch::Found> found = search.search(limitBytes);
  bool isInterrupted = search.isInterrupted();
  if (!found && isInterrupted)
    found = search.searchQuickly(limitBytes);
  if (!found)
    return noneFound(graph, limitBytes, search.lowestPeak(), options);
  double bound = 0;
  if (options.order == ExecutionOrder::Given && graph.numOps() <= boundedOps && !isInterrupted)
    bound = boundCost(graph, costs, limitBytes, {.rounds = 40, .enough = found->extraCost, .inputDepth = 2}).extraCost;
  return LimitedPlan{{std::move(found->plan), found->peakBytes, found->extraCost}, bound, isInterrupted};
}

static std::vector<FrontPlan> frontOfLarge(const Graph &graph, std::span<const double> costs,
                                           const LimitOptions &options) {
  GapProblem problem(graph, programOrder(graph).steps, costs, options.mayRepeat);
  LargeSearch search(problem, {.interrupt = options.interrupt});
  std::vector<FrontPlan> plans;
  Rungs rungs(peakOf(graph));
  static constexpr int step = 5; // Each one has the length of the graph.
  for (int number = 0; number < Rungs::count; number += step) {
    std::optional<LargeSearch::Found> found = search.search(rungs[number]);
    if (!found)
      break;
    if (plans.empty() || found->peakBytes < plans.back().peakBytes)
      plans.push_back({std::move(found->plan), found->peakBytes, found->extraCost});
  }
  return plans;
}

static std::vector<OpId> firstExecutionsOf(const Graph &graph, const Plan &plan) {
  std::vector<bool> executed(graph.numOps());
  std::vector<OpId> order;
  for (OpId op : plan.steps)
    if (!executed[op.index()]) {
      executed[op.index()] = true;
      order.push_back(op);
    }
  return order;
}

/// The program order, and with free order those that promise less. sqrt-n moves what only the backward part reads to
/// where it is read, so its plan has an order of its own.
static std::vector<SearchOrder> chooseOrders(const Graph &graph, const LimitOptions &options) {
  std::vector<SearchOrder> orders{{programOrder(graph).steps}};
  if (options.order == ExecutionOrder::Given)
    return orders;
  if (Expected<PolicyPlan> segments = planSqrtN(graph, {})) {
    std::vector<OpId> order = firstExecutionsOf(graph, segments->plan);
    if (order != orders.front().firstExecutions)
      orders.emplace_back(std::move(order));
    orders.back().starts.push_back(std::move(segments->plan));
  }
  if (graph.numOps() <= reorderedOps)
    for (std::vector<OpId> &order :
         candidateOrders(graph, orderEffort * options.effort, options.seed, options.interrupt))
      orders.push_back({std::move(order)});
  return orders;
}

/// Down the rungs, each from where the last one ended. It ends where a few in a row have no plan: at the floor.
static PlanFront searchDown(LimitSearch &searcher, const Rungs &rungs, const LimitOptions &options) {
  static constexpr int maxFailures = 3;
  PlanFront front;
  searcher.addStarts(front);
  for (int number = 0, failures = 0; number < Rungs::count && failures < maxFailures && !searcher.isInterrupted();
       ++number) {
    failures = searcher.searchOn(rungs[number], front) ? 0 : failures + 1;
    if (options.progress)
      options.progress({rungs[number], std::nullopt});
  }
  return front;
}

namespace {

/// The search at the limit, and below it as long as a cheaper plan may lie there.
///
/// It looks at fixed limits only, the rungs: shares of the peak of the program order, in steps of 1 %, and of 1/4 %
/// around the limit. What is found at a rung does not depend on the limit asked for, and of the rungs below the limit,
/// down to where a bound says that none is cheaper, the best counts: so a larger limit never costs more. Where the
/// bounds are weak it ends after some rungs, and a larger limit may cost more, which is rare (docs/Planning.md).
class Descent {
public:
  Descent(const Graph &graph, std::span<const double> costs, int64_t limitBytes, const LimitOptions &options)
      : graph(graph), costs(costs), limitBytes(limitBytes), options(options), rungs(peakOf(graph)),
        floorBytes(boundPeak(graph, options.order).bytes), baseCost(std::accumulate(costs.begin(), costs.end(), 0.0)),
        searcher(graph, costs, chooseOrders(graph, options), options) {
    searcher.addStarts(starts);
  }

  Expected<LimitedPlan> run() {
    int number = rungs.within(limitBytes);
    if (rungs[number] < limitBytes)
      searchBetween(number);
    if (isQuick() && front.at(limitBytes))
      return result(provenBound());
    std::optional<double> bound;
    // Where a search fails, one at a lower rung may not: down to the floor, so that a larger limit finds that, too.
    int below = 0;
    for (; number < Rungs::count && rungs[number] >= floorBytes && !searcher.isInterrupted(); ++number) {
      searchAt(rungs[number]);
      if (!front.at(limitBytes))
        continue;
      if (!bound)
        bound = provenBound();
      if (++below > maxBelow())
        break;
      // A plan for less memory costs at least its bound: where that is more than the plan at hand costs, none is
      // better.
      if (isProven(*bound) || isSettledAt(rungs[number + 1]))
        break;
    }
    if (graph.numOps() <= smallOps && !isQuick() && !isProven(bound.value_or(0)))
      downhill = searchDown(searcher, rungs, options);
    if (!best() && !searcher.isInterrupted())
      searchAt(limitBytes);
    return result(bound.value_or(0));
  }

private:
  /// So many rungs below the first plan are looked at where bounds don't end it.
  int maxBelow() const {
    if (isQuick())
      return 0;
    return graph.numOps() <= smallOps ? 12 : searcher.anneals() ? 4 : 1;
  }
  /// A value is a large share of the peak there, and a cheaper plan may lie many rungs below; searches are short.
  static constexpr size_t smallOps = 100;
  static constexpr int stepsBetween = 4;
  /// One plan at the limit is asked for, in the least time.
  bool isQuick() const { return options.effort < 0.05; }
  /// Larger graphs get the bounds that take milliseconds.
  static constexpr size_t thoroughOps = 400;

  void searchAt(int64_t rungBytes) {
    searcher.search(rungBytes, front);
    if (options.progress)
      options.progress({rungBytes, best() ? std::optional(best()->cost) : std::nullopt});
  }

  /// A plan that is found here counts only if it is not cheaper than what is found at the rung above, which other
  /// limits see, and these rungs not.
  void searchBetween(int number) {
    int64_t high = rungs[number - 1], low = rungs[number];
    searchAt(high);
    PlanFront above = std::move(front);
    front = {};
    for (int i = stepsBetween - 1; i > 0; --i)
      if (int64_t between = low + (high - low) * i / stepsBetween;
          low < between && between <= limitBytes && !(isQuick() && front.at(limitBytes)))
        searchAt(between);
    const PlanFront::Point *top = above.at(high);
    PlanFront all = std::move(front);
    front = {};
    for (const PlanFront *part : {&above, &all})
      for (const PlanFront::Point &point : part->points())
        if (part == &above || (top && point.cost >= top->cost))
          front.add(point);
  }

  const PlanFront::Point *best() const {
    const PlanFront::Point *least = nullptr;
    for (const PlanFront *part : {&front, &starts, &downhill})
      if (const PlanFront::Point *point = part->at(limitBytes); point && (!least || point->cost < least->cost))
        least = point;
    return least;
  }
  double enough() const {
    const PlanFront::Point *point = best();
    return point ? point->cost : std::numeric_limits<double>::infinity();
  }
  bool isProven(double bound) const { return enough() <= bound * (1 + 1e-9) + 1e-12 * baseCost; }

  /// No search from this limit down finds anything cheaper than what is at hand.
  bool isSettledAt(int64_t bytes) const {
    return isProven(searcher.bound(bytes, enough())) || (options.order == ExecutionOrder::Given && searcher.anneals() &&
                                                         isProven(boundCost(graph, costs, bytes).extraCost));
  }

  /// Of all plans in the given order.
  double provenBound() const {
    if (options.order == ExecutionOrder::Free)
      return 0;
    double bound = searcher.bound(limitBytes, enough());
    bool isSmall = graph.numOps() <= thoroughOps;
    if (isQuick() || !searcher.anneals() || (!isSmall && isClose(enough(), bound)))
      return bound;
    BoundEffort effort = isSmall ? BoundEffort{.rounds = 1000, .work = 20'000'000} : BoundEffort::fast();
    // Knowing a plan helps to fix what no better one has, and may end the work too early.
    for (double cost : {enough(), std::numeric_limits<double>::infinity()}) {
      if (isProven(bound) || (!isSmall && std::isinf(cost)))
        break;
      effort.enough = cost;
      bound = std::max(bound, boundCost(graph, costs, limitBytes, effort).extraCost);
    }
    return bound;
  }

  Expected<LimitedPlan> result(double bound) const {
    if (const PlanFront::Point *point = best()) {
      LimitedPlan found{searcher.toPlan(*point), bound, searcher.isInterrupted()};
      if (options.keepsFurther)
        found.further = belowPeak(point->peakBytes);
      return found;
    }
    if (searcher.isInterrupted())
      return planLarge(graph, costs, limitBytes, options);
    return noneFound(graph, limitBytes, searcher.lowestPeak(), options);
  }

  std::vector<FrontPlan> belowPeak(int64_t bytes) const {
    PlanFront below;
    for (const PlanFront *part : {&front, &starts, &downhill})
      for (const PlanFront::Point &point : part->points())
        if (point.peakBytes < bytes)
          below.add(point);
    std::vector<FrontPlan> plans;
    static constexpr size_t most = 16;
    for (const PlanFront::Point &point : below.points())
      if (plans.size() < most)
        plans.push_back(searcher.toPlan(point));
    return plans;
  }

  const Graph &graph;
  std::span<const double> costs;
  int64_t limitBytes;
  const LimitOptions &options;
  Rungs rungs;
  int64_t floorBytes;
  double baseCost; ///< Of every op once.
  LimitSearch searcher;
  PlanFront starts; ///< What searches start from: never left out for a rung.
  PlanFront front;
  PlanFront downhill; ///< What planFront finds: so no plan of a small graph's front is cheaper at its own peak.
};

} // namespace

static std::optional<ChainFront> frontOfChain(const Graph &graph, std::span<const double> costs,
                                              const LimitOptions &options) {
  ChainOptions chain{.mayRepeat = options.mayRepeat, .interrupt = options.interrupt};
  // About a second and a half: enough for some eighty different stages, or hundreds of equal ones.
  static constexpr double usualWork = 2e8;
  chain.work = uint64_t(usualWork * std::min(1.0, options.effort));
  return findChainFront(graph, costs, chain);
}

/// What is found for a chain as a chain, where it is cheaper. Neither costs more within more bytes, so this doesn't.
static Expected<LimitedPlan> orAsChain(const Graph &graph, std::span<const double> costs, int64_t limitBytes,
                                       const LimitOptions &options, Expected<LimitedPlan> found) {
  if (found && found->best.extraCost <= found->extraCostBound)
    return found;
  std::optional<ChainFront> chain = frontOfChain(graph, costs, options);
  std::optional<size_t> number = chain ? chain->find(limitBytes) : std::nullopt;
  if (!number || (found && found->best.extraCost <= chain->points()[*number].extraCost))
    return found;
  auto toPlan = [&](size_t point) {
    return FrontPlan{chain->plan(point), chain->points()[point].peakBytes, chain->points()[point].extraCost};
  };
  LimitedPlan result{toPlan(*number)};
  if (found) {
    result.extraCostBound = found->extraCostBound;
    result.interrupted = found->interrupted;
  }
  static constexpr size_t mostFurther = 8;
  if (options.keepsFurther)
    for (size_t i = *number + 1; i < std::min(chain->points().size(), *number + 1 + mostFurther); ++i)
      result.further.push_back(toPlan(i));
  return result;
}

/// Adds the chain's plans within the rungs.
static void addAsChain(const Graph &graph, std::span<const double> costs, const LimitOptions &options,
                       std::vector<FrontPlan> &plans) {
  std::optional<ChainFront> chain = frontOfChain(graph, costs, options);
  if (!chain)
    return;
  Rungs rungs(peakOf(graph));
  std::optional<size_t> last;
  for (int number = 0; number <= Rungs::count; ++number)
    if (std::optional<size_t> found = chain->find(rungs[number]); found && found != last) {
      plans.push_back({chain->plan(*found), chain->points()[*found].peakBytes, chain->points()[*found].extraCost});
      last = found;
    }
}

/// Sorts from the cheapest to the smallest, and leaves out what is not worth having.
static void keepFront(std::vector<FrontPlan> &plans) {
  std::ranges::sort(plans, {}, [](const FrontPlan &plan) { return std::pair(plan.extraCost, plan.peakBytes); });
  int64_t least = std::numeric_limits<int64_t>::max();
  std::erase_if(plans, [&](const FrontPlan &plan) {
    return plan.peakBytes >= std::exchange(least, std::min(least, plan.peakBytes));
  });
}

/// Of the search for a proof that no plan keeps the limit.
static BoundEffort effortOfProof(const Graph &graph, const LimitOptions &options) {
  if (graph.numOps() > reorderedOps)
    return {.rounds = 40, .inputDepth = 2};
  return {.rounds = size_t(300 * std::clamp(options.effort, 0.1, 1.0))};
}

Expected<LimitedPlan> planMemoryLimit(const Graph &graph, std::span<const double> costs, int64_t limitBytes,
                                      const LimitOptions &options) {
  if (int64_t peak = peakOf(graph); peak <= limitBytes)
    return LimitedPlan{{programOrder(graph), peak, 0}};
  if (PeakBound floor = boundPeak(graph, options.order); floor.bytes > limitBytes)
    return belowFloor(graph, limitBytes, floor, nameOf(options.order));
  if (std::optional<std::vector<ExactPlan>> exact = solveExactly(graph, costs, options))
    return pickExact(graph, std::move(*exact), limitBytes, options);
  if (graph.numOps() > descentOps)
    return planLarge(graph, costs, limitBytes, options);
  if (options.order == ExecutionOrder::Given)
    if (CostBound bound = boundCost(graph, costs, limitBytes, effortOfProof(graph, options)); bound.infeasible)
      return belowFloor(graph, limitBytes, {limitBytes + 1, bound.stage, bound.blocking}, nameOf(options.order));
  return orAsChain(graph, costs, limitBytes, options, Descent(graph, costs, limitBytes, options).run());
}

std::vector<FrontPlan> planFront(const Graph &graph, std::span<const double> costs, const LimitOptions &options) {
  if (std::optional<std::vector<ExactPlan>> exact = solveExactly(graph, costs, options)) {
    std::vector<FrontPlan> result;
    for (ExactPlan &point : *exact)
      result.push_back({std::move(point.plan), point.peakBytes, point.extraCost});
    return result;
  }
  if (graph.numOps() > descentOps)
    return frontOfLarge(graph, costs, options);
  LimitSearch searcher(graph, costs, chooseOrders(graph, options), options);
  int64_t peak = peakOf(graph);
  // The program order is there even after an interrupt at once.
  std::vector<FrontPlan> plans{{programOrder(graph), peak, 0}};
  PlanFront front = searchDown(searcher, Rungs(peak), options);
  for (const PlanFront::Point &point : front.points())
    plans.push_back(searcher.toPlan(point));
  addAsChain(graph, costs, options, plans);
  keepFront(plans);
  return plans;
}

} // namespace remat
