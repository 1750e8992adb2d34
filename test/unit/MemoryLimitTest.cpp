//===- MemoryLimitTest.cpp - Plans under a hard limit -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/MemoryLimit.h"
#include "../../lib/Plan/CutBound.h"
#include "../../lib/Plan/GapSearch.h"
#include "../../lib/Plan/LimitSearch.h"
#include "TestGraphs.h"
#include "remat/Plan/Exact.h"
#include "remat/Plan/Generate.h"
#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

using namespace remat;
using namespace remat::test;

namespace {

double extraCost(const Graph &graph, const Plan &plan, std::span<const double> costs) {
  double cost = 0;
  for (OpId op : plan.steps)
    cost += costs[op.index()];
  for (size_t i = 0; i < graph.numOps(); ++i)
    cost -= costs[i];
  return cost;
}

/// Expects that the plan is what it says.
void expectHonest(const Graph &graph, const FrontPlan &plan, std::span<const double> costs, int64_t limitBytes) {
  ASSERT_FALSE(verify(graph, plan.plan));
  EXPECT_EQ(simulate(graph, plan.plan).peakBytes, plan.peakBytes);
  EXPECT_LE(plan.peakBytes, limitBytes);
  EXPECT_NEAR(extraCost(graph, plan.plan, costs), plan.extraCost, 1e-6 * (1 + plan.extraCost));
}

/// Ops with one result, read by some of the next ones.
Graph plainGraph(uint32_t seed, size_t opCount) {
  std::mt19937 random(seed);
  GraphBuilder builder("plain");
  std::vector<ValueId> values{*builder.addArgument("x", 8)};
  for (size_t i = 0; i < opCount; ++i) {
    std::vector<ValueId> operands;
    for (size_t count = 1 + random() % 3; operands.size() < count;)
      operands.push_back(values[values.size() - 1 - random() % std::min<size_t>(values.size(), 6)]);
    std::string name = "o" + std::to_string(i);
    OpInfo info{.name = name, .kind = "op", .opClass = OpClass::Elementwise};
    info.costNs = 1 + random() % 100;
    ValueInfo result{.name = name, .bytes = int64_t(1 + random() % 1000)};
    (void)*builder.addOp(info, operands, {&result, 1});
    values.push_back(*builder.findValue(name));
  }
  builder.addResult(values.back());
  return builder.finish();
}

LimitOptions quick(ExecutionOrder order) {
  LimitOptions options;
  options.order = order;
  options.effort = 0.02;
  return options;
}

} // namespace

TEST(GapState, MeasuresWhatTheSimulatorDoes) {
  // Graphs with views, workspaces, several results, ops in place and ops that must run once.
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Graph graph = randomGraph(seed, 5 + seed % 60);
    std::vector<double> costs = costsOf(graph);
    GapProblem problem(graph, programOrder(graph).steps, costs);
    int64_t given = simulate(graph, programOrder(graph)).peakBytes;
    GapState state(problem, given * 7 / 10);
    EXPECT_EQ(state.peak(), double(given)) << seed;
    GapSearch search(state, seed);
    for (int round = 0; round < 4; ++round) {
      AnnealOptions options;
      options.moves = 200;
      options.hot = 10; // Far from any good state.
      search.anneal(options);
      Plan plan = state.plan();
      ASSERT_FALSE(verify(graph, plan)) << seed;
      EXPECT_EQ(double(simulate(graph, plan).peakBytes), state.peak()) << seed;
      EXPECT_NEAR(extraCost(graph, plan, costs), state.cost(), 1e-6) << seed;
      GapState again(problem, given * 7 / 10);
      again.restore(state.snapshot());
      EXPECT_EQ(again.peak(), state.peak()) << seed;
      EXPECT_EQ(again.excess(), state.excess()) << seed;
      EXPECT_NEAR(again.cost(), state.cost(), 1e-6) << seed;
    }
  }
}

