//===- PlanWithLimit.cpp - From the options of a limit to a plan ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanWithLimit.h"

#include "PolicyPlan.h"
#include "Text.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace remat {

/// `text` as a number followed by `unit`; nothing if it isn't.
static std::optional<double> numberBefore(std::string_view text, std::string_view unit) {
  if (!text.ends_with(unit))
    return std::nullopt;
  text.remove_suffix(unit.size());
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= 0) || number > 1e15)
    return std::nullopt;
  return number;
}

static std::optional<double> parseSeconds(std::string_view text) {
  for (auto [unit, seconds] : {std::pair("ms", 1e-3), std::pair("min", 60.0), std::pair("s", 1.0)})
    if (std::optional<double> number = numberBefore(text, unit); number && *number > 0)
      return *number * seconds;
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
    std::optional<double> percent = numberBefore(text, "%");
    if (percent && *percent > 0 && *percent <= 1000)
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

std::optional<Error> checkLimitOptions(const PlanOptions &options) {
  if (auto error = checkSize("memory-limit", options.memoryLimit, true))
    return error;
  if (auto error = checkSize("device-memory", options.deviceMemory, false))
    return error;
  if (!options.order.empty() && options.order != "given" && options.order != "free")
    return Error{formatText("unknown --order '{}'", options.order), {}, "say --order=given or --order=free"};
  if (options.cost != "time" && options.cost != "flops")
    return Error{formatText("unknown --cost '{}'", options.cost), {}, "say --cost=time or --cost=flops"};
  if (!options.timeLimit.empty() && !parseSeconds(options.timeLimit))
    return Error{
        formatText("--time-limit={}: no time", options.timeLimit), {}, "say a time such as 10s, 500ms or 2min"};
  if (options.effort < 1 || options.effort > 1'000'000)
    return Error{formatText("--effort={}: out of range", options.effort),
                 {},
                 "say a percentage from 1 to 1000000; 100 is usual"};
  if (options.pareto < 0 || options.pareto > 1000)
    return Error{formatText("--pareto={}: out of range", options.pareto), {}, "say how many plans, up to 1000"};
  bool searches = options.hasLimit() || options.pareto > 0;
  auto onlySearches = [&](std::string_view flag, bool isGiven) {
    return isGiven && !searches ? std::optional(Error{formatText("--{} goes with a search", flag),
                                                      {},
                                                      "add --memory-limit=SIZE or --pareto=N, or leave it out"})
                                : std::nullopt;
  };
  for (auto error :
       {onlySearches("cost", options.cost != "time"), onlySearches("time-limit", !options.timeLimit.empty()),
        onlySearches("effort", options.effort != 100), onlySearches("seed", options.seed != 1)})
    if (error)
      return error;
  if (searches && !options.recompute.empty())
    return Error{"--recompute and a memory limit contradict each other",
                 {},
                 "the search chooses what is recomputed; --keep=NAME says what is not"};
  if (options.hasLimit() && options.policy == "sqrt-n")
    return Error{"--policy=sqrt-n and a memory limit contradict each other",
                 {},
                 "leave the policy out: a plan under a limit is never worse"};
  if (Expected<Policy> policy = Policy::parse(options.policy); options.hasLimit() && policy && policy->budgetRatio())
    return Error{formatText("--policy={} and a memory limit contradict each other", options.policy),
                 {},
                 "write --policy=min-cut: the limit says how much memory there is"};
  if (options.order == "free" && !searches && (options.policy != "save-everything" || !options.recompute.empty()))
    return Error{"--order=free and a policy contradict each other",
                 {},
                 "a policy keeps the order; add --memory-limit=SIZE, or ask for the order alone"};
  return std::nullopt;
}

/// The limit on the peak, in bytes.
static Expected<int64_t> findLimit(const Graph &graph, const PlanOptions &options) {
  int64_t limit = std::numeric_limits<int64_t>::max();
  if (options.memoryLimit.ends_with('%')) {
    double peak = double(simulate(graph, programOrder(graph)).peakBytes);
    limit = int64_t(std::ceil(peak * *numberBefore(options.memoryLimit, "%") / 100));
  } else if (!options.memoryLimit.empty()) {
    limit = *parseSize(options.memoryLimit);
  }
  if (!options.deviceMemory.empty()) {
    int64_t device = *parseSize(options.deviceMemory), resident = graph.residentBytes();
    if (device <= resident)
      return makeError(
          formatText("the arguments alone take {} bytes, which leaves nothing of --device-memory={}", resident, options.deviceMemory),
          {}, "no plan changes what the caller owns; take a larger device, or fewer or smaller parameters");
    limit = std::min(limit, device - resident);
  }
  return limit;
}

namespace {

/// Sets a flag when the time is over, or when the user's flag is set.
class Stopper {
public:
  Stopper(double seconds, const std::atomic<bool> *other)
      : watcher([this, seconds, other] { watch(seconds, other); }) {}
  ~Stopper() {
    {
      std::lock_guard lock(mutex);
      isOver = true;
    }
    wake.notify_all();
    watcher.join();
  }
  const std::atomic<bool> *flag() const { return &stopped; }

private:
  void watch(double seconds, const std::atomic<bool> *other) {
    using namespace std::chrono;
    auto end = steady_clock::now() + duration<double>(seconds);
    std::unique_lock lock(mutex);
    while (!isOver) {
      wake.wait_for(lock, milliseconds(10));
      if (steady_clock::now() >= end || (other && other->load(std::memory_order_relaxed)))
        stopped.store(true, std::memory_order_relaxed);
    }
  }

  std::atomic<bool> stopped = false;
  std::mutex mutex;
  std::condition_variable wake;
  bool isOver = false;
  std::thread watcher;
};

} // namespace

static std::vector<double> costsOf(const Graph &graph, const PlanOptions &options) {
  std::vector<double> costs(graph.numOps());
  for (size_t i = 0; i < costs.size(); ++i)
    costs[i] = options.cost == "flops" ? double(graph.op(OpId(i)).flops) : graph.op(OpId(i)).costNs;
  return costs;
}

/// What the user wants saved runs once.
static Expected<std::vector<bool>> findRepeatable(const Graph &graph, const PlanOptions &options,
                                                  const PolicyRequest &request) {
  std::vector<bool> result;
  bool savesAll = request.policy.isSaveEverything();
  if (savesAll && options.keep.empty())
    return result;
  Expected<Decisions> decisions = decide(graph, request);
  if (!decisions)
    return decisions.error();
  result.assign(graph.numOps(), true);
  for (size_t v = 0; v < graph.numValues(); ++v) {
    OpId producer = graph.producer(ValueId(v));
    Reason reason = decisions->reasons[v];
    if (producer && (reason == Reason::Kept || (!savesAll && (reason == Reason::Policy || reason == Reason::Crosses))))
      result[producer.index()] = false;
  }
  return result;
}

static Expected<LimitOptions> searchOptions(const Graph &graph, const PlanOptions &options,
                                            const PolicyRequest &request) {
  Expected<std::vector<bool>> mayRepeat = findRepeatable(graph, options, request);
  if (!mayRepeat)
    return mayRepeat.error();
  LimitOptions result;
  result.mayRepeat = std::move(*mayRepeat);
  result.order = options.order == "given" ? ExecutionOrder::Given : ExecutionOrder::Free;
  result.effort = double(options.effort) / 100;
  result.seed = uint64_t(options.seed);
  result.interrupt = options.interrupt;
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
  Expected<LimitOptions> search = searchOptions(graph, options, request);
  if (!search)
    return search.error();
  std::optional<Stopper> stopper;
  if (!options.timeLimit.empty())
    search->interrupt = stopper.emplace(*parseSeconds(options.timeLimit), options.interrupt).flag();
  std::vector<double> costs = costsOf(graph, options);
  Expected<LimitedPlan> found = planMemoryLimit(graph, costs, *limit, *search);
  if (!found)
    return found.error();
  LimitOutcome outcome;
  outcome.limitBytes = *limit;
  outcome.order = search->order;
  outcome.peakBound =
      (search->order == ExecutionOrder::Given ? boundPeakGivenOrder(graph) : boundPeakFreeOrder(graph)).bytes;
  outcome.costBound = found->extraCostBound;
  for (double cost : costs)
    outcome.costBound += cost;
  outcome.costIsFlops = options.cost == "flops";
  outcome.interrupted = found->interrupted;
  PolicyPlan result{std::move(found->best.plan), {}, outcome};
  result.reasons = explain(graph, result.plan);
  return result;
}

Expected<std::vector<FrontPlan>> planPareto(const Graph &graph, const PlanOptions &options,
                                            const PolicyRequest &request) {
  Expected<LimitOptions> search = searchOptions(graph, options, request);
  if (!search)
    return search.error();
  std::optional<Stopper> stopper;
  if (!options.timeLimit.empty())
    search->interrupt = stopper.emplace(*parseSeconds(options.timeLimit), options.interrupt).flag();
  std::vector<FrontPlan> all = planFront(graph, costsOf(graph, options), *search), chosen;
  size_t count = std::min<size_t>(options.pareto, all.size());
  // Evenly by peak, both ends among them.
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

} // namespace remat
