//===- ForwardCuts.h - Where the forward part can be cut ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Segments.h"

namespace remat {

/// The forward ops in program order and what crosses between them. Cut x, in `[0, ops.size()]`, stands before `ops[x]`.
struct ForwardCuts {
  explicit ForwardCuts(const Graph &graph);

  std::vector<OpId> ops;
  /// Bytes saved if the forward part is cut at x: storage that a forward op before the cut makes and one behind it
  /// reads. Constants, arguments and results of the function, which are there anyway, don't count.
  std::vector<int64_t> crossingBytes;
  /// Bytes of storage that the first x ops make.
  std::vector<int64_t> madeBytes;

  /// The cut in `[begin, end)` that the fewest bytes cross; of several the first.
  size_t leastCrossing(size_t begin, size_t end) const;
};

/// One segment between any two of the increasing `cuts`; what lies before the first and behind the last is outside.
Segments segmentsBetween(const Graph &graph, const ForwardCuts &forward, const std::vector<size_t> &cuts);

/// The number of segments that Chen et al. would take: the square root of the number of forward ops that compute
/// something.
uint32_t squareRootCount(const Graph &graph);

} // namespace remat
