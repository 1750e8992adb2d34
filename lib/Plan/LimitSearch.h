//===- LimitSearch.h - The search at one limit --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "GapSearch.h"
#include "LargeSearch.h"
#include "remat/Plan/MemoryLimit.h"

#include <list>
#include <memory>

namespace remat {

/// The plans that were found: none is as cheap as another with as low a peak.
class PlanFront {
public:
  struct Point {
    int64_t peakBytes;
    double cost;
    size_t order; ///< Number of the order of first executions.
    GapState::Snapshot snapshot;
  };

  void add(Point point);
  /// The cheapest one with at most this peak, or null.
  const Point *at(int64_t limitBytes) const;
  /// From the cheapest to the smallest.
  const std::list<Point> &points() const { return list; }

private:
  std::list<Point> list;
};

/// First executions, each op once, and plans with just these that may be worth to start from.
struct SearchOrder {
  std::vector<OpId> firstExecutions;
  std::vector<Plan> starts = {};
};

/// A plan so close to a bound is taken for the best: what is left isn't worth much work.
inline bool isClose(double cost, double bound) { return cost <= bound * 1.015; }

/// Searches at single limits. What is found at a limit depends on the graph, the options and that limit alone.
class LimitSearch {
public:
  LimitSearch(const Graph &graph, std::span<const double> costs, std::vector<SearchOrder> orders,
              const LimitOptions &options);

  /// Adds the plans that come with the orders.
  void addStarts(PlanFront &front) const;

  /// Looks for the cheapest plan within the limit in every order, on two threads, until it is proven that an order has
  /// none that is cheaper. What is worth it goes into the front.
  void search(int64_t limitBytes, PlanFront &front);

  /// The same with a fifth of the work, from the plans where the last call of this function ended. False if nothing was
  /// found.
  bool searchOn(int64_t limitBytes, PlanFront &front);

  /// Nothing that a search within the limit finds costs less.
  double bound(int64_t limitBytes, double enough) const;

  /// The lowest peak that a search came to.
  int64_t lowestPeak() const;

  /// Annealing is for graphs of some thousand ops; larger ones get the near-linear planner's plans.
  bool anneals() const { return orders.front().problem->numNodes() <= annealedOps; }

  FrontPlan toPlan(const PlanFront::Point &point) const;
  bool isInterrupted() const { return options.interrupt && options.interrupt->load(std::memory_order_relaxed); }

private:
  static constexpr int32_t annealedOps = 6000;
  static constexpr uint64_t leastMoves = 1000;

  struct Order {
    std::unique_ptr<GapProblem> problem;
    std::unique_ptr<LargeSearch> large; ///< Makes the plan that one of the two annealings starts from.
    GapState::Snapshot reached;
    uint64_t moves; ///< Of one annealing: the first order, that of the program, gets most.
  };

  struct Start {
    size_t order;
    double enough;    ///< No plan in this order costs less.
    double share = 1; ///< Of the usual work.
    std::optional<PlanFront::Point> plan = {};
  };

  uint64_t seedFor(int64_t limitBytes, size_t order, int variant) const;
  std::optional<PlanFront::Point> startFromLarge(size_t order, int64_t limitBytes) const;
  void searchOrder(Start start, int64_t limitBytes, PlanFront &front);
  std::optional<PlanFront::Point> searchOrder(const Start &start, int64_t limitBytes, int variant);
  std::optional<PlanFront::Point> searchFromReached(size_t order, int64_t limitBytes, int variant);
  PlanFront::Point toPoint(size_t order, GapState &state, GapState::Snapshot snapshot) const;

  LimitOptions options;
  std::vector<Order> orders;
  int64_t givenPeak = 0;
};

} // namespace remat
