//===- Planning.cpp - From the flags to a plan and its report -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Planning.h"

#include "JsonMembers.h"

#include "remat/CodeGen/StepLayout.h"
#include "remat/Plan/GraphJson.h"
#include "remat/Plan/OutputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <sstream>

using namespace mlir;

namespace remat {

/// A plan for another device is as right on this one; only what it says of costs isn't.
static std::optional<Error> checkGiven(const Graph &graph, const Plan &plan, const PlanClaims &claims,
                                       const CommandLine &line) {
  if (std::optional<Error> error = verify(graph, plan))
    return error;
  Simulation simulation = simulate(graph, plan);
  if (claims.peakBytes && *claims.peakBytes != simulation.peakBytes)
    return makeError(
        llvm::formatv("the plan claims a peak of {0} bytes, it is {1}", *claims.peakBytes, simulation.peakBytes).str(),
        "peak_bytes");
  // Sums in another order round differently.
  constexpr double tolerance = 1e-9;
  if (claims.costNs && !(std::abs(*claims.costNs - simulation.costNs) <= tolerance * simulation.costNs))
    printRemark(
        llvm::formatv("{0}: its cost of {1:f0} ns is that of another device, with --device={2} it is {3:f0} ns; "
                      "the plan is taken as it is",
                      line.planFile, *claims.costNs, line.options.device, simulation.costNs)
            .str());
  return std::nullopt;
}

FailureOr<PolicyPlan> readPlanFile(const CommandLine &line, const Graph &graph) {
  Expected<std::string> text = readFile(line.planFile);
  if (!text)
    return printError(text.error()), failure();
  PlanClaims claims;
  Expected<Plan> given = readPlan(*text, graph, &claims);
  std::optional<Error> error = given ? checkGiven(graph, *given, claims, line) : given.error();
  if (error) {
    error->place = line.planFile + (error->place.empty() ? "" : ": " + error->place);
    if (error->note.empty() && StringRef(graph.name()).ends_with(clusterGraphSuffix))
      error->note = "clusters follow the step and the device: say those that the plan was made for";
    return printError(*error), failure();
  }
  return PolicyPlan{std::move(*given), {}};
}

FailureOr<PolicyPlan> makePlan(const CommandLine &line, ExtractedModule &module) {
  if (!line.planFile.empty())
    return readPlanFile(line, module.extracted.graph);
  SearchWatch watch;
  return planModule(module, watched(line.options, watch));
}

RematOptions watched(const RematOptions &options, SearchWatch &watch) {
  RematOptions result = options;
  result.interrupt = watch.interrupt();
  result.progress = [&watch](const SearchProgress &progress) { watch.show(progress); };
  return result;
}

ReportContext describePlanning(const CommandLine &line, const Input &input, const ExtractOptions &options) {
  ReportContext context;
  context.tool = toolName().str() + " " REMAT_VERSION;
  context.input = input.name;
  context.policy = line.planFile.empty() ? line.options.policy : "plan:" + line.planFile;
  context.segments = !line.options.segments.empty()    ? line.options.segments
                     : line.options.policy == "sqrt-n" ? "sqrt"
                                                       : "none";
  context.device = options.device.name;
  return context;
}

void writeDevice(std::ostream &out, const Report &report, ArrayRef<std::string> targets) {
  out << "device        costs of " << report.context.device.value_or("the graph");
  if (!targets.empty())
    out << "; code for " << llvm::join(targets, ", ");
  out << "\n";
}

std::string addTargets(const std::string &reportJson, ArrayRef<std::string> targets) {
  return addMembers(reportJson, "\"targets\": [\"" + llvm::join(targets, "\", \"") + "\"]");
}

std::string planJson(const Graph &graph, const PolicyPlan &planned) {
  std::ostringstream text;
  if (!planned.front.empty() && !planned.limit)
    writePlans(text, graph, planned.front, planned.interrupted);
  else
    writePlan(text, graph, planned.plan, planned.interrupted);
  return text.str();
}

} // namespace remat
