//===- OrderSearchProblem.h - What an order must keep ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph as orders see it: which op must run before which, and which storage lives from where to where.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include <span>
#include <vector>

namespace remat {

/// Ops by their number in program order.
using OpOrder = std::vector<uint32_t>;

/// Lists of numbers, one behind the other.
class NumberLists {
public:
  /// `pairs`: (list, number), in any order; each list keeps the order of its numbers.
  NumberLists(size_t count, std::span<const std::pair<uint32_t, uint32_t>> pairs);
  std::span<const uint32_t> operator[](size_t list) const {
    return {numbers.data() + begin[list], numbers.data() + begin[list + 1]};
  }

private:
  std::vector<uint32_t> begin, numbers;
};

class OrderProblem {
public:
  explicit OrderProblem(const Graph &graph);

  uint32_t numOps() const { return made.size(); }
  uint32_t numStorages() const { return bytes.size(); }

  /// Ops that must run before the op and behind it, each once: producers and readers; what reads a storage before the
  /// op overwrites it; for an op with effects the one before it.
  std::span<const uint32_t> before(uint32_t op) const { return earlier[op]; }
  std::span<const uint32_t> behind(uint32_t op) const { return later[op]; }

  /// Bytes of the op's results, and these with its workspace.
  int64_t madeBytes(uint32_t op) const { return made[op]; }
  int64_t neededBytes(uint32_t op) const { return needed[op]; }

  /// Storages with bytes that an op reads, through views too, each once. Arguments and what lives to the end are left
  /// out: no order changes when they are freed.
  std::span<const uint32_t> reads(uint32_t op) const { return readsOf[op]; }
  std::span<const uint32_t> readers(uint32_t storage) const { return readersOf[storage]; }
  int64_t storageBytes(uint32_t storage) const { return bytes[storage]; }
  /// Bytes of results that nothing reads: they live while the op runs.
  int64_t unreadBytes(uint32_t op) const { return unread[op]; }

private:
  struct Pairs;
  explicit OrderProblem(Pairs pairs);

  std::vector<int64_t> made, needed, unread, bytes;
  NumberLists earlier, later, readsOf, readersOf;
};

/// Bytes that live in each step of the order; the peak is the largest.
std::vector<int64_t> levelsOf(const OrderProblem &problem, std::span<const uint32_t> order);
int64_t peakOf(const OrderProblem &problem, std::span<const uint32_t> order);

/// The program order with ops moved only where that alone saves bytes: what makes more than it frees goes to its first
/// reader, what frees more than it makes to the last op it needs. Two linear passes.
OpOrder tightenOrder(const OrderProblem &problem, std::span<const uint32_t> order);

/// Runs next what adds the fewest bytes, of equals the first in program order. `noise` is by op, bytes that are added
/// to what it counts. O(n log n).
OpOrder listOrder(const OrderProblem &problem, std::span<const double> noise = {});

} // namespace remat
