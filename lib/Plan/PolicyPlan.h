//===- PolicyPlan.h - Planning once it is decided what is saved --*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Planners.h"

namespace remat {

/// What is decided of every value before planning: the reason it is saved, or Reason::Recomputed where nothing saves
/// it. Only values that own storage and are made by forward ops count; `mayClone[op]` says of every op whether it may
/// run twice.
struct Decisions {
  std::vector<Reason> reasons;
  std::vector<bool> mayClone;
  std::vector<ValueId> cut = {}; ///< Of what is saved, the values that min-cut chose.
};

/// Applies the policy, the segments and the names of the request. Error: a name or pattern that matches nothing.
Expected<Decisions> decide(const Graph &graph, const PolicyRequest &request);

/// By value: a forward op writes over it, so the backward part can't read it, saved or not. Takes from `mayClone` the
/// ops in place that could not make again what they overwrite, and the ops that read an overwritten argument.
std::vector<bool> findOverwritten(const Graph &graph, std::vector<bool> &mayClone);

/// Recomputes or moves what is needed in the backward part and not saved. Values behind an op that must not be cloned
/// are saved where the fewest bytes cut them off. O(n + m) but for that cut.
PolicyPlan planDecided(const Graph &graph, Decisions decisions);

} // namespace remat
