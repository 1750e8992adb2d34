//===- MinCut.h - The least to save where fusible ops are free ---*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Planners.h"

namespace remat {

/// True for ops that a code generator computes inside their readers' loops, so that running them again costs arithmetic
/// but neither a kernel nor memory: element-wise ops, data movement, views and constants.
bool isFusible(OpClass opClass);

struct MinCutQuery {
  const Graph &graph;
  const std::vector<Reason> &reasons; ///< By base: what is saved already is anything but Recomputed.
  std::vector<bool> mayClone;         ///< By op: it may run twice.
  std::vector<bool> isFree;           ///< By op: it may run again even if it isn't fusible.
  std::vector<bool> unsavable;        ///< By base: it must not be saved.
};

/// The values (bases) of the fewest total bytes that, saved besides what is saved already, let the backward part
/// rebuild all it reads by running again only ops that are fusible or free. An op that the backward part alone reads is
/// free, for it moves there. Of equal cuts the one nearest to the readers, from which the fewest ops run again. Exact:
/// a minimum vertex cut in integers.
std::vector<ValueId> findMinCut(MinCutQuery query);

} // namespace remat
