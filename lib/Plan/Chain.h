//===- Chain.h - All plans of a chain worth having ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain is a training step whose forward ops fall into stages that hand one value on to the next, and whose backward
// ops, as they stand, read the stages from the last one down: what a stage made, and its input. For chains the cheapest
// plan is found for all limits at once, in this class (that of Beaumont et al., 2019, "rotor", with exact bytes):
//
// - backward ops run once, in program order; what forward ops run again runs between the backward ops of two stages;
// - a stage's forward ops run together: they leave its output alone, or what the backward ops of the stage read, too;
// - what is held for the backward ops of a stage, or to run stages again from, is held until they have run.
//
// So a plan runs from a held input over some stages, holds the last one's output, deals with all stages behind it in
// the same way, and then with those in front; or it saves what a stage's backward ops read, and goes on behind it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Plan.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace remat {

/// What the search may take. Counted, not timed: the same graph gives the same answer.
struct ChainOptions {
  size_t stages = 500;
  size_t points = 16'000'000;    ///< In all curves together, 16 bytes each.
  uint64_t work = 1'500'000'000; ///< Points that are looked at: some seconds.
  /// By op: false where it must not run again although the graph allows it. Empty: all.
  std::vector<bool> mayRepeat = {};
  const std::atomic<bool> *interrupt = nullptr;
};

/// Whether the graph is a chain of at least two stages. O(ops + reads).
bool isChain(const Graph &graph);

/// The plans of a chain, from the cheapest to the smallest: each costs more than the one before it and has a lower
/// peak; none of the class is as cheap with as low a peak. Refers to the graph.
class ChainFront {
public:
  struct Point {
    int64_t peakBytes; ///< As `simulate` finds it.
    double extraCost;  ///< On top of executing every op once.
  };
  std::span<const Point> points() const { return list; }
  /// The number of the cheapest point with at most this peak, if there is one.
  std::optional<size_t> find(int64_t limitBytes) const;
  Plan plan(size_t point) const;

private:
  friend std::optional<ChainFront> findChainFront(const Graph &graph, std::span<const double> costByOp,
                                                  const ChainOptions &options);
  class Search;
  std::vector<Point> list;
  std::shared_ptr<const Search> search;
};

/// Nothing if the graph is no chain, the search is interrupted, or it would take more than `options` allow.
/// O(stages^3) additions of curves; two threads.
std::optional<ChainFront> findChainFront(const Graph &graph, std::span<const double> costByOp,
                                         const ChainOptions &options = {});

} // namespace remat
