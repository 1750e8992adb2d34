//===- SqrtN.cpp - Save-nothing over about sqrt(n) segments -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After Chen et al., "Training deep nets with sublinear memory cost" (2016): n layers in k segments need about n/k + k
// of memory. Real layers differ in size and real backward parts have peaks of their own, so no formula gives the best
// k: several are planned and measured. Besides even cuts by bytes, groups of the repeated blocks are tried. The last
// segment's backward part begins right after its forward part, so saving it costs little or no memory, and both ways
// are tried.
//
//===----------------------------------------------------------------------===//

#include "ForwardCuts.h"
#include "PolicyPlan.h"
#include "Prune.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace remat {

namespace {

/// How a candidate's segments are made.
struct Recipe {
  enum class Kind : uint8_t { ProgramOrder, Balanced, Blocks } kind;
  uint32_t number; ///< Of segments, or of blocks in a segment.
  bool savesLast;  ///< The last segment is saved.
  double fall = 0; ///< How much smaller later segments are (balancedSegments).
};

struct Candidate {
  Recipe recipe;
  int64_t peakBytes;
  double costNs;
  uint32_t segmentCount;
};

class SqrtNSearch {
public:
  SqrtNSearch(const Graph &graph, PolicyRequest asked)
      : graph(graph), request(std::move(asked)), blocks(autoSegments(graph)) {
    request.policy = Policy::saveNothing();
  }

  Expected<PolicyPlan> run() {
    Simulation given = simulate(graph, programOrder(graph));
    candidates.push_back({{Recipe::Kind::ProgramOrder, 0, false}, given.peakBytes, given.costNs, 0});
    if (std::optional<Error> error = tryAll())
      return std::move(*error);
    const Candidate &best = choose();
    if (best.recipe.kind == Recipe::Kind::ProgramOrder) {
      if (!request.recompute.empty())
        return makeError("--recompute: no plan with these names stays within the original peak", {},
                         "sqrt-n never exceeds it; name fewer values, or use --policy=save-nothing --segments=sqrt");
      request.policy = Policy::saveEverything();
    }
    request.segments = make(best.recipe);
    return planPolicy(graph, request);
  }

private:
  Segments make(Recipe recipe) const {
    if (recipe.kind == Recipe::Kind::ProgramOrder)
      return noSegments(graph);
    Segments segments =
        recipe.kind == Recipe::Kind::Balanced ? balancedSegments(graph, recipe.number, recipe.fall) : blocks;
    if (recipe.kind == Recipe::Kind::Blocks) {
      for (uint32_t &segment : segments.ofOp)
        if (segment != Segments::outside)
          segment /= recipe.number;
      segments.count = (segments.count + recipe.number - 1) / recipe.number;
    }
    if (recipe.savesLast)
      std::ranges::replace(segments.ofOp, --segments.count, uint32_t(Segments::outside));
    return segments;
  }

  std::optional<Error> measure(Recipe recipe) {
    PolicyRequest trial = request;
    trial.prune = false;
    trial.segments = make(recipe);
    uint32_t count = trial.segments.count;
    Expected<PolicyPlan> plan = planPolicy(graph, trial);
    if (!plan)
      return plan.error();
    if (verify(graph, plan->plan))
      return std::nullopt; // Ops in place may not bear these cuts.
    Simulation result = simulate(graph, plan->plan);
    candidates.push_back({recipe, result.peakBytes, result.costNs, count});
    return std::nullopt;
  }

  /// Plans and measures about as many candidates as the graph's size allows.
  std::optional<Error> tryAll() {
    constexpr size_t affordableOps = 6'000'000;
    size_t tries = std::clamp<size_t>(affordableOps / std::max<size_t>(1, graph.numOps()), 6, 64);
    std::optional<Error> error;
    for (uint32_t group : spread(1, std::max(1u, blocks.count), std::max<size_t>(1, tries / 6)))
      if (blocks.count > 0 && !error)
        error = measure({Recipe::Kind::Blocks, group, false});
    auto tryCount = [&](uint32_t count) {
      if (error || !triedCounts.insert(count).second)
        return;
      error = measure({Recipe::Kind::Balanced, count, false});
      if (!error)
        error = measure({Recipe::Kind::Balanced, count, true});
    };
    uint32_t root = squareRootCount(graph);
    tryCount(root);
    for (uint32_t count : spread(2, std::max(3u, 2 * root), tries / 4))
      tryCount(count);
    uint32_t step = std::max(1u, bestCount() / 8);
    for (size_t round = 0; round < tries / 16 && step > 0; ++round, step /= 2) {
      uint32_t middle = bestCount();
      tryCount(std::max(2u, middle - std::min(middle, step)));
      tryCount(middle + step);
    }
    // When the backward part is in a late segment, the inputs of all earlier ones are still held: late segments that
    // are smaller lower the peak.
    uint32_t middle = bestCount();
    for (double fall : {0.3, 0.6})
      for (uint32_t count = std::max(2u, middle - 1); count <= middle + 2 && tries >= 32; ++count)
        for (bool savesLast : {false, true})
          if (!error)
            error = measure({Recipe::Kind::Balanced, count, savesLast, fall});
    return error;
  }

  /// About `count` numbers from first to last, evenly spread by ratio.
  static std::set<uint32_t> spread(uint32_t first, uint32_t last, size_t count) {
    std::set<uint32_t> numbers;
    for (size_t i = 0; i < count; ++i) {
      double part = count == 1 ? 0 : double(i) / double(count - 1);
      numbers.insert(std::lround(first * std::pow(double(last) / first, part)));
    }
    return numbers;
  }

  /// The number of even segments with the lowest peak so far.
  uint32_t bestCount() const {
    const Candidate *best = nullptr;
    for (const Candidate &candidate : candidates)
      if (candidate.recipe.kind == Recipe::Kind::Balanced && (!best || candidate.peakBytes < best->peakBytes))
        best = &candidate;
    return best ? best->recipe.number : 2;
  }

  /// The lowest peak; of plans within a fiftieth of it the cheapest, and of those the one with the fewest segments.
  const Candidate &choose() const {
    int64_t lowest = std::ranges::min(candidates, {}, &Candidate::peakBytes).peakBytes;
    int64_t allowed = std::min(lowest + lowest / 50, candidates.front().peakBytes);
    auto key = [&](const Candidate &c) {
      return std::tuple(c.peakBytes > allowed, c.costNs, c.peakBytes, c.segmentCount);
    };
    return *std::ranges::min_element(candidates, {}, key);
  }

  const Graph &graph;
  PolicyRequest request;
  Segments blocks;
  std::vector<Candidate> candidates; ///< The first is the program order.
  std::set<uint32_t> triedCounts;
};

} // namespace

Expected<PolicyPlan> planSqrtN(const Graph &graph, const PolicyRequest &request) {
  return SqrtNSearch(graph, request).run();
}

} // namespace remat
