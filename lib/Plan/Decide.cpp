//===- Decide.cpp - What a policy saves in a graph ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is saved because the policy says so, because it crosses from one segment into another or is made outside all
// of them, because the function returns it, or because the user named it. Views are never saved in their own right:
// what reads a view reads its base.
//
//===----------------------------------------------------------------------===//

#include "MinCut.h"
#include "PolicyPlan.h"
#include "Text.h"

#include <map>

namespace remat {

std::string_view toString(Reason reason) {
  switch (reason) {
  case Reason::NotRead:
    return "not read by the backward part";
  case Reason::Policy:
    return "saved by the policy";
  case Reason::Crosses:
    return "saved: crosses into another segment";
  case Reason::Result:
    return "saved: the function returns it";
  case Reason::MustRunOnce:
    return "saved: its op must not run twice";
  case Reason::RebuildsRandom:
    return "saved: rebuilding it would run an op that must not run twice";
  case Reason::Kept:
    return "saved by name";
  case Reason::Recomputed:
    return "recomputed";
  case Reason::Moved:
    return "computed in the backward part, which alone reads it";
  case Reason::Pruned:
    return "saved: recomputing it does not lower the peak";
  case Reason::Fits:
    return "saved: the memory limit leaves room for it";
  }
  return "";
}

namespace {

/// The policy that holds for an op: that of its innermost region with one, else the request's.
class PolicyOfOp {
public:
  static Expected<PolicyOfOp> create(const Graph &graph, const Policy &policy) {
    PolicyOfOp result(policy);
    for (const RegionInfo &region : graph.regions()) {
      if (region.policy.empty())
        continue;
      if (!isUsed(graph, region.name))
        return makeError("no op is in region '" + std::string(region.name) + "'", "regions");
      Expected<Policy> own = Policy::parse(region.policy);
      if (!own)
        return makeError(own.error().message, "region '" + std::string(region.name) + "'", own.error().note);
      if (std::optional<Error> error = own->check(graph))
        return makeError(error->message, "region '" + std::string(region.name) + "'", error->note);
      if (own->budgetRatio())
        return makeError(formatText("policy '{}': the budget is the whole function's", region.policy),
                         "region '" + std::string(region.name) + "'",
                         "write min-cut here, or give min-cut=R as the policy of the function");
      result.cuts |= own->takesMinCut();
      result.ofRegion.emplace(region.name, std::move(*own));
    }
    return result;
  }

  static bool isUsed(const Graph &graph, std::string_view region) {
    for (size_t i = 0; i < graph.numOps(); ++i)
      if (std::string_view path = graph.op(OpId(i)).region;
          path.starts_with(region) && (path.size() == region.size() || path[region.size()] == '/'))
        return true;
    return false;
  }

  /// True if min-cut is part of any of the policies.
  bool takesMinCut() const { return cuts; }