TEST(CutBound, IsNeverAboveTheOptimum) {
  size_t tight = 0, points = 0;
  for (uint32_t seed = 0; seed < scaled(1500); ++seed) {
    Graph graph = randomGraph(seed, 4 + seed % 7);
    std::vector<double> costs = costsOf(graph);
    auto front = findExactFront(graph, costs, FirstExecutions::GivenOrder);
    if (!front)
      continue;
    GapProblem problem(graph, programOrder(graph).steps, costs);
    for (const ExactPlan &point : *front) {
      double bound = boundCostByCuts(problem, point.peakBytes, std::numeric_limits<double>::infinity());
      EXPECT_LE(bound, point.extraCost * (1 + 1e-9) + 1e-9) << seed;
      ++points;
      tight += bound >= point.extraCost * (1 - 1e-6) - 1e-9;
    }
  }
  EXPECT_GT(points, 1500u);
  EXPECT_GT(tight, points / 3);
}

TEST(MemoryLimit, TinyGraphsAreSolvedExactly) {
  for (uint32_t seed = 0; seed < scaled(1000); ++seed) {
    Graph graph = randomGraph(seed, 4 + seed % 7);
    std::vector<double> costs = costsOf(graph);
    for (ExecutionOrder order : {ExecutionOrder::Given, ExecutionOrder::Free}) {
      LimitOptions options;
      options.order = order;
      FirstExecutions first = order == ExecutionOrder::Given ? FirstExecutions::GivenOrder : FirstExecutions::FreeOrder;
      int64_t given = simulate(graph, programOrder(graph)).peakBytes;
      for (int percent : {95, 80, 60, 40}) {
        int64_t limit = given * percent / 100;
        ExactResult exact = findExactPlan(graph, costs, limit, first);
        if (exact.status == ExactStatus::GaveUp)
          continue;
        Expected<LimitedPlan> found = planMemoryLimit(graph, costs, limit, options);
        ASSERT_EQ(bool(found), exact.status == ExactStatus::Optimal) << seed << " " << percent;
        if (!found)
          continue;
        expectHonest(graph, found->best, costs, limit);
        EXPECT_NEAR(found->best.extraCost, exact.best.extraCost, 1e-6) << seed;
        EXPECT_NEAR(found->extraCostBound, exact.best.extraCost, 1e-6) << seed;
      }
    }
  }
}

TEST(LimitSearch, ComesNearTheOptimum) {
  size_t points = 0, optimal = 0;
  double cost = 0, bestCost = 0;
  for (uint32_t seed = 0; seed < 15; ++seed) {
    Graph graph = plainGraph(seed, 24);
    std::vector<double> costs = costsOf(graph);
    int64_t given = simulate(graph, programOrder(graph)).peakBytes;
    LimitOptions options = quick(ExecutionOrder::Given);
    options.effort = 0.2;
    LimitSearch searcher(graph, costs, {{programOrder(graph).steps}}, options);
    for (int percent : {90, 75, 60}) {
      int64_t limit = given * percent / 100;
      ExactResult exact = findExactPlan(graph, costs, limit, FirstExecutions::GivenOrder);
      if (exact.status != ExactStatus::Optimal)
        continue;
      PlanFront front;
      searcher.search(limit, front);
      ++points;
      if (!front.at(limit))
        continue; // Missed.
      FrontPlan found = searcher.toPlan(*front.at(limit));
      expectHonest(graph, found, costs, limit);
      EXPECT_GE(found.extraCost, exact.best.extraCost - 1e-6) << seed;
      EXPECT_LE(searcher.bound(limit, 1e18), exact.best.extraCost + 1e-6) << seed;
      optimal += found.extraCost <= exact.best.extraCost + 1e-6;
      cost += found.extraCost;
      bestCost += exact.best.extraCost;
    }
  }
  EXPECT_GT(points, 10u);
  EXPECT_GE(optimal, points * 6 / 10);
  EXPECT_LE(cost, 1.1 * bestCost);
}

