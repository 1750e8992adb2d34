//===- Exact.h - Best plans of tiny graphs -----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Plan.h"

#include <optional>
#include <span>
#include <vector>

namespace remat {

/// Which plans an exact search looks at; the classes of Bounds.h.
enum class FirstExecutions : uint8_t { GivenOrder, FreeOrder };

/// The largest graphs an exact search takes: `numOps()`, and values other than arguments that nothing overwrites.
struct ExactLimits {
  static constexpr size_t ops = 32;
  static constexpr size_t values = 32;
};

/// A best plan.
struct ExactPlan {
  Plan plan;
  double extraCost = 0; ///< On top of executing every op once.
  int64_t peakBytes = 0;
};

enum class ExactStatus : uint8_t {
  Optimal,
  Infeasible, ///< No plan of the class keeps the limit.
  GaveUp,     ///< Too large, or more than `states` states.
};

struct ExactResult {
  ExactStatus status = ExactStatus::GaveUp;
  ExactPlan best; ///< If optimal.
};

/// The cheapest plan of the class with a peak of at most `limitBytes`, under the memory model of `simulate`: any number
/// of executions at any time, views that stay bound to an older instance, places that are overwritten. A*
/// search over what is alive and has run; exponential in the number of values, about a millisecond for ten ops.
/// `costByOp` is what one execution costs, in any unit.
ExactResult findExactPlan(const Graph &graph, std::span<const double> costByOp, int64_t limitBytes,
                          FirstExecutions order, size_t states = 1'000'000);

/// All plans of the class worth having, from the cheapest to the smallest: each costs more than the one before it and
/// has a lower peak; none else is as cheap with as low a peak. Nothing if the search gives up.
std::optional<std::vector<ExactPlan>> findExactFront(const Graph &graph, std::span<const double> costByOp,
                                                     FirstExecutions order, size_t states = 1'000'000);

} // namespace remat
