//===- GraphJson.h - Graphs and plans as JSON, schema 1 ----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/MemoryLimit.h"

#include <iosfwd>

namespace remat {

/// Reads a graph (docs/Formats.md). An object whose `graph` field is an object is looked into.
/// Error: not JSON (place `line:column`), a field that is missing, of the wrong type or out of range, a name used
/// twice, an operand that nothing makes or that is made later (a cycle is named as such); place such as
/// `ops[3].operands[1]`.
Expected<Graph> readGraph(std::string_view json);
void writeGraph(std::ostream &out, const Graph &graph);

/// What a plan file says of itself; to be compared with `simulate`.
struct PlanClaims {
  std::optional<int64_t> peakBytes;
  std::optional<double> costNs;
};

/// Reads a plan for `graph`; `verify` says whether it is legal. Error: not JSON, a plan for another graph, an unknown
/// op, a step that is none, a move to or from the host.
Expected<Plan> readPlan(std::string_view json, const Graph &graph, PlanClaims *claims = nullptr);
/// Reads a plan as `readPlan` does and checks it. Error also: the plan breaks a rule of `verify`, or claims another
/// peak or cost than it has. With `otherCostNs` another cost is no error but written there: that of another device.
Expected<Plan> readLegalPlan(std::string_view json, const Graph &graph, std::optional<double> *otherCostNs = nullptr);
/// Writes the steps, and peak and cost as `simulate` finds them, and that the search was interrupted if it was.
/// Precondition: the plan is legal.
void writePlan(std::ostream &out, const Graph &graph, const Plan &plan, bool interrupted = false);
/// Writes several plans: an object with `plans`, each like a plan file's.
void writePlans(std::ostream &out, const Graph &graph, std::span<const FrontPlan> plans, bool interrupted = false);

} // namespace remat
