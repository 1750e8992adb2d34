//===- MinCutBudget.h - Saving a part of the minimum cut ---------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "PolicyPlan.h"

namespace remat {

/// Decides again which values of `decisions.cut` are saved: the choice whose plan is the cheapest of those known with a
/// peak of at most low + ratio * (high - low). High is the peak if the whole cut is saved, low the lowest peak of the
/// choices known. The choices depend on the graph and the decisions alone, so a larger ratio never gives a dearer plan.
/// Precondition: 0 <= ratio <= 1. Plans and simulates a limited number of choices, fewer for large graphs.
Decisions spendBudget(const Graph &graph, Decisions decisions, double ratio);

} // namespace remat
