//===- LargeSearchPlan.cpp - From states of large graphs to plans and back ----===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargeSearchState.h"
#include "PlanWriter.h"

#include <algorithm>

namespace remat {

void LargeState::load(const Plan &plan) {
  int32_t count = instance->numNodes(), stage = 0;
  std::vector<int32_t> stageOf(count);
  for (int32_t t = 0; t < count; ++t)
    stageOf[instance->op(t).index()] = t;
  for (int32_t t = 0; t <= count; ++t)
    repeatLists.assign(t, {});
  std::vector<int32_t> executed; // Again, in the stage.
  auto closeStage = [&] {
    std::ranges::sort(executed);
    executed.erase(std::unique(executed.begin(), executed.end()), executed.end());
    repeatLists.assign(stage, executed);
    eraseUnread(stage);
    executed.clear();
  };
  for (OpId op : plan.steps) {
    int32_t own = stageOf[op.index()];
    if (own < stage) {
      if (mayRepeatIn(own, stage) && instance->totalSize(own) > 0)
        executed.push_back(own);
      continue;
    }
    for (; stage < own; ++stage)
      closeStage();
    closeStage();
    ++stage;
  }
  for (; stage <= count; ++stage)
    closeStage();
  makeTouches();
  rebuild();
}

/// Leaves out what nobody in the stage reads.
void LargeState::eraseUnread(int32_t stage) {
  ++settleStamp;
  auto markInputs = [&](int32_t t) {
    for (int32_t input : instance->inputs(t))
      dirtyStamp[input] = settleStamp;
  };
  markInputs(stage);
  for (size_t i = repeats(stage).size(); i-- > 0;)
    if (int32_t node = repeats(stage)[i]; dirtyStamp[node] == settleStamp)
      markInputs(node);
    else
      repeatLists.erase(stage, i);
}

Plan LargeState::plan() const {
  PlanWriter writer(instance->graph());
  for (int32_t t = 0; t <= instance->numNodes(); ++t) {
    for (int32_t node : repeats(t))
      writer.execute(instance->op(node));
    if (t < instance->numNodes())
      writer.execute(instance->op(t));
  }
  return writer.finish();
}

} // namespace remat
