//===- CutBound.cpp - The least recomputation behind one op ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CutBound.h"

#include "StageCut.h"

#include <algorithm>

namespace remat {

double boundCostByCuts(const GapProblem &problem, int64_t limitBytes, double enough) {
  static constexpr int maxStages = 4;
  std::vector<int32_t> lastReads = findLastReads(problem);
  std::vector<bool> repeatable;
  std::vector<double> costs;
  for (int32_t node = 0; node < problem.numNodes(); ++node) {
    repeatable.push_back(problem.node(node).isRepeatable);
    costs.push_back(problem.node(node).cost);
  }
  double best = 0;
  for (int32_t stage : findHighestStages(problem, lastReads, limitBytes, maxStages)) {
    if (best >= enough)
      break;
    StageCut cut(problem, stage, lastReads, repeatable, costs);
    best = std::max(best, searchPrices(cut, limitBytes, enough).bound);
  }
  return best;
}

} // namespace remat
