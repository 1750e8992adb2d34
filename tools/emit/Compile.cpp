//===- Compile.cpp - From a module to a compiled step ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Planning.h"

#include "remat/IR/RematDialect.h"
#include "remat/Import/Import.h"
#include "remat/Plan/OutputFile.h"
#include "remat/Transforms/Pipelines.h"

#include "llvm/Support/JSON.h"

#include <chrono>

using namespace mlir;

namespace remat {

bool asksForAPlan(const CommandLine &line) {
  const RematOptions &options = line.options;
  return options.policy != RematOptions().policy || !options.recompute.empty() || !line.planFile.empty() ||
         options.planOptions().hasLimit() || options.pareto > 0 || options.order == "free";
}

/// Ops of a function that nobody asks to plan are forward, if nothing says otherwise: so forward passes run too.
static void markForward(ModuleOp module, const RematOptions &options) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  if (succeeded(extractModule(module, options)))
    return;
  // Calls hold ops too.
  FailureOr<func::FuncOp> function = findMainFunction(module, options.function);
  if (succeeded(function) && succeeded(flattenFunction(*function)))
    for (Operation &op : function->front().without_terminator())
      op.setAttr(attr::phase, StringAttr::get(module.getContext(), "forward"));
}

/// Compiles a flat function. `layout`: how it is planned.
static FailureOr<CompiledCode> compile(func::FuncOp function, const CodeOptions &code, LayoutOptions layout = {}) {
  layout.signature = function.getFunctionType();
  if (failed(importStableHlo(function)))
    return failure();
  if (code.forGpu) {
    FailureOr<CudaStep> step = compileForCuda(function, layout);
    return failed(step) ? FailureOr<CompiledCode>() : FailureOr<CompiledCode>(std::move(*step));
  }
  FailureOr<CpuStep> step = compileForCpu(function, {std::move(layout), code.threads, code.entry});
  return failed(step) ? FailureOr<CompiledCode>() : FailureOr<CompiledCode>(std::move(*step));
}

static FailureOr<func::FuncOp> flatOriginal(ModuleOp copy, const RematOptions &options) {
  FailureOr<func::FuncOp> function = findMainFunction(copy, options.function);
  if (failed(function) || failed(flattenFunction(*function)))
    return failure();
  stripMarks(*function);
  return function;
}

FailureOr<CompiledCode> compileOriginal(ModuleOp module, const RematOptions &options, const CodeOptions &code) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<func::FuncOp> function = flatOriginal(*copy, options);
  if (failed(function))
    return failure();
  return compile(*function, code);
}

static bool isClusterPlan(const std::string &path) {
  if (path.empty())
    return false;
  Expected<std::string> text = readFile(path);
  if (!text)
    return false;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(*text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return false;
  }
  const llvm::json::Object *object = value->getAsObject();
  return object && object->getString("graph").value_or("").ends_with(clusterGraphSuffix);
}

/// What the clusters of the step as it came need.
static FailureOr<int64_t> findGivenPeak(ModuleOp module, const RematOptions &options, const CodeOptions &code) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<func::FuncOp> function = flatOriginal(*copy, options);
  if (failed(function) || failed(importStableHlo(*function)))
    return failure();
  return code.forGpu ? findClusterPeakForCuda(*function) : findClusterPeak(*function, {{}, code.threads});
}

/// A copy that is ready to be planned.
static FailureOr<ExtractedModule> extractCopy(ModuleOp module, const CommandLine &asked) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (!asksForAPlan(asked))
    markForward(*copy, asked.options);
  FailureOr<ExtractedModule> extracted = extractModule(*copy, asked.options);
  if (failed(extracted))
    return failure();
  if (extracted->joined)
    return extracted->function.emitError() << "forward and backward are two functions, so there is no step to run";
  return std::move(*extracted);
}

namespace {

/// The ways to a compiled step.
class StepCompiler {
public:
  StepCompiler(ModuleOp module, const CommandLine &line, const Input &input, const CodeOptions &options)
      : module(module), line(line), input(input), options(options) {}

  FailureOr<CompiledStep> run() {
    if (line.options.planOptions().hasLimit() || isClusterPlan(line.planFile))
      return onClusters();
    FailureOr<CompiledStep> step = onGraph(line);
    if (failed(step) || line.options.policy != "sqrt-n" || isKept(*step))
      return step;
    std::string graphPeak = peaks(*step);
    // The names of --keep and --recompute are those of the graph's values.
    if (line.options.keep.empty() && line.options.recompute.empty()) {
      FailureOr<CompiledStep> planned = onClusters();
      if (failed(planned))
        return failure();
      if (isKept(*planned)) {
        remark() << graphPeak << ": the clusters are planned instead";
        return planned;
      }
    }
    remark() << graphPeak << ": the step stays as it came";
    return asItCame(*step);
  }

private:
  static bool isKept(const CompiledStep &step) {
    return !step.givenPeakBytes || step.layout().livePeakBytes <= *step.givenPeakBytes;
  }

  static std::string peaks(const CompiledStep &step) {
    return "sqrt-n would raise the peak of the clusters from " + std::to_string(*step.givenPeakBytes) + " to " +
           std::to_string(step.layout().livePeakBytes) + " bytes";
  }

  InFlightDiagnostic remark() const { return mlir::emitRemark(module.getLoc()); }

