//===- Report.h - What a plan gained and cost --------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"

#include <iosfwd>

namespace remat {

/// What the tool knows and the plan does not.
struct ReportContext {
  std::string tool;                       ///< Name and version, such as `remat-plan 0.1.0`.
  std::string input;                      ///< The file as the user named it.
  std::string policy;                     ///< As given.
  std::string segments;                   ///< As given, or the policy's default.
  std::string level = "graph";            ///< `graph` or `clusters`.
  std::optional<std::string> device = {}; ///< Nothing where the graph brings its own costs.
  double planSeconds = 0;
};

/// The fields of the JSON report, schema 1 (docs/Formats.md). Bytes are transient bytes, arguments apart.
struct Report {
  /// One side of the comparison.
  struct Side {
    int64_t peakBytes = 0;
    std::string peakOp; ///< The op that runs at the peak; empty in a graph without ops.
    int64_t residualBytes = 0;
    int64_t flops = 0;
    double costNs = 0;
    std::vector<int64_t> timeline;
  };
  struct SavedValue {
    std::string value;
    int64_t bytes;
    std::string location;
    std::string reason; ///< Why it is saved; empty where the plan came from a file.
  };
  struct RecomputedOp {
    std::string op;
    size_t times;  ///< Executions beyond the first.
    double costNs; ///< Of those executions together.
    std::string location;
  };

  ReportContext context;
  std::string function;
  size_t ops = 0, values = 0, forwardOps = 0, backwardOps = 0;
  int64_t residentBytes = 0;
  Side before, after;
  /// The packed size of the buffers. Nothing until a version packs them.
  std::optional<int64_t> arenaBytes;
  size_t recomputedOps = 0; ///< Executions minus ops, constants and views left out.
  double overheadCost = 0, overheadFlops = 0;
  /// Of a plan under a memory limit; nothing otherwise.
  std::optional<int64_t> memoryLimitBytes;
  std::optional<int64_t> lowerBoundPeakBytes; ///< No plan of its class has a lower peak.
  std::optional<double> lowerBoundCostNs;     ///< None costs less; nothing where FLOPs are the cost.
  std::optional<int64_t> lowerBoundFlops;     ///< None takes fewer; nothing where time is the cost.
  std::optional<double> gap;                  ///< What the plan costs above the bound, as a share of the original cost.
  std::string order;                          ///< The class: `given` or `free`.
  bool costIsFlops = false;                   ///< What the search made recomputation cheap in; else it is time.
  bool interrupted = false;
  struct ParetoPoint {
    int64_t peakBytes;
    double costNs;
    int64_t flops;
    double overheadCost, overheadFlops;
  };
  std::vector<ParetoPoint> pareto; ///< From the cheapest to the smallest.
  /// Values with bytes that stay from forward to backward, largest first; their bytes are `after.residualBytes`.
  std::vector<SavedValue> saved;
  /// Costliest first; their times are `recomputedOps`.
  std::vector<RecomputedOp> recomputed;
};

/// Compares a legal plan with the program order. `planned.reasons` may be empty.
Report makeReport(const Graph &graph, const PolicyPlan &planned, ReportContext context);

void writeReportJson(std::ostream &out, const Report &report);

/// What was gained, in at most 80 columns. The first line says it, and a note the way out where the plan
/// costs time and does not lower the peak.
void writeReportSummary(std::ostream &out, const Report &report);

/// The summary and the ten largest saved and ten costliest recomputed values, in at most 80 columns.
void writeReportText(std::ostream &out, const Report &report);

} // namespace remat
