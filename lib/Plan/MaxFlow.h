//===- MaxFlow.h - Maximum flow, minimum cut ---------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <vector>

namespace remat {

/// A flow network with integer capacities, solved by Dinic's algorithm (E. A. Dinic, 1970): O(V^2 E), near-linear on
/// the short networks that occur here.
class MaxFlow {
public:
  static constexpr int64_t infinity = int64_t(1) << 62;

  explicit MaxFlow(uint32_t nodeCount) : edgesOf(nodeCount) {}

  void addEdge(uint32_t from, uint32_t to, int64_t capacity);

  /// Pushes as much as fits from `source` to `sink`, and returns how much that is. The minimum cut that lies nearest to
  /// the sink is then the set of edges that enter `sinkSide`.
  int64_t run(uint32_t source, uint32_t sink);

  /// By node: it can still reach the sink.
  const std::vector<bool> &sinkSide() const { return reachesSink; }

private:
  struct Edge {
    uint32_t to;
    int64_t capacity; ///< What is left.
  };
  bool findLevels(uint32_t source, uint32_t sink);
  int64_t pushOnePath(uint32_t source, uint32_t sink);
  void findSinkSide(uint32_t sink);

  std::vector<Edge> edges; ///< Edge i and its reverse i^1.
  std::vector<std::vector<uint32_t>> edgesOf;
  std::vector<uint32_t> level, next;
  std::vector<bool> reachesSink;
};

} // namespace remat
