//===- Emit.cpp - Writes the compiled step ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "EmitHeader.h"
#include "Link.h"
#include "Outputs.h"
#include "Planning.h"
#include "remat/Cuda/Emit.h"
#include "remat/Plan/GraphJson.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <iostream>
#include <sstream>

using namespace mlir;

namespace remat {

bool emitsStep(StringRef emit) { return llvm::is_contained({"object", "shared", "ptx", "cubin", "fatbin"}, emit); }

static bool isKernelsOnly(StringRef emit) { return llvm::is_contained({"ptx", "cubin", "fatbin"}, emit); }

/// The GPU that `--device` names, by any of its names; empty for other devices.
static StringRef targetOf(StringRef device) {
  Expected<DeviceProfile> profile = findDevice(device);
  const auto *found = profile ? llvm::find(cudaTargets, profile->name) : std::end(cudaTargets);
  return found == std::end(cudaTargets) ? StringRef() : StringRef(*found);
}

/// Whether the code, or the graph of clusters, is a GPU's; kernels alone always are.
static bool emitsForGpu(const CommandLine &line) {
  return isKernelsOnly(line.emit) || line.options.device == "cuda" || !targetOf(line.options.device).empty();
}

std::vector<std::string> codeTargets(const CommandLine &line) {
  bool runs = line.emit.empty();
  if (!emitsForGpu(line))
    return {"cpu"};
  if (runs || llvm::is_contained({"ptx", "cubin"}, line.emit))
    return {targetOf(line.options.device).str()};
  return {std::begin(cudaTargets), std::end(cudaTargets)};
}

static std::string listGpus() { return "--device=" + llvm::join(llvm::ArrayRef(cudaTargets), " or "); }

/// Where code is made for a GPU, or none is made.
static std::optional<Error> checkThreads(const CommandLine &line) {
  std::string note = "threads share the work of a step for the CPU; leave it out, or say --device=cpu";
  if (isKernelsOnly(line.emit))
    return makeError("--threads and --emit=" + line.emit + " contradict each other", "", note);
  if (emitsForGpu(line))
    return makeError("--threads and --device=" + line.options.device + " contradict each other", "", note);
  return std::nullopt;
}

std::optional<Error> checkDevice(const CommandLine &line) {
  const std::string &device = line.options.device;
  bool onlyPlans = toolName() == "remat-opt" && !emitsStep(line.emit);
  bool runs = line.emit.empty();
  if (onlyPlans && line.threadsGiven)
    return makeError("--threads and --emit=" + line.emit + " contradict each other", "",
                     "threads share the work of a step that is compiled: --emit=object or shared, --device=cpu");
  if (onlyPlans && device == "cuda")
    return makeError("--device=cuda doesn't say whose speeds plans are made with", "", "say " + listGpus());
  if (runs && !targetOf(device).empty())
    return makeError("a step runs on the CPU or on this machine's GPU, not on --device=" + device, "",
                     "say --device=cuda to run it on the GPU, or --emit=shared to write it for one");
  bool oneTarget = llvm::is_contained({"ptx", "cubin"}, line.emit);
  if ((oneTarget && targetOf(device).empty()) || (isKernelsOnly(line.emit) && device == "cpu"))
    return makeError("--emit=" + line.emit + " needs " + (device == "cuda" ? "one" : "a") +
                         " GPU to make code for, not --device=" + device,
                     "", "say " + listGpus() + "; fatbin holds all of them");
  return line.threadsGiven && !runs ? checkThreads(line) : std::nullopt;
}

namespace {

/// The files to be written and what makes them.
class Emitter {
public:
  explicit Emitter(const CommandLine &line) : line(line), forGpu(emitsForGpu(line)) {}

  /// Opens the files and finds what links, for compiling takes a while.
  std::optional<Error> prepare(const char *program) {
    std::vector<std::string> paths{line.output, line.planOut};
    if (!isKernelsOnly(line.emit)) {
      if (auto error = prepareStep(program))
        return error;
      paths.push_back(header);
    }
    llvm::append_range(paths, line.reports);
    return outputs.open(std::move(paths));
  }

  FailureOr<CompiledStep> compile(ModuleOp module, const Input &input) const {
    return compileStep(module, line, input, {forGpu, line.threads, forGpu ? "" : entry});
  }

  LogicalResult write(CompiledStep &compiled, Location location) {
    FailureOr<std::string> text = makeFile(compiled.code, location);
    if (failed(text))
      return failure();
    outputs.to(line.output) << *text;
    if (!header.empty())
      outputs.to(header) << emitHeader(compiled.layout().program, entry, forGpu);
    for (const std::string &path : line.reports)
      writeReport(outputs.to(path), path, compiled);
    if (!line.planOut.empty())
      outputs.to(line.planOut) << compiled.plan;
    if (auto error = outputs.commit())
      return printError(*error), failure();
    return success();
  }

private:
  void writeReport(std::ostream &out, StringRef path, const CompiledStep &compiled) const {
    if (path.ends_with(".json")) {
      std::ostringstream text;
      writeReportJson(text, compiled.report);
      std::string json = addTargets(text.str(), codeTargets(line));
      out << (compiled.gpuCalls ? addGpuCalls(json, *compiled.gpuCalls) : json);
      return;
    }
    writeReportText(out, compiled.report);
    writeDevice(out << "\n", compiled.report, codeTargets(line));
    if (compiled.gpuCalls)
      writeGpuCalls(out, *compiled.gpuCalls);
  }

