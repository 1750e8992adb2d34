//===- CutPlan.cpp - Plans that hold what a cut says -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CutPlan.h"

#include "PlanWriter.h"
#include "StageCut.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>
#include <limits>

namespace remat {

/// Layers are often equal, and then a price decides for all of them at once. Later ops seem dearer by so much, so that
/// a price can divide them: what runs again comes first in the order, and last behind the stage, where less is alive.
static constexpr double tilt = 0.02;

/// All first executions, and behind the stage those of `repeats` that are read there.
static Plan writePlan(const GapProblem &problem, const std::vector<bool> &repeats) {
  int32_t stage = repeats.size();
  std::vector<bool> missing = repeats;
  std::vector<int32_t> again;
  auto need = [&](int32_t reader) {
    for (int32_t input : problem.inputs(reader))
      if (input < stage && missing[input]) {
        missing[input] = false;
        again.push_back(input);
      }
  };
  PlanWriter writer(problem.graph());
  for (int32_t t = 0; t <= problem.numNodes(); ++t) {
    again.clear();
    if (t > stage)
      need(t);
    for (size_t i = 0; i < again.size(); ++i)
      need(again[i]);
    std::ranges::sort(again);
    for (int32_t node : again)
      writer.execute(problem.op(node));
    if (t < problem.numNodes())
      writer.execute(problem.op(t));
  }
  return writer.finish();
}

namespace {

/// A plan as a graph: an op for every execution.
struct Unrolled {
  Graph graph;
  std::vector<OpId> original; ///< By op: what it executes.
};

} // namespace

static std::optional<Unrolled> unroll(const Graph &graph, const Plan &plan) {
  GraphBuilder builder(graph.name());
  Unrolled result;
  std::vector<ValueId> instanceOf(graph.numValues());
  for (size_t i = 0; i < graph.numArguments(); ++i) {
    const ValueInfo &argument = graph.value(ValueId(i));
    if (!builder.addArgument(argument.name, argument.bytes, argument.donated))
      return std::nullopt;
    instanceOf[i] = ValueId(i);
  }
  size_t count = graph.numArguments();
  std::vector<std::string> names;
  for (OpId op : plan.steps) {
    auto toInstance = [&](ValueId value) { return value ? instanceOf[value.index()] : value; };
    std::vector<ValueId> operands;
    for (ValueId operand : graph.operands(op))
      operands.push_back(toInstance(operand));
    std::string number = std::to_string(result.original.size());
    OpInfo info = graph.op(op);
    info.name = number;
    names.clear();
    std::vector<ValueInfo> values;
    for (size_t r = 0; r < graph.numResults(op); ++r)
      names.push_back(number + "#" + std::to_string(r));
    for (size_t r = 0; r < graph.numResults(op); ++r) {
      ValueInfo value = graph.value(graph.result(op, r));
      value.name = names[r];
      value.viewOf = toInstance(value.viewOf);
      value.inplaceOf = toInstance(value.inplaceOf);
      values.push_back(value);
    }
    if (!builder.addOp(info, operands, values))
      return std::nullopt;
    for (size_t r = 0; r < graph.numResults(op); ++r)
      instanceOf[graph.result(op, r).index()] = ValueId(count++);
    result.original.push_back(op);
  }
  for (ValueId value : graph.results())
    if (builder.addResult(instanceOf[value.index()]))
      return std::nullopt;
  result.graph = builder.finish();
  return result;
}

/// What the cut at the fullest stage says: at most the limit there, and a little more.
static std::vector<Plan> cutOnce(const GapProblem &problem, int64_t limitBytes) {
  std::vector<int32_t> lastReads = findLastReads(problem);
  std::vector<Plan> plans;
  for (int32_t stage : findHighestStages(problem, lastReads, limitBytes, 1)) {
    std::vector<bool> repeatable;
    std::vector<double> costs;
    for (int32_t node = 0; node < problem.numNodes(); ++node) {
      repeatable.push_back(problem.node(node).mayRepeat && problem.node(node).lastRepeat > stage);
      costs.push_back(problem.node(node).cost * (1 + tilt * node / problem.numNodes()));
    }
    StageCut cut(problem, stage, lastReads, repeatable, costs);
    StageChoices found = searchPrices(cut, limitBytes, std::numeric_limits<double>::infinity());
    if (!found.isWithinEmpty)
      plans.push_back(writePlan(problem, found.within.repeats));
    if (!found.isAboveEmpty)
      plans.push_back(writePlan(problem, found.above.repeats));
  }
  return plans;
}

/// Cuts again where the plan is still above the limit, the executions of the plan taken for ops of their own.
static std::optional<Plan> cutAgain(const GapProblem &problem, const Plan &plan, int64_t limitBytes) {
  const Graph &graph = problem.graph();
  std::optional<Unrolled> unrolled = unroll(graph, plan);
  if (!unrolled)
    return std::nullopt;
  std::vector<double> costByOp(graph.numOps());
  std::vector<bool> mayRepeatByOp(graph.numOps());
  for (int32_t node = 0; node < problem.numNodes(); ++node) {
    costByOp[problem.op(node).index()] = problem.node(node).cost;
    mayRepeatByOp[problem.op(node).index()] = problem.node(node).mayRepeat;
  }
  std::vector<double> costs;
  std::vector<bool> mayRepeat;
  for (OpId op : unrolled->original) {
    costs.push_back(costByOp[op.index()]);
    mayRepeat.push_back(mayRepeatByOp[op.index()]);
  }
  GapProblem again(unrolled->graph, programOrder(unrolled->graph).steps, costs, mayRepeat);
  std::vector<Plan> cuts = cutOnce(again, limitBytes);
  if (cuts.empty())
    return std::nullopt;
  Plan result;
  for (OpId execution : cuts.front().steps)
    result.steps.push_back(unrolled->original[execution.index()]);
  return result;
}

std::vector<Plan> planByCut(const GapProblem &problem, int64_t limitBytes) {
  static constexpr int maxCuts = 16;
  std::vector<Plan> plans = cutOnce(problem, limitBytes);
  if (plans.empty())
    return plans;
  Plan lowest = plans.front();
  int64_t peak = simulate(problem.graph(), lowest).peakBytes;
  bool isLower = false;
  for (int i = 1; i < maxCuts && peak > limitBytes; ++i) {
    std::optional<Plan> next = cutAgain(problem, lowest, limitBytes);
    int64_t nextPeak = next && !verify(problem.graph(), *next) ? simulate(problem.graph(), *next).peakBytes : peak;
    if (nextPeak >= peak)
      break;
    lowest = std::move(*next);
    peak = nextPeak;
    isLower = true;
  }
  if (isLower)
    plans.push_back(std::move(lowest));
  return plans;
}

} // namespace remat
