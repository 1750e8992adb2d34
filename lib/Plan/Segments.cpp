//===- Segments.cpp - Segmentations by rule -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Segments.h"
#include "ForwardCuts.h"
#include "Text.h"
#include "remat/Plan/Policy.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace remat {

Segments noSegments(const Graph &graph) {
  ForwardCuts forward(graph);
  return segmentsBetween(graph, forward, {0, forward.ops.size()});
}

Segments regionSegments(const Graph &graph) {
  Segments segments{std::vector<uint32_t>(graph.numOps(), Segments::outside), 0};
  std::unordered_map<std::string_view, uint32_t> numberOf;
  for (size_t i = 0; i < graph.numOps(); ++i) {
    const OpInfo &op = graph.op(OpId(i));
    if (op.phase == Phase::Forward && !op.region.empty())
      segments.ofOp[i] = numberOf.emplace(op.region, numberOf.size()).first->second;
  }
  segments.count = numberOf.size();
  return segments;
}

Segments policyRegionSegments(const Graph &graph) {
  std::unordered_map<std::string_view, uint32_t> numberOf{{std::string_view(), 0}};
  for (const RegionInfo &region : graph.regions())
    if (!region.policy.empty())
      numberOf.emplace(region.name, numberOf.size());
  Segments segments{std::vector<uint32_t>(graph.numOps(), Segments::outside), uint32_t(numberOf.size())};
  for (size_t i = 0; i < graph.numOps(); ++i) {
    std::string_view path = graph.op(OpId(i)).region;
    while (!numberOf.contains(path)) {
      size_t slash = path.rfind('/');
      path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
    }
    if (graph.op(OpId(i)).phase == Phase::Forward)
      segments.ofOp[i] = numberOf.at(path);
  }
  return segments;
}

/// Around each of the targets, which divide the bytes evenly, the cut is free within half a segment to either side;
/// there it goes where the fewest bytes cross, and of places that differ little to the one nearest to the target.
Segments balancedSegments(const Graph &graph, uint32_t count, double fall) {
  ForwardCuts forward(graph);
  size_t opCount = forward.ops.size();
  double total = double(forward.madeBytes.back());
  // The first cut behind which at least that many bytes are made.
  auto cutAt = [&](double bytes) {
    return size_t(std::lower_bound(forward.madeBytes.begin(), forward.madeBytes.end(), bytes,
                                   [](int64_t made, double wanted) { return double(made) < wanted; }) -
                  forward.madeBytes.begin());
  };
  std::vector<size_t> cuts{0};
  for (uint32_t i = 1; i < count; ++i) {
    double place = double(i) / count;
    double target = total * place * (1 + fall * (1 - place)), half = total / count / 2 * (1 - fall);
    size_t begin = std::max(cuts.back() + 1, cutAt(target - half));
    size_t end = std::min(opCount, cutAt(target + half));
    if (begin >= end)
      continue;
    int64_t least = forward.crossingBytes[forward.leastCrossing(begin, end)];
    int64_t allowed = least + least / 64;
    std::optional<size_t> best;
    auto distance = [&](size_t x) { return std::abs(double(forward.madeBytes[x]) - target); };
    for (size_t x = begin; x < end; ++x)
      if (forward.crossingBytes[x] <= allowed && (!best || distance(x) < distance(*best)))
        best = x;
    cuts.push_back(*best);
  }
  cuts.push_back(opCount);
  return segmentsBetween(graph, forward, cuts);
}

Expected<Segments> makeSegments(const Graph &graph, std::string_view text) {
  static constexpr std::array<std::string_view, 5> kinds = {"none", "auto", "sqrt", "regions", "scope"};
  if (text == "none")
    return graph.regions().empty() ? noSegments(graph) : policyRegionSegments(graph);
  if (text == "auto")
    return autoSegments(graph);
  if (text == "sqrt")
    return balancedSegments(graph, squareRootCount(graph));
  if (text == "regions") {
    Segments segments = regionSegments(graph);
    if (segments.count == 0)
      return makeError("no forward op is in a region", {}, "mark layers with remat.region, or use --segments=auto");
    return segments;
  }
  if (text.starts_with("scope:"))
    return scopeSegments(graph, text.substr(6));
  std::optional<std::string_view> near = nearestName(text.substr(0, text.find(':')), kinds);
  return makeError(formatText("unknown segmentation '{}'", text), {},
                   (near ? formatText("did you mean '{}'? ", *near) : "") +
                       "use one of: none, auto, sqrt, regions, scope:REGEX");
}

} // namespace remat
