//===- ChainProblem.h - A chain in numbers ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Plan.h"

#include <optional>
#include <span>
#include <vector>

namespace remat {

/// Ops of a stage that run one after another.
struct ChainRun {
  std::vector<OpId> ops;
  bool isPossible = true; ///< False: an op that must run once would run again.
  int64_t cost = 0;       ///< In `ChainProblem::costUnit`.
  int64_t peakHeld = 0;   ///< Bytes alive at most, but for the stage's input.
  int64_t peakOwn = 0;    ///< The same with the input, which ends with its last read in the run.

  int64_t peak(bool isHeld) const { return isHeld ? peakHeld : peakOwn; }
};

/// Forward ops that hand one value on, the output, and the backward ops that read what they made or their input.
/// The peaks of forward runs count what the stage makes; those of the backward run, all but what other stages hold.
struct ChainStage {
  int64_t inputBytes = 0;    ///< Of the output of the stage in front of it.
  int64_t outputBytes = 0;   ///< 0 if there is none.
  int64_t savedBytes = 0;    ///< What backward ops of the stage read, its input aside, and results of the function.
  int64_t gradientBytes = 0; ///< What is alive in front of the backward run, but for values of stages in front of it.
  bool readsInput = false;   ///< The backward run does.
  bool savesOutput = false;  ///< The output is among what is saved.
  bool savesOutputOnly = false; ///< It is all that is saved, and is no result of the function.

  ChainRun firstPass, againPass; ///< Leave the output alone.
  ChainRun firstSave, againSave; ///< Leave what is saved and the output.
  ChainRun lastSave;             ///< Leaves what is saved. First runs run all ops, others only those they need.
  ChainRun backward;

  bool needsForward() const { return savedBytes > 0 || readsInput; }
};

/// A chain: its stages in forward order.
struct ChainProblem {
  const Graph *graph = nullptr;
  std::vector<ChainStage> stages;
  double costUnit = 1; ///< A power of 2: the costs are integers of it, rounded at 2^-50 of their sum.

  /// Nothing if the graph is no chain of two stages or more. `mayRepeat` may be empty. O(ops + reads).
  static std::optional<ChainProblem> recognize(const Graph &graph, std::span<const double> costByOp,
                                               const std::vector<bool> &mayRepeat = {});
};

} // namespace remat
