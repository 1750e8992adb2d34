//===- Prune.h - Saving again what recomputing does not help -----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "PolicyPlan.h"

namespace remat {

/// Saves again (Reason::Pruned) what `plan`, made by `planDecided(graph, decisions)`, recomputes without lowering the
/// peak. The peak never rises.
PolicyPlan prune(const Graph &graph, Decisions decisions, PolicyPlan plan);

} // namespace remat