  const Policy &operator()(const OpInfo &op) const {
    for (std::string_view path = op.region; !path.empty() && !ofRegion.empty();) {
      if (auto found = ofRegion.find(path); found != ofRegion.end())
        return found->second;
      size_t slash = path.rfind('/');
      path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
    }
    return policy;
  }

private:
  explicit PolicyOfOp(const Policy &policy) : policy(policy), cuts(policy.takesMinCut()) {}
  const Policy &policy;
  bool cuts;
  std::map<std::string_view, Policy, std::less<>> ofRegion;
};

} // namespace

/// Calls `visit(op, value)` for every forward op whose name, checkpoint name or result is called `name`; false if there
/// is none.
template <typename Visit>
static bool forEachNamed(const Graph &graph, std::string_view name, Visit visit) {
  bool found = false;
  for (size_t i = 0; i < graph.numOps(); ++i) {
    OpId op(i);
    if (graph.op(op).phase != Phase::Forward)
      continue;
    bool ofOp = graph.op(op).name == name || graph.op(op).checkpointName == name;
    for (size_t r = 0; r < graph.numResults(op); ++r)
      if (ValueId value = graph.result(op, r); ofOp || graph.value(value).name == name) {
        visit(op, graph.base(value));
        found = true;
      }
  }
  return found;
}

static Error nothingNamed(const Graph &graph, std::string_view flag, std::string_view name) {
  std::string note = "name a value, an op or a checkpoint name of the graph; --emit=graph-json lists them";
  std::vector<std::string_view> names;
  for (size_t i = 0; i < graph.numOps(); ++i) {
    const OpInfo &op = graph.op(OpId(i));
    if (op.phase != Phase::Forward)
      continue;
    names.push_back(op.name);
    if (!op.checkpointName.empty())
      names.push_back(op.checkpointName);
    for (size_t r = 0; r < graph.numResults(OpId(i)); ++r)
      names.push_back(graph.value(graph.result(OpId(i), r)).name);
  }
  if (std::optional<std::string_view> nearest = nearestName(name, names))
    note = "did you mean '" + std::string(*nearest) + "'? " + note;
  return makeError("--" + std::string(flag) + ": nothing in the forward part is named '" + std::string(name) + "'", {},
                   std::move(note));
}

/// Values that a forward op of another segment reads, and values made outside every segment.
static void saveCrossing(const Graph &graph, const Segments &segments, std::vector<Reason> &reasons) {
  for (size_t i = 0; i < graph.numOps(); ++i) {
    OpId op(i);
    if (graph.op(op).phase != Phase::Forward)
      continue;
    uint32_t segment = segments.ofOp[i];
    // A view stands where its base stands: what counts is who reads it.
    if (graph.op(op).opClass != OpClass::View)
      for (ValueId operand : graph.operands(op)) {
        ValueId base = graph.base(operand);
        OpId producer = graph.producer(base);
        if (producer && graph.op(producer).phase == Phase::Forward && segments.ofOp[producer.index()] != segment)
          reasons[base.index()] = Reason::Crosses;
      }
    if (segment == Segments::outside)
      for (size_t r = 0; r < graph.numResults(op); ++r)
        reasons[graph.result(op, r).index()] = Reason::Crosses;
  }
}

/// Applies --keep and --recompute. Error: a name that matches nothing, that both name, or whose op can't run twice.
static std::optional<Error> applyNames(const Graph &graph, const PolicyRequest &request, Decisions &decisions) {
  for (const std::string &name : request.keep)
    if (!forEachNamed(graph, name, [&](OpId, ValueId base) { decisions.reasons[base.index()] = Reason::Kept; }))
      return nothingNamed(graph, "keep", name);
  for (const std::string &name : request.recompute) {
    std::optional<Error> error;
    bool found = forEachNamed(graph, name, [&](OpId op, ValueId base) {
      // The user's word lifts the default for collectives, never a property of the op.
      bool isCollective = graph.op(op).opClass == OpClass::Collective && graph.op(op).recomputable;
      if (decisions.reasons[base.index()] == Reason::Kept)
        error = Error{"'" + std::string(graph.value(base).name) + "' is named by both --keep and --recompute",
                      {},
                      "name it in one of them"};
      else if (graph.mustRunOnce(op) && !isCollective)
        error = Error{"--recompute: op '" + std::string(graph.op(op).name) + "' must not run twice",
                      {},
                      "it is random, has side effects, or nothing is known about it"};
      decisions.reasons[base.index()] = Reason::Recomputed;
      decisions.mayClone[op.index()] = true;
    });
    if (error)
      return error;
    if (!found)
      return nothingNamed(graph, "recompute", name);
  }
  return std::nullopt;
}

/// False for what only looks at the content of another value; an op in place writes content of its own.
static bool ownsContent(const Graph &graph, ValueId value) {
  return !graph.isView(value) || graph.value(value).inplaceOf.isValid();
}

/// Saves what min-cut chooses, given all that is saved already. What is made under another policy, or named by
/// --recompute, may run again whatever its class.
static void saveMinCut(const Graph &graph, const PolicyRequest &request, const PolicyOfOp &policyOfOp,
                       Decisions &decisions) {
  MinCutQuery query{graph, decisions.reasons, decisions.mayClone, std::vector<bool>(graph.numOps()),
                    std::vector<bool>(graph.numValues())};
  for (size_t i = 0; i < graph.numOps(); ++i)
    query.isFree[i] = !policyOfOp(graph.op(OpId(i))).takesMinCut();
  for (const std::string &name : request.recompute)
    forEachNamed(graph, name, [&](OpId op, ValueId base) {
      query.isFree[op.index()] = true;
      query.unsavable[base.index()] = true;
    });
  decisions.cut = findMinCut(std::move(query));
  for (ValueId value : decisions.cut)
    decisions.reasons[value.index()] = Reason::Policy;
}

Expected<Decisions> decide(const Graph &graph, const PolicyRequest &request) {
  if (std::optional<Error> error = request.policy.check(graph))
    return std::move(*error);
  Expected<PolicyOfOp> policyOfOp = PolicyOfOp::create(graph, request.policy);
  if (!policyOfOp)
    return policyOfOp.error();

  Decisions decisions{std::vector<Reason>(graph.numValues(), Reason::Recomputed), std::vector<bool>(graph.numOps())};
  std::vector<Reason> &reasons = decisions.reasons;
  saveCrossing(graph, request.segments, reasons);
  for (size_t i = 0; i < graph.numOps(); ++i) {
    OpId op(i);
    decisions.mayClone[i] = !graph.mustRunOnce(op);
    if (graph.op(op).phase != Phase::Forward)
      continue;
    const Policy &policy = (*policyOfOp)(graph.op(op));
    for (size_t r = 0; r < graph.numResults(op); ++r)
      if (ValueId value = graph.result(op, r); ownsContent(graph, value) && policy.saves(graph, value))
        reasons[graph.base(value).index()] = Reason::Policy;
  }
  if (std::optional<Error> error = applyNames(graph, request, decisions))
    return std::move(*error);
  for (ValueId value : graph.results())
    reasons[graph.base(value).index()] = Reason::Result;
  if (policyOfOp->takesMinCut())
    saveMinCut(graph, request, *policyOfOp, decisions);
  return decisions;
}

} // namespace remat
