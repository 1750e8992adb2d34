//===- Report.cpp - What a plan gained and cost ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Report.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace remat;

static void listSaved(Report &report, const Graph &graph, const PolicyPlan &planned,
                      std::vector<ValueId> largestFirst) {
  std::erase_if(largestFirst, [&](ValueId id) { return graph.value(id).bytes == 0; });
  std::ranges::sort(largestFirst, [&](ValueId a, ValueId b) {
    return std::pair(-graph.value(a).bytes, a) < std::pair(-graph.value(b).bytes, b);
  });
  for (ValueId id : largestFirst) {
    const ValueInfo &value = graph.value(id);
    std::string reason = planned.reasons.empty() ? std::string() : std::string(toString(planned.reasons[id.index()]));
    report.saved.push_back(
        {std::string(value.name), value.bytes, std::string(graph.op(graph.producer(id)).location), std::move(reason)});
  }
}

static void listRecomputed(Report &report, const Graph &graph, const Plan &plan) {
  std::vector<size_t> executions(graph.numOps());
  for (OpId op : plan.steps)
    ++executions[op.index()];
  auto cost = [&](OpId id) { return double(executions[id.index()] - 1) * graph.op(id).costNs; };
  std::vector<OpId> costliestFirst;
  for (size_t i = 0; i < graph.numOps(); ++i) {
    OpClass opClass = graph.op(OpId(i)).opClass;
    if (executions[i] > 1 && opClass != OpClass::Constant && opClass != OpClass::View)
      costliestFirst.push_back(OpId(i));
  }
  std::ranges::sort(costliestFirst, [&](OpId a, OpId b) { return std::pair(-cost(a), a) < std::pair(-cost(b), b); });
  for (OpId id : costliestFirst) {
    const OpInfo &op = graph.op(id);
    report.recomputed.push_back({std::string(op.name), executions[id.index()] - 1, cost(id), std::string(op.location)});
  }
}

static Report::Side makeSide(const Graph &graph, const Plan &plan, Simulation simulation) {
  std::string peakOp = plan.steps.empty() ? std::string() : std::string(graph.op(plan.steps[simulation.peakStep]).name);
  return {simulation.peakBytes, std::move(peakOp), simulation.residualBytes,
          simulation.flops,     simulation.costNs, std::move(simulation.timeline)};
}

/// The cost bound of the limit. Sums of costs in another order differ by rounding; a bound that close to the cost is
/// the cost.
static double boundCost(const LimitOutcome &limit, double cost) {
  constexpr double rounding = 1e-9;
  return std::abs(cost - limit.costBound) <= rounding * cost ? cost : limit.costBound;
}

static void describeLimit(Report &report, const LimitOutcome &limit) {
  report.memoryLimitBytes = limit.limitBytes;
  report.lowerBoundPeakBytes = limit.peakBound;
  report.order = limit.order == ExecutionOrder::Given ? "given" : "free";
  double before = report.costIsFlops ? double(report.before.flops) : report.before.costNs;
  double after = report.costIsFlops ? double(report.after.flops) : report.after.costNs;
  double bound = boundCost(limit, after);
  if (report.costIsFlops)
    report.lowerBoundFlops = bound == after ? report.after.flops : int64_t(bound);
  else
    report.lowerBoundCostNs = bound;
  report.gap = before > 0 ? std::max(0.0, (after - bound) / before) : 0;
}

/// Plays a plan. One that repeats nothing that costs anything costs exactly what the program does, whatever the order
/// in which its costs are added up.
static Simulation play(const Graph &graph, const Plan &plan, double costOnceNs) {
  Simulation simulation = simulate(graph, plan);
  std::vector<bool> ran(graph.numOps());
  bool repeats = std::ranges::any_of(plan.steps, [&](OpId op) {
    bool again = ran[op.index()];
    ran[op.index()] = true;
    return again && graph.op(op).costNs > 0;
  });
  if (!repeats)
    simulation.costNs = costOnceNs;
  return simulation;
}

static double overhead(double before, double after) { return before > 0 ? (after - before) / before : 0; }

static void listPareto(Report &report, const Graph &graph, std::span<const FrontPlan> front) {
  for (const FrontPlan &point : front) {
    Simulation simulation = play(graph, point.plan, report.before.costNs);
    report.pareto.push_back({simulation.peakBytes, simulation.costNs, simulation.flops,
                             overhead(report.before.costNs, simulation.costNs),
                             overhead(double(report.before.flops), double(simulation.flops))});
  }
}

Report remat::makeReport(const Graph &graph, const PolicyPlan &planned, ReportContext context) {
  Report report;
  report.context = std::move(context);
  report.function = graph.name();
  report.ops = graph.numOps();
  report.values = graph.numValues();
  for (size_t i = 0; i < graph.numOps(); ++i)
    ++(graph.op(OpId(i)).phase == Phase::Forward ? report.forwardOps : report.backwardOps);
  report.residentBytes = graph.residentBytes();
  Plan original = programOrder(graph);
  Simulation before = simulate(graph, original), after = play(graph, planned.plan, before.costNs);
  report.recomputedOps = after.executions - before.executions;
  report.overheadCost = overhead(before.costNs, after.costNs);
  report.overheadFlops = overhead(double(before.flops), double(after.flops));
  report.costIsFlops = planned.costIsFlops;
  report.interrupted = planned.interrupted;
  report.before = makeSide(graph, original, std::move(before));
  listSaved(report, graph, planned, std::move(after.residuals));
  report.after = makeSide(graph, planned.plan, std::move(after));
  listRecomputed(report, graph, planned.plan);
  if (planned.limit)
    describeLimit(report, *planned.limit);
  listPareto(report, graph, planned.front);
  return report;
}
