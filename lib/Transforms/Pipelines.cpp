//===- Pipelines.cpp - From a module to a rewritten module ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Transforms/Pipelines.h"

#include "Marks.h"

#include "remat/IR/RematDialect.h"
#include "remat/Transforms/Apply.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace remat {

InFlightDiagnostic emitError(Location location, const Error &error) {
  InFlightDiagnostic diag = mlir::emitError(location);
  if (!error.place.empty())
    diag << error.place << ": ";
  diag << error.message;
  if (!error.note.empty())
    diag.attachNote() << error.note;
  return diag;
}

/// Where errors about options stand: a module without a `module` line has no place of its own.
static Location optionLocation(ModuleOp module) {
  auto place = dyn_cast<FileLineColRange>(module.getLoc());
  bool hasPlace = !place || place.getStartLine() || module.getBody()->empty();
  return hasPlace ? module.getLoc() : module.getBody()->front().getLoc();
}

FailureOr<func::FuncOp> findMainFunction(ModuleOp module, StringRef name) {
  SmallVector<func::FuncOp> all, open;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    all.push_back(function);
    if (function.getName() == (name.empty() ? "main" : name))
      return function;
    if (function.isPublic())
      open.push_back(function);
  }
  if (name.empty() && open.size() == 1)
    return open.front();
  InFlightDiagnostic diag = mlir::emitError(optionLocation(module));
  if (!name.empty())
    diag << "no function named '" << name << "' that has a body";
  else if (all.empty())
    diag << "no function: the module holds no func.func with a body";
  else
    diag << "no main function: none is named 'main', and " << open.size() << " are public";
  for (func::FuncOp function : all)
    diag.attachNote(function.getLoc()) << "say which with --function=" << function.getName();
  return diag;
}

FailureOr<ExtractOptions> makeExtractOptions(const RematOptions &options, Location location) {
  ExtractOptions result;
  Expected<DeviceProfile> device = findDevice(options.device);
  if (!device)
    return emitError(location, device.error());
  result.device = std::move(*device);
  for (StringRef bound : options.dim) {
    auto [name, text] = bound.rsplit('=');
    int64_t size;
    if (name.empty() || text.getAsInteger(10, size) || size < 1) {
      InFlightDiagnostic diag = mlir::emitError(location) << "'" << bound << "' does not bound a dimension";
      diag.attachNote() << "say --dim=NAME.D=N with N from 1, such as --dim=arg0.0=32, or --dim=*=32";
      return diag;
    }
    if (!result.dimensionBounds.try_emplace(name, size).second) {
      InFlightDiagnostic diag = mlir::emitError(location) << "--dim=" << name << " is given twice";
      diag.attachNote() << "give every dimension one bound";
      return diag;
    }
  }
  return result;
}

PlanOptions RematOptions::planOptions() const {
  PlanOptions result;
#define REMAT_OPTION(TYPE, MEMBER, NAME, DEFAULT, VALUE, HELP)
#define REMAT_PLAN_OPTION(TYPE, MEMBER, NAME, DEFAULT, VALUE, HELP) result.MEMBER = MEMBER;
#include "remat/Transforms/Options.def"
  result.interrupt = interrupt;
  result.progress = progress;
  return result;
}

static bool carriesPhases(func::FuncOp function) {
  return function.walk([](Operation *op) { return WalkResult(success(!op->hasAttr(attr::phase))); }).wasInterrupted();
}

/// The options that decide the plan, as on the command line.
static std::string describeRequest(const RematOptions &options) {
  std::string text = options.policy;
  if (!options.segments.empty())
    text += " segments=" + options.segments;
  if (!options.keep.empty())
    text += " keep=" + llvm::join(options.keep, ",");
  if (!options.recompute.empty())
    text += " recompute=" + llvm::join(options.recompute, ",");
  if (!options.memoryLimit.empty())
    text += " memory-limit=" + options.memoryLimit;
  if (!options.deviceMemory.empty())
    text += " device-memory=" + options.deviceMemory;
  if (!options.order.empty())
    text += " order=" + options.order;
  if (options.cost != "time")
    text += " cost=" + options.cost;
  if (options.effort != RematOptions().effort)
    text += " effort=" + std::to_string(options.effort);
  if (options.seed != RematOptions().seed)
    text += " seed=" + std::to_string(options.seed);
  if (!options.timeLimit.empty())
    text += " time-limit=" + options.timeLimit;
  return options.prune ? text + " prune" : text;
}

static StringRef notedRequest(func::FuncOp function) {
  if (auto attribute = function->getAttrOfType<StringAttr>(attr::policy))
    return attribute.getValue();
  return frontendText(function, attr::policy);
}

static void noteRequest(func::FuncOp function, StringRef request) {
  if (request.empty())
    return;
  if (isStableHlo(function))
    setFrontendText(function, attr::policy, request);
  else
    function->setAttr(attr::policy, StringAttr::get(function.getContext(), request));
}

