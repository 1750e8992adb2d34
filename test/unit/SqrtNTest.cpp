//===- SqrtNTest.cpp - sqrt-n and the command line's options ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestGraphs.h"
#include "remat/Plan/Generate.h"
#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"

#include <gtest/gtest.h>

using namespace remat;
using namespace remat::test;

namespace {

PlanOptions optionsOf(std::string policy, std::string segments = {}) {
  return {.policy = policy, .segments = segments, .keep = {}, .recompute = {}};
}

int64_t peakOf(const Graph &graph, const Plan &plan) {
  EXPECT_FALSE(verify(graph, plan));
  return simulate(graph, plan).peakBytes;
}

} // namespace

TEST(SqrtN, AChainOfTwoHundredNeedsTwoTimesFourteen) {
  // As given: h1 … h199, two gradients, the loss. In segments of 14: 13 cuts, 13 in a segment, two gradients.
  Graph graph = sineChain(200, 262144);
  EXPECT_EQ(peakOf(graph, programOrder(graph)), 201 * 262144 + 4);
  EXPECT_LE(peakOf(graph, plan(graph, optionsOf("sqrt-n"))->plan), 28 * 262144 + 4);
}

TEST(SqrtN, WhereNothingHelpsItIsTheProgramOrder) {
  Graph graph = Maker().argument("x", 8).forward("a", {"x"}, 8).backward("d", {"a"}, 8).result("d").finish();
  Expected<PolicyPlan> made = plan(graph, optionsOf("sqrt-n"));
  EXPECT_EQ(made->plan.steps, programOrder(graph).steps);
  EXPECT_EQ(made->reasons.size(), graph.numValues());
}

TEST(SqrtN, TransformerIsNoWorseThanLayerByLayer) {
  Graph graph = *generateGraph("transformer:layers=12");
  int64_t byLayer = peakOf(graph, plan(graph, optionsOf("save-nothing", "auto"))->plan);
  EXPECT_LE(peakOf(graph, plan(graph, optionsOf("sqrt-n"))->plan), byLayer + byLayer / 100);
}

TEST(SqrtN, KeepAndRecomputeMustNameSomething) {
  Graph graph = sineChain(20, 8);
  PlanOptions options = optionsOf("sqrt-n");
  options.keep = {"h3"};
  Expected<PolicyPlan> made = plan(graph, options);
  ASSERT_TRUE(made);
  EXPECT_NE(made->reasons[graph.findValue("h3")->index()], Reason::Recomputed);
  options.keep = {"nowhere"};
  EXPECT_FALSE(plan(graph, options));
}

TEST(SqrtN, SameGraphSamePlan) {
  Graph graph = *generateGraph("layered:n=3000,seed=5");
  EXPECT_EQ(plan(graph, optionsOf("sqrt-n"))->plan.steps, plan(graph, optionsOf("sqrt-n"))->plan.steps);
}

TEST(PlanOptions, SqrtNTakesItsOwnSegmentsAlone) {
  Graph graph = sineChain(20, 8);
  EXPECT_TRUE(plan(graph, optionsOf("sqrt-n", "sqrt")));
  EXPECT_EQ(plan(graph, optionsOf("sqrt-n", "auto")).error().message,
            "policy 'sqrt-n' makes its own segments, found --segments=auto");
  EXPECT_EQ(plan(graph, optionsOf("sqrt-n", "none")).error().note,
            "leave --segments out, or write --policy=save-nothing --segments=none");
  for (const char *policy : {"sqrt-n+save-dots", "save-dots+sqrt-n", "save-dots+sqrt-n+save-nothing", "sqrt-n="})
    EXPECT_FALSE(plan(graph, optionsOf(policy))) << policy;
}

TEST(PlanOptions, OtherPoliciesTakeAnySegments) {
  Graph graph = sineChain(20, 8);
  for (const char *segments : {"", "none", "auto", "sqrt"})
    EXPECT_TRUE(plan(graph, optionsOf("save-nothing", segments))) << segments;
  EXPECT_FALSE(plan(graph, optionsOf("save-nothing", "sqr")));
  EXPECT_FALSE(plan(graph, optionsOf("save-nothing", "scope:h")));
}
