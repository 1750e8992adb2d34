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

/// Whether the code is a GPU's; kernels alone always are.
static bool emitsForGpu(const CommandLine &line) {
  return isKernelsOnly(line.emit) || line.options.device == "cuda" || !targetOf(line.options.device).empty();
}

namespace {

/// The files to be written and what makes them.
class Emitter {
public:
  Emitter(const CommandLine &line, const EmitOptions &options)
      : line(line), options(options), forGpu(emitsForGpu(line)), target(targetOf(line.options.device)) {}

  /// Opens the files and finds what links, for compiling takes a while.
  std::optional<Error> prepare(const char *program) {
    if (auto error = checkTarget())
      return error;
    std::vector<std::string> paths{options.output, line.planOut};
    if (!isKernelsOnly(line.emit)) {
      if (auto error = prepareStep(program))
        return error;
      paths.push_back(header);
    }
    llvm::append_range(paths, line.reports);
    return outputs.open(std::move(paths));
  }

  FailureOr<CompiledStep> compile(ModuleOp module, const Input &input) const {
    CommandLine asked = line;
    if (asked.options.device == "cuda")
      asked.options.device = defaultGpu;
    return compileStep(module, asked, input, {forGpu, options.threads, forGpu ? "" : entry});
  }

  LogicalResult write(CompiledStep &compiled, Location location) {
    FailureOr<std::string> text = makeFile(compiled.code, location);
    if (failed(text))
      return failure();
    outputs.to(options.output) << *text;
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
  static void writeReport(std::ostream &out, StringRef path, const CompiledStep &compiled) {
    if (path.ends_with(".json")) {
      std::ostringstream text;
      writeReportJson(text, compiled.report);
      out << (compiled.gpuCalls ? addGpuCalls(text.str(), *compiled.gpuCalls) : text.str());
      return;
    }
    writeReportText(out, compiled.report);
    if (compiled.gpuCalls)
      writeGpuCalls(out << "\n", *compiled.gpuCalls);
  }

  std::optional<Error> checkTarget() const {
    if (!llvm::is_contained({"ptx", "cubin"}, line.emit) || !target.empty())
      return std::nullopt;
    return makeError("--emit=" + line.emit + " needs a GPU to make code for, not --device=" + line.options.device, "",
                     "say --device=" + llvm::join(llvm::ArrayRef(cudaTargets), " or ") + "; fatbin holds all of them");
  }

  std::optional<Error> prepareStep(const char *program) {
    entry = entryName(options.output);
    // A GPU's header brings both devices' functions.
    for (StringRef taken : {"remat_program_open", "remat_cuda_open"})
      if (entry + "_open" == taken)
        return makeError("the entry point would be " + taken.str() + ", which is the runtime's", options.output,
                         "name the file otherwise");
    if (line.emit == "shared") {
      static int inThisProgram;
      Expected<SharedLinker> found =
          SharedLinker::find(llvm::sys::fs::getMainExecutable(program, &inThisProgram), forGpu);
      if (!found)
        return found.error();
      linker = std::move(*found);
    }
    llvm::SmallString<128> path(options.output);
    llvm::sys::path::replace_extension(path, "h");
    header = path.str();
    return std::nullopt;
  }

  FailureOr<std::string> makeFile(CompiledCode &code, Location location) {
    if (isKernelsOnly(line.emit))
      return emitKernels(std::get<CudaStep>(code).kernels, line.emit, target);
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
    Expected<std::string> shared = linker->link(object, entry, llvm::sys::path::filename(options.output));
    if (!shared)
      return printError(shared.error()), failure();
    return std::move(*shared);
  }

  /// Whose speeds plans are made for where any GPU may run them.
  static constexpr const char *defaultGpu = "sm_90";

  const CommandLine &line;
  const EmitOptions &options;
  bool forGpu;
  StringRef target;
  std::string entry; ///< Of objects and shared objects; known once prepared.
  std::optional<SharedLinker> linker;
  std::string header; ///< Its path.
  Outputs outputs;
};

} // namespace

static LogicalResult emitClusters(ModuleOp module, const CommandLine &line, const EmitOptions &options) {
  if (asksForAPlan(line) || !line.planOut.empty() || !line.reports.empty())
    return printError("--emit=graph-json writes the clusters as they come, and plans nothing",
                      "leave the planning flags out; remat-plan plans " + options.output +
                          ", and --plan takes its plan"),
           failure();
  Outputs outputs;
  if (auto error = outputs.open({options.output}))
    return printError(*error), failure();
  FailureOr<Graph> graph = extractClusters(module, line, {.threads = options.threads});
  if (failed(graph))
    return failure();
  writeGraph(outputs.to(options.output), *graph);
  if (auto error = outputs.commit())
    return printError(*error), failure();
  return success();
}

LogicalResult emitStep(ModuleOp module, const CommandLine &line, const EmitOptions &options, const Input &input,
                       const char *program) {
  if (line.emit == "graph-json")
    return emitClusters(module, line, options);
  Emitter emitter(line, options);
  if (auto error = emitter.prepare(program))
    return printError(*error), failure();
  FailureOr<CompiledStep> compiled = emitter.compile(module, input);
  if (failed(compiled) || failed(emitter.write(*compiled, module.getLoc())))
    return failure();
  if (!llvm::is_contained(line.reports, "-")) {
    writeReportSummary(std::cout, compiled->report);
    std::cout << "arena         " << compiled->layout().program.arenaBytes << " bytes\n";
  }
  if (!llvm::is_contained(line.reports, "-") && compiled->gpuCalls)
    writeGpuCalls(std::cout, *compiled->gpuCalls);
  return success();
}

} // namespace remat
