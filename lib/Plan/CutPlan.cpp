//===- CutPlan.cpp - Plans that hold what a cut says -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CutPlan.h"

#include "PlanWriter.h"
#include "StageCut.h"

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

std::vector<Plan> planByCut(const GapProblem &problem, int64_t limitBytes) {
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

} // namespace remat
