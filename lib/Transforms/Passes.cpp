//===- Passes.cpp - The passes --------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bridges: extract, ask the planner, attach. Nothing is decided here.
//
//===----------------------------------------------------------------------===//

#include "remat/Transforms/Passes.h"

#include "Marks.h"

#include "remat/IR/OpModel.h"
#include "remat/Transforms/Apply.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassRegistry.h"

#include <mutex>

using namespace mlir;

namespace remat {

#define GEN_PASS_DEF_REMATFLATTENPASS
#define GEN_PASS_DEF_REMATPHASESPASS
#define GEN_PASS_DEF_REMATPLANPASS
#define GEN_PASS_DEF_REMATAPPLYPASS
#define GEN_PASS_DEF_REMATVERIFYPASS
#define GEN_PASS_DEF_REMATCHECKPASS
#define GEN_PASS_DEF_REMATSTRIPPASS
#include "remat/Transforms/Passes.h.inc"

/// The dialect and the op interface's external models.
static void addDialects(DialectRegistry &registry) {
  registry.insert<RematDialect, func::FuncDialect>();
  registerExternalModels(registry);
}

template <typename Option, typename T>
static void take(const Option &option, T &value) {
  value = option;
}
template <typename List>
static void take(const List &option, std::vector<std::string> &value) {
  value.assign(option.begin(), option.end());
}

namespace {
/// A function that earlier passes made ready, and how to see it as a graph.
struct Prepared {
  func::FuncOp function;
  ExtractOptions options;
};
} // namespace

/// What a pass's options `function`, `device` and `dim` name.
static FailureOr<Prepared> prepare(ModuleOp module, StringRef function, StringRef device, const auto &dim) {
  FailureOr<func::FuncOp> main = findMainFunction(module, function);
  if (failed(main))
    return failure();
  RematOptions options;
  options.device = device.str();
  options.dim.assign(dim.begin(), dim.end());
  FailureOr<ExtractOptions> extractOptions = makeExtractOptions(options, main->getLoc());
  if (failed(extractOptions))
    return failure();
  return Prepared{*main, std::move(*extractOptions)};
}

namespace {

struct FlattenPass : impl::RematFlattenPassBase<FlattenPass> {
  using Base::Base;
  void runOnOperation() override {
    FailureOr<func::FuncOp> main = findMainFunction(getOperation(), function);
    if (failed(main) || failed(flattenFunction(*main)))
      signalPassFailure();
  }
};

struct PhasesPass : impl::RematPhasesPassBase<PhasesPass> {
  using Base::Base;
  void runOnOperation() override {
    FailureOr<func::FuncOp> main = findMainFunction(getOperation(), function);
    if (failed(main) || failed(findPhases(*main, {lossResult})))
      return signalPassFailure();
    for (Operation &op : main->front().without_terminator())
      if (auto phase = op.getAttrOfType<StringAttr>(attr::phase))
        ++(phase.getValue() == "forward" ? forwardOps : backwardOps);
  }
};

struct PlanPass : impl::RematPlanPassBase<PlanPass> {
  using Base::Base;
  void getDependentDialects(DialectRegistry &registry) const override { addDialects(registry); }
  void runOnOperation() override {
    FailureOr<Prepared> prepared = prepare(getOperation(), function, device, dim);
    if (failed(prepared))
      return signalPassFailure();
    func::FuncOp main = prepared->function;
    FailureOr<ExtractedGraph> extracted = extractGraph(main, prepared->options);
    if (failed(extracted))
      return signalPassFailure();
    PlanOptions options;
#define REMAT_OPTION(TYPE, MEMBER, NAME, DEFAULT, VALUE, HELP)
#define REMAT_PLAN_OPTION(TYPE, MEMBER, NAME, DEFAULT, VALUE, HELP) take(MEMBER, options.MEMBER);
#include "remat/Transforms/Options.def"
    Expected<PolicyPlan> planned = plan(extracted->graph, options);
    if (!planned) {
      remat::emitError(main.getLoc(), planned.error());
      return signalPassFailure();
    }
    emitRemarks(main, *extracted, *planned);
    SmallVector<int64_t> steps;
    for (OpId op : planned->plan.steps)
      steps.push_back(op.index());
    main->setAttr(attr::plan, DenseI64ArrayAttr::get(&getContext(), steps));
    for (Reason reason : planned->reasons)
      savedValues += reason != Reason::NotRead && reason != Reason::Recomputed && reason != Reason::Moved;
    recomputedOps += simulate(extracted->graph, planned->plan).executions -
                     simulate(extracted->graph, programOrder(extracted->graph)).executions;
  }
};

struct ApplyPass : impl::RematApplyPassBase<ApplyPass> {
  using Base::Base;
  void getDependentDialects(DialectRegistry &registry) const override { addDialects(registry); }
  void runOnOperation() override {
    FailureOr<Prepared> prepared = prepare(getOperation(), function, device, dim);
    if (failed(prepared))
      return signalPassFailure();
    func::FuncOp main = prepared->function;
    FailureOr<ExtractedGraph> extracted = extractGraph(main, prepared->options);
    if (failed(extracted))
      return signalPassFailure();
    FailureOr<Plan> steps = readPlan(main, extracted->graph);
    if (failed(steps))
      return signalPassFailure();
    FailureOr<int64_t> guarded = applyPlan(main, *extracted, *steps);
    if (failed(guarded))
      return signalPassFailure();
    main->removeAttr(attr::plan);
    clones += *guarded;
  }

