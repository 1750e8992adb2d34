//===- OrderSearchAnneal.h - Annealing over orders ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "OrderSearchState.h"
#include "Random.h"

#include <atomic>
#include <optional>

namespace remat {

struct OrderAnnealOptions {
  uint64_t moves = 100000;
  uint64_t seed = 1;
  int64_t targetBytes = 0;        ///< The search ends with a peak that is no higher.
  double hot = 0.02, cold = 1e-5; ///< Temperatures at the ends, as a share of the peak.
  double depth = 0.06;            ///< At first, so far below the best peak a level counts, as a share of that peak.
  /// If set, the bytes above this level count instead, and the peak only must not rise.
  std::optional<int64_t> countFrom = {};
  const std::atomic<bool> *interrupt = nullptr;
};

/// Moves ops, alone and with what hangs on them, so that less lies above a bound that follows the best peak from below.
/// Returns the order of the lowest peak that was met; the first one counts.
OpOrder annealOrder(const OrderProblem &problem, OpOrder start, const OrderAnnealOptions &options);

/// Moves ops back in front of later ones of the program order where neither the peak rises nor the bytes above
/// `countFrom` do.
OpOrder straightenOrder(const OrderProblem &problem, OpOrder order, int64_t countFrom);

} // namespace remat
