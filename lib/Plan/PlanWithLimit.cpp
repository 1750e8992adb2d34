//===- PlanWithLimit.cpp - From the options of a limit to a plan ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanWithLimit.h"

#include "ArenaLimit.h"
#include "PolicyPlan.h"
#include "Size.h"
#include "Stopper.h"
#include "Text.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>
#include <charconv>

namespace remat {

static std::optional<double> parseSeconds(std::string_view text) {
  double number = 0;
  const char *end = text.data() + text.size();
  auto [read, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number > 0) || number > 1e15)
    return std::nullopt;
  static constexpr std::pair<std::string_view, double> units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
  for (auto [unit, seconds] : units)
    if (std::string_view(read, end) == unit)
      return number * seconds;
  return std::nullopt;
}

static std::optional<Error> checkSize(std::string_view flag, const std::string &text, bool allowsPercent) {
  if (text.empty())
    return std::nullopt;
  if (text.ends_with('%')) {
    if (!allowsPercent)
      return Error{formatText("--{}={}: a share of what?", flag, text),
                   {},
                   "say a size such as 80GiB; --memory-limit=N% is a share of the peak of the graph as given"};
    if (parseShare(text, 0))
      return std::nullopt;
    return Error{
        formatText("--{}={}: no share of a peak", flag, text), {}, "say a share such as 70%, or a size such as 8GiB"};
  }
  Expected<int64_t> size = parseSize(text);
  if (!size)
    return Error{formatText("--{}: {}", flag, size.error().message), {}, size.error().note};
  if (*size == 0)
    return Error{formatText("--{}={}: nothing fits into no memory", flag, text), {}, "say a size such as 8GiB"};
  return std::nullopt;
}

static std::optional<Error> checkTimeLimit(const std::string &text) {
  if (text.empty() || parseSeconds(text))
    return std::nullopt;
  std::string_view fault = parseSeconds(text + "s") ? "the unit is missing" : "no time";
  return Error{formatText("--time-limit={}: {}", text, fault), {}, "say a time such as 500ms, 10s, 2min or 1h"};
}

/// Options that a search takes, without one; and with one, options that it has no use for.
static std::optional<Error> checkSearch(const PlanOptions &options) {
  if (!options.searches()) {
    for (auto [flag, isGiven] : {std::pair("cost", options.cost != "time"),
                                 {"time-limit", !options.timeLimit.empty()},
                                 {"effort", options.effort != 100},
                                 {"seed", options.seed != 1}})
      if (isGiven)
        return Error{
            formatText("--{} goes with a search", flag), {}, "add --memory-limit=SIZE or --pareto=N, or leave it out"};
    if (options.order == "free" && (options.policy != "save-everything" || !options.recompute.empty()))
      return Error{"--order=free and a policy contradict each other",
                   {},
                   "a policy keeps the order; add --memory-limit=SIZE, or ask for the order alone"};
    return std::nullopt;
  }
  std::string_view search = options.hasLimit() ? "a memory limit" : "--pareto";
  auto contradicts = [&](std::string_view flag, std::string_view wayOut) {
    return Error{formatText("{} and {} contradict each other", flag, search), {}, std::string(wayOut)};
  };
  if (!options.recompute.empty())
    return contradicts("--recompute", "the search chooses what is recomputed; --keep=NAME says what is not");
  if (options.hasLimit() && options.prune)
    return contradicts("--prune", "leave it out: the search recomputes only what the limit asks for");
  if (options.hasLimit() && options.policy == "sqrt-n")
    return contradicts("--policy=sqrt-n", "leave the policy out: a plan under a limit is never worse");
  if (Expected<Policy> policy = Policy::parse(options.policy); policy && policy->budgetRatio())
    return contradicts("--policy=" + options.policy, "write --policy=min-cut: the search finds what to do with less");
  return std::nullopt;
}

Error paretoOutOfRange(int64_t count) {
  return {formatText("--pareto={}: out of range", count), {}, "say how many plans, from 1 to 1000"};
}

std::optional<Error> checkLimitOptions(const PlanOptions &options) {
  if (auto error = checkSize("memory-limit", options.memoryLimit, true))
    return error;
  if (auto error = checkSize("device-memory", options.deviceMemory, false))
    return error;
  if (!options.order.empty() && options.order != "given" && options.order != "free")
    return Error{formatText("unknown --order '{}'", options.order), {}, "say --order=given or --order=free"};
  if (options.cost != "time" && options.cost != "flops")
    return Error{formatText("unknown --cost '{}'", options.cost), {}, "say --cost=time or --cost=flops"};
  if (auto error = checkTimeLimit(options.timeLimit))
    return error;
  if (options.effort < 1 || options.effort > 1'000'000)
    return Error{formatText("--effort={}: out of range", options.effort),
                 {},
                 "say a percentage from 1 to 1000000; 100 is usual"};
  if (options.pareto < 0 || options.pareto > 1000)
    return paretoOutOfRange(options.pareto);
  return checkSearch(options);
}

/// The limit on the peak, in bytes.
static Expected<int64_t> findLimit(const Graph &graph, const PlanOptions &options) {
  int64_t limit = std::numeric_limits<int64_t>::max();
  if (options.memoryLimit.ends_with('%'))
    limit = *parseShare(options.memoryLimit, simulate(graph, programOrder(graph)).peakBytes);
  else if (!options.memoryLimit.empty())
    limit = *parseSize(options.memoryLimit);
  if (!options.deviceMemory.empty()) {
    int64_t device = *parseSize(options.deviceMemory), resident = graph.residentBytes();
    if (device <= resident)
      return makeError(formatText("the arguments alone take {} bytes, which leaves nothing of --device-memory={}",
                                  resident, options.deviceMemory),
                       {},
                       "no plan changes what the caller owns; take a larger device, or fewer or smaller parameters");
    limit = std::min(limit, device - resident);
  }
  return limit;
}