TEST(MemoryLimit, MoreMemoryNeverCostsMore) {
  // Every other graph is too large to be solved exactly.
  for (uint32_t seed = 0; seed < scaled(4); ++seed)
    for (ExecutionOrder order : {ExecutionOrder::Given, ExecutionOrder::Free}) {
      Graph graph = plainGraph(seed, (seed % 2 ? 33 : 12) + seed % 20);
      std::vector<double> costs = costsOf(graph);
      int64_t given = simulate(graph, programOrder(graph)).peakBytes;
      double last = std::numeric_limits<double>::infinity();
      LimitOptions options = quick(order);
      options.effort = 0.06; // Less than 5 % looks at the limit alone.
      for (int step = 0; step < 20; ++step) {
        int64_t limit = given * 6 / 10 + given * step / 50 + int64_t(seed) % 5;
        Expected<LimitedPlan> found = planMemoryLimit(graph, costs, limit, options);
        if (!found) {
          EXPECT_TRUE(std::isinf(last)) << "feasible at a lower limit";
          continue;
        }
        expectHonest(graph, found->best, costs, limit);
        EXPECT_LE(found->best.extraCost, last + 1e-9) << "seed " << seed << " limit " << limit;
        last = found->best.extraCost;
      }
    }
}

TEST(MemoryLimit, IsNeverDearerThanSqrtNAtItsPeak) {
  for (std::string_view generated : {"transformer:layers=6", "chain:n=60", "layered:n=300,seed=2"}) {
    SCOPED_TRACE(generated);
    Graph graph = *generateGraph(generated);
    std::vector<double> costs = costsOf(graph);
    PlanOptions sqrtN;
    sqrtN.policy = "sqrt-n";
    Expected<PolicyPlan> byPolicy = plan(graph, sqrtN);
    ASSERT_TRUE(byPolicy);
    int64_t limit = simulate(graph, byPolicy->plan).peakBytes;
    Expected<LimitedPlan> found = planMemoryLimit(graph, costs, limit, quick(ExecutionOrder::Free));
    ASSERT_TRUE(found) << found.error().message;
    expectHonest(graph, found->best, costs, limit);
    EXPECT_LE(found->best.extraCost, extraCost(graph, byPolicy->plan, costs) + 1e-9);
  }
}

TEST(MemoryLimit, SameOptionsSamePlan) {
  Graph graph = *generateGraph("transformer:layers=4");
  std::vector<double> costs = costsOf(graph);
  int64_t limit = simulate(graph, programOrder(graph)).peakBytes * 8 / 10;
  Expected<LimitedPlan> one = planMemoryLimit(graph, costs, limit, quick(ExecutionOrder::Free));
  Expected<LimitedPlan> two = planMemoryLimit(graph, costs, limit, quick(ExecutionOrder::Free));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->best.plan.steps, two->best.plan.steps);
}

TEST(MemoryLimit, AChainOfTwoHundredFitsIntoTwentySevenLinks) {
  // sqrt-n needs 28 of them; as given it is 201.
  Graph graph = sineChain(200, 4096);
  std::vector<double> costs = costsOf(graph);
  Expected<LimitedPlan> found = planMemoryLimit(graph, costs, 28 * 4096 + 4, quick(ExecutionOrder::Given));
  ASSERT_TRUE(found) << found.error().message;
  expectHonest(graph, found->best, costs, 28 * 4096 + 4);
  PlanOptions sqrtN;
  sqrtN.policy = "sqrt-n";
  Expected<PolicyPlan> byPolicy = plan(graph, sqrtN);
  EXPECT_LE(found->best.extraCost, extraCost(graph, byPolicy->plan, costs));
}

