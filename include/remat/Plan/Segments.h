//===- Segments.h - Where a planner cuts the forward part --------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include <vector>

namespace remat {

/// A partition of the forward ops. Values that cross from one segment into a later one are saved.
struct Segments {
  static constexpr uint32_t outside = ~uint32_t(0);

  /// For every op of the graph its segment in `[0, count)`, or `outside`: the results of a forward op outside every
  /// segment are saved. Backward ops are outside.
  std::vector<uint32_t> ofOp;
  uint32_t count = 0;
};

/// One segment: all forward ops.
Segments noSegments(const Graph &graph);

/// `count` segments of about equal bytes, cut in program order where few bytes cross. After Chen et al., "Training deep
/// nets with sublinear memory cost" (2016), for any DAG. Fewer segments come back where the graph has fewer places to
/// cut. With `fall` in (0, 1) later segments are smaller: the first has about 1 + fall of the average bytes, the last 1
/// - fall.
Segments balancedSegments(const Graph &graph, uint32_t count, double fall = 0);

/// The repeated blocks (layers) of the forward part, found by structure alone; ops outside the blocks are outside.
/// No segment comes back where nothing repeats.
Segments autoSegments(const Graph &graph);

/// One segment for every maximal name scope that matches `regex` (ECMAScript, the whole scope component) in the ops'
/// locations. Error: a bad regex, or one that matches no forward op (the note says what scopes there are).
Expected<Segments> scopeSegments(const Graph &graph, std::string_view regex);

/// One segment for every user region (OpInfo::region, whole path); ops in no region are outside. None comes back where
/// there are no regions.
Segments regionSegments(const Graph &graph);

/// One segment for every region with a policy of its own (the innermost counts); all other forward ops form one more.
Segments policyRegionSegments(const Graph &graph);

/// Reads `none|auto|sqrt|regions|scope:REGEX` and makes the segments; under `none`, regions with a policy are segments.
/// Error: an unknown segmentation (nearest named), `regions` where there are none, or scopeSegments'.
Expected<Segments> makeSegments(const Graph &graph, std::string_view text);

} // namespace remat
