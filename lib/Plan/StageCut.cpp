//===- StageCut.cpp - What to hold in one stage -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageCut.h"

#include "MaxFlow.h"

#include <algorithm>
#include <cmath>

namespace remat {

std::vector<int32_t> findLastReads(const GapProblem &problem) {
  std::vector<int32_t> lastReads(problem.numPlaces(), -1);
  for (int32_t t = 0; t <= problem.numNodes(); ++t)
    for (GapProblem::Place place : problem.reads(t))
      lastReads[problem.number(place)] = t;
  return lastReads;
}

/// Bytes alive in every stage if nothing runs again.
static std::vector<double> findLoads(const GapProblem &problem, std::span<const int32_t> lastReads) {
  std::vector<double> loads(problem.numNodes() + 2);
  for (int32_t node = 0; node < problem.numNodes(); ++node)
    for (int32_t r = 0; r < int32_t(problem.sizes(node).size()); ++r) {
      loads[node] += problem.sizes(node)[r];
      loads[std::max(node, lastReads[problem.number({node, r})]) + 1] -= problem.sizes(node)[r];
    }
  for (int32_t t = 1; t < problem.numNodes(); ++t)
    loads[t] += loads[t - 1];
  for (int32_t t = 0; t < problem.numNodes(); ++t)
    loads[t] += problem.node(t).workspaceBytes;
  loads.resize(problem.numNodes());
  return loads;
}

std::vector<int32_t> findHighestStages(const GapProblem &problem, std::span<const int32_t> lastReads,
                                       int64_t limitBytes, int most) {
  std::vector<double> loads = findLoads(problem, lastReads);
  std::vector<int32_t> stages;
  int32_t apart = std::max(1, problem.numNodes() / 16);
  while (int(stages.size()) < most) {
    auto highest = std::ranges::max_element(loads);
    if (highest == loads.end() || *highest <= double(limitBytes))
      break;
    int32_t stage = highest - loads.begin();
    stages.push_back(stage);
    std::fill(loads.begin() + std::max(0, stage - apart),
              loads.begin() + std::min<int32_t>(loads.size(), stage + apart), 0);
  }
  return stages;
}

StageCut::StageCut(const GapProblem &problem, int32_t stage, std::span<const int32_t> lastReads,
                   const std::vector<bool> &repeatable, std::span<const double> costs)
    : problem(problem), stage(stage), lastReads(lastReads), repeatable(repeatable), costs(costs),
      isHere(problem.numPlaces()) {
  for (GapProblem::Place place : problem.reads(stage))
    here(place);
  for (int32_t r = 0; r < int32_t(problem.sizes(stage).size()); ++r)
    here({stage, r});
  bytesOfStage += problem.node(stage).workspaceBytes;
  for (int32_t node = 0; node < stage; ++node) {
    costOfAll += costs[node];
    bytesOfAll += problem.totalSize(node);
  }
}

void StageCut::here(GapProblem::Place place) {
  isHere[problem.number(place)] = true;
  bytesOfStage += problem.sizes(place.node)[place.result];
}

StageCut::Choice StageCut::solve(double price) const {
  uint32_t places = problem.number({stage, 0}), source = places + stage, sink = source + 1;
  MaxFlow flow(sink + 1);
  // Large enough that rounding down loses little, small enough that sums fit.
  double scale = 0x1p50 / (costOfAll + price * bytesOfAll + 1);
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
      if (lastReads[place] > stage)
        flow.addEdge(source, place, MaxFlow::infinity);
      flow.addEdge(repeats, place, MaxFlow::infinity);
    }
    if (!repeatable[node]) {
      flow.addEdge(repeats, sink, MaxFlow::infinity);
      continue;
    }
    double gain = price * bytes - costs[node];
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
  return read(flow, scale, offset, source, sink);
}

StageCut::Choice StageCut::read(MaxFlow &flow, double scale, int64_t offset, uint32_t source, uint32_t sink) const {
  int64_t cut = flow.run(source, sink);
  const std::vector<bool> &isSink = flow.sinkSide();
  uint32_t places = problem.number({stage, 0});
  Choice choice;
  choice.repeats.resize(stage);
  choice.value = double(cut + offset) / scale * (1 - 1e-12);
  for (int32_t node = 0; node < stage; ++node) {
    bool repeats = !isSink[places + node];
    choice.repeats[node] = repeats;
    if (repeats)
      choice.cost += costs[node];
    for (int32_t r = 0; r < int32_t(problem.sizes(node).size()); ++r)
      if (uint32_t place = problem.number({node, r}); !isHere[place] && !isSink[place] && !repeats)
        choice.bytes += problem.sizes(node)[r];
  }
  return choice;
}

StageChoices searchPrices(const StageCut &cut, int64_t limitBytes, double enough) {
  static constexpr int maxRounds = 20;
  StageChoices found;
  double room = double(limitBytes) - cut.fixedBytes();
  found.isWithinEmpty = room < 0 || cut.totalCost() <= 0;
  found.isAboveEmpty = found.isWithinEmpty;
  if (found.isWithinEmpty)
    return found;
  // Lines value(price) of the cheapest choices at two prices that enclose the best one: one that needs more than
  // there is room for, one that doesn't.
  StageCut::Choice &low = found.above, &high = found.within;
  low = cut.solve(0);
  if (low.bytes <= room) {
    found.bound = low.value;
    found.within = std::move(low);
    found.isAboveEmpty = true;
    return found;
  }
  high = cut.solve(cut.totalCost()); // A byte for the cost of all ops: the least bytes that are possible.
  if (high.bytes > room) {
    found.bound = std::max(0.0, high.value - cut.totalCost() * room);
    found.above = std::move(high);
    found.isWithinEmpty = true;
    return found;
  }
  for (int round = 0; round < maxRounds && found.bound < enough; ++round) {
    double price = (high.cost - low.cost) / (low.bytes - high.bytes);
    StageCut::Choice middle = cut.solve(price);
    found.bound = std::max(found.bound, middle.value - price * room);
    double onLines = low.cost + price * low.bytes;
    if (middle.cost + price * middle.bytes >= onLines * (1 - 1e-9))
      break;
    (middle.bytes > room ? low : high) = std::move(middle);
  }
  return found;
}

} // namespace remat
