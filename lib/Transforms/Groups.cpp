//===- Groups.cpp - Runs of recomputation in a plan -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A barrier makes a clone late only if it names a value of the backward part (jax#2391: recomputation that doesn't
// depend on the incoming gradient may run before the loss). Naming a value keeps it alive up to the barrier, so only
// values are taken that a later step reads anyway: the plan is replayed once to find every storage's last read, and a
// second time to find the groups, with the values that are still alive on stacks, the newest on top.
//
//===----------------------------------------------------------------------===//

#include "Groups.h"

#include <algorithm>

namespace remat {

namespace {

constexpr uint32_t none = ~uint32_t(0);

/// An execution of a value's op, as seen from the value.
struct Instance {
  ValueId value;
  uint32_t storage;
  uint32_t step;
  uint32_t version; ///< Of the storage, which in-place ops overwrite.
};

struct Storage {
  uint32_t lastRead = 0;
  uint32_t version = 0;
  bool ofArgument = false;
};

class Replay {
public:
  Replay(const Graph &graph, const Plan &plan, ValueId backwardArgument);
  std::vector<Group> groups();

private:
  bool isRun(size_t step) const { return clone[step] || moved[step]; }
  bool inBackward(size_t step) const { return isRun(step) || graph.op(plan.steps[step]).phase == Phase::Backward; }
  void classifySteps();
  void findGenerators();
  void findLastReads();
  template <typename Make>
  void execute(size_t step, Make make);
  void collectReads(Group &group);
  void chooseAfter(Group &group);
  const Instance *newestAlive(std::vector<Instance> &stack, size_t step);
  void push(const Instance &instance);

