//===- OracleTest.cpp - Every planner against slow references -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random training steps of a few ops: every plan must be legal, must measure what a slow replay says, must recompute
// each op at most once, and must lie between the lowest peak that a search over all schedules finds and what it
// promises.
//
//===----------------------------------------------------------------------===//

#include "BruteForce.h"
#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"

#include <gtest/gtest.h>

#include <random>

using namespace remat;
using namespace remat::test;

namespace {

/// A random forward part whose values feed a random backward part; with views, several results, run-once ops, constants
/// and results made by forward ops.
class TrainingGraph {
public:
  TrainingGraph(uint32_t seed, size_t opCount) : random(seed), builder("training" + std::to_string(seed)) {
    values = {*builder.addArgument("x", 4), *builder.addArgument("w", 8)};
    size_t forwardCount = 1 + random() % (opCount - 1);
    for (size_t i = 0; i < opCount; ++i)
      addOp(i, i < forwardCount ? Phase::Forward : Phase::Backward);
    for (size_t count = 1 + random() % 3; count > 0; --count)
      builder.addResult(values[values.size() - 1 - random() % std::min<size_t>(values.size(), 5)]);
    if (random() % 3 == 0)
      builder.addResult(values[random() % values.size()]);
  }
  Graph finish() { return builder.finish(); }

private:
  OpInfo randomInfo() {
    static constexpr OpClass classes[] = {OpClass::Dot,         OpClass::Convolution, OpClass::Elementwise,
                                          OpClass::Elementwise, OpClass::Reduction,   OpClass::Random,
                                          OpClass::Loop,        OpClass::Collective,  OpClass::Dot};
    OpInfo info{.kind = "op", .opClass = classes[random() % std::size(classes)]};
    info.recomputable = random() % 8 != 0;
    info.costNs = 1 + random() % 50;
    info.workspaceBytes = random() % 5 == 0 ? random() % 8 : 0;
    return info;
  }

  void addOp(size_t i, Phase phase) {
    std::string name = "o" + std::to_string(i), first = name + ".0", second = name + ".1";
    OpInfo info = randomInfo();
    info.name = name;
    info.phase = phase;
    std::vector<ValueId> operands;
    for (size_t count = 1 + random() % 3; operands.size() < count;)
      operands.push_back(
          values[values.size() - 1 - random() % std::min<size_t>(values.size(), phase == Phase::Forward ? 4 : 8)]);
    std::vector<ValueInfo> results{{.name = first, .bytes = int64_t(1 + random() % 16)}};
    switch (random() % 8) {
    case 0: // A view.
      info.opClass = OpClass::View;
      info.recomputable = true;
      operands.resize(1);
      results[0].bytes = 0;
      results[0].viewOf = operands[0];
      break;
    case 1:
      info = {.name = name, .kind = "constant", .opClass = OpClass::Constant, .phase = phase};
      operands.clear();
      results[0].bytes = 0;
      break;
    case 2:
      results.push_back({.name = second, .bytes = int64_t(random() % 16)});
      break;
    default:
      break;
    }
    builder.addOp(info, operands, results).value();
    for (const ValueInfo &result : results)
      values.push_back(*builder.findValue(result.name));
  }

