//===- ReportTest.cpp ------------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Report.h"
#include "TestGraphs.h"
#include "remat/Plan/Generate.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace remat;
using namespace remat::test;

static std::string textOf(const Report &report) {
  std::ostringstream out;
  writeReportText(out, report);
  return out.str();
}

static std::string firstLine(const std::string &text) { return text.substr(0, text.find('\n')); }

TEST(Report, countsByHand) {
  Graph graph = Maker("g")
                    .argument("x", 100)
                    .forward("a", {"x"}, 8)
                    .view("v", Phase::Forward, "a")
                    .forward("b", {"v"}, 4)
                    .forward("c", {"b"}, 4)
                    .backward("d", {"c"}, 16)
                    .backward("e", {"d", "v"}, 4)
                    .result("e")
                    .finish();
  Report report = makeReport(graph, {planOf(graph, {"a", "v", "b", "c", "d", "a", "v", "e"}), {}}, {});
  EXPECT_EQ(report.forwardOps, 4u);
  EXPECT_EQ(report.backwardOps, 2u);
  EXPECT_EQ(report.residentBytes, 100);
  // before: d: a(8) + c(4) + d(16) = 28, e: a(8) + d(16) + e(4) = 28. after: d: 4 + 16 = 20, e: 8 + 16 + 4 = 28.
  EXPECT_EQ(report.before.peakBytes, 28);
  EXPECT_EQ(report.before.peakOp, "d");
  EXPECT_EQ(report.after.peakBytes, 28);
  EXPECT_EQ(report.after.peakOp, "e");
  EXPECT_EQ(report.before.residualBytes, 8 + 4);
  EXPECT_EQ(report.after.residualBytes, 4);
  // The view v was executed again too, which does not count.
  EXPECT_EQ(report.recomputedOps, 1u);
  ASSERT_EQ(report.recomputed.size(), 1u);
  EXPECT_EQ(report.recomputed[0].op, "a");
  ASSERT_EQ(report.saved.size(), 1u);
  EXPECT_EQ(report.saved[0].value, "c");
  // Five ops of 1 ns, one of them twice.
  EXPECT_DOUBLE_EQ(report.overheadCost, 1.0 / 5);
  EXPECT_EQ(firstLine(textOf(report)), "nothing gained: the peak stays at 28 B, at 20.0% more time");
}

/// Report lists by its own replay what `simulate` adds up.
TEST(Report, listsAddUp) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    Graph graph = randomGraph(seed, 2 + seed % 12);
    Report report = makeReport(graph, {randomPlan(graph, seed, seed % 5), {}}, {});
    int64_t saved = 0;
    size_t times = 0;
    for (const Report::SavedValue &value : report.saved)
      saved += value.bytes;
    for (const Report::RecomputedOp &op : report.recomputed)
      times += op.times;
    ASSERT_EQ(saved, report.after.residualBytes) << "seed " << seed;
    ASSERT_EQ(times, report.recomputedOps) << "seed " << seed;
  }
}

TEST(Report, textFitsATerminal) {
  Graph graph = *generateGraph("layered:n=400");
  std::string longName(300, 'n');
  ReportContext context{.tool = longName, .input = longName, .policy = longName, .segments = longName};
  Plan plan = randomPlan(graph, 1, 50);
  std::istringstream lines(textOf(makeReport(graph, {plan, {}}, context)));
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80u) << line;
  Maker maker(longName);
  maker.argument("x", int64_t(1) << 58).op(longName, Phase::Forward, {"x"}, int64_t(1) << 58, {.location = longName});
  Graph wide = maker.backward("b", {longName}, 1).finish();
  std::istringstream wideLines(textOf(makeReport(wide, {programOrder(wide), {}}, context)));
  for (std::string line; std::getline(wideLines, line);)
    EXPECT_LE(line.size(), 80u) << line;
}

TEST(Report, aPeakThatRoseComesWithAWayOut) {
  Graph graph = Maker("g")
                    .argument("x", 1)
                    .op("a", Phase::Forward, {"x"}, 2, {.opClass = OpClass::Dot, .costNs = 1, .workspaceBytes = 5})
                    .backward("b", {"a"}, 2)
                    .backward("c", {"a", "b"}, 1)
                    .result("c")
                    .finish();
  // a: 2 + 5 = 7, b: 2 + 2, c: 2 + 2 + 1; with a again before c: b(2) + a(2) + 5 = 9
  Report report = makeReport(graph, {planOf(graph, {"a", "b", "a", "c"}), {}}, {});
  std::string text = textOf(report);
  EXPECT_EQ(firstLine(text), "the peak rose by 28.6%: 7 B -> 9 B, at 33.3% more time");
  EXPECT_NE(text.find("\nnote: --prune"), text.npos);
}

TEST(Report, underFlopsTheHeadlineSpeaksOfFlops) {
  Graph graph = Maker("g")
                    .argument("x", 1)
                    .op("a", Phase::Forward, {"x"}, 8, {.opClass = OpClass::Dot, .costNs = 1, .flops = 30})
                    .op("b", Phase::Forward, {"a"}, 8, {.opClass = OpClass::Dot, .costNs = 2, .flops = 10})
                    .backward("c", {"b"}, 1)
                    .backward("d", {"c", "a"}, 1)
                    .result("d")
                    .finish();
  PolicyPlan planned{planOf(graph, {"a", "b", "c", "a", "d"}), {}};
  planned.costIsFlops = true;
  planned.front = {{planned.plan, 16, 30}};
  // 30 of 40 FLOPs again; 1 of 1 + 2 + 1 + 1 ns again. Peak: c: a + b + c = 17; with a again, b: a + b = 16.
  std::string text = textOf(makeReport(graph, planned, {}));
  EXPECT_EQ(firstLine(text), "peak lowered by 5.88%: 17 B -> 16 B, at 75.0% more FLOPs");
  EXPECT_NE(text.find("75.0% more FLOPs\n", text.find("plans from the cheapest")), text.npos) << text;
  planned.costIsFlops = false;
  EXPECT_EQ(firstLine(textOf(makeReport(graph, planned, {}))),
            "peak lowered by 5.88%: 17 B -> 16 B, at 20.0% more time");
}

