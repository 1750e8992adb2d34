//===- GapSearch.h - Annealing over gaps -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "GapState.h"

#include <atomic>
#include <optional>

namespace remat {

struct AnnealOptions {
  uint64_t moves = 100000;
  double hot = 0.15, cold = 1e-3; ///< Temperatures at the ends, as a share of what a large op costs.
  double holdShare = 0.6;         ///< Of the changes that hold on to what they come to need.
  double enough = 0;              ///< The search ends with a plan that costs no more.
};

/// Looks for a cheaper state without excess, from the state as it is. The best one that was found and its cost is in
/// `best`; it is nothing where none was. The same seed finds the same.
class GapSearch {
public:
  GapSearch(GapState &state, uint64_t seed, const std::atomic<bool> *interrupt = nullptr);

  void anneal(const AnnealOptions &options);

  std::optional<GapState::Snapshot> best;

private:
  struct Gap {
    int32_t node, touch;
  };

  bool change();
  bool dropSome(Gap gap);
  std::optional<Gap> pickCovering(int32_t stage);
  std::optional<Gap> pickAny();
  std::optional<Gap> pickRepeat();
  void findOverloaded();
  bool accept();
  void noteBest();

  GapState &state;
  Random random;
  const std::atomic<bool> *interrupt;
  std::vector<int32_t> droppable, overloaded;
  std::vector<double> prices; ///< By stage.
  double price = 0;           ///< Of a byte of excess in one stage.
  double scale = 0;           ///< What a large op costs.
  double energy = 0, temperature = 0, holdShare = 0;
};

} // namespace remat
