//===- Compile.cpp - From a module to a compiled step ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile.h"

#include "remat/IR/RematDialect.h"
#include "remat/Import/Import.h"
#include "remat/Transforms/Pipelines.h"

#include <chrono>

using namespace mlir;

namespace remat {

static ReportContext describe(const CommandLine &line, const Input &input, const ExtractedModule &module) {
  ReportContext context;
  context.tool = "remat-run " REMAT_VERSION;
  context.input = input.name;
  context.policy = line.options.policy;
  context.segments = !line.options.segments.empty()    ? line.options.segments
                     : line.options.policy == "sqrt-n" ? "sqrt"
                                                       : "none";
  context.device = module.extractOptions.device.name;
  return context;
}

namespace {
/// A step that is planned and rewritten.
struct PlannedStep {
  ExtractedModule module;
  Report report;
  bool isChanged = false;
};
} // namespace

/// Ops of a function that nobody asks to plan are forward, if nothing says otherwise: so forward passes run too.
static void markForward(ModuleOp module, const RematOptions &options) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  if (succeeded(extractModule(module, options)))
    return;
  if (FailureOr<func::FuncOp> function = findMainFunction(module, options.function); succeeded(function))
    for (Operation &op : function->front().without_terminator())
      op.setAttr(attr::phase, StringAttr::get(module.getContext(), "forward"));
}

static FailureOr<PlannedStep> planStep(ModuleOp module, const CommandLine &line, const Input &input) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (!line.anyPlanningFlag)
    markForward(*copy, line.options);
  FailureOr<ExtractedModule> extracted = extractModule(*copy, line.options);
  if (failed(extracted))
    return failure();
  auto begin = std::chrono::steady_clock::now();
  FailureOr<PolicyPlan> planned = planModule(*extracted, line.options);
  if (failed(planned))
    return failure();
  ReportContext context = describe(line, input, *extracted);
  context.planSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Report report = makeReport(extracted->extracted.graph, *planned, std::move(context));
  FailureOr<std::optional<Simulation>> rewritten = applyToModule(*extracted, planned->plan);
  if (failed(rewritten))
    return failure();
  if (extracted->joined)
    return extracted->function.emitError() << "forward and backward are two functions, so there is no step to run";
  stripMarks(extracted->function);
  return PlannedStep{std::move(*extracted), std::move(report), rewritten->has_value()};
}

static FailureOr<CpuStep> compile(func::FuncOp function, const CpuOptions &options) {
  CpuOptions given = options;
  given.signature = function.getFunctionType();
  if (failed(importStableHlo(function)))
    return failure();
  return compileForCpu(function, given);
}

static FailureOr<func::FuncOp> flatOriginal(ModuleOp copy, const RematOptions &options) {
  FailureOr<func::FuncOp> function = findMainFunction(copy, options.function);
  if (failed(function) || failed(flattenFunction(*function)))
    return failure();
  stripMarks(*function);
  return function;
}

FailureOr<CpuStep> compileOriginal(ModuleOp module, const RematOptions &options, int threads, std::string entry) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<func::FuncOp> function = flatOriginal(*copy, options);
  if (failed(function))
    return failure();
  return compile(*function, {threads, {}, std::move(entry)});
}

/// What the clusters of the step as it came need.
static FailureOr<int64_t> findGivenPeak(ModuleOp module, const RematOptions &options, int threads) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<func::FuncOp> function = flatOriginal(*copy, options);
  if (failed(function) || failed(importStableHlo(*function)))
    return failure();
  return findClusterPeak(*function, {threads});
}

FailureOr<CompiledStep> compileStep(ModuleOp module, const CommandLine &line, const Input &input, int threads,
                                    std::string entry) {
  FailureOr<PlannedStep> planned = planStep(module, line, input);
  if (failed(planned))
    return failure();
  std::optional<int64_t> givenPeakBytes;
  if (planned->isChanged) {
    FailureOr<int64_t> peak = findGivenPeak(module, line.options, threads);
    if (failed(peak))
      return failure();
    givenPeakBytes = *peak;
  }
  FailureOr<CpuStep> step = compile(planned->module.function, {threads, {}, entry});
  if (failed(step))
    return failure();
  if (line.options.policy == "sqrt-n" && givenPeakBytes && step->livePeakBytes > *givenPeakBytes) {
    mlir::emitRemark(planned->module.function.getLoc())
        << "sqrt-n would raise the peak of the clusters from " << *givenPeakBytes << " to " << step->livePeakBytes
        << " bytes: the step stays as it came";
    CommandLine unchanged = line;
    unchanged.options.policy = "save-everything";
    unchanged.options.segments.clear();
    FailureOr<CompiledStep> asCame = compileStep(module, unchanged, input, threads, std::move(entry));
    if (failed(asCame))
      return failure();
    asCame->report.context.policy = planned->report.context.policy;
    asCame->report.context.segments = planned->report.context.segments;
    asCame->givenPeakBytes = givenPeakBytes;
    return asCame;
  }
  planned->report.arenaBytes = step->program.arenaBytes;
  return CompiledStep{std::move(*step), std::move(planned->report), givenPeakBytes};
}

FailureOr<std::shared_ptr<const runtime::Executable>> loadStep(CpuStep step, Location location) {
  FailureOr<LoadedKernels> kernels = loadKernels(step, location);
  if (failed(kernels))
    return failure();
  auto executable = runtime::Executable::create(std::move(step.program), kernels->functions, kernels->code);
  if (!executable)
    return mlir::emitError(location) << executable.error().str();
  return *executable;
}

} // namespace remat
