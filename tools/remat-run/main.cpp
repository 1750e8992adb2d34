//===- main.cpp - remat-run -----------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads, plans and rewrites as remat-opt does, then compiles for this machine, and runs or writes.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "Gpu.h"
#include "Outputs.h"
#include "Planning.h"
#include "Run.h"
#include "remat/Cuda/Emit.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"

#include <chrono>
#include <iostream>
#include <sstream>

using namespace mlir;
using namespace remat;

static void writeSummary(std::ostream &out, const CommandLine &line, const CompiledStep &compiled,
                         const RunResult &result) {
  writeRunSummary(out, result);
  writeDevice(out, compiled.report, codeTargets(line));
  if (compiled.gpuCalls)
    writeGpuCalls(out, *compiled.gpuCalls);
}

static void writeReport(std::ostream &out, StringRef path, const CommandLine &line, const CompiledStep &compiled,
                        const RunResult &result) {
  if (isTrace(path))
    return writeChromeTrace(out, *result.profile);
  if (path.ends_with(".json")) {
    std::ostringstream text;
    writeReportJson(text, compiled.report);
    std::string json = addTargets(addRunMembers(text.str(), result), codeTargets(line));
    out << (compiled.gpuCalls ? addGpuCalls(json, *compiled.gpuCalls) : json);
    return;
  }
  writeReportText(out, compiled.report);
  out << "\n";
  writeSummary(out, line, compiled, result);
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
    writeReport(outputs.to(path), path, line, compiled, result);
  if (!line.planOut.empty())
    outputs.to(line.planOut) << compiled.plan;
  if (std::optional<Error> error = outputs.commit())
    return printError(*error), failure();
  if (!llvm::is_contained(line.reports, "-"))
    writeSummary(std::cout, line, compiled, result);
  return success();
}

/// Loads the code for the device that it is for.
static FailureOr<std::unique_ptr<Runner>> load(CompiledCode code, const RunOptions &options, StringRef gpu,
                                               Location location) {
  if (auto *step = std::get_if<CudaStep>(&code)) {
    if (failed(addBinary(*step, "cubin", gpu)))
      return failure();
    Expected<std::unique_ptr<Runner>> runner =
        makeGpuRunner(std::move(step->program), std::move(step->code), options.cudaGraph, options.allowTf32);
    if (!runner)
      return printError(runner.error()), failure();
    return std::move(*runner);
  }
  auto &step = std::get<CpuStep>(code);
  FailureOr<LoadedKernels> kernels = loadKernels(step, location);
  if (failed(kernels))
    return failure();
  auto executable = runtime::Executable::create(std::move(step.program), kernels->functions, kernels->code);
  if (!executable)
    return mlir::emitError(location) << executable.error().str();
  return makeCpuRunner(std::move(*executable));
}

static LogicalResult loadOriginal(std::unique_ptr<Runner> &runner, ModuleOp module, const CommandLine &line,
                                  const RunOptions &options, StringRef gpu) {
  FailureOr<CompiledCode> code = compileOriginal(module, line.options, {!gpu.empty(), line.threads});
  if (failed(code))
    return failure();
  FailureOr<std::unique_ptr<Runner>> loaded = load(std::move(*code), options, gpu, module.getLoc());
  if (failed(loaded))
    return failure();
  runner = std::move(*loaded);
  return success();
}

/// The runtime's error on an arena above its limit, where the plan has a limit of its own: another policy is no way
/// out.
static std::optional<Error> checkArena(const runtime::Program &program, const CommandLine &line,
                                       const RunOptions &options) {
  std::string flag = line.options.memoryLimit.empty() ? "--device-memory" : "--memory-limit";
  if (!line.options.planOptions().hasLimit() || options.arenaLimitBytes == 0 ||
      program.arenaBytes <= options.arenaLimitBytes)
    return std::nullopt;
  return makeError(
      llvm::formatv("the arena needs {0} bytes, the limit is {1}", program.arenaBytes, options.arenaLimitBytes).str(),
      "", "raise --arena-limit, or lower " + flag);
}

