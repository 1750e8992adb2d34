//===- OrderSearch.cpp - Orders with a low peak ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrderSearch.h"

#include "OrderSearchAnneal.h"

#include <algorithm>
#include <future>

namespace remat {

static OpOrder programOrderOf(const OrderProblem &problem) {
  OpOrder order(problem.numOps());
  for (uint32_t op = 0; op < order.size(); ++op)
    order[op] = op;
  return order;
}

static std::vector<OpId> toOps(const OpOrder &order) {
  std::vector<OpId> ops;
  ops.reserve(order.size());
  for (uint32_t op : order)
    ops.push_back(OpId(op));
  return ops;
}

/// Enough for graphs of a thousand ops to end where longer searches do; at most some seconds, also for the largest.
static uint64_t movesFor(const OrderProblem &problem, double effort) {
  double ops = std::max(1u, problem.numOps());
  return std::max<uint64_t>(1000, uint64_t(effort * std::min({3000 * ops, 3e6, 3e11 / ops})));
}

/// Graphs up to this size are worth several lists.
static constexpr uint32_t manyListOps = 5000;
static constexpr int lists = 16;

static double meanMadeBytes(const OrderProblem &problem) {
  double sum = 0;
  for (uint32_t op = 0; op < problem.numOps(); ++op)
    sum += double(problem.madeBytes(op));
  return sum / std::max(1u, problem.numOps());
}

/// List scheduling with noise: op by op, up to the mean bytes that ops make.
static OpOrder listAtRandom(const OrderProblem &problem, Random &random) {
  double mean = meanMadeBytes(problem);
  std::vector<double> noise(problem.numOps());
  for (double &bytes : noise)
    bytes = mean * random.unit();
  return listOrder(problem, noise);
}

/// The best order by rule; the program order if none has a lower peak.
static OpOrder startOrder(const OrderProblem &problem, int64_t targetBytes, uint64_t seed) {
  OpOrder best = programOrderOf(problem);
  int64_t bestPeak = peakOf(problem, best);
  auto offer = [&](OpOrder order) {
    if (int64_t peak = peakOf(problem, order); peak < bestPeak) {
      best = std::move(order);
      bestPeak = peak;
    }
  };
  if (bestPeak <= targetBytes)
    return best;
  offer(tightenOrder(problem, best));
  offer(listOrder(problem));
  Random random(seed);
  for (int i = 0; i < lists && problem.numOps() <= manyListOps; ++i)
    offer(listAtRandom(problem, random));
  return best;
}

/// The better of two annealings, from the best order by rule and from the program order.
static OpOrder lowerPeak(const OrderProblem &problem, OrderAnnealOptions options) {
  OpOrder start = startOrder(problem, options.targetBytes, options.seed);
  if (peakOf(problem, start) <= std::max<int64_t>(0, options.targetBytes))
    return start;
  // In small graphs single values are a large share of the peak.
  double share = meanMadeBytes(problem) / double(peakOf(problem, start));
  options.hot = std::max(options.hot, 0.5 * share);
  OrderAnnealOptions other = options;
  other.seed = Random(options.seed).next();
  auto second = std::async(std::launch::async, [&] { return annealOrder(problem, programOrderOf(problem), other); });
  OpOrder found = annealOrder(problem, std::move(start), options), foundToo = second.get();
  return peakOf(problem, foundToo) < peakOf(problem, found) ? foundToo : found;
}

std::vector<OpId> lowerPeakByOrder(const Graph &graph, int64_t targetBytes, double effort, uint64_t seed,
                                   const std::atomic<bool> *interrupt) {
  OrderProblem problem(graph);
  OrderAnnealOptions options{
      .moves = movesFor(problem, effort), .seed = seed, .targetBytes = targetBytes, .interrupt = interrupt};
  OpOrder order = lowerPeak(problem, options);
  int64_t peak = peakOf(problem, order);
  return toOps(straightenOrder(problem, std::move(order), peak));
}

/// Recomputation has to free what lies above a limit: half of the peak stands for all limits, since the orders must not
/// depend on the one that is asked for.
static constexpr double halfway = 0.5;

/// Other orders tear apart what a recomputed value would serve together: for less than this they are not worth it.
static constexpr double leastGain = 0.01;

/// The order of the lowest peak, near the program order where it can be, with less above half of the peak.
static OpOrder lowOrder(const OrderProblem &problem, int64_t middle, OrderAnnealOptions options, int64_t worthBytes) {
  OpOrder order = lowerPeak(problem, options);
  int64_t peak = peakOf(problem, order);
  if (peak > worthBytes)
    return order;
  order = straightenOrder(problem, std::move(order), peak);
  options.countFrom = middle;
  options.hot *= 0.01;
  return straightenOrder(problem, annealOrder(problem, std::move(order), options), middle);
}

std::vector<std::vector<OpId>> candidateOrders(const Graph &graph, double effort, uint64_t seed,
                                               const std::atomic<bool> *interrupt) {
  OrderProblem problem(graph);
  OpOrder program = programOrderOf(problem), tight = tightenOrder(problem, program);
  int64_t given = peakOf(problem, program), best = given;
  std::vector<std::vector<OpId>> result;
  if (int64_t peak = peakOf(problem, tight); peak <= given && tight != program) {
    best = peak;
    result.push_back(toOps(tight));
  }
  int64_t worthBytes = int64_t((1 - leastGain) * double(best));
  OrderAnnealOptions options{.moves = movesFor(problem, effort), .seed = seed, .interrupt = interrupt};
  OpOrder low = lowOrder(problem, int64_t(halfway * double(given)), options, worthBytes);
  if (peakOf(problem, low) <= worthBytes && low != program)
    result.push_back(toOps(low));
  return result;
}

} // namespace remat
