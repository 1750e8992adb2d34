//===- main.cpp - remat-run -----------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads, plans and rewrites as remat-opt does, then compiles for this machine, and runs or writes.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Emit.h"
#include "Outputs.h"
#include "Run.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"

#include <chrono>
#include <iostream>
#include <sstream>

using namespace mlir;
using namespace remat;

static void writeReport(std::ostream &out, StringRef path, const Report &report, const RunResult &result) {
  if (isTrace(path))
    return writeChromeTrace(out, *result.profile);
  if (path.ends_with(".json")) {
    std::ostringstream text;
    writeReportJson(text, report);
    out << addRunMembers(text.str(), result);
    return;
  }
  writeReportText(out, report);
  out << "\n";
  writeRunSummary(out, result);
}

static LogicalResult open(const CommandLine &line, const RunOptions &options, Outputs &outputs) {
  std::vector<std::string> paths{options.outputs, options.profileFile, line.planOut};
  llvm::append_range(paths, line.reports);
  if (std::optional<Error> error = outputs.open(std::move(paths)))
    return printError(*error), failure();
  return success();
}

static LogicalResult write(const CommandLine &line, const RunOptions &options, const CompiledStep &compiled,
                           const RunResult &result, Outputs &outputs) {
  writeRunFiles(options, result, outputs);
  for (const std::string &path : line.reports)
    writeReport(outputs.to(path), path, compiled.report, result);
  if (!line.planOut.empty())
    outputs.to(line.planOut) << compiled.plan;
  if (std::optional<Error> error = outputs.commit())
    return printError(*error), failure();
  if (!llvm::is_contained(line.reports, "-"))
    writeRunSummary(std::cout, result);
  return success();
}

static LogicalResult runStep(ModuleOp module, const CommandLine &line, const RunOptions &options, const Input &input) {
  Outputs outputs;
  if (failed(open(line, options, outputs)))
    return failure();
  RunTarget target;
  if (options.verify) {
    FailureOr<CpuStep> original = compileOriginal(module, line.options, options.threads);
    if (failed(original))
      return failure();
    auto loaded = loadStep(std::move(*original), module.getLoc());
    if (failed(loaded))
      return failure();
    target.original = *loaded;
  }
  auto begin = std::chrono::steady_clock::now();
  FailureOr<CompiledStep> compiled = compileStep(module, line, input, options.threads);
  if (failed(compiled))
    return failure();
  auto rewritten = loadStep(std::move(compiled->step), module.getLoc());
  if (failed(rewritten))
    return failure();
  target.rewritten = *rewritten;
  target.givenPeakBytes = compiled->givenPeakBytes;
  target.compileMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  Expected<RunResult> result = runProgram(target, options);
  if (!result)
    return printError(result.error()), failure();
  return write(line, options, *compiled, *result, outputs);
}

/// The flags of a run; a trace among the reports needs a profile.
static Expected<RunOptions> readOptions(const CommandLine &line) {
  bool runs = line.emit.empty();
  Expected<RunOptions> options = readRunFlags(runs);
  auto trace = llvm::find_if(line.reports, isTrace);
  if (!options || trace == line.reports.end())
    return options;
  if (!runs)
    return makeError("--emit and --report=" + *trace + " contradict each other", "", "a trace has the times of a run");
  options->profile = true;
  return options;
}

/// Where this program is, for what stands beside it.
static std::string findTool(const char *name) {
  static int inThisProgram;
  return llvm::sys::fs::getMainExecutable(name, &inThisProgram);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  setTool(Tool::Run);
  OutputFile::removeOnSignals();
  registerPlanningFlags();
  registerRunFlags();
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "remat-run: compiles a training step in one arena and runs it, or writes it\n");
  std::optional<CommandLine> line = readPlanningFlags();
  if (!line)
    return 1;
  bool runs = line->emit.empty();
  Expected<RunOptions> options = readOptions(*line);
  if (!options)
    return printError(options.error()), 1;
  if (llvm::cl::getRegisteredOptions()["device"]->getNumOccurrences() == 0)
    line->options.device = "cpu";

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerCodeGenDialects(registry);
  registerExternalModels(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  std::optional<Input> input = readInput(options->program);
  if (!input)
    return 1;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(input->content, input->name), llvm::SMLoc());
  InputDiagnostics diagnostics(sources, &context, *input);
  OwningOpRef<ModuleOp> module = parseModule(sources, &context, *input);
  if (!module)
    return 1;
  return failed(runs ? runStep(*module, *line, *options, *input)
                     : emitStep(*module, *line, *options, *input, findTool(argv[0])));
}
