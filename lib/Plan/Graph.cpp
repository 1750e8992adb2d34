//===- Graph.cpp - The planner's view of a training step ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Graph.h"
#include "remat/Plan/Plan.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace remat {

static constexpr std::array<std::string_view, 11> opClassNames = {
    "dot",    "convolution", "reduction", "elementwise", "data-movement", "view",
    "random", "collective",  "loop",      "constant",    "opaque"};

std::string_view toString(OpClass opClass) { return opClassNames[static_cast<size_t>(opClass)]; }

std::optional<OpClass> parseOpClass(std::string_view text) {
  auto found = std::find(opClassNames.begin(), opClassNames.end(), text);
  if (found == opClassNames.end())
    return std::nullopt;
  return static_cast<OpClass>(found - opClassNames.begin());
}

std::string_view toString(Phase phase) { return phase == Phase::Forward ? "forward" : "backward"; }

int64_t Graph::residentBytes() const {
  int64_t bytes = 0;
  for (size_t i = 0; i < argumentCount; ++i)
    bytes += values[i].bytes;
  return bytes;
}

bool Graph::mustRunOnce(OpId id) const {
  const OpInfo &info = op(id);
  return !info.recomputable || info.opClass == OpClass::Random || info.opClass == OpClass::Collective ||
         info.opClass == OpClass::Opaque;
}

