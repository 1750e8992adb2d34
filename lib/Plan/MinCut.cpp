//===- MinCut.cpp - The least to save where fusible ops are free ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The idea is that of PyTorch's partitioner (H. He, "Min-cut optimal(*) recomputation with AOTAutograd", 2022): what is
// fused into its reader is not worth saving. There, heuristics change the weights of the cut; here a byte is a byte.
//
// Ops that must not run again, the sources, make values that have to be cut off from the backward part. That is the
// question that RunOnceCut answers for ops that must run once; here ops that are merely dear are sources too. A
// reduction is one of them although it can be fused: its result is small, and rebuilding it reads all that it reduced,
// in a pass of its own before its readers.
//
//===----------------------------------------------------------------------===//

#include "MinCut.h"

#include "PolicyPlan.h"
#include "RunOnceCut.h"

#include <algorithm>

namespace remat {

bool isFusible(OpClass opClass) {
  return opClass == OpClass::Elementwise || opClass == OpClass::DataMovement || opClass == OpClass::View ||
         opClass == OpClass::Constant;
}

/// An op that moves into the backward part if its results aren't saved there: it runs once as before.
static bool isReadInBackwardOnly(const Graph &graph, OpId op, const std::vector<Reason> &reasons) {
  for (size_t r = 0; r < graph.numResults(op); ++r) {
    ValueId value = graph.result(op, r);
    if (reasons[graph.base(value).index()] != Reason::Recomputed)
      return false;
    for (OpId user : graph.users(value))
      if (graph.op(user).phase == Phase::Forward)
        return false;
  }
  return true;
}

std::vector<ValueId> findMinCut(MinCutQuery query) {
  const Graph &graph = query.graph;
  std::vector<bool> overwritten = findOverwritten(graph, query.mayClone), cannotSave = overwritten;
  std::vector<bool> runsAgain(graph.numOps());
  for (size_t i = 0; i < graph.numOps(); ++i) {
    OpId op(i);
    bool isFree = query.isFree[i] || isFusible(graph.op(op).opClass) || isReadInBackwardOnly(graph, op, query.reasons);
    for (size_t r = 0; r < graph.numResults(op); ++r)
      isFree |= overwritten[graph.result(op, r).index()]; // What can't be saved has to be made again.
    runsAgain[i] = isFree && query.mayClone[i];
  }
  for (size_t v = 0; v < graph.numValues(); ++v)
    cannotSave[v] = overwritten[v] || query.unsavable[graph.base(ValueId(v)).index()];
  auto isAvailable = [&](ValueId value) {
    ValueId base = graph.base(value);
    OpId producer = graph.producer(base);
    if (producer && graph.op(producer).phase == Phase::Backward)
      return true;
    return !overwritten[value.index()] && (!producer || query.reasons[base.index()] != Reason::Recomputed ||
                                           graph.op(producer).opClass == OpClass::Constant);
  };
  return findRunOnceCut({graph, runsAgain, cannotSave, isAvailable});
}

} // namespace remat
