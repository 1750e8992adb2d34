//===- PlanWriter.h - Executions written down as a plan ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Plan.h"

#include <utility>

namespace remat {

/// Writes executions down, and the views that must be made anew because their base was.
class PlanWriter {
public:
  explicit PlanWriter(const Graph &graph) : graph(graph), instanceOf(graph.numValues()), viewed(graph.numValues()) {}

  void execute(OpId op) {
    for (ValueId operand : graph.operands(op))
      refresh(operand);
    append(op);
  }

  /// The plan, in the end of which all results are bound to the newest instances.
  Plan finish() {
    for (ValueId result : graph.results())
      refresh(result);
    return std::move(plan);
  }

private:
  /// Makes what the value views its base's newest instance.
  void refresh(ValueId value) {
    if (!graph.isView(value))
      return;
    refresh(graph.value(value).viewOf);
    if (viewed[value.index()] != instanceOf[graph.base(value).index()])
      execute(graph.producer(value));
  }

  void append(OpId op) {
    plan.steps.push_back(op);
    for (size_t r = 0; r < graph.numResults(op); ++r) {
      ValueId result = graph.result(op, r);
      if (graph.isView(result))
        viewed[result.index()] = instanceOf[graph.base(result).index()];
      else
        instanceOf[result.index()] = ++instances;
    }
  }

  const Graph &graph;
  std::vector<uint32_t> instanceOf, viewed; ///< By value.
  uint32_t instances = 0;
  Plan plan;
};

} // namespace remat