std::optional<OpId> Graph::findOp(std::string_view opName) const {
  auto found = opByName.find(opName);
  return found == opByName.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ValueId> Graph::findValue(std::string_view valueName) const {
  auto found = valueByName.find(valueName);
  return found == valueByName.end() ? std::nullopt : std::optional(found->second);
}

GraphBuilder::GraphBuilder(std::string_view graphName) {
  graph.graphName = graphName;
  graph.operandBegin.push_back(0);
  graph.resultStart.push_back(0);
}

std::string_view GraphBuilder::keep(std::string_view text) {
  constexpr size_t chunkBytes = size_t(1) << 16;
  if (text.empty())
    return {};
  if (text.size() > textRoom) {
    textRoom = std::max(chunkBytes, text.size());
    graph.texts.push_back(std::make_unique_for_overwrite<char[]>(textRoom));
    nextText = graph.texts.back().get();
  }
  std::string_view kept(std::copy(text.begin(), text.end(), nextText) - text.size(), text.size());
  nextText += text.size();
  textRoom -= text.size();
  return kept;
}

std::string_view GraphBuilder::intern(std::string_view text) {
  auto found = sharedTexts.find(text);
  return found != sharedTexts.end() ? *found : *sharedTexts.insert(keep(text)).first;
}

static std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

static std::string placeOfResult(size_t i) { return "results[" + std::to_string(i) + "]."; }

static constexpr uint64_t largestSum = uint64_t(1) << 60;

static Error tooMany(std::string_view what, std::string place) {
  return makeError("the " + std::string(what) + " of this graph add up to more than 2^60", std::move(place),
                   "check the shapes, and the bounds of dynamic dimensions");
}

/// Puts in a value whose name is taken already; the caller has checked it.
void GraphBuilder::addValue(const ValueInfo &value, OpId producer) {
  ValueId id(graph.values.size());
  graph.values.push_back(value);
  graph.producers.push_back(producer);
  ValueId base = value.viewOf ? graph.bases[value.viewOf.index()] : id;
  graph.bases.push_back(base);
  overwriter.push_back(OpId());
  overwriterAtBirth.push_back(overwriter[base.index()]);
}

Expected<ValueId> GraphBuilder::addArgument(std::string_view name, int64_t bytes, bool donated) {
  if (!graph.ops.empty())
    return makeError("argument " + quoted(name) + " comes after the first op");
  if (bytes < 0)
    return makeError("argument " + quoted(name) + " has negative bytes", "bytes");
  if ((totalBytes += uint64_t(bytes)) > largestSum)
    return tooMany("bytes", "bytes");
  ValueId id(graph.values.size());
  std::string_view kept = keep(name);
  if (!graph.valueByName.emplace(kept, id).second)
    return makeError("the name " + quoted(name) + " is taken", "name");
  ValueInfo argument;
  argument.name = kept;
  argument.bytes = bytes;
  argument.donated = donated;
  addValue(argument, OpId());
  graph.resultStart[0] = ++graph.argumentCount;
  return id;
}

/// What is wrong with a result that shares or overwrites the storage of `other`.
static std::optional<Error> checkSharing(const Graph &graph, const ValueInfo &result,
                                         std::span<const ValueId> operands) {
  auto isOperand = [&](ValueId id) { return std::find(operands.begin(), operands.end(), id) != operands.end(); };
  if (result.viewOf && !isOperand(result.viewOf))
    return Error{"a view must name an operand of its op", "view_of", {}};
  if (result.viewOf && result.bytes != 0)
    return Error{"a view has no bytes of its own, found " + std::to_string(result.bytes), "bytes",
                 "write \"bytes\": 0"};
  if (!result.inplaceOf)
    return std::nullopt;
  if (!isOperand(result.inplaceOf))
    return Error{"a result in place must name an operand of its op", "inplace_of", {}};
  ValueId base = graph.base(result.inplaceOf);
  if (graph.isArgument(base) && !graph.value(base).donated)
    return Error{"argument " + quoted(graph.value(base).name) + " is overwritten but not donated", "inplace_of",
                 "mark the argument with \"donated\": true"};
  if (result.viewOf && graph.base(result.viewOf) != base)
    return Error{"the result views " + quoted(graph.value(result.viewOf).name) + " but overwrites " +
                     quoted(graph.value(result.inplaceOf).name),
                 "view_of", "a view that overwrites must do so to what it views"};
  if (result.bytes > graph.value(base).bytes)
    return Error{"the result has " + std::to_string(result.bytes) + " bytes, but takes the place of " +
                     quoted(graph.value(base).name) + " with " + std::to_string(graph.value(base).bytes),
                 "bytes", "leave \"inplace_of\" out: the result needs storage of its own"};
  return std::nullopt;
}

std::optional<Error> GraphBuilder::checkNumbers(const OpInfo &info, std::span<const ValueInfo> results) {
  if (!std::isfinite(info.costNs) || info.costNs < 0)
    return makeError("the cost must be a number of nanoseconds, at least 0", "cost_ns");
  if (info.flops < 0)
    return makeError("negative number of FLOPs", "flops");
  if (info.workspaceBytes < 0)
    return makeError("negative bytes", "workspace_bytes");
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].bytes < 0)
      return makeError("negative bytes", placeOfResult(i) + "bytes");
    if ((totalBytes += uint64_t(results[i].bytes)) > largestSum)
      return tooMany("bytes", placeOfResult(i) + "bytes");
  }
  if ((totalBytes += uint64_t(info.workspaceBytes)) > largestSum)
    return tooMany("bytes", "workspace_bytes");
  if ((totalFlops += uint64_t(info.flops)) > largestSum)
    return tooMany("flops", "flops");
  constexpr double executions = 1024;
  if (!std::isfinite((totalCostNs += info.costNs) * executions))
    return makeError("the costs of this graph add up to infinity", "cost_ns");
  return std::nullopt;
}

std::optional<Error> GraphBuilder::overwrite(std::span<const ValueInfo> results, std::span<const ValueId> operands) {
  OpId op(graph.ops.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (auto error = checkSharing(graph, results[i], operands))
      return makeError(error->message, placeOfResult(i) + error->place, error->note);
    if (!results[i].inplaceOf)
      continue;
    ValueId base = graph.base(results[i].inplaceOf);
    if (overwriter[base.index()] == op)
      return makeError("two results of the op take the place of " + quoted(graph.value(base).name),
                       placeOfResult(i) + "inplace_of");
    overwriter[base.index()] = op;
  }
  return std::nullopt;
}

