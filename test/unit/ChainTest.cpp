//===- ChainTest.cpp - All plans of a chain worth having ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Plan/Chain.h"
#include "TestGraphs.h"
#include "remat/Plan/Exact.h"
#include "remat/Plan/Generate.h"
#include "remat/Plan/MemoryLimit.h"
#include "remat/Plan/Simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using namespace remat;
using namespace remat::test;

namespace {

OpInfo costing(double costNs, int64_t workspaceBytes = 0) {
  return {.opClass = OpClass::Elementwise, .costNs = costNs, .workspaceBytes = workspaceBytes};
}

/// What backward ops of a chain read.
enum class Reads { Inputs, Outputs, Any };

/// f1 … fn and bn … b1, where bi reads the gradient of b(i+1), and of the input and the output of fi what `reads` says.
Graph makeChain(uint32_t seed, size_t n, Reads reads, bool isEven = false, bool forwardResult = false) {
  std::mt19937 random(seed);
  Maker make;
  make.argument("x0", 5);
  auto bytes = [&] { return isEven ? 4 : int64_t(1 + random() % 20); };
  auto info = [&] { return isEven ? costing(1) : costing(double(1 + random() % 20), random() % 3 ? 0 : random() % 9); };
  std::vector<std::string> names{"x0"};
  for (size_t i = 1; i <= n; ++i) {
    names.push_back("x" + std::to_string(i));
    make.op(names[i], Phase::Forward, {names[i - 1]}, bytes(), info());
  }
  std::string gradient;
  for (size_t i = n; i >= 1; --i) {
    std::vector<std::string_view> operands;
    if (i < n)
      operands.push_back(gradient);
    unsigned which = reads == Reads::Inputs ? 1 : reads == Reads::Outputs ? 2 : random() % 4;
    if (which & 1)
      operands.push_back(names[i - 1]);
    if (which & 2)
      operands.push_back(names[i]);
    std::string next = "g" + std::to_string(i - 1);
    make.op(next, Phase::Backward, operands, bytes(), info());
    gradient = next;
  }
  if (forwardResult)
    make.result(names[1 + random() % n]);
  return make.result(gradient).finish();
}

double extraCostOf(const Graph &graph, const Plan &plan) {
  return simulate(graph, plan).costNs - simulate(graph, programOrder(graph)).costNs;
}

/// Every point is a legal plan with that peak and that cost, and the next one is dearer and smaller.
void expectHonest(const Graph &graph, const ChainFront &front) {
  ASSERT_FALSE(front.points().empty());
  for (size_t i = 0; i < front.points().size(); ++i) {
    ChainFront::Point point = front.points()[i];
    Plan plan = front.plan(i);
    ASSERT_FALSE(verify(graph, plan)) << graph.name() << " " << i;
    ASSERT_EQ(simulate(graph, plan).peakBytes, point.peakBytes) << graph.name() << " " << i;
    ASSERT_NEAR(extraCostOf(graph, plan), point.extraCost, 1e-9 * (1 + point.extraCost)) << graph.name() << " " << i;
    if (i > 0) {
      EXPECT_LT(point.peakBytes, front.points()[i - 1].peakBytes);
      EXPECT_GT(point.extraCost, front.points()[i - 1].extraCost);
    }
  }
}

struct Comparison {
  size_t points = 0, equal = 0; ///< Of the best plans of all, and those that the chain's front reaches.
  size_t graphs = 0, same = 0;  ///< Chains, and those with the same front.
};

/// Compares with the best plans of all in the given order.
void compare(const Graph &graph, Comparison &sum) {
  std::vector<double> costs = costsOf(graph);
  std::optional<ChainFront> front = findChainFront(graph, costs);
  ASSERT_TRUE(front);
  expectHonest(graph, *front);
  std::optional<std::vector<ExactPlan>> best = findExactFront(graph, costs, FirstExecutions::GivenOrder, 30'000);
  if (!best)
    return;
  size_t equal = 0;
  for (const ExactPlan &point : *best)
    if (std::optional<size_t> found = front->find(point.peakBytes)) {
      double cost = front->points()[*found].extraCost;
      EXPECT_GE(cost, point.extraCost - 1e-9);
      equal += cost <= point.extraCost + 1e-9;
      EXPECT_GE(front->points()[*found].peakBytes, best->back().peakBytes);
    }
  sum.points += best->size();
  sum.equal += equal;
  ++sum.graphs;
  sum.same += equal == best->size();
}

} // namespace

TEST(Chain, PlansOfTheClass) {
  // f1, f2, f3 make x1(4), x2(4), x3(4); each backward op reads its forward op's input and makes 1 byte.
  Graph graph = Maker()
                    .argument("x0", 4)
                    .forward("x1", {"x0"}, 4)
                    .forward("x2", {"x1"}, 4)
                    .forward("x3", {"x2"}, 1)
                    .backward("g2", {"x3", "x2"}, 1)
                    .backward("g1", {"g2", "x1"}, 1)
                    .backward("g0", {"g1", "x0"}, 1)
                    .result("g0")
                    .finish();
  ASSERT_TRUE(isChain(graph));
  std::optional<ChainFront> front = findChainFront(graph, costsOf(graph));
  ASSERT_TRUE(front);
  expectHonest(graph, *front);
  // All held: x1(4) + x2(4) + x3(1) + g2(1) = 10. x1 again behind g2: x2(4) + x3(1) + g2(1) = 6, but x1 and x2 are
  // alive while x2 is made: 8.
  ASSERT_EQ(front->points().size(), 2u);
  EXPECT_EQ(front->points()[0].peakBytes, 10);
  EXPECT_EQ(front->points()[0].extraCost, 0);
  EXPECT_EQ(front->points()[1].peakBytes, 8);
  EXPECT_EQ(front->points()[1].extraCost, 1);
  EXPECT_EQ(front->plan(1).steps, planOf(graph, {"x1", "x2", "x3", "g2", "x1", "g1", "g0"}).steps);
  EXPECT_EQ(front->find(9), 1u);
  EXPECT_FALSE(front->find(7));
}

TEST(Chain, IsNeverBelowTheBestOfAllPlans) {
  // The rest are plans that hold a value for some of the stages that it was made for, and make it again for others.
  for (Reads reads : {Reads::Inputs, Reads::Outputs, Reads::Any}) {
    Comparison sum;
    for (uint32_t seed = 0; seed < 1500; ++seed)
      if (Graph graph = makeChain(seed, 2 + seed % 4, reads); isChain(graph))
        compare(graph, sum);
    EXPECT_GT(sum.graphs, 1200u);
    EXPECT_GT(sum.equal * 100, sum.points * 91) << int(reads) << ": " << sum.equal << " of " << sum.points;
    EXPECT_GT(sum.same * 100, sum.graphs * 80) << int(reads) << ": " << sum.same << " of " << sum.graphs;
  }
}

TEST(Chain, EqualStagesGetTheBestOfAllPlans) {
  for (Reads reads : {Reads::Inputs, Reads::Outputs, Reads::Any}) {
    Comparison sum;
    for (uint32_t seed = 0; seed < 500; ++seed)
      if (Graph graph = makeChain(seed, 2 + seed % 5, reads, true); isChain(graph))
        compare(graph, sum);
    EXPECT_EQ(sum.same, sum.graphs) << int(reads);
    EXPECT_GT(sum.graphs, 400u);
  }
}

TEST(Chain, ResultsOfForwardOpsStayAlive) {
  Comparison sum;
  for (uint32_t seed = 0; seed < 500; ++seed)
    if (Graph graph = makeChain(seed, 2 + seed % 4, Reads::Any, false, true); isChain(graph))
      compare(graph, sum);
  EXPECT_GT(sum.graphs, 400u);
}

/// The least number of forward steps that reverse `steps` of them with `held` states, the first one included (Griewank,
/// 1992): r * steps - binomial(held + r, r - 1), where binomial(held + r - 1, held) < steps <= binomial(held + r,
/// held).
static int64_t revolve(int64_t steps, int64_t held) {
  auto binomial = [](int64_t n, int64_t k) {
    int64_t product = 1;
    for (int64_t i = 1; i <= k; ++i)
      product = product * (n - k + i) / i;
    return product;
  };
  int64_t r = 1;
  while (binomial(held + r, held) < steps)
    ++r;
  return steps == 1 ? 0 : r * steps - binomial(held + r, r - 1);
}

TEST(Chain, EqualStagesTakeAsManyStepsAsRevolve) {
  // Two steps with one state: forward once. Three: 2 + 1. Four with two states: 2 + 1 + 1.
  EXPECT_EQ(revolve(2, 1), 1);
  EXPECT_EQ(revolve(3, 1), 3);
  EXPECT_EQ(revolve(4, 2), 4);
  for (size_t n : {2, 3, 5, 10, 33, 64}) {
    // xi(1), and one byte while a backward op runs; gradients and the last forward op take nothing. A limit of m bytes
    // leaves m - 2 for states held meanwhile, and x0 is an argument: m - 1 states.
    Maker make;
    make.argument("x0", 1);
    for (size_t i = 1; i <= n; ++i)
      make.forward("x" + std::to_string(i), {"x" + std::to_string(i - 1)}, i < n ? 1 : 0);
    for (size_t i = n; i >= 1; --i)
      make.op("g" + std::to_string(i - 1), Phase::Backward,
              {i < n ? "g" + std::to_string(i) : "x" + std::to_string(n), "x" + std::to_string(i - 1)}, 0,
              costing(1, 1));
    Graph graph = make.result("g0").finish();
    std::optional<ChainFront> front = findChainFront(graph, costsOf(graph));
    ASSERT_TRUE(front);
    expectHonest(graph, *front);
    for (int64_t limit = 2; limit <= int64_t(n) + 1; ++limit) {
      std::optional<size_t> found = front->find(limit);
      ASSERT_TRUE(found) << n << " " << limit;
      // The last forward op runs once, too.
      EXPECT_EQ(front->points()[*found].extraCost, double(revolve(n, limit - 1) + 1 - int64_t(n))) << n << " " << limit;
    }
    EXPECT_FALSE(front->find(1));
  }
}

TEST(Chain, SeveralOpsMayBehaveAsOne) {
  // Residual blocks: a = f(x), b = g(a), x' = b + x; the backward ops of a block read a, b and x. Views are free.
  std::mt19937 random(1);
  Comparison sum;
  for (size_t round = 0; round < 60; ++round) {
    Maker make;
    make.argument("x0", 4);
    size_t blocks = 2 + round % 2;
    auto bytes = [&] { return int64_t(1 + random() % 9); };
    std::string input = "x0";
    for (size_t i = 1; i <= blocks; ++i) {
      std::string n = std::to_string(i);
      make.op("a" + n, Phase::Forward, {input}, bytes(), costing(double(1 + random() % 9), random() % 5));
      make.view("v" + n, Phase::Forward, "a" + n);
      make.op("b" + n, Phase::Forward, {"v" + n}, bytes(), costing(double(1 + random() % 9)));
      make.op("x" + n, Phase::Forward, {"b" + n, input}, bytes(), costing(double(1 + random() % 9)));
      input = "x" + n;
    }
    std::string gradient = input;
    for (size_t i = blocks; i >= 1; --i) {
      std::string n = std::to_string(i), before = "x" + std::to_string(i - 1);
      make.op("h" + n, Phase::Backward, {gradient, random() % 2 ? "v" + n : "b" + n}, bytes(), costing(2));
      make.op("w" + n, Phase::Backward, {"h" + n, before}, bytes(), costing(2)).result("w" + n);
      make.op("g" + n, Phase::Backward, {"h" + n, gradient}, bytes(), costing(2));
      gradient = "g" + n;
    }
    Graph graph = make.result(gradient).finish();
    ASSERT_TRUE(isChain(graph)) << round;
    compare(graph, sum);
  }
  EXPECT_GT(sum.graphs, 20u); // The others are too large to compare.
}

TEST(Chain, WhatMustRunOnceDoes) {
  // f2 must: x2 is held for g1, so it's not made again, and x1 is not needed after it.
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Graph graph = makeChain(seed, 3 + seed % 3, Reads::Any);
    if (!isChain(graph))
      continue;
    ChainOptions options;
    options.mayRepeat.assign(graph.numOps(), true);
    options.mayRepeat[1 + seed % 2] = false;
    std::optional<ChainFront> front = findChainFront(graph, costsOf(graph), options);
    ASSERT_TRUE(front);
    expectHonest(graph, *front);
    for (size_t i = 0; i < front->points().size(); ++i)
      EXPECT_EQ(std::ranges::count(front->plan(i).steps, OpId(1 + seed % 2)), 1) << seed;
  }
}

