//===- Groups.h - Runs of recomputation in a plan ----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Plan.h"

#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace remat {

/// A maximal run of steps that execute an op again, or a forward op that was moved into the backward part. One backward
/// op follows it; what the run reads from before it goes through barriers.
struct Group {
  size_t begin = 0, end = 0; ///< Steps.
  /// Values made before the run that its members read, each once, in the order of reading: what must be guarded.
  /// Constants and what is made of constants alone aren't among them: whoever reads nothing else is made of constants
  /// too.
  llvm::SmallVector<ValueId, 4> reads;
  /// For clones made of constants alone: one operand of each that could be guarded.
  llvm::SmallVector<ValueId, 1> constantReads;
  /// Values, alive while the run executes in any case, that the barriers name as what comes before them; best first.
  llvm::SmallVector<ValueId, 2> after;
  /// Second executions in the run, views and constants left out, that read through `reads`; and those that are made of
  /// constants alone.
  int64_t clones = 0, constantClones = 0;
};

/// The groups of a plan in order. All values are bound to their newest instance at the group's first step.
/// `backwardArgument`, where valid, is an argument that only the backward part has: `after` names it rather than a
/// forward value. O(steps + operand reads) time.
std::vector<Group> findGroups(const Graph &graph, const Plan &plan, ValueId backwardArgument = {});

} // namespace remat