TEST(MemoryLimit, BelowTheFloorTheErrorNamesTheFloor) {
  Graph graph = sineChain(20, 4096);
  // A backward op reads two values and makes one.
  Expected<LimitedPlan> found = planMemoryLimit(graph, costsOf(graph), 2 * 4096, LimitOptions());
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("at least " + std::to_string(3 * 4096)), std::string::npos)
      << found.error().message;
}

TEST(MemoryLimit, WhatThePolicySavesIsNeverRecomputed) {
  Graph graph = sineChain(40, 4096);
  PlanOptions options;
  options.memoryLimit = "60%";
  options.order = "given";
  options.keep = {"h7", "h8"};
  Expected<PolicyPlan> planned = plan(graph, options);
  ASSERT_TRUE(planned) << planned.error().message;
  for (std::string_view kept : {"h7", "h8"})
    EXPECT_EQ(std::ranges::count(planned->plan.steps, *graph.findOp(kept)), 1);
  EXPECT_GT(planned->plan.steps.size(), graph.numOps());
}

TEST(MemoryLimit, TheFrontKeepsWhatIsKept) {
  Graph graph = sineChain(40, 4096);
  PlanOptions options;
  options.pareto = 5;
  options.keep = {"h7", "h8"};
  Expected<PolicyPlan> planned = plan(graph, options);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_GT(planned->front.size(), 2u);
  for (const FrontPlan &point : planned->front)
    for (std::string_view kept : {"h7", "h8"})
      EXPECT_EQ(std::ranges::count(point.plan.steps, *graph.findOp(kept)), 1);
}

TEST(MemoryLimit, FreeOrderAloneMovesOpsAndRunsNoneAgain) {
  // As given, both large values are alive together; one after the other, they are not.
  Graph graph = Maker()
                    .argument("x", 8)
                    .forward("a", {"x"}, 100)
                    .forward("b", {"x"}, 100)
                    .forward("c", {"a"}, 1)
                    .forward("d", {"b"}, 1)
                    .result("c")
                    .result("d")
                    .finish();
  PlanOptions options;
  options.order = "free";
  Expected<PolicyPlan> planned = plan(graph, options);
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_FALSE(verify(graph, planned->plan));
  EXPECT_EQ(planned->plan.steps.size(), graph.numOps());
  EXPECT_EQ(simulate(graph, programOrder(graph)).peakBytes, 201);
  EXPECT_EQ(simulate(graph, planned->plan).peakBytes, 102);
  options.policy = "save-dots";
  EXPECT_FALSE(plan(graph, options));
}

TEST(MemoryLimit, TheFrontGoesFromCheapToSmall) {
  Graph graph = sineChain(40, 4096);
  std::vector<double> costs = costsOf(graph);
  std::vector<FrontPlan> front = planFront(graph, costs, quick(ExecutionOrder::Given));
  ASSERT_GT(front.size(), 10u);
  EXPECT_EQ(front.front().extraCost, 0);
  for (size_t i = 0; i < front.size(); ++i) {
    expectHonest(graph, front[i], costs, front[i].peakBytes);
    if (i > 0) {
      EXPECT_LT(front[i].peakBytes, front[i - 1].peakBytes);
      EXPECT_GT(front[i].extraCost, front[i - 1].extraCost);
    }
  }
}

TEST(MemoryLimit, AnInterruptTakesTheBestPlanSoFar) {
  Graph graph = *generateGraph("transformer:layers=4");
  std::vector<double> costs = costsOf(graph);
  int64_t limit = simulate(graph, programOrder(graph)).peakBytes * 9 / 10;
  std::atomic<bool> interrupt = false;
  LimitOptions options;
  options.order = ExecutionOrder::Given;
  options.interrupt = &interrupt;
  options.effort = 100;
  options.progress = [&](const SearchProgress &) { interrupt = true; };
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    interrupt = true;
  });
  Expected<LimitedPlan> found = planMemoryLimit(graph, costs, limit, options);
  later.join();
  ASSERT_TRUE(found) << found.error().message;
  expectHonest(graph, found->best, costs, limit);
}
