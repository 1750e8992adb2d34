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
#include "remat/Import/Import.h"
#include "remat/Plan/GraphJson.h"
#include "remat/Transforms/Pipelines.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <iostream>
#include <sstream>

using namespace mlir;

namespace remat {

namespace {

/// The files to be written and what makes them.
class Emitter {
public:
  Emitter(const CommandLine &line, const RunOptions &options) : line(line), options(options) {}

  /// Opens the files and finds what links, for compiling takes a while.
  std::optional<Error> prepare(StringRef tool) {
    entry = entryName(options.output);
    if (entry + "_open" == "remat_program_open")
      return makeError("the entry point would be remat_program_open, which is the runtime's", options.output,
                       "name the file otherwise");
    if (line.emit == "shared") {
      Expected<SharedLinker> found = SharedLinker::find(tool);
      if (!found)
        return found.error();
      linker = std::move(*found);
    }
    llvm::SmallString<128> path(options.output);
    llvm::sys::path::replace_extension(path, "h");
    header = path.str();
    std::vector<std::string> paths{options.output, header, line.planOut};
    llvm::append_range(paths, line.reports);
    return outputs.open(std::move(paths));
  }

  std::optional<Error> write(const CompiledStep &compiled) {
    const CpuStep &step = compiled.step;
    const std::vector<char> &object = step.objects.front();
    std::string text(object.begin(), object.end());
    if (linker) {
      Expected<std::string> shared = linker->link(object, entry, llvm::sys::path::filename(options.output));
      if (!shared)
        return shared.error();
      text = std::move(*shared);
    }
    outputs.to(options.output) << text;
    outputs.to(header) << emitHeader(step.program, entry);
    for (const std::string &path : line.reports)
      StringRef(path).ends_with(".json") ? writeReportJson(outputs.to(path), compiled.report)
                                         : writeReportText(outputs.to(path), compiled.report);
    if (!line.planOut.empty())
      outputs.to(line.planOut) << compiled.plan;
    return outputs.commit();
  }

  std::string entry; ///< Known once prepared.

private:
  const CommandLine &line;
  const RunOptions &options;
  std::optional<SharedLinker> linker;
  std::string header; ///< Its path.
  Outputs outputs;
};

} // namespace

static LogicalResult emitClusters(ModuleOp module, const CommandLine &line, const RunOptions &options) {
  if (asksForAPlan(line) || !line.planOut.empty() || !line.reports.empty())
    return printError("--emit=graph-json writes the clusters as they come, and plans nothing",
                      "leave the planning flags out; remat-plan plans " + options.output +
                          ", and --plan takes its plan"),
           failure();
  Outputs outputs;
  if (auto error = outputs.open({options.output}))
    return printError(*error), failure();
  FailureOr<Graph> graph = extractClusters(module, line, options.threads);
  if (failed(graph))
    return failure();
  writeGraph(outputs.to(options.output), *graph);
  if (auto error = outputs.commit())
    return printError(*error), failure();
  return success();
}

/// The kernels of the step as it came, for the GPU that `--device` names.
static FailureOr<std::string> makeKernels(ModuleOp module, const CommandLine &line) {
  FailureOr<func::FuncOp> function = findMainFunction(module, line.options.function);
  if (failed(function) || failed(flattenFunction(*function)))
    return failure();
  stripMarks(*function);
  if (failed(importStableHlo(*function)))
    return failure();
  GpuKernels kernels = lowerKernelsToGpu(*function);
  for (const WithoutKernel &other : kernels.others)
    mlir::emitRemark(other.location) << "'" << other.op << "' has no kernel: " << other.reason;
  if (failed(prepareKernels(kernels)))
    return failure();
  return emitKernels(kernels, line.emit, line.options.device);
}

static LogicalResult emitCuda(ModuleOp module, const CommandLine &line, const RunOptions &options) {
  if (asksForAPlan(line) || !line.planOut.empty() || !line.reports.empty())
    return printError("--emit=" + line.emit + " writes the kernels of the step as it came, and plans nothing",
                      "leave the planning flags out"),
           failure();
  if (line.emit != "fatbin" && !llvm::is_contained(cudaTargets, line.options.device))
    return printError("--emit=" + line.emit + " needs a GPU to make code for, not --device=" + line.options.device,
                      "say --device=" + llvm::join(llvm::ArrayRef(cudaTargets), " or ") + "; fatbin holds all of them"),
           failure();
  Outputs outputs;
  if (auto error = outputs.open({options.output}))
    return printError(*error), failure();
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<std::string> code = makeKernels(*copy, line);
  if (failed(code))
    return failure();
  outputs.to(options.output) << *code;
  if (auto error = outputs.commit())
    return printError(*error), failure();
  return success();
}

LogicalResult emitStep(ModuleOp module, const CommandLine &line, const RunOptions &options, const Input &input,
                       StringRef tool) {
  if (line.emit == "graph-json")
    return emitClusters(module, line, options);
  if (llvm::is_contained({"ptx", "cubin", "fatbin"}, line.emit))
    return emitCuda(module, line, options);
  Emitter emitter(line, options);
  if (auto error = emitter.prepare(tool))
    return printError(*error), failure();
  FailureOr<CompiledStep> compiled = compileStep(module, line, input, options.threads, emitter.entry);
  if (failed(compiled))
    return failure();
  if (auto error = emitter.write(*compiled))
    return printError(*error), failure();
  if (!llvm::is_contained(line.reports, "-"))
    writeReportSummary(std::cout, compiled->report);
  return success();
}

} // namespace remat