  /// `remat.plan` as a plan of this graph, verified: a user may have written it.
  static FailureOr<Plan> readPlan(func::FuncOp function, const Graph &graph) {
    auto attribute = function->getAttrOfType<DenseI64ArrayAttr>(attr::plan);
    if (!attribute) {
      InFlightDiagnostic diag = function.emitError() << "no plan: the function has no '" << attr::plan << "'";
      diag.attachNote() << "run remat-plan first";
      return diag;
    }
    Plan result;
    for (int64_t step : attribute.asArrayRef()) {
      if (step < 0 || size_t(step) >= graph.numOps())
        return function.emitError() << "'" << attr::plan << "' names op " << step << ", but there are "
                                    << graph.numOps() << " ops";
      result.steps.push_back(OpId(step));
    }
    if (std::optional<Error> error = verify(graph, result))
      return remat::emitError(function.getLoc(), *error);
    return result;
  }
};

struct VerifyPass : impl::RematVerifyPassBase<VerifyPass> {
  using Base::Base;
  void getDependentDialects(DialectRegistry &registry) const override { addDialects(registry); }
  void runOnOperation() override {
    FailureOr<Prepared> prepared = prepare(getOperation(), function, device, dim);
    if (failed(prepared) || failed(verifyRewrite(prepared->function, peakBytes, prepared->options)))
      signalPassFailure();
  }
};

struct CheckPass : impl::RematCheckPassBase<CheckPass> {
  using Base::Base;
  void getDependentDialects(DialectRegistry &registry) const override { addDialects(registry); }
  void runOnOperation() override {
    getOperation().walk([&](func::FuncOp function) {
      SurvivalCount count = countSurvivors(function);
      if (!count.planned)
        return;
      planned += count.planned;
      survived += count.survived;
      bool lost = count.survived < count.planned;
      InFlightDiagnostic diag =
          lost && failIfLost ? mlir::emitError(function.getLoc()) : mlir::emitRemark(function.getLoc());
      diag << "remat-check: " << count.survived << " of " << count.planned << " recomputations survived in @"
           << function.getName();
      if (lost)
        diag.attachNote() << "the others were merged with their originals, or lost the barrier that keeps them late";
      if (lost && failIfLost)
        signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};

struct StripPass : impl::RematStripPassBase<StripPass> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk([](func::FuncOp function) { stripMarks(function); });
  }
};

/// The pass `remat`. Its options are made of Options.def, so it can't be in Passes.td.
class RematPass : public PassWrapper<RematPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RematPass)

  RematPass() : RematPass(RematOptions()) {}
  RematPass(const RematPass &other) : PassWrapper(other) {}
  explicit RematPass(const RematOptions &given) {
#define REMAT_OPTION(TYPE, MEMBER, NAME, DEFAULT, VALUE, HELP) set(MEMBER, given.MEMBER);
#include "remat/Transforms/Options.def"
  }

  StringRef getArgument() const override { return "remat"; }
  StringRef getDescription() const override {
    return "Plan what is saved from forward to backward and recompute the rest";
  }
  void getDependentDialects(DialectRegistry &registry) const override { addDialects(registry); }

  void runOnOperation() override {
    RematOptions options;
#define REMAT_OPTION(TYPE, MEMBER, NAME, DEFAULT, VALUE, HELP) take(MEMBER, options.MEMBER);
#include "remat/Transforms/Options.def"
    FailureOr<bool> changed = rematerialize(getOperation(), options);
    if (failed(changed))
      return signalPassFailure();
    if (!*changed)
      markAllAnalysesPreserved();
  }

private:
  using Text = Option<std::string>;
  using List = ListOption<std::string>;
  using Flag = Option<bool>;
  using Number = Option<int64_t>;
#define REMAT_OPTION(TYPE, MEMBER, NAME, DEFAULT, VALUE, HELP) TYPE MEMBER{*this, NAME, llvm::cl::desc(HELP)};
#include "remat/Transforms/Options.def"

  template <typename Option, typename T>
  static void set(Option &option, const T &value) {
    option = value;
  }
  static void set(List &option, const std::vector<std::string> &value) { option = llvm::ArrayRef<std::string>(value); }
};

} // namespace

std::unique_ptr<Pass> createRematPass(const RematOptions &options) { return std::make_unique<RematPass>(options); }

void registerRematPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerRematTransformsPasses();
    PassRegistration<RematPass>();
  });
}

} // namespace remat
