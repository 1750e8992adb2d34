//===- ExactTest.cpp - Best plans of tiny graphs --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Exact.h"
#include "remat/Plan/Simulator.h"

#include "BruteForce.h"
#include "TestGraphs.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>

using namespace remat;
using namespace remat::test;

static std::vector<std::string> namesOf(const Graph &graph, const Plan &plan) {
  std::vector<std::string> names;
  for (OpId op : plan.steps)
    names.emplace_back(graph.op(op).name);
  return names;
}

static OpInfo costing(double costNs) { return {.opClass = OpClass::Elementwise, .costNs = costNs}; }

/// a -> b -> c -> d, and e reads a and d.
static Graph makeLoop() {
  Maker maker;
  maker.argument("x", 1);
  maker.op("a", Phase::Forward, {"x"}, 4, costing(3)).op("b", Phase::Forward, {"a"}, 4, costing(5));
  maker.op("c", Phase::Forward, {"b"}, 8, costing(7)).op("d", Phase::Backward, {"c"}, 4, costing(9));
  return maker.op("e", Phase::Backward, {"a", "d"}, 1, costing(1)).result("e").finish();
}

TEST(Exact, ExecutesAgainWhatIsCheapest) {
  Graph graph = makeLoop();
  std::vector<double> costs = costsOf(graph);
  // As given: a(4) + b(4) + c(8) = 16 and a(4) + c(8) + d(4) = 16. Without a: b(4) + c(8) = 12 and c(8) + d(4) = 12.
  ExactResult all = findExactPlan(graph, costs, 16, FirstExecutions::GivenOrder);
  ASSERT_EQ(all.status, ExactStatus::Optimal);
  EXPECT_EQ(all.best.extraCost, 0);
  EXPECT_EQ(all.best.peakBytes, 16);
  ExactResult less = findExactPlan(graph, costs, 15, FirstExecutions::GivenOrder);
  ASSERT_EQ(less.status, ExactStatus::Optimal);
  EXPECT_EQ(less.best.extraCost, 3);
  EXPECT_EQ(less.best.peakBytes, 12);
  EXPECT_EQ(namesOf(graph, less.best.plan), (std::vector<std::string>{"a", "b", "c", "d", "a", "e"}));
  EXPECT_EQ(findExactPlan(graph, costs, 11, FirstExecutions::GivenOrder).status, ExactStatus::Infeasible);
}

TEST(Exact, FrontHoldsEveryPlanWorthHaving) {
  Graph graph = makeLoop();
  std::optional<std::vector<ExactPlan>> front = findExactFront(graph, costsOf(graph), FirstExecutions::GivenOrder);
  ASSERT_TRUE(front);
  ASSERT_EQ(front->size(), 2u);
  EXPECT_EQ((*front)[0].peakBytes, 16);
  EXPECT_EQ((*front)[1].peakBytes, 12);
}

TEST(Exact, FreeOrderPutsReadersWhereTheyFreeMemory) {
  // As given: a(8) + b(8) are alive while c (1) runs: 17. In the order a, c, b, d: a(8) + c(1), then c(1) + b(8) +
  // d(1) = 10.
  Graph graph = Maker()
                    .argument("x", 1)
                    .op("a", Phase::Forward, {"x"}, 8, costing(2))
                    .op("b", Phase::Forward, {"x"}, 8, costing(2))
                    .op("c", Phase::Forward, {"a"}, 1, costing(2))
                    .op("d", Phase::Forward, {"b", "c"}, 1, costing(2))
                    .result("d")
                    .finish();
  std::vector<double> costs = costsOf(graph);
  ExactResult given = findExactPlan(graph, costs, 10, FirstExecutions::GivenOrder);
  // In the given order both are made twice: a, b, a, c, b, d.
  ASSERT_EQ(given.status, ExactStatus::Optimal);
  EXPECT_EQ(given.best.extraCost, 4);
  ExactResult free = findExactPlan(graph, costs, 10, FirstExecutions::FreeOrder);
  ASSERT_EQ(free.status, ExactStatus::Optimal);
  EXPECT_EQ(free.best.extraCost, 0);
  EXPECT_EQ(namesOf(graph, free.best.plan), (std::vector<std::string>{"a", "c", "b", "d"}));
}

TEST(Exact, AnOpThatMustRunOnceDoes) {
  // 16 as in makeLoop; a must be kept, and nothing else is alive twice.
  Maker maker;
  maker.argument("x", 1);
  maker.op("a", Phase::Forward, {"x"}, 4, {.opClass = OpClass::Random, .costNs = 3});
  maker.forward("b", {"a"}, 4).forward("c", {"b"}, 8).backward("d", {"c"}, 4).backward("e", {"a", "d"}, 1);
  Graph graph = maker.result("e").finish();
  EXPECT_EQ(findExactPlan(graph, costsOf(graph), 15, FirstExecutions::FreeOrder).status, ExactStatus::Infeasible);
  EXPECT_EQ(findExactPlan(graph, costsOf(graph), 16, FirstExecutions::FreeOrder).status, ExactStatus::Optimal);
}

