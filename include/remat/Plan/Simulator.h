//===- Simulator.h - What a plan needs and costs -----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Plan.h"

#include <optional>

namespace remat {

/// What replaying a plan measures. Bytes are transient: arguments are not counted.
struct Simulation {
  int64_t peakBytes = 0;
  size_t peakStep = 0; ///< The first step that reaches the peak; 0 in an empty plan.
  /// Storage made in the forward part that something in the backward part reads: a backward op, a second execution, or
  /// a forward op that was moved behind a backward op it precedes in program order.
  int64_t residualBytes = 0;
  std::vector<ValueId> residuals; ///< The values of that storage, in the order they are made; those without bytes too.
  double costNs = 0;
  int64_t flops = 0;
  size_t executions = 0;         ///< Steps, constants and views left out.
  std::vector<int64_t> timeline; ///< Live bytes while step i runs, workspace included.
};

/// Replays a legal plan under the memory model (docs/Planning.md). Precondition: `verify` found nothing.
/// O(steps + operand reads) time and memory.
Simulation simulate(const Graph &graph, const Plan &plan);

/// The first rule the plan breaks, or nothing. The rules: every read finds a value computed before it; every op is
/// executed; an op that must run once does; nothing reads what an in-place op has overwritten. `place` is `step N`.
/// O(steps + operand reads).
std::optional<Error> verify(const Graph &graph, const Plan &plan);

} // namespace remat
