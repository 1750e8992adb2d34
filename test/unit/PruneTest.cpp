//===- PruneTest.cpp - Saving again what recomputing does not help ------------===//
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

static PolicyPlan planOf(const Graph &graph, bool prune, const char *segments = "none") {
  return plan(graph, {.policy = "save-nothing", .segments = segments, .keep = {}, .recompute = {}, .prune = prune})
      .value();
}

TEST(Prune, SavesWhatLiesBelowThePeak) {
  // a and b are read again by the backward part. Behind them the forward part holds big(100) + c(4).
  // With a(4) and b(4) saved that is 112. The peak is elsewhere: f(8) + top(120) + c(4) = 132, so both can be saved.
  Graph graph = Maker()
                    .argument("x", 8)
                    .forward("a", {"x"}, 4)
                    .forward("b", {"a"}, 4)
                    .forward("big", {"b"}, 100)
                    .forward("c", {"big"}, 4)
                    .backward("d", {"c"}, 8)
                    .backward("e", {"d", "b"}, 8)
                    .backward("f", {"e", "a"}, 8)
                    .backward("top", {"f"}, 120)
                    .result("c")
                    .result("top")
                    .finish();
  Simulation whole = simulate(graph, planOf(graph, false).plan);
  EXPECT_EQ(whole.peakBytes, 132);
  EXPECT_EQ(whole.executions, graph.numOps() + 2); // a and b twice.
  PolicyPlan pruned = planOf(graph, true);
  EXPECT_EQ(simulate(graph, pruned.plan).peakBytes, 132);
  EXPECT_EQ(simulate(graph, pruned.plan).executions, graph.numOps());
  EXPECT_EQ(pruned.reasons[graph.findValue("a")->index()], Reason::Pruned);
  EXPECT_EQ(pruned.reasons[graph.findValue("b")->index()], Reason::Pruned);
}

TEST(Prune, KeepsWhatLowersThePeak) {
  // As given, a(50) lives beside big(100) + c(4): 154. Recomputed: big(100) + s(4) or c(4) = 104, and later c(4) + d(8)
  // + a(50) + e(8).
  Graph graph = Maker()
                    .argument("x", 8)
                    .forward("a", {"x"}, 50)
                    .forward("s", {"a"}, 4)
                    .forward("big", {"s"}, 100)
                    .forward("c", {"big"}, 4)
                    .backward("d", {"c"}, 8)
                    .backward("e", {"d", "a"}, 8)
                    .result("c")
                    .result("e")
                    .finish();
  EXPECT_EQ(simulate(graph, programOrder(graph)).peakBytes, 154);
  Plan pruned = planOf(graph, true).plan;
  EXPECT_EQ(simulate(graph, pruned).peakBytes, 104);
  EXPECT_EQ(simulate(graph, pruned).executions, graph.numOps() + 1);
}

TEST(Prune, NeverRaisesPeakOrCostOnLargerGraphs) {
  for (const char *text : {"layered:n=400,seed=1", "layered:n=3000,seed=2", "transformer:layers=6", "chain:n=300"})
    for (const char *segments : {"none", "sqrt"}) {
      Graph graph = *generateGraph(text);
      Simulation whole = simulate(graph, planOf(graph, false, segments).plan);
      PolicyPlan pruned = planOf(graph, true, segments);
      EXPECT_FALSE(verify(graph, pruned.plan));
      EXPECT_LE(simulate(graph, pruned.plan).peakBytes, whole.peakBytes) << text;
      EXPECT_LE(simulate(graph, pruned.plan).costNs, whole.costNs) << text;
    }
}