/// `gpu`: the GPU's target, empty on the CPU.
static LogicalResult runStep(ModuleOp module, const CommandLine &line, const RunOptions &options, const Input &input,
                             StringRef gpu) {
  Outputs outputs;
  if (failed(open(line, options, outputs)))
    return failure();
  RunTarget target;
  if (options.verify && failed(loadOriginal(target.original, module, line, options, gpu)))
    return failure();
  if (options.verify && !gpu.empty() && failed(loadOriginal(target.reference, module, line, options, "")))
    return failure();
  auto begin = std::chrono::steady_clock::now();
  FailureOr<CompiledStep> compiled = compileStep(module, line, input, {!gpu.empty(), line.threads});
  if (failed(compiled))
    return failure();
  FailureOr<std::unique_ptr<Runner>> rewritten = load(std::move(compiled->code), options, gpu, module.getLoc());
  if (failed(rewritten))
    return failure();
  if (auto error = checkArena((*rewritten)->program(), line, options))
    return printError(*error), failure();
  target.rewritten = std::move(*rewritten);
  target.givenPeakBytes = compiled->givenPeakBytes;
  target.compileMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  Expected<RunResult> result = runProgram(std::move(target), options);
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

/// Flags that only one of the devices knows.
static std::optional<Error> checkDeviceFlags(const CommandLine &line, const RunOptions &options) {
  bool onGpu = line.options.device == "cuda";
  for (auto [flag, isGiven] : {std::pair("--cuda-graph", options.cudaGraph), {"--allow-tf32", options.allowTf32}})
    if (isGiven && !onGpu)
      return makeError(std::string(flag) + " without --device=cuda", "", "it says how a GPU runs the step");
  if (onGpu && options.profile)
    return makeError("--profile and --device=cuda contradict each other", "",
                     "it and --report=FILE.trace.json time the CPU's steps; nsys profile shows those of a GPU");
  // With --verify the original runs on the CPU, too.
  if (onGpu && line.threadsGiven && !options.verify)
    return makeError("--threads and --device=cuda contradict each other", "",
                     "threads share the work of a step on the CPU; leave it out, or add --verify, which runs the "
                     "original there");
  return std::nullopt;
}

/// Outputs that would replace what is read.
static std::optional<Error> checkInputsStay(const CommandLine &line, const RunOptions &options) {
  std::vector<std::string> paths = line.reports;
  paths.insert(paths.end(), {options.output, options.outputs, options.profileFile});
  if (auto error = checkFlagFiles(line, paths))
    return error;
  paths.push_back(line.planOut);
  for (const std::string &input : {options.program, options.inputs, options.expect})
    if (auto error = OutputFile::checkNotInput(paths, input))
      return error;
  return std::nullopt;
}

/// The curve of --pareto stands in reports, and without a limit in the plan file; what is printed of a run has none.
static std::optional<Error> checkPareto(const CommandLine &line) {
  bool inPlan = !line.planOut.empty() && !line.options.planOptions().hasLimit();
  bool inReport = !llvm::all_of(line.reports, [](StringRef path) { return isTrace(path); });
  if (line.options.pareto == 0 || inPlan || inReport)
    return std::nullopt;
  return makeError("--pareto: the plans would be written nowhere", "",
                   "add --report=FILE.json or --report=-, or leave it out");
}

/// What is known before the step is read.
static std::optional<Error> checkFlags(const CommandLine &line, const RunOptions &options) {
  if (auto error = checkDevice(line))
    return error;
  if (line.emit.empty()) {
    if (auto error = checkDeviceFlags(line, options))
      return error;
    if (auto error = checkPareto(line))
      return error;
  }
  return checkInputsStay(line, options);
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
  line->input = options->program;
  line->output = options->output;
  std::string gpu;
  if (auto error = checkFlags(*line, *options))
    return printError(*error), 1;
  if (runs && line->options.device == "cuda") {
    Expected<std::string> found = findGpuTarget();
    if (!found)
      return printError(found.error()), 1;
    line->options.device = gpu = *found;
  }

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerCudaDialects(registry);
  registerExternalModels(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  std::optional<Input> input = readInput(line->input);
  if (!input)
    return 1;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(input->content, input->name), llvm::SMLoc());
  InputDiagnostics diagnostics(sources, &context, *input);
  OwningOpRef<ModuleOp> module = parseModule(sources, &context, *input);
  if (!module)
    return 1;
  return failed(runs ? runStep(*module, *line, *options, *input, gpu) : emitStep(*module, *line, *input, argv[0]));
}
