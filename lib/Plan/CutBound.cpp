//===- CutBound.cpp - The least recomputation behind one op ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fix a stage s. For every value made before it, let a say that it can be read behind s, and for every op let r say
// that it runs again behind s. A value with a = 1 and r = 0 must be alive in s. A plan that fits satisfies: a = 1 for
// what ops behind s read; r <= a; r <= a of everything the op reads; and the bytes of a - r, with what the op of s
// itself needs, fit into the limit. All but the last are implications between two variables, so with a price p for the
// bytes the cheapest choice is a minimum cut (Picard, 1976). The bound is the best of all prices.
//
//===----------------------------------------------------------------------===//

#include "CutBound.h"

#include "MaxFlow.h"

#include <algorithm>
#include <cmath>

namespace remat {

namespace {

class StageCut {
public:
  StageCut(const GapProblem &problem, int32_t stage, std::span<const int32_t> lastReadOfPlace)
      : problem(problem), stage(stage), lastRead(lastReadOfPlace), isHere(problem.numPlaces()) {
    for (GapProblem::Place place : problem.reads(stage))
      here(place);
    for (int32_t r = 0; r < int32_t(problem.sizes(stage).size()); ++r)
      here({stage, r});
    fixedBytes += problem.node(stage).workspaceBytes;
    for (int32_t node = 0; node < stage; ++node)
      totalCost += problem.node(node).cost;
  }

  /// The best of all prices, from below.
  double bound(int64_t limitBytes, double enough) {
    double room = double(limitBytes) - fixedBytes;
    if (room < 0 || totalCost <= 0)
      return 0;
    // Lines value(price) of the cheapest choices at two prices that enclose the best one: one that needs more than
    // there is room for, one that doesn't.
    Choice low = solve(0),
           high = solve(totalCost); // A byte for the cost of all ops: the least bytes that are possible.
    if (low.bytes <= room)
      return low.value;
    if (high.bytes > room)
      return std::max(0.0, high.value - totalCost * room);
    double best = 0;
    for (int round = 0; round < maxRounds && best < enough; ++round) {
      double price = (high.cost - low.cost) / (low.bytes - high.bytes);
      Choice middle = solve(price);
      best = std::max(best, middle.value - price * room);
      double onLines = low.cost + price * low.bytes;
      if (middle.cost + price * middle.bytes >= onLines * (1 - 1e-9))
        break;
      (middle.bytes > room ? low : high) = middle;
    }
    return best;
  }

private:
  static constexpr int maxRounds = 20;

  struct Choice {
    double value = 0;           ///< Not above the least of cost + price * bytes.
    double cost = 0, bytes = 0; ///< Of the choice found.
  };

  void here(GapProblem::Place place) {
    isHere[problem.number(place)] = true;
    fixedBytes += problem.sizes(place.node)[place.result];
  }

  Choice solve(double price) {
    uint32_t places = problem.number({stage, 0}), source = places + stage, sink = source + 1;
    MaxFlow flow(sink + 1);
    // Large enough that rounding down loses little, small enough that sums fit.
    double scale = 0x1p50 / (totalCost + price * totalBytes() + 1);
    int64_t offset = 0;
    auto units = [&](double amount) { return int64_t(std::floor(amount * scale)); };
    for (int32_t node = 0; node < stage; ++node) {
      uint32_t repeats = places + node;
      double bytes = 0;
      for (int32_t r = 0; r < int32_t(problem.sizes(node).size()); ++r) {
        uint32_t place = problem.number({node, r});
        if (isHere[place])
          continue;
        double size = problem.sizes(node)[r];
        bytes += size;
        flow.addEdge(place, sink, units(price * size));
        if (lastRead[place] > stage)
          flow.addEdge(source, place, MaxFlow::infinity);
        flow.addEdge(repeats, place, MaxFlow::infinity);
      }
      if (!problem.node(node).isRepeatable) {
        flow.addEdge(repeats, sink, MaxFlow::infinity);
        continue;
      }
      double gain = price * bytes - problem.node(node).cost;
      if (gain <= 0) {
        flow.addEdge(repeats, sink, units(-gain));
      } else {
        flow.addEdge(source, repeats, units(gain));
        offset -= units(gain) + 1;
      }
      for (GapProblem::Place place : problem.reads(node))
        if (!isHere[problem.number(place)])
          flow.addEdge(repeats, problem.number(place), MaxFlow::infinity);
    }
    return read(flow, price, scale, offset, source, sink);
  }

  Choice read(MaxFlow &flow, double price, double scale, int64_t offset, uint32_t source, uint32_t sink) {
    int64_t cut = flow.run(source, sink);
    const std::vector<bool> &isSink = flow.sinkSide();
    uint32_t places = problem.number({stage, 0});
    Choice choice;
    choice.value = double(cut + offset) / scale * (1 - 1e-12);
    for (int32_t node = 0; node < stage; ++node) {
      bool repeats = !isSink[places + node];
      if (repeats)
        choice.cost += problem.node(node).cost;
      for (int32_t r = 0; r < int32_t(problem.sizes(node).size()); ++r)
        if (uint32_t place = problem.number({node, r}); !isHere[place] && !isSink[place] && !repeats)
          choice.bytes += problem.sizes(node)[r];
    }
    return choice;
  }

  double totalBytes() const {
    double bytes = 0;
    for (int32_t node = 0; node < stage; ++node)
      bytes += problem.totalSize(node);
    return bytes;
  }

  const GapProblem &problem;
  int32_t stage;
  std::span<const int32_t> lastRead;
  std::vector<bool> isHere; ///< By place: the op of the stage reads or makes it.
  double fixedBytes = 0, totalCost = 0;
};

} // namespace

/// Bytes alive in every stage if nothing runs again.
static std::vector<double> findLoads(const GapProblem &problem, std::span<const int32_t> lastRead) {
  std::vector<double> loads(problem.numNodes() + 2);
  for (int32_t node = 0; node < problem.numNodes(); ++node)
    for (int32_t r = 0; r < int32_t(problem.sizes(node).size()); ++r) {
      loads[node] += problem.sizes(node)[r];
      loads[std::max(node, lastRead[problem.number({node, r})]) + 1] -= problem.sizes(node)[r];
    }
  for (int32_t t = 1; t < problem.numNodes(); ++t)
    loads[t] += loads[t - 1];
  for (int32_t t = 0; t < problem.numNodes(); ++t)
    loads[t] += problem.node(t).workspaceBytes;
  loads.resize(problem.numNodes());
  return loads;
}

double boundCostByCuts(const GapProblem &problem, int64_t limitBytes, double enough) {
  static constexpr int maxStages = 4;
  std::vector<int32_t> lastRead(problem.numPlaces(), -1);
  for (int32_t t = 0; t <= problem.numNodes(); ++t)
    for (GapProblem::Place place : problem.reads(t))
      lastRead[problem.number(place)] = t;
  std::vector<double> loads = findLoads(problem, lastRead);
  double best = 0;
  int32_t apart = std::max(1, problem.numNodes() / 16);
  for (int i = 0; i < maxStages && best < enough; ++i) {
    auto highest = std::ranges::max_element(loads);
    if (highest == loads.end() || *highest <= double(limitBytes))
      break;
    int32_t stage = highest - loads.begin();
    best = std::max(best, StageCut(problem, stage, lastRead).bound(limitBytes, enough));
    std::fill(loads.begin() + std::max(0, stage - apart),
              loads.begin() + std::min<int32_t>(loads.size(), stage + apart), 0);
  }
  return best;
}

} // namespace remat