TEST(Exact, GivesUpOnWhatIsTooLarge) {
  Maker maker;
  maker.argument("x", 1);
  std::vector<std::string> names;
  for (size_t i = 0; i <= ExactLimits::ops; ++i)
    names.push_back("o" + std::to_string(i));
  for (size_t i = 0; i < names.size(); ++i)
    maker.forward(names[i], {i == 0 ? std::string_view("x") : std::string_view(names[i - 1])}, 1);
  Graph large = maker.finish();
  EXPECT_EQ(findExactPlan(large, costsOf(large), 100, FirstExecutions::GivenOrder).status, ExactStatus::GaveUp);
  Graph loop = makeLoop();
  EXPECT_EQ(findExactPlan(loop, costsOf(loop), 12, FirstExecutions::GivenOrder, 3).status, ExactStatus::GaveUp);
}

namespace {

/// Every plan of up to `mostSteps` steps, with the verifier and the simulator as judges: the lowest cost by peak.
class AllPlans {
public:
  AllPlans(const Graph &graph, size_t mostSteps, FirstExecutions order)
      : graph(graph), mostSteps(mostSteps), order(order) {
    extend(0);
  }

  /// The least cost at a peak of at most `limitBytes`; -1 if there is none.
  double leastCost(int64_t limitBytes) const {
    double least = -1;
    for (auto [peak, cost] : costByPeak)
      if (peak <= limitBytes && (least < 0 || cost < least))
        least = cost;
    return least;
  }
  const std::map<int64_t, double> &all() const { return costByPeak; }

private:
  void extend(uint32_t done) {
    if (done == (1u << graph.numOps()) - 1 && !verify(graph, plan)) {
      Simulation simulation = simulate(graph, plan);
      auto [at, added] = costByPeak.emplace(simulation.peakBytes, simulation.costNs);
      at->second = std::min(at->second, simulation.costNs);
    }
    if (plan.steps.size() == mostSteps)
      return;
    for (size_t i = 0; i < graph.numOps(); ++i) {
      bool next = order == FirstExecutions::FreeOrder || size_t(std::popcount(done)) == i;
      bool readable = std::ranges::all_of(graph.operands(OpId(i)), [&](ValueId operand) {
        return graph.isArgument(operand) || (done >> graph.producer(operand).index() & 1);
      });
      if (!readable || !(done >> i & 1 ? !graph.mustRunOnce(OpId(i)) : next))
        continue;
      plan.steps.push_back(OpId(i));
      extend(done | 1u << i);
      plan.steps.pop_back();
    }
  }

  const Graph &graph;
  size_t mostSteps;
  FirstExecutions order;
  Plan plan;
  std::map<int64_t, double> costByPeak;
};

} // namespace

TEST(Exact, AViewMadeAnewFreesTheInstanceItWasOf) {
  // While c runs, there is no room for y: x(4) + y(8) + c(9). For b, a runs again, which makes x again, too: it stands
  // there twice, and x(4) + x(4) + y(8) + b(1) is more than 16. v made anew of the new x frees the old one, 13; without
  // that the new one has to go, and a runs once more for d.
  GraphBuilder builder("g");
  (void)*builder.addArgument("w", 1);
  auto find = [&](std::string_view name) { return *builder.findValue(name); };
  auto add = [&](std::string_view name, double costNs, std::vector<std::string_view> reads,
                 std::vector<ValueInfo> results) {
    std::vector<ValueId> operands;
    for (std::string_view read : reads)
      operands.push_back(find(read));
    (void)*builder.addOp({.name = name, .opClass = OpClass::Elementwise, .costNs = costNs}, operands, results);
  };
  add("a", 5, {"w"}, {{.name = "x", .bytes = 4}, {.name = "y", .bytes = 8}});
  add("v", 1, {"x"}, {{.name = "v", .viewOf = find("x")}});
  add("c", 1, {"x"}, {{.name = "c", .bytes = 9}});
  add("b", 1, {"y", "v"}, {{.name = "b", .bytes = 1}});
  add("d", 1, {"x"}, {{.name = "d", .bytes = 1}});
  builder.addResult(find("b"));
  builder.addResult(find("d"));
  Graph graph = builder.finish();
  ExactResult exact = findExactPlan(graph, costsOf(graph), 16, FirstExecutions::GivenOrder);
  ASSERT_EQ(exact.status, ExactStatus::Optimal);
  EXPECT_EQ(exact.best.plan.steps, planOf(graph, {"a", "v", "c", "a", "v", "b", "d"}).steps);
  EXPECT_EQ(exact.best.extraCost, 6);
}