  std::optional<Error> prepareStep(const char *program) {
    entry = entryName(line.output);
    // A GPU's header brings both devices' functions.
    for (StringRef taken : {"remat_program_open", "remat_cuda_open"})
      if (entry + "_open" == taken)
        return makeError("the entry point would be " + taken.str() + ", which is the runtime's", line.output,
                         "name the file otherwise");
    // A device takes what is written and keeps nothing, but a header beside it would stay.
    if (llvm::sys::fs::exists(line.output) && !llvm::sys::fs::is_regular_file(line.output))
      return makeError("a header is written beside a step, and this is no file", line.output,
                       "say -o FILE." + std::string(line.emit == "shared" ? "so" : "o"));
    if (line.emit == "shared") {
      static int inThisProgram;
      Expected<SharedLinker> found =
          SharedLinker::find(llvm::sys::fs::getMainExecutable(program, &inThisProgram), forGpu);
      if (!found)
        return found.error();
      linker = std::move(*found);
    }
    llvm::SmallString<128> path(line.output);
    llvm::sys::path::replace_extension(path, "h");
    header = path.str();
    return std::nullopt;
  }

  FailureOr<std::string> makeFile(CompiledCode &code, Location location) {
    if (isKernelsOnly(line.emit))
      return emitKernels(std::get<CudaStep>(code).kernels, line.emit, targetOf(line.options.device));
    std::vector<char> object;
    if (auto *step = std::get_if<CudaStep>(&code)) {
      if (failed(addBinary(*step, "fatbin")))
        return failure();
      FailureOr<std::vector<char>> made = emitCudaObject(*step, entry, location);
      if (failed(made))
        return failure();
      object = std::move(*made);
    } else {
      object = std::get<CpuStep>(code).objects.front();
    }
    if (!linker)
      return std::string(object.begin(), object.end());
    Expected<std::string> shared = linker->link(object, entry, llvm::sys::path::filename(line.output));
    if (!shared)
      return printError(shared.error()), failure();
    return std::move(*shared);
  }

  const CommandLine &line;
  bool forGpu;
  std::string entry; ///< Of objects and shared objects; known once prepared.
  std::optional<SharedLinker> linker;
  std::string header; ///< Its path.
  Outputs outputs;
};

} // namespace

/// Where no code is made there is nothing of a plan either.
static std::optional<Error> checkClusters(const CommandLine &line) {
  std::string flag = !line.planFile.empty()  ? "plan"
                     : !line.planOut.empty() ? "plan-out"
                     : !line.reports.empty() ? "report"
                                             : line.planningFlag;
  if (flag.empty())
    return std::nullopt;
  return makeError("--emit=graph-json writes the clusters as they come, and nothing of what --" + flag + " asks for",
                   "", "leave it out; remat-plan plans " + line.output + ", and --plan takes its plan");
}

static LogicalResult emitClusters(ModuleOp module, const CommandLine &line) {
  Outputs outputs;
  std::optional<Error> error = checkClusters(line);
  if (!error)
    error = outputs.open({line.output});
  if (error)
    return printError(*error), failure();
  FailureOr<Graph> graph = extractClusters(module, line, {.forGpu = emitsForGpu(line), .threads = line.threads});
  if (failed(graph))
    return failure();
  writeGraph(outputs.to(line.output), *graph);
  if (auto error = outputs.commit())
    return printError(*error), failure();
  return success();
}

LogicalResult emitStep(ModuleOp module, const CommandLine &asked, const Input &input, const char *program) {
  CommandLine line = asked;
  // Whose speeds plans are made with where any GPU may run them.
  if (line.options.device == "cuda")
    line.options.device = RematOptions().device;
  if (line.emit == "graph-json")
    return emitClusters(module, line);
  Emitter emitter(line);
  if (auto error = emitter.prepare(program))
    return printError(*error), failure();
  FailureOr<CompiledStep> compiled = emitter.compile(module, input);
  if (failed(compiled) || failed(emitter.write(*compiled, module.getLoc())))
    return failure();
  if (!llvm::is_contained(line.reports, "-")) {
    writeReportSummary(std::cout, compiled->report);
    std::cout << "arena         " << compiled->layout().program.arenaBytes << " bytes\n";
    writeDevice(std::cout, compiled->report, codeTargets(line));
  }
  if (!llvm::is_contained(line.reports, "-") && compiled->gpuCalls)
    writeGpuCalls(std::cout, *compiled->gpuCalls);
  return success();
}

} // namespace remat