TEST(Chain, RefusesWhatIsNone) {
  auto forwards = [](std::string_view skip) {
    Maker make;
    make.argument("x0", 4).forward("x1", {"x0"}, 4).forward("x2", {"x1"}, 4).forward("x3", {"x2"}, 4);
    return std::move(make.forward("x4", {"x3", skip}, 4));
  };
  auto finish = [](Maker make, std::vector<std::string_view> last) {
    make.backward("g3", {"x4"}, 4).backward("g2", {"g3", "x3"}, 4).backward("g1", {"g2", "x2"}, 4);
    return make.backward("g0", last, 4).result("g0").finish();
  };
  EXPECT_TRUE(isChain(finish(forwards("x3"), {"g1", "x1"})));
  // A backward op reads stages that are not next to each other, or a later stage than the op before it.
  EXPECT_FALSE(isChain(finish(forwards("x3"), {"g1", "x1", "x3"})));
  EXPECT_FALSE(isChain(finish(forwards("x3"), {"g1", "x4"})));
  // A skip connection makes one stage of the ops that it passes, all of which are saved or none.
  EXPECT_TRUE(isChain(finish(forwards("x1"), {"g1", "x1"})));
  // An op in place, a forward op behind a backward op, and no backward op.
  Maker place = forwards("x3");
  ValueId operand = place.id("x4");
  ValueInfo over{.name = "o", .viewOf = operand, .inplaceOf = operand};
  place.builder.addOp({.name = "o", .opClass = OpClass::Elementwise}, {&operand, 1}, {&over, 1}).value();
  EXPECT_FALSE(isChain(place.backward("g", {"o"}, 4).result("g").finish()));
  EXPECT_FALSE(isChain(forwards("x3").backward("g", {"x4"}, 4).forward("y", {"x0"}, 4).result("g").finish()));
  EXPECT_FALSE(isChain(forwards("x3").result("x4").finish()));
}

