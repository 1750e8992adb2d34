//===- ArenaLimit.h - A limit on the arena instead of the peak --*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/MemoryLimit.h"
#include "remat/Plan/Planners.h"

namespace remat {

/// The cheapest plan that is found whose arena takes at most `limitBytes`. The bound is one on plans whose peak is at
/// most the plan's. Error: what `arenaOf` says; or no arena of a plan that was found is within the limit.
Expected<LimitedPlan> planArenaLimit(const Graph &graph, std::span<const double> costByOp, int64_t limitBytes,
                                     LimitOptions options, const ArenaOf &arenaOf);

} // namespace remat