  FailureOr<ExtractedModule> extract(const CommandLine &asked) const { return extractCopy(module, asked); }

  /// Fills in what comes of a plan.
  void note(CompiledStep &step, const Graph &graph, const PolicyPlan &planned, StringRef level,
            const ExtractOptions &extractOptions, double seconds) const {
    ReportContext context = describePlanning(line, input, extractOptions);
    context.level = level;
    context.planSeconds = seconds;
    step.report = makeReport(graph, planned, std::move(context));
    StringRef function = step.report.function;
    function.consume_back(clusterGraphSuffix);
    step.report.function = function.str();
    if (!line.planOut.empty())
      step.plan = planJson(graph, planned);
  }

  FailureOr<CompiledStep> onGraph(const CommandLine &asked) const {
    FailureOr<ExtractedModule> extracted = extract(asked);
    if (failed(extracted))
      return failure();
    auto begin = std::chrono::steady_clock::now();
    FailureOr<PolicyPlan> planned = makePlan(asked, *extracted);
    if (failed(planned))
      return failure();
    CompiledStep result;
    note(result, extracted->extracted.graph, *planned, "graph", extracted->extractOptions, secondsSince(begin));
    FailureOr<std::optional<Simulation>> rewritten = applyToModule(*extracted, planned->plan);
    if (failed(rewritten))
      return failure();
    stripMarks(extracted->function);
    if (rewritten->has_value()) {
      FailureOr<int64_t> peak = findGivenPeak(module, line.options, options);
      if (failed(peak))
        return failure();
      result.givenPeakBytes = *peak;
    }
    return finish(std::move(result), compile(extracted->function, options));
  }

  FailureOr<CompiledStep> onClusters() const {
    FailureOr<ExtractedModule> extracted = extract(line);
    if (failed(extracted))
      return failure();
    CompiledStep result;
    LayoutOptions planning;
    planning.device = &extracted->extractOptions.device;
    planning.planClusters = [&](const Graph &graph, ArenaMeasure measure) -> FailureOr<Plan> {
      auto begin = std::chrono::steady_clock::now();
      FailureOr<PolicyPlan> planned = planClusters(graph, measure, extracted->function.getLoc());
      if (failed(planned))
        return failure();
      note(result, graph, *planned, "clusters", extracted->extractOptions, secondsSince(begin));
      return std::move(planned->plan);
    };
    FailureOr<CompiledCode> code = compile(extracted->function, options, planning);
    if (succeeded(code))
      result.givenPeakBytes = layoutOf(*code).givenPeakBytes;
    return finish(std::move(result), std::move(code));
  }

  /// A limit holds for the arena.
  FailureOr<PolicyPlan> planClusters(const Graph &graph, ArenaMeasure measure, Location location) const {
    if (!line.planFile.empty())
      return readPlanFile(line, graph);
    SearchWatch watch;
    PlanOptions planOptions = watched(line.options, watch).planOptions();
    planOptions.arenaOf = [&](const Plan &plan, int64_t enoughBytes) -> Expected<int64_t> {
      FailureOr<int64_t> bytes = measure(plan, enoughBytes);
      if (failed(bytes))
        return makeError("the step can't be laid out as planned");
      return *bytes;
    };
    Expected<PolicyPlan> planned = plan(graph, planOptions);
    if (!planned)
      return remat::emitError(location, planned.error());
    return std::move(*planned);
  }

  /// Instead of a plan that was dropped.
  FailureOr<CompiledStep> asItCame(const CompiledStep &dropped) const {
    CommandLine unchanged = line;
    unchanged.options.policy = RematOptions().policy;
    unchanged.options.segments.clear();
    FailureOr<CompiledStep> step = onGraph(unchanged);
    if (succeeded(step))
      step->givenPeakBytes = dropped.givenPeakBytes;
    return step;
  }

  static FailureOr<CompiledStep> finish(CompiledStep result, FailureOr<CompiledCode> code) {
    if (failed(code))
      return failure();
    result.code = std::move(*code);
    result.report.arenaBytes = result.layout().program.arenaBytes;
    if (auto *step = std::get_if<CudaStep>(&result.code)) {
      Expected<GpuCalls> calls = countGpuCalls(*step);
      if (!calls)
        return printError(calls.error()), failure();
      result.gpuCalls = std::move(*calls);
    }
    return result;
  }

  static double secondsSince(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  mutable ModuleOp module; ///< A handle, whose getters are not const.
  const CommandLine &line;
  const Input &input;
  CodeOptions options;
};

} // namespace

FailureOr<CompiledStep> compileStep(ModuleOp module, const CommandLine &line, const Input &input,
                                    const CodeOptions &options) {
  return StepCompiler(module, line, input, options).run();
}

FailureOr<Graph> extractClusters(ModuleOp module, const CommandLine &line, const CodeOptions &code) {
  FailureOr<ExtractedModule> extracted = extractCopy(module, line);
  if (failed(extracted) || failed(importStableHlo(extracted->function)))
    return failure();
  LayoutOptions layout{.device = &extracted->extractOptions.device};
  return code.forGpu ? extractClustersForCuda(extracted->function, layout)
                     : remat::extractClusters(extracted->function, CpuOptions{std::move(layout), code.threads});
}

} // namespace remat