TEST(Chain, AHundredStages) {
  Graph graph = makeChain(7, 100, Reads::Any);
  std::optional<ChainFront> front = findChainFront(graph, costsOf(graph));
  ASSERT_TRUE(front);
  EXPECT_GT(front->points().size(), 100u);
  expectHonest(graph, *front);
  EXPECT_EQ(front->points().front().extraCost, 0);
}

TEST(Chain, EndsEarly) {
  Graph graph = makeChain(1, 40, Reads::Inputs);
  std::atomic<bool> interrupt = true;
  EXPECT_FALSE(findChainFront(graph, costsOf(graph), {.interrupt = &interrupt}));
  EXPECT_FALSE(findChainFront(graph, costsOf(graph), {.stages = 39}));
  EXPECT_FALSE(findChainFront(graph, costsOf(graph), {.points = 100}));
  EXPECT_FALSE(findChainFront(graph, costsOf(graph), {.work = 1000}));
  EXPECT_TRUE(findChainFront(graph, costsOf(graph)));
}

TEST(Chain, TheLimitSearchIsNeverWorse) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    Graph graph = makeChain(seed, 25 + 5 * seed, seed % 2 ? Reads::Any : Reads::Inputs);
    std::vector<double> costs = costsOf(graph);
    std::optional<ChainFront> front = findChainFront(graph, costs);
    ASSERT_TRUE(front);
    LimitOptions options;
    options.order = ExecutionOrder::Given;
    options.effort = 0.1;
    double last = 0;
    for (int percent : {90, 70, 50, 30}) {
      int64_t limit = front->points().front().peakBytes * percent / 100;
      std::optional<size_t> point = front->find(limit);
      Expected<LimitedPlan> found = planMemoryLimit(graph, costs, limit, options);
      ASSERT_EQ(!point || found, true) << seed << " " << percent;
      if (!point)
        continue;
      EXPECT_LE(found->best.extraCost, front->points()[*point].extraCost + 1e-9) << seed << " " << percent;
      EXPECT_LE(found->extraCostBound, found->best.extraCost + 1e-6) << seed << " " << percent;
      EXPECT_EQ(simulate(graph, found->best.plan).peakBytes, found->best.peakBytes);
      EXPECT_GE(found->best.extraCost, last) << seed << " " << percent;
      last = found->best.extraCost;
    }
  }
}
