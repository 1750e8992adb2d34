//===- main.cpp - remat-run -----------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads, plans and rewrites as remat-opt does, then compiles for this machine and runs.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Input.h"
#include "Run.h"
#include "RunOptions.h"

#include "remat/CodeGen/Cpu.h"
#include "remat/Import/Import.h"
#include "remat/Plan/OutputFile.h"
#include "remat/Plan/Report.h"
#include "remat/Transforms/Pipelines.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

#include <chrono>
#include <iostream>
#include <sstream>

using namespace mlir;
using namespace remat;

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// One compiled version of the step.
struct Compiled {
  std::shared_ptr<const runtime::Executable> executable;
  int64_t livePeakBytes = 0;
  bool provenPacking = false;
};

/// Import takes the signedness off the types; files are read by it.
void noteSignedness(TypeRange types, std::vector<runtime::Program::Value> &values) {
  for (auto [type, value] : llvm::zip(types, values))
    value.isUnsigned = getElementTypeOrSelf(type).isUnsignedInteger();
}

FailureOr<Compiled> compile(func::FuncOp function, int threads) {
  FunctionType given = function.getFunctionType();
  if (failed(importStableHlo(function)))
    return failure();
  FailureOr<CpuStep> step = compileForCpu(function, {threads});
  if (failed(step))
    return failure();
  noteSignedness(given.getInputs(), step->program.arguments);
  noteSignedness(given.getResults(), step->program.results);
  FailureOr<LoadedKernels> kernels = loadKernels(*step, function.getLoc());
  if (failed(kernels))
    return failure();
  auto executable = runtime::Executable::create(std::move(step->program), kernels->functions, kernels->code);
  if (!executable)
    return emitError(function.getLoc()) << executable.error().str();
  return Compiled{*executable, step->livePeakBytes, step->provenPacking};
}

/// The step as it came, for `--verify`.
FailureOr<Compiled> compileOriginal(ModuleOp module, const RematOptions &options, int threads) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<func::FuncOp> function = findMainFunction(*copy, options.function);
  if (failed(function) || failed(flattenFunction(*function)))
    return failure();
  return compile(*function, threads);
}

class Runner {
public:
  Runner(const CommandLine &line, const RunOptions &options, const Input &input)
      : line(line), options(options), input(input) {}

  LogicalResult run(ModuleOp module) {
    RunTarget target;
    if (options.verify) {
      FailureOr<Compiled> original = compileOriginal(module, line.options, options.threads);
      if (failed(original))
        return failure();
      target.original = original->executable;
    }
    auto begin = Clock::now();
    FailureOr<Report> report = planAndCompile(module, target);
    if (failed(report))
      return failure();
    target.compileMs = millisecondsSince(begin);
    Expected<RunResult> result = runProgram(target, options);
    if (!result)
      return printError(result.error()), failure();
    return write(*report, *result);
  }

private:
  FailureOr<Report> planAndCompile(ModuleOp module, RunTarget &target) {
    FailureOr<ExtractedModule> extracted = extractModule(module, line.options);
    if (failed(extracted))
      return failure();
    auto begin = Clock::now();
    FailureOr<PolicyPlan> planned = planModule(*extracted, line.options);
    if (failed(planned))
      return failure();
    ReportContext context;
    context.tool = "remat-run " REMAT_VERSION;
    context.input = input.name;
    context.policy = line.options.policy;
    context.segments = !line.options.segments.empty()    ? line.options.segments
                       : line.options.policy == "sqrt-n" ? "sqrt"
                                                         : "none";
    context.device = extracted->extractOptions.device.name;
    context.planSeconds = millisecondsSince(begin) / 1000;
    Report report = makeReport(extracted->extracted.graph, *planned, std::move(context));
    FailureOr<std::optional<Simulation>> rewritten = applyToModule(*extracted, planned->plan);
    if (failed(rewritten))
      return failure();
    if (extracted->joined)
      return extracted->function.emitError() << "forward and backward are two functions, so there is no step to run";
    stripMarks(extracted->function);
    FailureOr<Compiled> compiled = compile(extracted->function, options.threads);
    if (failed(compiled))
      return failure();
    target.rewritten = compiled->executable;
    report.arenaBytes = compiled->executable->program().arenaBytes;
    return report;
  }

  LogicalResult write(const Report &report, const RunResult &result) {
    Expected<std::vector<OutputFile>> files = writeRunFiles(options, result);
    if (!files)
      return printError(files.error()), failure();
    for (const std::string &path : line.reports) {
      std::ostringstream text;
      if (StringRef(path).ends_with(".json")) {
        writeReportJson(text, report);
        text.str(addRunMembers(text.str(), result));
      } else {
        writeReportText(text, report);
        text << "\n";
        writeRunSummary(text, result);
      }
      if (path == "-") {
        std::cout << text.str();
        continue;
      }
      Expected<OutputFile> file = OutputFile::open(path);
      if (!file)
        return printError(file.error()), failure();
      file->stream() << text.str();
      files->push_back(std::move(*file));
    }
    if (std::optional<Error> error = OutputFile::commitAll(*files))
      return printError(*error), failure();
    if (!llvm::is_contained(line.reports, "-"))
      writeRunSummary(std::cout, result);
    return success();
  }

  const CommandLine &line;
  const RunOptions &options;
  const Input &input;
};

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  setToolName("remat-run");
  OutputFile::removeOnSignals();
  registerPlanningFlags();
  registerRunFlags();
  llvm::cl::ParseCommandLineOptions(argc, argv, "remat-run: compiles a training step in one arena and runs it\n");
  std::optional<CommandLine> line = readPlanningFlags();
  if (!line)
    return 1;
  Expected<RunOptions> options = readRunFlags();
  if (!options)
    return printError(options.error()), 1;
  if (line->options.device == RematOptions().device)
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
  return failed(Runner(*line, *options, *input).run(*module));
}