std::optional<Error> GraphBuilder::checkOverwritten(ValueId value) const {
  OpId last = overwriter[graph.base(value).index()];
  if (last == overwriterAtBirth[value.index()])
    return std::nullopt;
  return Error{quoted(graph.value(value).name) + " is read after op " + quoted(graph.op(last).name) + " overwrote it"};
}

Expected<OpId> GraphBuilder::addOp(const OpInfo &info, std::span<const ValueId> operands,
                                   std::span<const ValueInfo> results) {
  OpId id(graph.ops.size());
  if (auto error = checkNumbers(info, results))
    return std::move(*error);
  auto placeOfOperand = [](size_t i) { return "operands[" + std::to_string(i) + "]"; };
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i] || operands[i].index() >= graph.values.size())
      return makeError("nothing makes this operand", placeOfOperand(i));
    if (auto error = checkOverwritten(operands[i]))
      return makeError(error->message, placeOfOperand(i));
  }
  OpInfo kept = info;
  kept.name = keep(info.name);
  kept.kind = intern(info.kind);
  kept.checkpointName = intern(info.checkpointName);
  kept.region = intern(info.region);
  kept.location = keep(info.location);
  if (!graph.opByName.emplace(kept.name, id).second)
    return makeError("the name " + quoted(info.name) + " is taken", "name");
  if (auto error = overwrite(results, operands))
    return std::move(*error);
  for (size_t i = 0; i < results.size(); ++i) {
    ValueId value(graph.values.size());
    ValueInfo result = results[i];
    result.name = result.name == kept.name ? kept.name : keep(result.name);
    if (!graph.valueByName.emplace(result.name, value).second)
      return makeError("the name " + quoted(result.name) + " is taken", placeOfResult(i) + "name");
    addValue(result, id);
  }
  graph.ops.push_back(kept);
  graph.operandList.insert(graph.operandList.end(), operands.begin(), operands.end());
  graph.operandBegin.push_back(graph.operandList.size());
  graph.resultStart.push_back(graph.values.size());
  return id;
}

std::optional<Error> GraphBuilder::addResult(ValueId value) {
  graph.resultList.push_back(value);
  return checkOverwritten(value);
}

void GraphBuilder::addRegion(std::string_view name, std::string_view policy) {
  graph.regionList.push_back({intern(name), intern(policy)});
}

Graph GraphBuilder::finish() {
  // Users by counting sort: ops come in program order, so every list ends up in it.
  std::vector<OpId> lastUser(graph.values.size());
  graph.userBegin.assign(graph.values.size() + 1, 0);
  auto forEachUse = [&](auto visit) {
    std::fill(lastUser.begin(), lastUser.end(), OpId());
    for (size_t i = 0; i < graph.ops.size(); ++i)
      for (ValueId operand : graph.operands(OpId(i)))
        if (lastUser[operand.index()] != OpId(i)) {
          lastUser[operand.index()] = OpId(i);
          visit(operand, OpId(i));
        }
  };
  forEachUse([&](ValueId value, OpId) { ++graph.userBegin[value.index() + 1]; });
  for (size_t i = 0; i < graph.values.size(); ++i)
    graph.userBegin[i + 1] += graph.userBegin[i];
  graph.userList.resize(graph.userBegin.back());
  std::vector<uint32_t> next(graph.userBegin.begin(), graph.userBegin.end() - 1);
  forEachUse([&](ValueId value, OpId op) { graph.userList[next[value.index()]++] = op; });
  return std::move(graph);
}

Plan programOrder(const Graph &graph) {
  Plan plan;
  plan.steps.reserve(graph.numOps());
  for (size_t i = 0; i < graph.numOps(); ++i)
    plan.steps.push_back(OpId(i));
  return plan;
}

} // namespace remat