TEST(Exact, IsTheBestOfAllPlans) {
  // Four ops: best plans with more than four executions on top are rare, and not looked for.
  for (uint32_t seed = 0; seed < scaled(150); ++seed)
    for (FirstExecutions order : {FirstExecutions::GivenOrder, FirstExecutions::FreeOrder}) {
      Graph graph = randomGraph(seed, 2 + seed % 3);
      std::vector<double> costs = costsOf(graph);
      double once = 0;
      for (double cost : costs)
        once += cost;
      AllPlans plans(graph, graph.numOps() + 4, order);
      for (auto [peak, cost] : plans.all())
        for (int64_t limit : {peak - 1, peak}) {
          ExactResult exact = findExactPlan(graph, costs, limit, order);
          if (exact.best.plan.steps.size() > graph.numOps() + 4)
            continue;
          double least = plans.leastCost(limit);
          ASSERT_EQ(exact.status == ExactStatus::Optimal, least >= 0) << seed << " limit " << limit;
          if (least >= 0) {
            ASSERT_DOUBLE_EQ(exact.best.extraCost + once, least) << seed << " limit " << limit;
          }
        }
    }
}

TEST(Exact, PlansAreLegalAndCostWhatTheyClaim) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Graph graph = randomGraph(seed, 3 + seed % 5);
    std::vector<double> costs = costsOf(graph);
    double once = simulate(graph, programOrder(graph)).costNs;
    int64_t floor[2];
    for (FirstExecutions order : {FirstExecutions::GivenOrder, FirstExecutions::FreeOrder}) {
      std::optional<std::vector<ExactPlan>> front = findExactFront(graph, costs, order);
      ASSERT_TRUE(front) << seed;
      for (size_t i = 0; i < front->size(); ++i) {
        const ExactPlan &point = (*front)[i];
        ASSERT_FALSE(verify(graph, point.plan)) << seed;
        EXPECT_DOUBLE_EQ(simulate(graph, point.plan).costNs, once + point.extraCost) << seed;
        EXPECT_EQ(simulate(graph, point.plan).peakBytes, point.peakBytes) << seed;
        if (i > 0) {
          EXPECT_GT(point.extraCost, (*front)[i - 1].extraCost) << seed;
          EXPECT_LT(point.peakBytes, (*front)[i - 1].peakBytes) << seed;
        }
      }
      floor[order == FirstExecutions::FreeOrder] = front->back().peakBytes;
    }
    EXPECT_LE(floor[1], floor[0]) << seed;
    // The brute force computes results once, so it may need more; to read a view it does not need the op that makes it.
    bool views = false;
    for (size_t v = 0; v < graph.numValues(); ++v)
      views |= graph.isView(ValueId(v));
    if (std::optional<int64_t> lowest = BruteForce(graph).lowestPeak(); lowest && !views) {
      EXPECT_LE(floor[1], *lowest) << seed;
    }
  }
}

TEST(Exact, ReadsOfAnOverwrittenPlaceComeBefore) {
  // b overwrites a, which c reads in program order before; d reads b. To run b again a must be made again first.
  Maker maker;
  maker.argument("x", 1);
  maker.op("a", Phase::Forward, {"x"}, 8, costing(1)).op("c", Phase::Forward, {"a"}, 2, costing(1));
  ValueId operand = maker.id("a");
  ValueInfo overwriting{.name = "b", .viewOf = operand, .inplaceOf = operand};
  maker.builder.addOp({.name = "b", .opClass = OpClass::Elementwise, .costNs = 1}, {&operand, 1}, {&overwriting, 1})
      .value();
  maker.op("e", Phase::Forward, {"c"}, 8, costing(1)).op("f", Phase::Forward, {"e"}, 1, costing(1));
  Graph graph = maker.op("d", Phase::Forward, {"b", "f"}, 1, costing(1)).result("d").finish();
  std::vector<double> costs = costsOf(graph);
  // As given: a's place (8) + c(2) + e(8) = 18. Without it while e runs: e(8) + c(2) = 10; a and b again: 2.
  ExactResult exact = findExactPlan(graph, costs, 10, FirstExecutions::GivenOrder);
  ASSERT_EQ(exact.status, ExactStatus::Optimal);
  EXPECT_EQ(exact.best.extraCost, 2);
  EXPECT_FALSE(verify(graph, exact.best.plan));
  EXPECT_EQ(exact.best.peakBytes, 10);
}
