//===- Planners.h - From a graph to a plan -----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/MemoryLimit.h"
#include "remat/Plan/Plan.h"
#include "remat/Plan/Policy.h"
#include "remat/Plan/Segments.h"

#include <string>
#include <vector>

namespace remat {

/// Why a forward value is where it is in a plan; the text behind a remark.
enum class Reason : uint8_t {
  NotRead,        ///< No backward op needs it.
  Policy,         ///< Saved: the policy says so.
  Crosses,        ///< Saved: it is an input of a later segment, or made outside every segment.
  Result,         ///< Saved: the function returns it.
  MustRunOnce,    ///< Saved: its op must not run twice.
  RebuildsRandom, ///< Saved: rebuilding it would run an op that must not run twice.
  Kept,           ///< Saved: --keep.
  Recomputed,     ///< Recomputed: nothing saves it.
  Moved,          ///< Only the backward part reads it: its op runs there, once.
  Pruned,         ///< Saved: --prune found that recomputing it does not lower the peak.
  Fits,           ///< Saved: the memory limit leaves room for it.
};
std::string_view toString(Reason reason);

/// What a search under a memory limit knows of its plan.
struct LimitOutcome {
  int64_t limitBytes = 0;
  /// No plan of the class has a lower peak; nothing where the limit is on arenas.
  std::optional<int64_t> peakBound = {};
  /// No plan of the class, or of those whose peak is no higher where the limit is on arenas, costs less; in the unit of
  /// the cost.
  double costBound = 0;
  ExecutionOrder order = ExecutionOrder::Free;
};

struct PolicyPlan {
  Plan plan;
  /// By value; arguments and results of backward ops are NotRead.
  std::vector<Reason> reasons;
  std::optional<LimitOutcome> limit = {}; ///< With a memory limit only.
  std::vector<FrontPlan> front = {};      ///< With `pareto` only: from the cheapest to the smallest.
  bool costIsFlops = false;               ///< What a search made recomputation cheap in; else it is time.
  bool interrupted = false;               ///< A search was ended early: there may be better plans.
};

struct PolicyRequest {
  Policy policy = Policy::saveEverything();
  Segments segments;
  /// Values (by name, or by the name of their op or checkpoint) that are saved whatever the policy says.
  std::vector<std::string> keep;
  /// Values that are recomputed whatever the policy says; a collective named here may be cloned.
  std::vector<std::string> recompute;
  /// Save again what is recomputed without lowering the peak.
  bool prune = false;
};

/// Recomputes in the backward part what the policy does not save: each op at most once more, as late as possible,
/// producers first, shared by all readers. Error: a policy name or a `keep`/`recompute` name that matches nothing. The
/// plan is legal.
Expected<PolicyPlan> planPolicy(const Graph &graph, const PolicyRequest &request);

/// sqrt-n after Chen et al.: save-nothing over about sqrt(n) segments balanced by bytes; several counts, and
/// groups of the repeated blocks, are tried and of the plans within 2 % of the lowest peak the cheapest is taken. Never
/// above the peak of the program order (which is then the plan). `keep`, `recompute` and `prune` as above.
Expected<PolicyPlan> planSqrtN(const Graph &graph, const PolicyRequest &request);

/// Bytes of the arena of a step that runs the plan; nothing has to be gained below `enoughBytes`.
using ArenaOf = std::function<Expected<int64_t>(const Plan &, int64_t enoughBytes)>;

/// What the tools take from the command line.
struct PlanOptions {
  std::string policy = "save-everything";
  std::string segments = {}; ///< Empty: `sqrt` for sqrt-n, else `none`.
  std::vector<std::string> keep = {}, recompute = {};
  bool prune = false;

  std::string memoryLimit = {};  ///< A size or `N%` of the peak of the graph as given; empty: none. Bounds the peak.
  std::string deviceMemory = {}; ///< A size; bounds the peak and the arguments together.
  std::string order = {};        ///< `given` or `free`; empty: free with a limit, else given.
  std::string cost = "time";     ///< What recomputation is to be cheap in: `time` or `flops`.
  std::string timeLimit = {};    ///< Ends a search, such as `10s`; empty: none, and the plan is always the same.
  int64_t effort = 100;          ///< Work of the search, in percent.
  int64_t seed = 1;
  int64_t pareto = 0; ///< So many plans from the cheapest to the smallest besides; 0: none.
  /// Not text: LimitOptions'.
  const std::atomic<bool> *interrupt = nullptr;
  std::function<void(const SearchProgress &)> progress = {};
  /// A limit is on what this says, instead of the peak.
  ArenaOf arenaOf = {};

  bool hasLimit() const { return !memoryLimit.empty() || !deviceMemory.empty(); }
  bool searches() const { return hasLimit() || pareto > 0; }
  bool cutsSegments() const { return !segments.empty() && segments != "none"; }
};

/// For who says how many plans `pareto` is, where 0 is too few.
Error paretoOutOfRange(int64_t count);

/// What is wrong with the options whatever the graph: the policy's text, or options that contradict each other.
std::optional<Error> check(const PlanOptions &options);

/// Reads the options and plans. Error: those of the parts, or options that contradict each other.
Expected<PolicyPlan> plan(const Graph &graph, const PlanOptions &options);

} // namespace remat
