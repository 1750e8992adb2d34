//===- Simulator.cpp - What a plan needs and costs ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only judge of plans. Every execution of an op makes one storage for each result that has bytes of its own; a view
// binds to what its base is bound to at that moment. A storage lives from the step that made it to the last step that
// reads it through any value bound to it.
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Simulator.h"

#include <algorithm>

namespace remat {

namespace {

/// Which storage every value is bound to while a plan is replayed.
struct Bindings {
  static constexpr uint32_t unbound = ~uint32_t(0);

  explicit Bindings(const Graph &graph) : storageOf(graph.numValues(), unbound) {
    for (size_t i = 0; i < graph.numArguments(); ++i)
      storageOf[i] = i;
    storageCount = graph.numArguments();
  }

  /// Binds the results of `op`; calls `make(storage, value)` for each new storage.
  template <typename Make>
  void execute(const Graph &graph, OpId op, Make make) {
    for (size_t i = 0; i < graph.numResults(op); ++i) {
      ValueId result = graph.result(op, i);
      if (ValueId viewed = graph.value(result).viewOf) {
        storageOf[result.index()] = storageOf[viewed.index()];
      } else {
        storageOf[result.index()] = storageCount;
        make(storageCount++, result);
      }
    }
  }

  std::vector<uint32_t> storageOf;
  uint32_t storageCount;
};

struct Storage {
  ValueId value;
  int64_t bytes;
  uint32_t born;
  uint32_t lastRead;
  bool ofForward;      ///< Made by a forward op at its place in the forward part.
  bool readByBackward; ///< Read by a backward op, or by a forward op that runs in the backward part.
};

} // namespace

/// True for every step that runs in the backward part: a backward op, a second execution, or a forward op moved behind
/// a backward op that follows it in program order.
static std::vector<bool> findBackwardSteps(const Graph &graph, const Plan &plan) {
  std::vector<bool> backward(plan.steps.size()), executed(graph.numOps());
  size_t lastBackwardOp = 0;
  bool any = false;
  for (size_t t = 0; t < plan.steps.size(); ++t) {
    OpId op = plan.steps[t];
    bool ofBackward = graph.op(op).phase == Phase::Backward;
    backward[t] = ofBackward || executed[op.index()] || (any && lastBackwardOp > op.index());
    if (ofBackward && !executed[op.index()]) {
      lastBackwardOp = any ? std::max(lastBackwardOp, op.index()) : op.index();
      any = true;
    }
    executed[op.index()] = true;
  }
  return backward;
}

Simulation simulate(const Graph &graph, const Plan &plan) {
  size_t stepCount = plan.steps.size();
  size_t argumentCount = graph.numArguments();
  Bindings bindings(graph);
  std::vector<Storage> storages;
  storages.reserve(stepCount);
  std::vector<bool> inBackward = findBackwardSteps(graph, plan);
  Simulation result;
  for (size_t t = 0; t < stepCount; ++t) {
    OpId op = plan.steps[t];
    const OpInfo &info = graph.op(op);
    for (ValueId operand : graph.operands(op))
      if (uint32_t storage = bindings.storageOf[operand.index()]; storage >= argumentCount) {
        storages[storage - argumentCount].lastRead = t;
        storages[storage - argumentCount].readByBackward |= inBackward[t];
      }
    bindings.execute(graph, op, [&](uint32_t, ValueId value) {
      storages.push_back({value, graph.value(value).bytes, uint32_t(t), uint32_t(t), !inBackward[t], false});
    });
    result.costNs += info.costNs;
    result.flops += info.flops;
    result.executions += info.opClass != OpClass::Constant && info.opClass != OpClass::View;
  }
  for (ValueId value : graph.results())
    if (uint32_t storage = bindings.storageOf[value.index()]; storage >= argumentCount)
      storages[storage - argumentCount].lastRead = stepCount - 1;

  std::vector<int64_t> change(stepCount + 1);
  for (const Storage &storage : storages) {
    change[storage.born] += storage.bytes;
    change[storage.lastRead + 1] -= storage.bytes;
    if (storage.ofForward && storage.readByBackward) {
      result.residualBytes += storage.bytes;
      result.residuals.push_back(storage.value);
    }
  }
  result.timeline.resize(stepCount);
  int64_t live = 0;
  for (size_t t = 0; t < stepCount; ++t) {
    live += change[t];
    result.timeline[t] = live + graph.op(plan.steps[t]).workspaceBytes;
    if (result.timeline[t] > result.peakBytes) {
      result.peakBytes = result.timeline[t];
      result.peakStep = t;
    }
  }
  return result;
}

static Error stepError(size_t step, std::string message, std::string note = {}) {
  return Error{std::move(message), "step " + std::to_string(step), std::move(note)};
}

static std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::optional<Error> verify(const Graph &graph, const Plan &plan) {
  Bindings bindings(graph);
  // Overwriting a storage makes a new version of it; a value that is bound to an older one is gone.
  std::vector<uint32_t> versionOfStorage(graph.numArguments()), versionOfValue(graph.numValues());
  std::vector<bool> executed(graph.numOps());
  auto isGone = [&](ValueId value) {
    return versionOfValue[value.index()] != versionOfStorage[bindings.storageOf[value.index()]];
  };
  for (size_t t = 0; t < plan.steps.size(); ++t) {
    OpId op = plan.steps[t];
    if (op.index() >= graph.numOps())
      return stepError(t, "there is no op with number " + std::to_string(op.index()));
    const OpInfo &info = graph.op(op);
    bool once = graph.mustRunOnce(op) && (info.opClass != OpClass::Collective || !info.recomputable);
    if (executed[op.index()] && once)
      return stepError(t, "op " + quoted(info.name) + " must not be recomputed");
    for (ValueId operand : graph.operands(op)) {
      if (bindings.storageOf[operand.index()] == Bindings::unbound)
        return stepError(t, "op " + quoted(info.name) + " reads " + quoted(graph.value(operand).name) +
                                " before it is computed");
      if (isGone(operand))
        return stepError(t, "op " + quoted(info.name) + " reads " + quoted(graph.value(operand).name) +
                                " after it was overwritten");
    }
    for (size_t i = 0; i < graph.numResults(op); ++i)
      if (ValueId target = graph.value(graph.result(op, i)).inplaceOf)
        ++versionOfStorage[bindings.storageOf[target.index()]];
    bindings.execute(graph, op, [&](uint32_t, ValueId) { versionOfStorage.push_back(0); });
    for (size_t i = 0; i < graph.numResults(op); ++i) {
      ValueId result = graph.result(op, i);
      versionOfValue[result.index()] = versionOfStorage[bindings.storageOf[result.index()]];
    }
    executed[op.index()] = true;
  }
  for (size_t i = 0; i < graph.numOps(); ++i)
    if (!executed[i])
      return stepError(plan.steps.size(), "op " + quoted(graph.op(OpId(i)).name) + " is never executed");
  for (ValueId value : graph.results())
    if (isGone(value))
      return stepError(plan.steps.size(), "result " + quoted(graph.value(value).name) + " was overwritten");
  return std::nullopt;
}

} // namespace remat
