//===- OrderSearchState.h - An order under small moves --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "OrderSearchProblem.h"

namespace remat {

/// An order and the bytes that live in each step, kept up to date when ops move: O(distance) for a move.
class OrderState {
public:
  OrderState(const OrderProblem &problem, OpOrder order);

  const OpOrder &order() const { return ops; }
  uint32_t size() const { return ops.size(); }
  uint32_t step(uint32_t op) const { return steps[op]; }
  int64_t level(uint32_t step) const { return levels[step]; }
  int64_t peak() const;

  /// The steps that an op can move to alone, [first, last].
  std::pair<uint32_t, uint32_t> range(uint32_t op) const;

  /// Sum over the steps of what lies above `low`, and the number of steps that reach `high`.
  struct Excess {
    double bytes = 0;
    int64_t reaching = 0;
  };
  void setBounds(int64_t low, int64_t high);
  const Excess &excess() const { return now; }

  /// Moves the op to `target`, with what it needs of the steps it passes (backwards) or what needs it (forwards). What
  /// changes is in the result; nothing does until `commit` or, to forget it, `rollback`.
  Excess propose(uint32_t op, uint32_t target);
  void commit();
  void rollback();

private:
  struct Reader {
    uint32_t storage, op;
  };

  void arrange(uint32_t op, uint32_t target);
  void moveFrees(uint32_t begin, uint32_t end);
  uint32_t lastReaderOf(uint32_t storage) const;

  const OrderProblem &problem;
  OpOrder ops;
  std::vector<uint32_t> steps;      ///< By op.
  std::vector<uint32_t> lastReader; ///< By storage.
  std::vector<int64_t> freed;       ///< By op.
  std::vector<int64_t> levels;
  int64_t low = 0, high = 0;
  Excess now;

  // The proposal: steps [windowBegin, windowBegin + window.size()).
  uint32_t windowBegin = 0;
  std::vector<uint32_t> window, moved, rest;
  std::vector<int64_t> windowLevels;
  std::vector<Reader> changedReaders; ///< As they were.
  Excess proposed;
  std::vector<uint32_t> stamps, movedStamps; ///< By op.
  uint32_t stamp = 0;
};

} // namespace remat
