//===- PolicyPlan.cpp - Recomputing what a policy does not save -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the backward part needs and nothing saves is computed there: an op that only the backward part reads moves
// there, any other is cloned, once, just before its first reader there and shared by all of them. Producers come first,
// ties keep program order. Just-in-time placement is what makes recomputation save memory at all (Chen et al., 2016); a
// clone that runs as soon as its inputs exist is held as long as the saved value would be.
//
//===----------------------------------------------------------------------===//

#include "PolicyPlan.h"

#include "MinCutBudget.h"
#include "Prune.h"
#include "RunOnceCut.h"

#include <algorithm>

namespace remat {

/// Calls `visit` for `value` and every view of it that is made without overwriting it.
template <typename Visit>
static void forEachAlias(const Graph &graph, ValueId value, Visit visit) {
  std::vector<ValueId> aliases{value};
  for (size_t i = 0; i < aliases.size(); ++i) {
    for (OpId user : graph.users(aliases[i]))
      for (size_t r = 0; r < graph.numResults(user); ++r)
        if (ValueId made = graph.result(user, r);
            graph.value(made).viewOf == aliases[i] && !graph.value(made).inplaceOf)
          aliases.push_back(made);
    visit(aliases[i]);
  }
}

std::vector<bool> findOverwritten(const Graph &graph, std::vector<bool> &mayClone) {
  std::vector<bool> overwritten(graph.numValues());
  auto mark = [&](ValueId alias) {
    overwritten[alias.index()] = true;
    if (graph.isArgument(graph.base(alias)))
      for (OpId user : graph.users(alias))
        mayClone[user.index()] = false;
  };
  for (size_t i = 0; i < graph.numOps(); ++i)
    for (size_t r = 0; r < graph.numResults(OpId(i)); ++r) {
      ValueId target = graph.value(graph.result(OpId(i), r)).inplaceOf;
      if (!target)
        continue;
      OpId producer = graph.producer(graph.base(target));
      if (!producer || !mayClone[producer.index()])
        mayClone[i] = false;
      if (graph.op(OpId(i)).phase == Phase::Forward)
        forEachAlias(graph, target, mark);
    }
  return overwritten;
}

namespace {

class PolicyPlanner {
public:
  PolicyPlanner(const Graph &graph, Decisions decisions)
      : graph(graph), reasons(std::move(decisions.reasons)), mayClone(std::move(decisions.mayClone)),
        needed(graph.numOps()), stays(graph.numOps()), done(graph.numOps()) {}

  PolicyPlan run() {
    overwritten = findOverwritten(graph, mayClone);
    saveConstants();
    cutOffRunOnceOps();
    findNeeded();
    findStaying();
    emitAll();
    return {std::move(plan), report()};
  }

private:
  bool isForward(OpId op) const { return graph.op(op).phase == Phase::Forward; }

  /// True if the backward part can read the value where the forward part left it.
  bool isAvailable(ValueId value) const {
    ValueId base = graph.base(value);
    OpId producer = graph.producer(base);
    if (producer && !isForward(producer))
      return true;
    return !overwritten[value.index()] && (!producer || reasons[base.index()] != Reason::Recomputed);
  }

  /// They cost no bytes: there is nothing to gain.
  void saveConstants() {
    for (size_t i = 0; i < graph.numOps(); ++i)
      for (size_t r = 0; r < graph.numResults(OpId(i)) && graph.op(OpId(i)).opClass == OpClass::Constant; ++r)
        reasons[graph.result(OpId(i), r).index()] = Reason::Policy;
  }

  /// Saves what keeps the backward part from running again an op that must not be.
  void cutOffRunOnceOps() {
    RunOnceQuery query{graph, mayClone, overwritten, [&](ValueId value) { return isAvailable(value); }};
    for (ValueId value : findRunOnceCut(query))
      reasons[value.index()] = mayClone[graph.producer(value).index()] ? Reason::RebuildsRandom : Reason::MustRunOnce;
  }

  /// The forward ops that must run in the backward part, and the values that it reads where they are.
  void findNeeded() {
    readInBackward.resize(graph.numValues());
    std::vector<OpId> work;
    auto read = [&](ValueId operand) {
      readInBackward[graph.base(operand).index()] = true;
      OpId producer = graph.producer(operand);
      if (!isAvailable(operand) && !needed[producer.index()]) {
        needed[producer.index()] = true;
        work.push_back(producer);
      }
    };
    for (size_t i = 0; i < graph.numOps(); ++i)
      if (!isForward(OpId(i)))
        std::ranges::for_each(graph.operands(OpId(i)), read);
    while (!work.empty()) {
      OpId op = work.back();
      work.pop_back();
      std::ranges::for_each(graph.operands(op), read);
    }
  }