static std::vector<double> costsOf(const Graph &graph, const PlanOptions &options) {
  std::vector<double> costs(graph.numOps());
  for (size_t i = 0; i < costs.size(); ++i)
    costs[i] = options.cost == "flops" ? double(graph.op(OpId(i)).flops) : graph.op(OpId(i)).costNs;
  return costs;
}

/// By op: false where the user wants its results saved; empty where nothing is. save-everything leaves all to the
/// search, but for names, regions with policies of their own, and inputs of segments that the user asks for.
static Expected<std::vector<bool>> findRepeatable(const Graph &graph, const PlanOptions &options,
                                                  PolicyRequest request) {
  bool savesInputs = !request.policy.isSaveEverything() || options.cutsSegments();
  if (request.policy.isSaveEverything())
    request.policy = Policy::saveNothing();
  Expected<Decisions> decisions = decide(graph, request);
  if (!decisions)
    return decisions.error();
  std::vector<bool> result(graph.numOps(), true);
  for (size_t v = 0; v < graph.numValues(); ++v) {
    Reason reason = decisions->reasons[v];
    if (OpId producer = graph.producer(ValueId(v)))
      if (reason == Reason::Kept || reason == Reason::Policy || (savesInputs && reason == Reason::Crosses))
        result[producer.index()] = false;
  }
  if (std::ranges::find(result, false) == result.end())
    result.clear();
  return result;
}

/// `stopper` gets the time limit, and lives as long as the search.
static Expected<LimitOptions> searchOptions(const Graph &graph, const PlanOptions &options,
                                            const PolicyRequest &request, std::optional<Stopper> &stopper) {
  Expected<std::vector<bool>> mayRepeat = findRepeatable(graph, options, request);
  if (!mayRepeat)
    return mayRepeat.error();
  LimitOptions result;
  result.mayRepeat = std::move(*mayRepeat);
  result.order = options.order == "given" ? ExecutionOrder::Given : ExecutionOrder::Free;
  result.effort = double(options.effort) / 100;
  result.seed = uint64_t(options.seed);
  result.interrupt = options.interrupt;
  if (!options.timeLimit.empty())
    result.interrupt = stopper.emplace(*parseSeconds(options.timeLimit), options.interrupt).flag();
  result.progress = options.progress;
  return result;
}

/// Forward values that the backward part reads are saved because they fit, or computed again.
static std::vector<Reason> explain(const Graph &graph, const Plan &plan) {
  std::vector<Reason> reasons(graph.numValues(), Reason::NotRead);
  for (ValueId value : simulate(graph, plan).residuals)
    reasons[value.index()] = Reason::Fits;
  std::vector<size_t> executions(graph.numOps());
  for (OpId op : plan.steps)
    if (++executions[op.index()] > 1 && graph.op(op).phase == Phase::Forward && graph.op(op).opClass != OpClass::View)
      for (size_t r = 0; r < graph.numResults(op); ++r)
        reasons[graph.result(op, r).index()] = Reason::Recomputed;
  return reasons;
}

Expected<PolicyPlan> planWithLimit(const Graph &graph, const PlanOptions &options, const PolicyRequest &request) {
  Expected<int64_t> limit = findLimit(graph, options);
  if (!limit)
    return limit.error();
  std::optional<Stopper> stopper;
  Expected<LimitOptions> search = searchOptions(graph, options, request, stopper);
  if (!search)
    return search.error();
  std::vector<double> costs = costsOf(graph, options);
  Expected<LimitedPlan> found = options.arenaOf ? planArenaLimit(graph, costs, *limit, *search, options.arenaOf)
                                                : planMemoryLimit(graph, costs, *limit, *search);
  if (!found)
    return found.error();
  LimitOutcome outcome;
  outcome.limitBytes = *limit;
  outcome.order = search->order;
  if (!options.arenaOf)
    outcome.peakBound = boundPeak(graph, search->order).bytes;
  outcome.costBound = found->extraCostBound;
  for (double cost : costs)
    outcome.costBound += cost;
  PolicyPlan result{std::move(found->best.plan), {}, outcome};
  result.costIsFlops = options.cost == "flops";
  result.interrupted = found->interrupted;
  result.reasons = explain(graph, result.plan);
  return result;
}

/// `count` of the plans, evenly by peak, both ends among them.
static std::vector<FrontPlan> choose(std::vector<FrontPlan> all, size_t count) {
  count = std::min(count, all.size());
  std::vector<FrontPlan> chosen;
  double high = double(all.front().peakBytes), low = double(all.back().peakBytes);
  size_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    double wanted = count == 1 ? high : high + (low - high) * double(i) / double(count - 1);
    while (next + 1 < all.size() - (count - 1 - i) && double(all[next].peakBytes) > wanted)
      ++next;
    chosen.push_back(std::move(all[next++]));
    if (next == all.size())
      break;
  }
  return chosen;
}

std::optional<Error> addPareto(const Graph &graph, const PlanOptions &options, const PolicyRequest &request,
                               PolicyPlan &planned) {
  std::optional<Stopper> stopper;
  Expected<LimitOptions> search = searchOptions(graph, options, request, stopper);
  if (!search)
    return search.error();
  planned.front = choose(planFront(graph, costsOf(graph, options), *search), size_t(options.pareto));
  planned.costIsFlops = options.cost == "flops";
  planned.interrupted |= search->interrupt && search->interrupt->load(std::memory_order_relaxed);
  return std::nullopt;
}

} // namespace remat
