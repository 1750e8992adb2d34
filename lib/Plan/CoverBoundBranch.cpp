//===- CoverBoundBranch.cpp - Fixing gaps to tighten a bound --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoverBound.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace remat::cover {

namespace {

struct Node {
  double bound;
  size_t number; ///< Order of making: ties and nothing else.
  std::vector<std::pair<uint32_t, Fix>> fixes;
  Duals duals;
  uint32_t branchGap; ///< The gap to fix next; none if all that matters is fixed.
};

struct Later {
  bool operator()(const Node &a, const Node &b) const {
    return a.bound != b.bound ? a.bound > b.bound : a.number > b.number;
  }
};

constexpr uint32_t none = ~uint32_t(0);

/// The tree of fixed gaps, best bound first.
class Tree {
public:
  Tree(const Problem &problem, double enough) : problem(problem), dual(problem), enough(enough) {}

  double run(Duals &root, double rootBound, size_t work) {
    fixes.assign(problem.numGaps(), Fix::Free);
    add({rootBound, 0, {}, root, none});
    while (!open.empty() && dual.workDone() < work) {
      if (open.top().branchGap == none || open.top().bound >= enough)
        break;
      Node node = open.top();
      open.pop();
      for (Fix fix : {Fix::Dropped, Fix::Kept}) {
        Node child{node.bound, made, node.fixes, node.duals, none};
        child.fixes.push_back({node.branchGap, fix});
        add(std::move(child));
      }
    }
    return open.empty() ? enough : std::min(enough, open.top().bound);
  }

private:
  /// Ascends in a node and opens it, unless nothing in it covers all rows or it cannot be below `enough`.
  void add(Node node) {
    constexpr size_t roundsPerNode = 40;
    std::ranges::fill(fixes, Fix::Free);
    for (auto [gap, how] : node.fixes)
      fixes[gap] = how;
    if (!dual.fix(fixes))
      return;
    node.bound = std::max(node.bound, dual.ascend(node.duals, roundsPerNode, enough));
    if (node.bound >= enough)
      return;
    dual.evaluate(node.duals, false);
    if (std::isfinite(enough))
      fixByReducedCost(node);
    node.branchGap = chooseGap();
    node.number = made++;
    open.push(std::move(node));
  }

  /// Fixes gaps that must stay as they are at these prices in all plans that cost less than `enough`.
  void fixByReducedCost(Node &node) {
    for (const OpGaps &op : problem.ops)
      for (uint32_t g = op.firstGap; g < op.endGap && !op.severalStorages; ++g)
        if (double reduced = dual.reducedCost(op, g);
            dual.isFree(g) && node.bound + std::abs(reduced) > enough * (1 + 1e-9)) {
          fixes[g] = reduced < 0 ? Fix::Dropped : Fix::Kept;
          node.fixes.push_back({g, fixes[g]});
        }
  }

  /// The free gap whose fixing tells most: dropped in some rounds and kept in others, and dear. Where there is none,
  /// the one whose reduced cost is nearest to 0 for its size.
  uint32_t chooseGap() const {
    uint32_t best = none, nearest = none;
    double bestScore = 0, nearestScore = INFINITY;
    for (const OpGaps &op : problem.ops)
      for (uint32_t g = op.firstGap; g < op.endGap; ++g) {
        if (!dual.isFree(g) || fixes[g] != Fix::Free)
          continue;
        double dropped = dual.droppedShare()[g];
        if (double score = dropped * (1 - dropped) * problem.cost[op.op.index()]; score > bestScore) {
          best = g;
          bestScore = score;
        }
        double score = std::abs(dual.reducedCost(op, g)) / problem.gaps[g].bytes;
        if (score < nearestScore) {
          nearest = g;
          nearestScore = score;
        }
      }
    return best != none ? best : nearest;
  }

  const Problem &problem;
  Dual dual;
  double enough;
  std::vector<Fix> fixes;
  std::priority_queue<Node, std::vector<Node>, Later> open;
  size_t made = 0;
};

} // namespace

double branchAndBound(const Problem &problem, Duals &root, double rootBound, size_t work, double enough) {
  return Tree(problem, enough).run(root, rootBound, work);
}

} // namespace remat::cover
