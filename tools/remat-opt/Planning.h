//===- Planning.h - From the flags to a plan and its report -----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "CommandLine.h"
#include "Input.h"
#include "remat/Plan/SearchWatch.h"

#include "remat/Plan/Report.h"

namespace remat {

/// The plan that the flags ask for: of `--plan`'s file, else of the policy. Prints or emits errors.
mlir::FailureOr<PolicyPlan> makePlan(const CommandLine &line, ExtractedModule &module);

/// `--plan`'s file as a plan of `graph`. Prints errors: a file that can't be read, a plan that isn't legal or has
/// another peak than it claims; and a remark where it was made with other costs.
mlir::FailureOr<PolicyPlan> readPlanFile(const CommandLine &line, const Graph &graph);

/// What a report says of how a plan came about.
ReportContext describePlanning(const CommandLine &line, const Input &input, const ExtractOptions &options);

/// For people: whose speeds the plan was made with, and what the code is for, where there is any.
void writeDevice(std::ostream &out, const Report &report, llvm::ArrayRef<std::string> targets = {});
/// A report as JSON with the member `targets` added.
std::string addTargets(const std::string &reportJson, llvm::ArrayRef<std::string> targets);

/// The contents of `--plan-out`: the plan, or the plans of `--pareto` where there is no limit.
std::string planJson(const Graph &graph, const PolicyPlan &planned);

/// Options whose search is shown on a terminal and ends with SIGINT.
RematOptions watched(const RematOptions &options, SearchWatch &watch);

} // namespace remat
