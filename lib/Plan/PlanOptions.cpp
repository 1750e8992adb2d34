//===- PlanOptions.cpp - From the command line to a plan ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrderSearch.h"
#include "PlanWithLimit.h"
#include "Text.h"
#include "remat/Plan/Planners.h"

#include <algorithm>

namespace remat {

/// sqrt-n takes its own segments, and says what is saved alone.
static std::optional<Error> checkSqrtN(const PlanOptions &options) {
  if (options.policy != "sqrt-n")
    return Error{formatText("policy '{}': sqrt-n cannot be joined with other policies", options.policy),
                 {},
                 "write --policy=sqrt-n, and --keep=NAME for what is to be saved besides"};
  if (!options.segments.empty() && options.segments != "sqrt")
    return Error{formatText("policy 'sqrt-n' makes its own segments, found --segments={}", options.segments),
                 {},
                 formatText("leave --segments out, or write --policy=save-nothing --segments={}", options.segments)};
  return std::nullopt;
}

static bool namesSqrtN(std::string_view policy) {
  return policy.starts_with("sqrt-n+") || policy == "sqrt-n" || policy.ends_with("+sqrt-n");
}

std::optional<Error> check(const PlanOptions &options) {
  for (auto [flag, names] : {std::pair("keep", &options.keep), std::pair("recompute", &options.recompute)})
    if (std::ranges::any_of(*names, &std::string::empty))
      return Error{formatText("--{}: a name is empty", flag), {}, "write names separated by commas"};
  if (std::optional<Error> error = checkLimitOptions(options))
    return error;
  if (namesSqrtN(options.policy))
    return checkSqrtN(options);
  Expected<Policy> policy = Policy::parse(options.policy);
  return policy ? std::nullopt : std::optional(policy.error());
}

static Expected<PolicyRequest> readRequest(const Graph &graph, const PlanOptions &options) {
  PolicyRequest request;
  request.keep = options.keep;
  request.recompute = options.recompute;
  request.prune = options.prune;
  if (namesSqrtN(options.policy))
    return request;
  Expected<Policy> policy = Policy::parse(options.policy);
  if (!policy)
    return policy.error();
  Expected<Segments> segments = makeSegments(graph, options.segments.empty() ? "none" : options.segments);
  if (!segments)
    return segments.error();
  request.policy = std::move(*policy);
  request.segments = std::move(*segments);
  return request;
}

/// Finds options that would do nothing in this graph.
static std::optional<Error> checkUse(const Graph &graph, const PlanOptions &options, const PolicyRequest &request) {
  bool hasRegionPolicies =
      std::ranges::any_of(graph.regions(), [](const RegionInfo &region) { return !region.policy.empty(); });
  if (hasRegionPolicies && options.order == "free" && !options.searches())
    return Error{"--order=free and policies of regions contradict each other",
                 {},
                 "a policy keeps the order; add --memory-limit=SIZE"};
  if (!request.policy.isSaveEverything() || namesSqrtN(options.policy) || hasRegionPolicies)
    return std::nullopt;
  if (options.cutsSegments() && !options.searches())
    return Error{formatText("--segments={} does nothing: {} recomputes nothing{}", options.segments, options.policy,
                            options.recompute.empty() ? "" : " else"),
                 {},
                 "add a policy, such as --policy=save-nothing, or --memory-limit=SIZE: it leaves inputs of segments "
                 "saved"};
  if (options.prune && options.recompute.empty())
    return Error{formatText("--prune does nothing: {} recomputes nothing", options.policy),
                 {},
                 "add a policy, such as --policy=save-nothing, or leave it out"};
  return std::nullopt;
}

Expected<PolicyPlan> plan(const Graph &graph, const PlanOptions &options) {
  if (std::optional<Error> error = check(options))
    return std::move(*error);
  Expected<PolicyRequest> request = readRequest(graph, options);
  if (!request)
    return request.error();
  if (std::optional<Error> error = checkUse(graph, options, *request))
    return std::move(*error);
  Expected<PolicyPlan> planned = namesSqrtN(options.policy) ? planSqrtN(graph, *request)
                                 : options.hasLimit()       ? planWithLimit(graph, options, *request)
                                                            : planPolicy(graph, *request);
  if (!planned)
    return planned;
  if (options.order == "free" && !options.searches()) {
    planned->plan.steps = lowerPeakByOrder(graph, 0, 1, uint64_t(options.seed), options.interrupt);
    planned->interrupted = options.interrupt && options.interrupt->load(std::memory_order_relaxed);
  }
  if (options.pareto > 0)
    if (std::optional<Error> error = addPareto(graph, options, *request, *planned))
      return std::move(*error);
  return planned;
}

} // namespace remat
