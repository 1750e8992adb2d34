//===- Plan.h - A schedule of op executions ----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include <vector>

namespace remat {

/// A schedule: op executions in order. An op may stand in it more than once; each execution rebinds all its results,
/// and a read takes the newest instance. Every planner returns one, and `verify` and `simulate` alone say what it is
/// worth.
struct Plan {
  std::vector<OpId> steps;
};

/// The graph's own order, each op once.
Plan programOrder(const Graph &graph);

} // namespace remat
