//===- Run.cpp - Plan, rewrite and write ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "remat/Plan/GraphJson.h"
#include "remat/Plan/OutputFile.h"
#include "remat/Plan/Report.h"
#include "remat/Transforms/Passes.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <sstream>

using namespace mlir;

namespace remat {

namespace {

/// All that one run writes: nothing before `commit`, for what went to standard output can't be taken back.
class Outputs {
public:
  LogicalResult add(const std::string &path, std::string text) {
    Expected<OutputFile> file = OutputFile::open(path);
    if (!file)
      return printError(file.error()), failure();
    files.push_back(std::move(*file));
    texts.push_back(std::move(text));
    return success();
  }
  LogicalResult commit() {
    for (auto [file, text] : llvm::zip_equal(files, texts))
      file.stream().write(text.data(), text.size());
    if (std::optional<Error> error = OutputFile::commitAll(files))
      return printError(*error), failure();
    return success();
  }

private:
  std::vector<OutputFile> files;
  std::vector<std::string> texts;
};

} // namespace

/// `--report=-` stays readable when the module goes to standard output: it goes to standard error then.
static bool isOnStderr(const CommandLine &line, StringRef report) { return report == "-" && line.output == "-"; }

static LogicalResult checkOutputs(const CommandLine &line) {
  std::vector<std::string> paths{line.output};
  for (const std::string &report : line.reports)
    if (!isOnStderr(line, report))
      paths.push_back(report);
  if (!line.planOut.empty())
    paths.push_back(line.planOut);
  for (std::span<const std::string> list : {std::span(line.reports), std::span<const std::string>(paths)})
    if (std::optional<Error> error = OutputFile::checkDistinct(list))
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

/// The plan of the flags' policy, or of `--plan`'s file.
static FailureOr<PolicyPlan> makePlan(const CommandLine &line, ExtractedModule &extracted) {
  const Graph &graph = extracted.extracted.graph;
  if (line.planFile.empty())
    return planModule(extracted, line.options);
  Expected<std::string> text = readFile(line.planFile);
  if (!text)
    return printError(text.error()), failure();
  Expected<Plan> given = readLegalPlan(*text, graph);
  if (!given) {
    Error error = given.error();
    error.place = line.planFile + (error.place.empty() ? "" : ": " + error.place);
    return printError(error), failure();
  }
  return PolicyPlan{std::move(*given), {}};
}

static Report report(const CommandLine &line, const Input &input, const ExtractedModule &extracted,
                     const PolicyPlan &planned, double planSeconds) {
  ReportContext context;
  context.tool = "remat-opt " REMAT_VERSION;
  context.input = input.name;
  context.policy = line.planFile.empty() ? line.options.policy : "plan:" + line.planFile;
  context.segments = !line.options.segments.empty()    ? line.options.segments
                     : line.options.policy == "sqrt-n" ? "sqrt"
                                                       : "none";
  context.device = extracted.extractOptions.device.name;
  context.planSeconds = planSeconds;
  return makeReport(extracted.extracted.graph, planned, std::move(context));
}

static LogicalResult addReports(const CommandLine &line, const Report &report, Outputs &outputs) {
  for (const std::string &path : line.reports) {
    std::ostringstream text;
    StringRef(path).ends_with(".json") ? writeReportJson(text, report) : writeReportText(text, report);
    if (isOnStderr(line, path))
      llvm::errs() << text.str();
    else if (failed(outputs.add(path, text.str())))
      return failure();
  }
  return success();
}

/// The summary goes where the module doesn't.
static void printSummary(const CommandLine &line, const Report &report) {
  if (llvm::is_contained(line.reports, "-"))
    return;
  std::ostringstream text;
  writeReportSummary(text, report);
  (line.output == "-" ? llvm::errs() : llvm::outs()) << text.str();
}

static std::string graphJson(const Graph &graph) {
  std::ostringstream text;
  writeGraph(text, graph);
  return text.str();
}

static std::string planJson(const Graph &graph, const Plan &plan) {
  std::ostringstream text;
  writePlan(text, graph, plan);
  return text.str();
}

LogicalResult run(const CommandLine &line, const Input &input, ModuleOp module) {
  if (failed(checkOutputs(line)))
    return failure();
  FailureOr<ExtractedModule> extracted = extractModule(module, line.options);
  if (failed(extracted))
    return failure();
  Outputs outputs;
  bool graphOnly = line.emit == "graph-json";
  // Before planning, and even where a plan can't be made.
  std::string graph = graphOnly ? graphJson(extracted->extracted.graph) : "";
  if (graphOnly && line.reports.empty() && line.planOut.empty() && line.planFile.empty()) {
    if (std::optional<Error> error = check(line.options.planOptions()))
      return printError(*error), failure();
    return failure(failed(outputs.add(line.output, graph)) || failed(outputs.commit()));
  }

  auto begin = std::chrono::steady_clock::now();
  FailureOr<PolicyPlan> planned = makePlan(line, *extracted);
  if (failed(planned))
    return failure();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Report result = report(line, input, *extracted, *planned, seconds);
  if (!graphOnly) {
    FailureOr<std::optional<Simulation>> rewritten = applyToModule(*extracted, planned->plan);
    if (failed(rewritten))
      return failure();
    if (*rewritten)
      result.after.residualBytes = (*rewritten)->residualBytes;
    bool changed = rewritten->has_value();
    bool asItCame = !changed && line.emit == "mlir" && !input.isBytecode() && !line.anyPrintingFlag;
    if (failed(outputs.add(line.output,
                           asItCame ? input.content : printModule(changed ? *extracted->module : module, line, input))))
      return failure();
  } else if (failed(outputs.add(line.output, graph))) {
    return failure();
  }
  if (failed(addReports(line, result, outputs)))
    return failure();
  if (!line.planOut.empty() && failed(outputs.add(line.planOut, planJson(extracted->extracted.graph, planned->plan))))
    return failure();
  if (failed(outputs.commit()))
    return failure();
  printSummary(line, result);
  return success();
}

} // namespace remat
