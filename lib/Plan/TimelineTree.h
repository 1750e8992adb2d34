//===- TimelineTree.h - Range additions and maxima over steps -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace remat {

/// Bytes by step. Adding to a range of steps and the maximum of a range take O(log n). Ranges are half-open.
class TimelineTree {
public:
  explicit TimelineTree(const std::vector<int64_t> &timeline)
      : width(std::bit_ceil(std::max<size_t>(1, timeline.size()))), highest(2 * width), pending(2 * width) {
    std::ranges::copy(timeline, highest.begin() + width);
    for (size_t node = width; --node > 0;)
      highest[node] = std::max(highest[2 * node], highest[2 * node + 1]);
  }

  void add(size_t begin, size_t end, int64_t bytes) { add(1, 0, width, begin, end, bytes); }
  /// Of a range that is not empty.
  int64_t maximum(size_t begin, size_t end) const { return maximum(1, 0, width, begin, end); }

private:
  void add(size_t node, size_t low, size_t high, size_t begin, size_t end, int64_t bytes) {
    if (end <= low || high <= begin)
      return;
    if (begin <= low && high <= end) {
      highest[node] += bytes;
      pending[node] += bytes;
      return;
    }
    size_t middle = (low + high) / 2;
    add(2 * node, low, middle, begin, end, bytes);
    add(2 * node + 1, middle, high, begin, end, bytes);
    highest[node] = std::max(highest[2 * node], highest[2 * node + 1]) + pending[node];
  }

  int64_t maximum(size_t node, size_t low, size_t high, size_t begin, size_t end) const {
    if (begin <= low && high <= end)
      return highest[node];
    size_t middle = (low + high) / 2;
    int64_t best = INT64_MIN;
    if (begin < middle)
      best = maximum(2 * node, low, middle, begin, end);
    if (end > middle)
      best = std::max(best, maximum(2 * node + 1, middle, high, begin, end));
    return best + pending[node];
  }

  size_t width;
  std::vector<int64_t> highest; ///< Of the node's steps, what is pending above left out.
  std::vector<int64_t> pending; ///< To be added to all of the node's steps.
};

} // namespace remat
