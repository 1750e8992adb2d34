//===- GapProblem.cpp - Which values live where, in numbers ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GapProblem.h"

#include <algorithm>

namespace remat {

GapProblem::GapProblem(const Graph &graph, std::vector<OpId> firstExecutions, std::span<const double> costs,
                       const std::vector<bool> &mayRepeat)
    : source(&graph), order(std::move(firstExecutions)), nodes(order.size()), placeOf(graph.numValues(), {-1, 0}) {
  for (size_t t = 0; t < order.size(); ++t) {
    nodes[t].cost = costs[order[t].index()];
    nodes[t].workspaceBytes = graph.op(order[t]).workspaceBytes;
    nodes[t].mayRepeat = !graph.mustRunOnce(order[t]) && graph.op(order[t]).opClass != OpClass::Constant &&
                         (mayRepeat.empty() || mayRepeat[order[t].index()]);
    nodes[t].isRepeatable = nodes[t].mayRepeat;
    costOfAll += nodes[t].cost;
  }
  addPlaces();
  addReads();
  addReaders();
  forbidLateRepeats();
  forbidCostlyViews();
}

void GapProblem::addPlaces() {
  totals.resize(order.size());
  sizeBegin.push_back(0);
  for (size_t t = 0; t < order.size(); ++t) {
    for (size_t r = 0; r < source->numResults(order[t]); ++r) {
      ValueId result = source->result(order[t], r);
      int64_t bytes = source->value(result).bytes;
      if (source->isView(result) || bytes == 0)
        continue;
      placeOf[result.index()] = {int32_t(t), int32_t(sizeList.size() - sizeBegin.back())};
      sizeList.push_back(bytes);
      totals[t] += bytes;
    }
    sizeBegin.push_back(sizeList.size());
  }
}

void GapProblem::addReads() {
  auto before = [](const Place &a, const Place &b) {
    return std::pair(a.node, a.result) < std::pair(b.node, b.result);
  };
  auto add = [&](std::span<const ValueId> values) {
    size_t begin = readList.size();
    for (ValueId value : values)
      if (Place place = placeOf[source->base(value).index()]; place.node >= 0)
        readList.push_back(place);
    std::sort(readList.begin() + begin, readList.end(), before);
    readList.erase(std::unique(readList.begin() + begin, readList.end()), readList.end());
    for (size_t i = begin; i < readList.size(); ++i)
      if (i == begin || readList[i].node != readList[i - 1].node)
        inputList.push_back(readList[i].node);
    readBegin.push_back(readList.size());
    inputBegin.push_back(inputList.size());
  };
  readBegin.push_back(0);
  inputBegin.push_back(0);
  for (OpId op : order)
    add(source->operands(op));
  add(source->results());
  resultFlags.resize(numPlaces());
  for (Place place : reads(numNodes())) {
    bytesOfResults += sizes(place.node)[place.result];
    resultFlags[number(place)] = true;
  }
}

void GapProblem::addReaders() {
  readerBegin.assign(numPlaces() + 1, 0);
  auto forEachRead = [&](auto visit) {
    for (int32_t t = 0; t <= numNodes(); ++t)
      for (Place place : reads(t))
        if (sizes(place.node).size() > 1)
          visit(t, number(place));
  };
  forEachRead([&](int32_t, uint32_t place) { ++readerBegin[place + 1]; });
  for (size_t i = 1; i < readerBegin.size(); ++i)
    readerBegin[i] += readerBegin[i - 1];
  readerList.resize(readerBegin.back());
  std::vector<uint32_t> next(readerBegin.begin(), readerBegin.end() - 1);
  forEachRead([&](int32_t t, uint32_t place) { readerList[next[place]++] = t; });
}

/// An op that overwrites runs once, and so does what made the storage; what reads the storage as it was before runs
/// again only in front of the overwrite.
void GapProblem::forbidLateRepeats() {
  std::vector<int32_t> stageOf(order.size());
  for (size_t t = 0; t < order.size(); ++t)
    stageOf[order[t].index()] = t;
  for (size_t t = 0; t < order.size(); ++t)
    for (size_t r = 0; r < source->numResults(order[t]); ++r) {
      ValueId target = source->value(source->result(order[t], r)).inplaceOf;
      if (!target)
        continue;
      nodes[t].mayRepeat = false;
      ValueId base = source->base(target);
      if (OpId producer = source->producer(base))
        nodes[stageOf[producer.index()]].mayRepeat = false;
      // Every alias of the storage that was made before.
      std::vector<ValueId> aliases{base};
      for (size_t i = 0; i < aliases.size(); ++i)
        for (OpId user : source->users(aliases[i])) {
          int32_t stage = stageOf[user.index()];
          if (stage >= int32_t(t))
            continue;
          nodes[stage].lastRepeat = std::min(nodes[stage].lastRepeat, int32_t(t));
          for (size_t k = 0; k < source->numResults(user); ++k)
            if (ValueId made = source->result(user, k); source->value(made).viewOf == aliases[i])
              aliases.push_back(made);
        }
    }
}

/// Views of what runs again are made anew, which must not cost anything, need anything else, or make anything else.
void GapProblem::forbidCostlyViews() {
  std::vector<int32_t> stageOf(order.size());
  for (size_t t = 0; t < order.size(); ++t)
    stageOf[order[t].index()] = t;
  auto isFreeView = [&](size_t t, ValueId base) {
    OpId op = order[t];
    bool isFree = nodes[t].cost == 0 && nodes[t].workspaceBytes == 0 && !source->mustRunOnce(op);
    for (ValueId operand : source->operands(op))
      isFree &= source->base(operand) == base || source->isArgument(source->base(operand));
    for (size_t r = 0; r < source->numResults(op); ++r) {
      ValueId result = source->result(op, r);
      isFree &= source->isView(result) && source->base(result) == base && !source->value(result).inplaceOf;
    }
    return isFree;
  };
  for (size_t t = 0; t < order.size(); ++t)
    for (size_t r = 0; r < source->numResults(order[t]); ++r) {
      ValueId result = source->result(order[t], r), base = source->base(result);
      if (source->isView(result) && !source->isArgument(base) && !isFreeView(t, base))
        nodes[stageOf[source->producer(base).index()]].mayRepeat = false;
    }
}

} // namespace remat