/// 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in the last digit.
TEST(Report, anotherOrderAloneCostsNothing) {
  auto costs = [](double ns) { return OpInfo{.opClass = OpClass::Dot, .costNs = ns}; };
  Graph graph = Maker("g")
                    .argument("x", 1)
                    .op("a", Phase::Forward, {"x"}, 8, costs(0.1))
                    .op("b", Phase::Forward, {"x"}, 4, costs(0.2))
                    .op("c", Phase::Forward, {"x"}, 2, costs(0.3))
                    .result("a")
                    .result("b")
                    .result("c")
                    .finish();
  PolicyPlan planned{planOf(graph, {"c", "b", "a"}), {}};
  ASSERT_NE(simulate(graph, planned.plan).costNs, simulate(graph, programOrder(graph)).costNs);
  planned.front = {{planned.plan, 14, 0}};
  Report report = makeReport(graph, planned, {});
  EXPECT_EQ(report.overheadCost, 0);
  EXPECT_EQ(report.after.costNs, report.before.costNs);
  EXPECT_EQ(report.pareto[0].overheadCost, 0);
  EXPECT_EQ(firstLine(textOf(report)), "nothing gained: the peak stays at 14 B");
}

/// A dot that is read twice.
Graph makeDotGraph() {
  return Maker("g")
      .argument("x", 1)
      .op("a", Phase::Forward, {"x"}, 8, {.opClass = OpClass::Dot, .costNs = 1, .flops = 10})
      .backward("b", {"a"}, 1)
      .backward("c", {"b", "a"}, 1)
      .result("c")
      .finish();
}

/// Three ops of 1 ns, one of them twice: 4 ns, at a bound that rounding alone keeps from it.
TEST(Report, aBoundThatRoundingKeepsFromTheCostIsTheCost) {
  Graph graph = makeDotGraph();
  PolicyPlan planned{planOf(graph, {"a", "b", "a", "c"}), {}};
  for (double bound : {4 - 1e-10, 4 + 1e-10}) {
    planned.limit = LimitOutcome{.limitBytes = 10, .peakBound = 10, .costBound = bound, .order = ExecutionOrder::Given};
    Report report = makeReport(graph, planned, {});
    EXPECT_EQ(report.gap, 0);
    EXPECT_EQ(report.lowerBoundCostNs, 4);
    EXPECT_EQ(report.lowerBoundFlops, std::nullopt);
    EXPECT_NE(textOf(report).find("\noptimal: no plan in the given order costs less\n"), std::string::npos);
  }
  // 1e-8 of 4 ns is no rounding: a gap of 4e-8 of 3.
  planned.limit->costBound = 4 - 4e-8;
  Report report = makeReport(graph, planned, {});
  EXPECT_NEAR(*report.gap, 4e-8 / 3, 1e-14);
  EXPECT_EQ(report.lowerBoundCostNs, 4 - 4e-8);
}

TEST(Report, theBoundIsInFlopsWhereTheyAreTheCost) {
  Graph graph = makeDotGraph();
  PolicyPlan planned{planOf(graph, {"a", "b", "a", "c"}), {}};
  planned.costIsFlops = true;
  planned.limit = LimitOutcome{.limitBytes = 10, .peakBound = 10, .costBound = 15, .order = ExecutionOrder::Given};
  std::ostringstream out;
  writeReportJson(out, makeReport(graph, planned, {}));
  // 20 FLOPs, at least 15 of them needed: 5 of the original 10.
  EXPECT_NE(out.str().find(R"("lower_bound": {"peak_bytes": 10, "cost_ns": null, "flops": 15, "gap": 0.5})"),
            std::string::npos)
      << out.str();
}

TEST(Report, jsonKeepsItsFields) {
  Graph graph = Maker("g").argument("x", 1).forward("a", {"x"}, 2).backward("b", {"a"}, 1).result("b").finish();
  ReportContext context{.tool = "t 1", .input = "i", .policy = "save-everything", .segments = "none"};
  std::ostringstream out;
  writeReportJson(out, makeReport(graph, {programOrder(graph), {}}, context));
  EXPECT_EQ(out.str(), R"({
  "schema": 1,
  "tool": "t 1",
  "input": "i",
  "function": "g",
  "policy": "save-everything",
  "segments": "none",
  "level": "graph",
  "memory_limit_bytes": null,
  "device": null,
  "ops": 2,
  "values": 3,
  "forward_ops": 1,
  "backward_ops": 1,
  "resident_bytes": 1,
  "before": {"peak_bytes": 3, "peak_op": "b", "residual_bytes": 2, "flops": 0, "cost_ns": 2},
  "after": {"peak_bytes": 3, "peak_op": "b", "residual_bytes": 2, "flops": 0, "cost_ns": 2, "arena_bytes": null},
  "saved_values": 1,
  "recomputed_ops": 0,
  "overhead_cost": 0,
  "overhead_flops": 0,
  "lower_bound": {"peak_bytes": null, "cost_ns": null, "flops": null, "gap": null},
  "plan_seconds": 0,
  "saved": [
    {"value": "a", "bytes": 2, "loc": ""}
  ],
  "recomputed": [],
  "timeline": {
    "before": [2, 3],
    "after": [2, 3]
  }
}
)");
}
