//===- PlanWithLimit.h - From the options of a limit to a plan -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Planners.h"

namespace remat {

/// What is wrong with the options of a limit whatever the graph.
std::optional<Error> checkLimitOptions(const PlanOptions &options);

/// The cheapest plan within the limit. What the policy and `keep` save never runs again.
Expected<PolicyPlan> planWithLimit(const Graph &graph, const PlanOptions &options, const PolicyRequest &request);

/// Adds `options.pareto` plans from the cheapest to the smallest, in which the same never runs again.
std::optional<Error> addPareto(const Graph &graph, const PlanOptions &options, const PolicyRequest &request,
                               PolicyPlan &planned);

} // namespace remat
