//===- LimitSearch.cpp - The search at one limit ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LimitSearch.h"

#include "CutBound.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>
#include <cmath>
#include <future>

namespace remat {

/// An annealing is heated up again a few times where it was best.
static constexpr AnnealOptions first = {.hot = 0.15, .cold = 1e-3}, again = {.hot = 0.03, .cold = 5e-4};
static constexpr int reheats = 1;
/// The way down to a limit that is far from the program order.
static constexpr AnnealOptions onTheWay = {.hot = 0.05, .cold = 2e-3};
static constexpr int descentSteps = 16;
/// The near-linear planner's plan is mostly not far from the best.
static constexpr AnnealOptions fromLarge = {.hot = 0.03, .cold = 5e-4};
/// Where a tenth of the work gains nothing, the rest doesn't either, but in small graphs, where it takes no time.
static constexpr double trialShare = 0.1;
static constexpr int32_t alwaysAnnealed = 100;

void PlanFront::add(Point point) {
  auto place = std::ranges::find_if(list, [&](const Point &other) { return other.peakBytes <= point.peakBytes; });
  // What lies behind has a lower peak, or the same.
  if (place != list.end() && place->cost <= point.cost)
    return;
  if (place != list.end() && place->peakBytes == point.peakBytes)
    place = list.erase(place);
  while (place != list.begin() && std::prev(place)->cost >= point.cost)
    place = list.erase(std::prev(place));
  list.insert(place, std::move(point));
}

const PlanFront::Point *PlanFront::at(int64_t limitBytes) const {
  auto found = std::ranges::find_if(list, [&](const Point &point) { return point.peakBytes <= limitBytes; });
  return found == list.end() ? nullptr : &*found;
}

LimitSearch::LimitSearch(const Graph &graph, std::span<const double> costs, std::vector<SearchOrder> given,
                         const LimitOptions &options)
    : options(options) {
  givenPeak = simulate(graph, programOrder(graph)).peakBytes;
  double ops = graph.numOps();
  // A change takes longer in a larger graph, so there are no more of them above some thousand ops.
  double usual = std::min({1500 * ops, 150'000 + 300 * ops, 1'000'000.0});
  for (SearchOrder &order : given) {
    Order &added = orders.emplace_back();
    double share = orders.size() == 1 ? 1 : 1 / double(given.size());
    added.moves = ops > annealedOps ? leastMoves : std::max(leastMoves, uint64_t(options.effort * usual * share));
    added.problem = std::make_unique<GapProblem>(graph, std::move(order.firstExecutions), costs, options.mayRepeat);
    LargeSearchOptions large{.interrupt = options.interrupt, .starts = std::move(order.starts)};
    added.large = std::make_unique<LargeSearch>(*added.problem, large);
    added.reached = GapState(*added.problem, givenPeak).snapshot();
  }
}

uint64_t LimitSearch::seedFor(int64_t limitBytes, size_t order, int variant) const {
  Random mix(options.seed ^ Random(limitBytes).next());
  return mix.next() + order * 2 + variant;
}

PlanFront::Point LimitSearch::toPoint(size_t order, GapState &state, GapState::Snapshot snapshot) const {
  state.restore(snapshot);
  double cost = snapshot.cost;
  return {int64_t(state.peak()), cost, order, std::move(snapshot)};
}

int64_t LimitSearch::lowestPeak() const {
  int64_t lowest = givenPeak;
  for (const Order &order : orders)
    lowest = std::min(lowest, order.large->lowestPeak());
  return lowest;
}

void LimitSearch::addStarts(PlanFront &front) const {
  for (size_t i = 0; i < orders.size(); ++i)
    for (const Plan &plan : orders[i].large->starts()) {
      GapState state(*orders[i].problem, givenPeak);
      front.add(toPoint(i, state, snapshotOf(*orders[i].problem, plan)));
    }
}

/// The near-linear planner's plan, if it finds one.
std::optional<PlanFront::Point> LimitSearch::startFromLarge(size_t order, int64_t limitBytes) const {
  const GapProblem &problem = *orders[order].problem;
  std::optional<LargeSearch::Found> found = orders[order].large->search(limitBytes);
  if (!found)
    return std::nullopt;
  GapState state(problem, limitBytes);
  return toPoint(order, state, snapshotOf(problem, found->plan));
}

/// Searches at the limit from the program order, or (variant 1) from the plan `start`, or, where there is none, on the
/// way down to the limit.
std::optional<PlanFront::Point> LimitSearch::searchOrder(const Start &start, int64_t limitBytes, int variant) {
  size_t order = start.order;
  GapState state(*orders[order].problem, limitBytes);
  GapSearch search(state, seedFor(limitBytes, order, variant), options.interrupt);
  auto anneal = [&](AnnealOptions annealing, double share) {
    annealing.moves = std::max(leastMoves, uint64_t(orders[order].moves * share * start.share));
    annealing.enough = start.enough;
    search.anneal(annealing);
  };
  if (variant == 0 && !anneals())
    return std::nullopt;
  if (variant == 1 && (start.plan || !anneals())) {
    if (start.plan)
      state.restore(start.plan->snapshot);
    anneal(fromLarge, 1);
    return search.best ? std::optional(toPoint(order, state, std::move(*search.best))) : std::nullopt;
  }
  if (variant == 1)
    for (int step = descentSteps - 1; step > 0; --step) {
      state.setLimit(limitBytes + (givenPeak - limitBytes) * step / descentSteps);
      search.best.reset();
      anneal(onTheWay, 0.5 / descentSteps);
      if (search.best)
        state.restore(*search.best);
    }
  state.setLimit(limitBytes);
  search.best.reset();
  anneal(first, variant == 1 ? 0.5 : 1);
  for (int i = 0; i < reheats && search.best && search.best->cost > start.enough; ++i) {
    state.restore(*search.best);
    anneal(again, 0.3);
  }
  if (!search.best)
    return std::nullopt;
  return toPoint(order, state, std::move(*search.best));
}

/// Two searches of one order, on two threads; what the first one finds comes first.
template <typename Search>
static std::vector<PlanFront::Point> runBoth(Search search) {
  auto other = std::async(std::launch::async, search, 1);
  std::vector<PlanFront::Point> found;
  if (std::optional<PlanFront::Point> point = search(0))
    found.push_back(std::move(*point));
  if (std::optional<PlanFront::Point> point = other.get())
    found.push_back(std::move(*point));
  return found;
}

void LimitSearch::search(int64_t limitBytes, PlanFront &front) {
  // The order that promises most comes first: where what it finds is better than another order's bound, that is done.
  std::vector<std::pair<double, size_t>> byBound;
  for (size_t i = 0; i < orders.size(); ++i)
    byBound.emplace_back(boundCostByCuts(*orders[i].problem, limitBytes, std::numeric_limits<double>::infinity()), i);
  std::ranges::sort(byBound);
  for (auto [bound, i] : byBound) {
    double enough = bound * (1 + 1e-9);
    const PlanFront::Point *best = front.at(limitBytes);
    if (isInterrupted() || (best && best->cost <= enough))
      continue;
    searchOrder({.order = i, .enough = enough}, limitBytes, front);
  }
}

void LimitSearch::searchOrder(Start start, int64_t limitBytes, PlanFront &front) {
  start.plan = startFromLarge(start.order, limitBytes);
  double least = std::numeric_limits<double>::infinity();
  if (start.plan) {
    least = start.plan->cost;
    front.add(*start.plan);
  }
  // On graphs of that kind annealing never gained anything, and took nearly all the time.
  if (isClose(least, start.enough))
    return;
  auto searchBoth = [&] {
    bool isBetter = false;
    for (PlanFront::Point &point : runBoth([&](int variant) { return searchOrder(start, limitBytes, variant); })) {
      isBetter |= point.cost < least * (1 - 1e-9);
      front.add(std::move(point));
    }
    return isBetter;
  };
  bool isSmall = orders[start.order].problem->numNodes() <= alwaysAnnealed;
  if (anneals() && !isSmall) {
    start.share = trialShare;
    if (!searchBoth())
      return;
    start.share = 1;
  }
  searchBoth();
}

std::optional<PlanFront::Point> LimitSearch::searchFromReached(size_t order, int64_t limitBytes, int variant) {
  if (variant == 0 && !anneals())
    return std::nullopt;
  GapState state(*orders[order].problem, limitBytes);
  std::optional<PlanFront::Point> fromLargePlan = variant == 1 ? startFromLarge(order, limitBytes) : std::nullopt;
  bool isFromLarge = fromLargePlan.has_value();
  state.restore(isFromLarge ? fromLargePlan->snapshot : orders[order].reached);
  GapSearch search(state, seedFor(limitBytes, order, variant), options.interrupt);
  AnnealOptions anneal = isFromLarge ? fromLarge : variant == 0 ? again : first;
  uint64_t least = anneals() ? 20 * orders[order].problem->numNodes() + leastMoves : leastMoves;
  anneal.moves = std::max(least, orders[order].moves / 5);
  search.anneal(anneal);
  if (!search.best)
    return std::nullopt;
  return toPoint(order, state, std::move(*search.best));
}

bool LimitSearch::searchOn(int64_t limitBytes, PlanFront &front) {
  bool anyFound = false;
  for (size_t i = 0; i < orders.size() && !isInterrupted(); ++i) {
    std::vector<PlanFront::Point> found =
        runBoth([&, i](int variant) { return searchFromReached(i, limitBytes, variant); });
    if (found.empty())
      continue;
    anyFound = true;
    orders[i].reached = std::ranges::min_element(found, {}, &PlanFront::Point::cost)->snapshot;
    for (PlanFront::Point &point : found)
      front.add(std::move(point));
  }
  return anyFound;
}

double LimitSearch::bound(int64_t limitBytes, double enough) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Order &order : orders)
    least = std::min(least, boundCostByCuts(*order.problem, limitBytes, enough));
  return least;
}

FrontPlan LimitSearch::toPlan(const PlanFront::Point &point) const {
  GapState state(*orders[point.order].problem, point.peakBytes);
  state.restore(point.snapshot);
  return {state.plan(), point.peakBytes, point.cost};
}

} // namespace remat
