//===- LargeSearchGreedy.h - From one limit to a lower one --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "LargeSearchState.h"

#include <atomic>

namespace remat {

/// Brings a state under a limit.
class LargeGreedy {
public:
  /// `price` is what a byte was worth at the last limit, and in the end at this one.
  LargeGreedy(LargeState &state, int64_t limitBytes, double &price, const std::atomic<bool> *interrupt)
      : state(state), limitBytes(limitBytes), price(price), interrupt(interrupt) {}

  /// Drops gaps until nothing is above the limit. False if there is no gap left that helps, or at an interrupt. The
  /// peak never rises.
  bool lower();

  /// Keeps dropped gaps again for which there is room, the dearest first, as long as what is left costs at least
  /// `leastCost`.
  void takeBack(double leastCost);

private:
  /// A gap by the touch at its end.
  struct Candidate {
    double key; ///< At least as much as here costs what it frees, times the stages' weights.
    int32_t node, stage;
  };

  void findWeights();
  void collect();
  void push(Candidate candidate);
  void pass();
  double leastRate(int32_t node, int32_t touch) const;
  double rate(int32_t node, int32_t touch, double bytes) const;
  double leastPrice() const;
  void tryDrop(int32_t node, int32_t touch);
  void pushInputs();
  bool tryKeep(int32_t node, int32_t stage, double leastCost);
  bool isInterrupted() const { return interrupt && interrupt->load(std::memory_order_relaxed); }

  LargeState &state;
  int64_t limitBytes;
  double &price;
  const std::atomic<bool> *interrupt;
  std::vector<Candidate> heap;
  std::vector<uint32_t> overloadedBefore; ///< By stage.
  int64_t mostAbove = 0;
};

} // namespace remat
