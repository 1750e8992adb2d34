//===- RunOnceCut.h - What to save behind ops that run once ------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include <functional>
#include <vector>

namespace remat {

struct RunOnceQuery {
  const Graph &graph;
  const std::vector<bool> &mayClone;    ///< By op.
  const std::vector<bool> &overwritten; ///< By value: can't be saved.
  /// True if the backward part can read the value where the forward part left it.
  std::function<bool(ValueId)> isAvailable;
};

/// The values (bases) of the fewest total bytes that, once saved, let the backward part rebuild all it needs without
/// running an op again that must not be: a dropout mask instead of the random bits behind it. A minimum cut between
/// such ops and the values that backward ops read; of equal cuts the one nearest to the readers.
std::vector<ValueId> findRunOnceCut(const RunOnceQuery &query);

} // namespace remat