  /// A forward op stays if anything that runs in the forward part, or nobody at all, reads it, or if it can't move.
  void findStaying() {
    for (size_t i = graph.numOps(); i-- > 0;) {
      OpId op(i);
      if (!isForward(op))
        continue;
      bool mustStay = !needed[i] || !mayClone[i];
      for (size_t r = 0; r < graph.numResults(op) && !mustStay; ++r) {
        ValueId value = graph.result(op, r);
        // A view of what is saved is read where it is, though its op has other results, which run again.
        mustStay = graph.isView(value) ? isAvailable(value) && !graph.users(value).empty()
                                       : reasons[value.index()] != Reason::Recomputed;
        for (OpId user : graph.users(value))
          mustStay |= stays[user.index()];
      }
      stays[i] = mustStay;
    }
  }

  void emitAll() {
    for (size_t i = 0; i < graph.numOps(); ++i) {
      OpId op(i);
      if (isForward(op)) {
        if (stays[i])
          plan.steps.push_back(op);
        continue;
      }
      emitNeeded(graph.operands(op));
      emitReadersBeforeOverwrite(op);
      done[i] = true; // A backward view of a value that is recomputed is needed, too.
      execute(op);
    }
  }

  /// Runs what `operands` need and what has not yet run in the backward part, in program order.
  void emitNeeded(std::span<const ValueId> operands) {
    std::vector<OpId> batch;
    auto require = [&](ValueId operand) {
      OpId producer = graph.producer(operand);
      if (isAvailable(operand) || done[producer.index()])
        return;
      done[producer.index()] = true;
      batch.push_back(producer);
    };
    std::ranges::for_each(operands, require);
    for (size_t i = 0; i < batch.size(); ++i)
      std::ranges::for_each(graph.operands(batch[i]), require);
    std::ranges::sort(batch);
    std::ranges::for_each(batch, [&](OpId op) { execute(op); });
  }

  /// What still has to be recomputed from a value that `op` overwrites is recomputed now.
  void emitReadersBeforeOverwrite(OpId op) {
    for (size_t r = 0; r < graph.numResults(op); ++r) {
      ValueId target = graph.value(graph.result(op, r)).inplaceOf;
      if (target && isAvailable(target))
        forEachAlias(graph, target, [&](ValueId alias) {
          for (OpId user : graph.users(alias))
            if (user != op && needed[user.index()] && !done[user.index()] && graph.numResults(user) != 0) {
              ValueId made = graph.result(user, 0);
              emitNeeded({&made, 1});
            }
        });
    }
  }

  void execute(OpId op) {
    plan.steps.push_back(op);
    // What was overwritten has to be made again for the next reader.
    for (size_t r = 0; r < graph.numResults(op); ++r)
      if (ValueId target = graph.value(graph.result(op, r)).inplaceOf)
        if (OpId producer = graph.producer(target); producer && isForward(op))
          done[producer.index()] = false;
  }

  std::vector<Reason> report() {
    for (size_t v = 0; v < graph.numValues(); ++v) {
      OpId producer = graph.producer(ValueId(v));
      if (!producer || !isForward(producer) || !readInBackward[v])
        reasons[v] = Reason::NotRead;
      else if (needed[producer.index()] && !stays[producer.index()])
        reasons[v] = Reason::Moved;
    }
    return std::move(reasons);
  }

  const Graph &graph;
  std::vector<Reason> reasons;
  std::vector<bool> mayClone;
  std::vector<bool> overwritten;    ///< A forward op writes over the value.
  std::vector<bool> readInBackward; ///< By base: something that runs in the backward part reads it.
  std::vector<bool> needed;         ///< Forward ops that must run in the backward part.
  std::vector<bool> stays;          ///< Forward ops that run at their place.
  std::vector<bool> done;           ///< Needed ops that have run in the backward part.
  Plan plan;
};

} // namespace

PolicyPlan planDecided(const Graph &graph, Decisions decisions) {
  return PolicyPlanner(graph, std::move(decisions)).run();
}

Expected<PolicyPlan> planPolicy(const Graph &graph, const PolicyRequest &request) {
  Expected<Decisions> decisions = decide(graph, request);
  if (!decisions)
    return decisions.error();
  if (std::optional<double> ratio = request.policy.budgetRatio())
    *decisions = spendBudget(graph, std::move(*decisions), *ratio);
  PolicyPlan result = planDecided(graph, *decisions);
  if (request.policy.isSaveEverything() && request.recompute.empty() && graph.regions().empty())
    result.plan = programOrder(graph);
  return request.prune ? prune(graph, std::move(*decisions), std::move(result)) : std::move(result);
}

} // namespace remat