  std::mt19937 random;
  GraphBuilder builder;
  std::vector<ValueId> values;
};

/// Follows one storage from the step that makes it through every view of it to its last read. Quadratic.
size_t lastReadOf(const Graph &graph, const Plan &plan, size_t born, ValueId value) {
  std::vector<bool> bound(graph.numValues());
  bound[value.index()] = true;
  size_t last = born;
  for (size_t t = born + 1; t < plan.steps.size(); ++t) {
    OpId op = plan.steps[t];
    for (ValueId operand : graph.operands(op))
      if (bound[operand.index()])
        last = t;
    for (size_t r = 0; r < graph.numResults(op); ++r) {
      ValueId made = graph.result(op, r);
      bound[made.index()] = graph.isView(made) && bound[graph.value(made).viewOf.index()];
    }
  }
  for (ValueId result : graph.results())
    if (bound[result.index()])
      last = plan.steps.size() - 1;
  return last;
}

int64_t replayPeak(const Graph &graph, const Plan &plan) {
  std::vector<int64_t> live(plan.steps.size());
  for (size_t t = 0; t < plan.steps.size(); ++t) {
    OpId op = plan.steps[t];
    live[t] += graph.op(op).workspaceBytes;
    for (size_t r = 0; r < graph.numResults(op); ++r)
      if (ValueId made = graph.result(op, r); !graph.isView(made))
        for (size_t s = t, last = lastReadOf(graph, plan, t, made); s <= last; ++s)
          live[s] += graph.value(made).bytes;
  }
  return live.empty() ? 0 : *std::ranges::max_element(live);
}

std::string describe(const Graph &graph, const Plan &plan) {
  std::string text = std::string(graph.name()) + ":";
  for (OpId op : plan.steps)
    text += " " + std::string(graph.op(op).name);
  return text;
}

/// Legal, measured rightly, and nothing recomputed more than once.
void checkPlan(const Graph &graph, const Plan &plan) {
  SCOPED_TRACE(describe(graph, plan));
  std::optional<Error> error = verify(graph, plan);
  ASSERT_FALSE(error) << error->place << ": " << error->message;
  EXPECT_EQ(simulate(graph, plan).peakBytes, replayPeak(graph, plan));
  std::vector<int> executions(graph.numOps());
  for (OpId op : plan.steps)
    ++executions[op.index()];
  for (size_t i = 0; i < graph.numOps(); ++i) {
    EXPECT_GE(executions[i], 1);
    EXPECT_LE(executions[i], graph.mustRunOnce(OpId(i)) || graph.op(OpId(i)).phase == Phase::Backward ? 1 : 2)
        << graph.op(OpId(i)).name;
  }
}

constexpr uint32_t graphCount = 600;
constexpr size_t opCount = 8;

Graph makeGraph(uint32_t seed) { return TrainingGraph(seed, 2 + seed % (opCount - 1)).finish(); }

} // namespace

TEST(Oracle, EveryPolicyAndSegmentationIsLegalAndMeasuredRightly) {
  for (uint32_t seed = 0; seed < graphCount; ++seed) {
    Graph graph = makeGraph(seed);
    for (const char *policy : {"save-everything", "save-nothing", "save-dots", "save-dots-no-batch-dims",
                               "save-larger-than=8", "save-dots+save-larger-than=12"})
      for (Segments segments : {noSegments(graph), balancedSegments(graph, 2), balancedSegments(graph, 4),
                                autoSegments(graph), regionSegments(graph)}) {
        PolicyRequest request{.policy = *Policy::parse(policy), .segments = segments, .keep = {}, .recompute = {}};
        Expected<PolicyPlan> plan = planPolicy(graph, request);
        ASSERT_TRUE(plan) << policy << ": " << plan.error().message;
        checkPlan(graph, plan->plan);
      }
  }
}

TEST(Oracle, PruneNeverRaisesThePeakNorTheCost) {
  size_t cheaper = 0;
  for (uint32_t seed = 0; seed < graphCount; ++seed) {
    Graph graph = makeGraph(seed);
    PolicyRequest request{.policy = Policy::saveNothing(), .segments = noSegments(graph), .keep = {}, .recompute = {}};
    Plan whole = planPolicy(graph, request)->plan;
    request.prune = true;
    Plan pruned = planPolicy(graph, request)->plan;
    checkPlan(graph, pruned);
    EXPECT_LE(simulate(graph, pruned).peakBytes, simulate(graph, whole).peakBytes) << describe(graph, whole);
    EXPECT_LE(simulate(graph, pruned).costNs, simulate(graph, whole).costNs) << describe(graph, whole);
    cheaper += simulate(graph, pruned).costNs < simulate(graph, whole).costNs;
  }
  EXPECT_GT(cheaper, 0u);
}

TEST(Oracle, SqrtNLiesBetweenTheLowestPeakAndTheProgramOrder) {
  size_t searched = 0;
  for (uint32_t seed = 0; seed < graphCount; ++seed) {
    Graph graph = makeGraph(seed);
    Plan plan = planSqrtN(graph, {.policy = Policy::saveNothing(), .segments = {}, .keep = {}, .recompute = {}})->plan;
    checkPlan(graph, plan);
    int64_t given = simulate(graph, programOrder(graph)).peakBytes, planned = simulate(graph, plan).peakBytes;
    EXPECT_LE(planned, given) << describe(graph, plan);
    if (std::optional<int64_t> lowest = BruteForce(graph).lowestPeak()) {
      EXPECT_GE(planned, *lowest) << describe(graph, plan);
      ++searched;
    }
  }
  EXPECT_GT(searched, graphCount / 2);
}
