//===- Run.cpp - Plan, rewrite and write ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "Outputs.h"
#include "Planning.h"

#include "remat/Plan/GraphJson.h"
#include "remat/Transforms/Passes.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <sstream>

using namespace mlir;

namespace remat {

/// `--report=-` stays readable when the module goes to standard output: it goes to standard error then.
static bool isOnStderr(const CommandLine &line, StringRef report) { return report == "-" && line.output == "-"; }

static LogicalResult openOutputs(const CommandLine &line, Outputs &outputs) {
  // Two reports to standard output are one too many even where they go to standard error.
  std::optional<Error> error = OutputFile::checkDistinct(line.reports);
  std::vector<std::string> paths{line.output, line.planOut};
  for (const std::string &report : line.reports)
    if (!isOnStderr(line, report))
      paths.push_back(report);
  if (!error)
    error = outputs.open(std::move(paths));
  if (error)
    return printError(*error), failure();
  return success();
}

static LogicalResult commit(Outputs &outputs) {
  if (std::optional<Error> error = outputs.commit())
    return printError(*error), failure();
  return success();
}

/// A location that the input brought, and that isn't just the place in the input's own text.
static bool bringsLocation(Location location, StringRef inputName) {
  if (auto name = dyn_cast<NameLoc>(location); name && name.getName().getValue().starts_with("remat."))
    return bringsLocation(name.getChildLoc(), inputName);
  if (auto line = dyn_cast<FileLineColRange>(location))
    return line.getFilename() != inputName;
  return !isa<UnknownLoc>(location);
}

static std::string printModule(ModuleOp module, const CommandLine &line, const Input &input) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (line.emit == "mlirbc") {
    // Strings grow, so writing can't fail.
    (void)writeBytecodeToFile(module, stream);
    return text;
  }
  OpPrintingFlags flags;
  bool locations =
      module
          .walk([&](Operation *op) {
            return bringsLocation(op->getLoc(), input.name) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  if (locations)
    flags.enableDebugInfo();
  module.print(stream, flags);
  stream << "\n";
  return text;
}

static void writeReports(const CommandLine &line, const Report &report, Outputs &outputs) {
  for (const std::string &path : line.reports) {
    std::ostringstream text;
    if (StringRef(path).ends_with(".json")) {
      writeReportJson(text, report);
    } else {
      writeReportText(text, report);
      writeDevice(text << "\n", report);
    }
    if (isOnStderr(line, path))
      llvm::errs() << text.str();
    else
      outputs.to(path) << text.str();
  }
}

/// The summary goes where the module doesn't.
static void printSummary(const CommandLine &line, const Report &report) {
  if (llvm::is_contained(line.reports, "-"))
    return;
  std::ostringstream text;
  writeReportSummary(text, report);
  writeDevice(text, report);
  (line.output == "-" ? llvm::errs() : llvm::outs()) << text.str();
}

static std::string graphJson(const Graph &graph) {
  std::ostringstream text;
  writeGraph(text, graph);
  return text.str();
}

/// Whether the graph is all that is written, so that nothing is planned.
static bool isGraphAlone(const CommandLine &line) {
  return line.emit == "graph-json" && line.reports.empty() && line.planOut.empty() && line.planFile.empty();
}

/// Flags that say how to plan, where nothing of a plan would be written.
static LogicalResult checkGraphAlone(const CommandLine &line) {
  if (std::optional<Error> error = check(line.options.planOptions()))
    return printError(*error), failure();
  if (line.planningFlag.empty())
    return success();
  return printError("--emit=graph-json writes the graph as it came, and nothing of what --" + line.planningFlag +
                        " asks for",
                    "leave it out, or add --report=FILE or --plan-out=FILE"),
         failure();
}

LogicalResult run(const CommandLine &line, const Input &input, ModuleOp module) {
  if (isGraphAlone(line) && failed(checkGraphAlone(line)))
    return failure();
  Outputs outputs;
  if (failed(openOutputs(line, outputs)))
    return failure();
  FailureOr<ExtractedModule> extracted = extractModule(module, line.options);
  if (failed(extracted))
    return failure();
  // Before planning, and even where a plan can't be made.
  bool graphOnly = line.emit == "graph-json";
  std::string text = graphOnly ? graphJson(extracted->extracted.graph) : "";
  if (isGraphAlone(line)) {
    outputs.to(line.output) << text;
    return commit(outputs);
  }

  auto begin = std::chrono::steady_clock::now();
  FailureOr<PolicyPlan> planned = makePlan(line, *extracted);
  if (failed(planned))
    return failure();
  ReportContext context = describePlanning(line, input, extracted->extractOptions);
  context.planSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Report report = makeReport(extracted->extracted.graph, *planned, std::move(context));
  std::string plan = line.planOut.empty() ? "" : planJson(extracted->extracted.graph, *planned);
  if (!graphOnly) {
    FailureOr<std::optional<Simulation>> rewritten = applyToModule(*extracted, planned->plan);
    if (failed(rewritten))
      return failure();
    if (*rewritten)
      report.after.residualBytes = (*rewritten)->residualBytes;
    bool changed = rewritten->has_value();
    bool asItCame = !changed && line.emit == "mlir" && !input.isBytecode() && line.printingFlag.empty();
    text = asItCame ? input.content : printModule(changed ? *extracted->module : module, line, input);
  }
  outputs.to(line.output) << text;
  writeReports(line, report, outputs);
  if (!line.planOut.empty())
    outputs.to(line.planOut) << plan;
  if (failed(commit(outputs)))
    return failure();
  printSummary(line, report);
  return success();
}

} // namespace remat
