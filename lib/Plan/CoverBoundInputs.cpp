//===- CoverBoundInputs.cpp - What computing again costs upstream ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoverBound.h"

#include <algorithm>
#include <limits>

namespace remat::cover {

InputNeeds::InputNeeds(const Problem &problem)
    : problem(problem), roundOf(problem.cost.size()), known(problem.cost.size()), part(problem.cost.size()) {}

InputNeeds::Need InputNeeds::find(uint32_t op, double priceOfByte, uint32_t beginStage, double mostHeldBytes,
                                  std::span<const double> shares) {
  price = priceOfByte;
  begin = beginStage;
  mostHeld = mostHeldBytes;
  share = shares;
  root = op;
  ++round;
  visited.clear();
  return ofInputs(op, problem.inputDepth);
}

double InputNeeds::held(const Input &input) const {
  return input.bytes > mostHeld ? std::numeric_limits<double>::infinity() : input.bytes * price;
}

/// Every op is looked at once, so where paths of different lengths lead to one, it is followed as far as the first of
/// them allows: to need less is on the safe side.
InputNeeds::Need InputNeeds::ofInputs(uint32_t op, size_t depth) {
  Need sum;
  if (depth == 0)
    return sum;
  if (roundOf[op] == round)
    return known[op];
  for (uint32_t i = problem.inputBegin[op]; i < problem.inputBegin[op + 1]; ++i) {
    const Input &input = problem.inputs[i];
    ++work;
    if (problem.death[input.op] > begin)
      continue;
    Need one{held(input), input.bytes};
    if (problem.cost[input.op] < one.value) {
      Need again = ofInputs(input.op, depth - 1);
      if (again.value + problem.cost[input.op] < one.value)
        one = {again.value + problem.cost[input.op], again.slope};
    }
    sum.value += share[i] * one.value;
    sum.slope += share[i] * one.slope;
  }
  roundOf[op] = round;
  known[op] = sum;
  visited.push_back(op);
  return sum;
}

void InputNeeds::charge(std::span<double> use) {
  // Readers come after what they read.
  std::ranges::sort(visited, std::greater<>());
  for (uint32_t op : visited)
    part[op] = 0;
  part[root] = 1;
  for (uint32_t op : visited)
    for (uint32_t i = problem.inputBegin[op]; i < problem.inputBegin[op + 1] && part[op] > 0; ++i) {
      const Input &input = problem.inputs[i];
      if (problem.death[input.op] > begin)
        continue;
      double hold = held(input), cost = problem.cost[input.op];
      bool isKnown = roundOf[input.op] == round;
      double again = cost < hold ? cost + (isKnown ? known[input.op].value : 0) : hold;
      use[i] += part[op] * std::min(hold, again);
      if (again < hold && isKnown)
        part[input.op] += part[op] * share[i];
    }
}

} // namespace remat::cover