FailureOr<PolicyPlan> planModule(ExtractedModule &module, const RematOptions &options) {
  const Graph &graph = module.extracted.graph;
  Expected<PolicyPlan> planned = plan(graph, options.planOptions());
  if (!planned)
    return emitError(module.function.getLoc(), planned.error());
  module.request = describeRequest(options);
  if (notedRequest(module.function) == module.request && planned->plan.steps != programOrder(graph).steps) {
    std::vector<FrontPlan> front = std::move(planned->front);
    planned = plan(graph, PlanOptions());
    planned->front = std::move(front);
  }
  emitRemarks(module.function, module.extracted, *planned);
  return std::move(*planned);
}

FailureOr<ExtractedModule> extractModule(ModuleOp original, const RematOptions &options) {
  ExtractedModule result;
  FailureOr<ExtractOptions> extractOptions = makeExtractOptions(options, optionLocation(original));
  if (failed(extractOptions))
    return failure();
  result.extractOptions = std::move(*extractOptions);
  original.getContext()->getOrLoadDialect<RematDialect>();
  result.module = original.clone();
  if (options.function.empty()) {
    FailureOr<std::optional<JoinedFunctions>> joined = joinFunctions(*result.module);
    if (failed(joined))
      return failure();
    result.joined = *joined;
  }
  if (result.joined) {
    result.function = result.joined->joined;
    result.hasBackward = true;
    if (options.lossResult >= 0)
      emitRemark(result.function.getLoc())
          << "forward and backward are two functions; --loss-result=" << options.lossResult << " changes nothing";
  } else {
    FailureOr<func::FuncOp> function = findMainFunction(*result.module, options.function);
    if (failed(function) || failed(flattenFunction(*function)))
      return failure();
    result.function = *function;
    result.givenPhases = carriesPhases(*function);
    FailureOr<bool> hasBackward = findPhases(*function, {options.lossResult});
    if (failed(hasBackward))
      return failure();
    result.hasBackward = *hasBackward;
  }
  FailureOr<ExtractedGraph> extracted = extractGraph(result.function, result.extractOptions);
  if (failed(extracted))
    return failure();
  result.extracted = std::move(*extracted);
  return result;
}

void stripMarks(func::FuncOp function, ArrayRef<StringRef> kept) {
  auto isMark = [&](StringRef name) { return name.starts_with("remat.") && !llvm::is_contained(kept, name); };
  function.walk([&](Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (isMark(attribute.getName()))
        op->removeDiscardableAttr(attribute.getName());
  });
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    for (NamedAttribute attribute : llvm::to_vector(function.getResultAttrs(i)))
      if (isMark(attribute.getName()))
        function.removeResultAttr(i, attribute.getName());
}

/// Takes off what planning needed, and all that consumers of StableHLO would refuse.
static void stripPlanning(const ExtractedModule &module, func::FuncOp function) {
  if (isStableHlo(function))
    return stripMarks(function);
  SmallVector<StringRef> kept = {attr::clone,   attr::checkpointName, attr::region,         attr::loss,
                                 attr::regions, attr::residuals,      attr::recomputations, attr::policy};
  if (module.givenPhases)
    kept.push_back(attr::phase);
  stripMarks(function, kept);
}

FailureOr<std::optional<Simulation>> applyToModule(ExtractedModule &module, const Plan &plan) {
  if (plan.steps == programOrder(module.extracted.graph).steps)
    return std::optional<Simulation>();
  int64_t plannedPeakBytes = simulate(module.extracted.graph, plan).peakBytes;
  // The first cotangent: it stands behind the forward function's arguments.
  std::optional<unsigned> cotangent;
  if (module.joined && module.joined->forward.getNumArguments() < module.function.getNumArguments())
    cotangent = module.joined->forward.getNumArguments();
  if (failed(applyPlan(module.function, module.extracted, plan, cotangent)))
    return failure();
  FailureOr<Simulation> measured = verifyRewrite(module.function, plannedPeakBytes, module.extractOptions);
  if (failed(measured))
    return failure();
  noteRequest(module.function, module.request);
  if (!module.joined) {
    stripPlanning(module, module.function);
    return std::optional(std::move(*measured));
  }
  // The joined function's count of clones is lost with it; what the barriers say stays.
  if (failed(splitFunctions(*module.joined)))
    return failure();
  for (func::FuncOp part : {module.joined->forward, module.joined->backward}) {
    Attribute phase = part->getDiscardableAttr(attr::phase);
    stripPlanning(module, part);
    if (phase)
      part->setDiscardableAttr(attr::phase, phase);
  }
  return std::optional(std::move(*measured));
}

FailureOr<bool> rematerialize(ModuleOp module, const RematOptions &options) {
  FailureOr<ExtractedModule> extracted = extractModule(module, options);
  if (failed(extracted))
    return failure();
  FailureOr<PolicyPlan> planned = planModule(*extracted, options);
  if (failed(planned))
    return failure();
  FailureOr<std::optional<Simulation>> rewritten = applyToModule(*extracted, planned->plan);
  if (failed(rewritten))
    return failure();
  if (*rewritten)
    module.getBodyRegion().takeBody(extracted->module->getBodyRegion());
  return rewritten->has_value();
}

} // namespace remat
