//===- ForwardCuts.cpp - Where the forward part can be cut --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardCuts.h"

#include <algorithm>
#include <cmath>

namespace remat {

static bool isForward(const Graph &graph, OpId op) { return graph.op(op).phase == Phase::Forward; }

static bool countsAsStorage(const Graph &graph, ValueId value) {
  return !graph.isView(value) && graph.op(graph.producer(value)).opClass != OpClass::Constant;
}

ForwardCuts::ForwardCuts(const Graph &graph) {
  std::vector<uint32_t> birth(graph.numValues()), lastRead(graph.numValues());
  for (size_t i = 0; i < graph.numOps(); ++i) {
    OpId op(i);
    if (!isForward(graph, op))
      continue;
    // A view reads nothing by itself: what counts is who reads the view.
    if (graph.op(op).opClass != OpClass::View)
      for (ValueId operand : graph.operands(op))
        lastRead[graph.base(operand).index()] = ops.size();
    for (size_t r = 0; r < graph.numResults(op); ++r)
      birth[graph.result(op, r).index()] = lastRead[graph.result(op, r).index()] = ops.size();
    ops.push_back(op);
  }
  std::vector<bool> returned(graph.numValues());
  for (ValueId value : graph.results())
    returned[graph.base(value).index()] = true;

  crossingBytes.resize(ops.size() + 2);
  madeBytes.resize(ops.size() + 1);
  for (size_t x = 0; x < ops.size(); ++x) {
    madeBytes[x + 1] = madeBytes[x];
    for (size_t r = 0; r < graph.numResults(ops[x]); ++r) {
      ValueId value = graph.result(ops[x], r);
      if (!countsAsStorage(graph, value))
        continue;
      int64_t bytes = graph.value(value).bytes;
      madeBytes[x + 1] += bytes;
      if (returned[value.index()])
        continue;
      crossingBytes[birth[value.index()] + 1] += bytes;
      crossingBytes[lastRead[value.index()] + 1] -= bytes;
    }
  }
  for (size_t x = 0; x < ops.size(); ++x)
    crossingBytes[x + 1] += crossingBytes[x];
  crossingBytes.pop_back();
}

size_t ForwardCuts::leastCrossing(size_t begin, size_t end) const {
  return std::min_element(crossingBytes.begin() + begin, crossingBytes.begin() + end) - crossingBytes.begin();
}

Segments segmentsBetween(const Graph &graph, const ForwardCuts &forward, const std::vector<size_t> &cuts) {
  Segments segments{std::vector<uint32_t>(graph.numOps(), Segments::outside), 0};
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    for (size_t x = cuts[i]; x < cuts[i + 1]; ++x)
      segments.ofOp[forward.ops[x].index()] = segments.count;
    segments.count += cuts[i] < cuts[i + 1];
  }
  return segments;
}

uint32_t squareRootCount(const Graph &graph) {
  size_t computing = 0;
  for (size_t i = 0; i < graph.numOps(); ++i) {
    const OpInfo &op = graph.op(OpId(i));
    computing += op.phase == Phase::Forward && op.opClass != OpClass::View && op.opClass != OpClass::Constant;
  }
  return std::max<uint32_t>(1, std::lround(std::sqrt(double(computing))));
}

} // namespace remat