  const Graph &graph;
  const Plan &plan;
  ValueId backwardArgument;
  std::vector<bool> clone, moved;  // by step
  std::vector<bool> generator;     // by value: made of constants alone
  std::vector<uint32_t> storageOf; // by value
  std::vector<Storage> storages;
  std::vector<Instance> newest; // by value
  std::vector<uint32_t> readBy; // by value: the group that reads it already, by its first step
  std::vector<uint32_t> runBy;  // by op: the last group that executed it
  // What `after` may name, best first: gradients; results, which live to the end; forward values that the backward part
  // still reads; any other value.
  std::vector<Instance> gradients, results, residuals, others;
};

} // namespace

Replay::Replay(const Graph &graph, const Plan &plan, ValueId backwardArgument)
    : graph(graph), plan(plan), backwardArgument(backwardArgument) {
  classifySteps();
  findGenerators();
  findLastReads();
}

void Replay::classifySteps() {
  clone.resize(plan.steps.size());
  moved.resize(plan.steps.size());
  std::vector<bool> executed(graph.numOps());
  size_t lastBackward = 0;
  for (size_t t = 0; t < plan.steps.size(); ++t) {
    size_t op = plan.steps[t].index();
    bool backward = graph.op(plan.steps[t]).phase == Phase::Backward;
    clone[t] = executed[op];
    moved[t] = !executed[op] && !backward && op < lastBackward;
    if (backward && !executed[op])
      lastBackward = std::max(lastBackward, op + 1);
    executed[op] = true;
  }
}

void Replay::findGenerators() {
  generator.resize(graph.numValues());
  for (size_t i = 0; i < graph.numOps(); ++i) {
    OpId op(i);
    auto operands = graph.operands(op);
    bool made = !graph.mustRunOnce(op) &&
                std::all_of(operands.begin(), operands.end(), [&](ValueId v) { return generator[v.index()]; });
    for (size_t r = 0; r < graph.numResults(op); ++r)
      generator[graph.result(op, r).index()] = made;
  }
}

/// Binds the results of a step to storages; `make` is called for every new one.
template <typename Make>
void Replay::execute(size_t step, Make make) {
  OpId op = plan.steps[step];
  for (size_t r = 0; r < graph.numResults(op); ++r) {
    ValueId result = graph.result(op, r);
    ValueId viewed = graph.value(result).viewOf;
    storageOf[result.index()] = viewed ? storageOf[viewed.index()] : make();
  }
}

void Replay::findLastReads() {
  storageOf.assign(graph.numValues(), none);
  for (size_t i = 0; i < graph.numArguments(); ++i) {
    storageOf[i] = storages.size();
    storages.push_back({.ofArgument = true});
  }
  for (size_t t = 0; t < plan.steps.size(); ++t) {
    for (ValueId operand : graph.operands(plan.steps[t]))
      storages[storageOf[operand.index()]].lastRead = t;
    execute(t, [&] {
      storages.push_back({.lastRead = uint32_t(t)});
      return uint32_t(storages.size() - 1);
    });
  }
  for (ValueId result : graph.results())
    storages[storageOf[result.index()]].lastRead = plan.steps.size();
}

/// Storages are numbered as in the first replay.
std::vector<Group> Replay::groups() {
  std::vector<Group> found;
  newest.assign(graph.numValues(), {ValueId(), none, none, 0});
  readBy.assign(graph.numValues(), none);
  runBy.assign(graph.numOps(), none);
  storageOf.assign(graph.numValues(), none);
  uint32_t storageCount = graph.numArguments();
  for (size_t i = 0; i < graph.numArguments(); ++i)
    storageOf[i] = i;
  for (size_t t = 0; t < plan.steps.size(); ++t) {
    if (isRun(t) && (t == 0 || !isRun(t - 1))) {
      Group group;
      group.begin = group.end = t;
      while (group.end < plan.steps.size() && isRun(group.end))
        ++group.end;
      collectReads(group);
      chooseAfter(group);
      found.push_back(std::move(group));
    }
    OpId op = plan.steps[t];
    for (size_t r = 0; r < graph.numResults(op); ++r)
      if (ValueId target = graph.value(graph.result(op, r)).inplaceOf)
        ++storages[storageOf[target.index()]].version;
    execute(t, [&] { return storageCount++; });
    for (size_t r = 0; r < graph.numResults(op); ++r) {
      ValueId result = graph.result(op, r);
      uint32_t storage = storageOf[result.index()];
      newest[result.index()] = {result, storage, uint32_t(t), storages[storage].version};
      push(newest[result.index()]);
    }
  }
  return found;
}

void Replay::push(const Instance &instance) {
  const Storage &storage = storages[instance.storage];
  if (generator[instance.value.index()] || storage.ofArgument)
    return;
  if (inBackward(instance.step))
    gradients.push_back(instance);
  else if (storage.lastRead == plan.steps.size())
    results.push_back(instance);
  else if (inBackward(storage.lastRead))
    residuals.push_back(instance);
  else
    others.push_back(instance);
}

/// The newest instance on the stack that the step or a later one reads. What is dead stays dead, so it is dropped.
const Instance *Replay::newestAlive(std::vector<Instance> &stack, size_t step) {
  auto isDead = [&](const Instance &instance) {
    const Storage &storage = storages[instance.storage];
    return storage.lastRead < step || storage.version != instance.version ||
           newest[instance.value.index()].step != instance.step;
  };
  while (!stack.empty() && isDead(stack.back()))
    stack.pop_back();
  return stack.empty() ? nullptr : &stack.back();
}

void Replay::chooseAfter(Group &group) {
  // The gradient that the backward op waits for, if it is there already and isn't a constant.
  ValueId best;
  if (group.end < plan.steps.size())
    for (ValueId operand : graph.operands(plan.steps[group.end])) {
      const Instance &instance = newest[operand.index()];
      if (graph.isArgument(operand) || runBy[graph.producer(operand).index()] == group.begin || instance.step == none ||
          !inBackward(instance.step) || storages[instance.storage].ofArgument ||
          graph.op(graph.producer(operand)).opClass == OpClass::Constant)
        continue;
      auto rank = [&](ValueId v) { return std::pair(!generator[v.index()], newest[v.index()].step); };
      if (!best || rank(operand) > rank(best))
        best = operand;
    }
  if (best)
    group.after.push_back(best);
  if (best && !generator[best.index()])
    return;
  if (const Instance *instance = newestAlive(gradients, group.begin)) {
    group.after.push_back(instance->value);
    return;
  }
  // Two functions: a forward value that a barrier names would become a residual.
  if (backwardArgument) {
    group.after.push_back(backwardArgument);
    return;
  }
  for (std::vector<Instance> *stack : {&results, &residuals, &others})
    if (const Instance *instance = newestAlive(*stack, group.begin)) {
      group.after.push_back(instance->value);
      return;
    }
}

void Replay::collectReads(Group &group) {
  auto isInRun = [&](ValueId value) {
    return !graph.isArgument(value) && runBy[graph.producer(value).index()] == group.begin;
  };
  auto add = [&](ValueId value, llvm::SmallVectorImpl<ValueId> &list) {
    if (readBy[value.index()] != group.begin) {
      readBy[value.index()] = group.begin;
      list.push_back(value);
    }
  };
  for (size_t t = group.begin; t < group.end; ++t) {
    OpId op = plan.steps[t];
    OpClass opClass = graph.op(op).opClass;
    bool counts = clone[t] && opClass != OpClass::View && opClass != OpClass::Constant;
    if (graph.numResults(op) && generator[graph.resultBegin(op).index()]) {
      for (ValueId operand : graph.operands(op))
        if (counts && !isInRun(operand)) {
          add(operand, group.constantReads);
          break;
        }
      // What reads nothing hangs on no barrier: it is made again, but nothing keeps a later pass from merging it.
      group.constantClones += counts && !graph.operands(op).empty();
    } else {
      for (ValueId operand : graph.operands(op))
        if (!isInRun(operand) && !generator[operand.index()])
          add(operand, group.reads);
      group.clones += counts;
    }
    runBy[op.index()] = group.begin;
  }
}

std::vector<Group> findGroups(const Graph &graph, const Plan &plan, ValueId backwardArgument) {
  return Replay(graph, plan, backwardArgument).groups();
}

} // namespace remat
