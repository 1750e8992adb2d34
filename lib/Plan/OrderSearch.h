//===- OrderSearch.h - Orders with a low peak -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include <atomic>
#include <vector>

namespace remat {

/// An order of all ops, each once, producers first, whose peak is not above that of the program order and as low as the
/// search finds; it ends at `targetBytes`. Legal in the eyes of `verify`; random, collective and opaque ops keep their
/// order among each other. `effort` is a factor on the number of moves that are tried. The same seed finds the same
/// order, unless `interrupt` ends the search early. O(n log n) for the start, and O(distance) for each move.
std::vector<OpId> lowerPeakByOrder(const Graph &graph, int64_t targetBytes, double effort, uint64_t seed,
                                   const std::atomic<bool> *interrupt = nullptr);

/// Up to two orders besides the program order that are worth a search for recomputation, legal as above, from the
/// nearest to the program order: ops moved only where that saves bytes by itself; and an order of the lowest peak that
/// is found, if it lies at least 1 % below. They do not depend on any limit.
std::vector<std::vector<OpId>> candidateOrders(const Graph &graph, double effort, uint64_t seed,
                                               const std::atomic<bool> *interrupt = nullptr);

} // namespace remat
