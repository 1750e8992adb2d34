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

#include <sstream>

using namespace mlir;

namespace remat {

FailureOr<PolicyPlan> readPlanFile(const CommandLine &line, const Graph &graph) {
  Expected<std::string> text = readFile(line.planFile);
  if (!text)
    return printError(text.error()), failure();
  std::optional<double> otherCostNs;
  Expected<Plan> given = readLegalPlan(*text, graph, &otherCostNs);
  if (!given) {
    Error error = given.error();
    error.place = line.planFile + (error.place.empty() ? "" : ": " + error.place);
    if (error.note.empty() && StringRef(graph.name()).ends_with(clusterGraphSuffix))
      error.note = "clusters follow the step and the device: say those that the plan was made for";
    return printError(error), failure();
  }
  // A plan for another device is as right on this one; only what it says of costs isn't.
  if (otherCostNs)
    printRemark(
        llvm::formatv("{0}: its cost of {1:f0} ns is that of another device, with --device={2} it is {3:f0} ns; "
                      "the plan is taken as it is",
                      line.planFile, *otherCostNs, line.options.device, simulate(graph, *given).costNs)
            .str());
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
