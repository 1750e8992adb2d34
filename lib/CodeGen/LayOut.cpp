//===- LayOut.cpp - From a function to a program --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayOut.h"

#include "BuildProgram.h"
#include "ClusterPlan.h"
#include "Clusters.h"
#include "Convolutions.h"
#include "Dots.h"

#include "remat/Plan/Simulator.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace remat {

void formClustersFor(func::FuncOp function, const Target &target) {
  decomposeUnknownConvolutions(function, target);
  formClusters(function);
  function.walk([&](linalg::GenericOp product) {
    if (product->getParentOfType<KernelOp>())
      return;
    std::optional<runtime::MatmulSpec> spec = findMatmul(product);
    if (!spec || target.multiplies(*spec))
      return;
    // What the sums start with is the kernel's own.
    SmallVector<Operation *> members;
    if (auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>()) {
      members.push_back(OpBuilder(product).clone(*fill));
      product.getDpsInitsMutable()[0].assign(members.back()->getResult(0));
    }
    members.push_back(product);
    makeKernel(members);
  });
}

/// Import takes the signedness off the types; files are read by it.
static void noteSignedness(TypeRange types, std::vector<runtime::Program::Value> &values) {
  for (auto [type, value] : llvm::zip(types, values))
    value.isUnsigned = getElementTypeOrSelf(type).isUnsignedInteger();
}

static FailureOr<ClusterGraph> clustersOf(func::FuncOp function, const ClusterPhases &phases, const BuiltProgram &given,
                                          const LayoutOptions &options) {
  Expected<DeviceProfile> device = options.device ? *options.device : findDevice("cpu");
  if (!device)
    return function.emitError() << device.error().message;
  return makeClusterGraph(function, given.items, phases, *device);
}

namespace {

/// Lays a function out as plans of its clusters say, on copies.
class PlanLayouts {
public:
  /// `given`: the function's layout as it came.
  PlanLayouts(func::FuncOp function, const ClusterGraph &clusters, const BuiltProgram &given, KernelTable &kernels)
      : function(function), clusters(clusters), given(given), kernels(kernels) {}

  FailureOr<int64_t> measure(const Plan &plan, int64_t enoughBytes) {
    if (std::optional<Error> error = verify(clusters.graph, plan))
      return function.emitError() << "the plan of the clusters breaks a rule: " << error->place << ": "
                                  << error->message;
    if (isAsGiven(plan))
      return given.program.arenaBytes;
    if ((plan.steps != last.steps || enoughBytes != last.enoughBytes) && failed(build(plan, enoughBytes)))
      return failure();
    return last.built.program.arenaBytes;
  }

  bool isAsGiven(const Plan &plan) const { return plan.steps == programOrder(clusters.graph).steps; }

  /// The layout of a plan, and the copy that it is of. Its arena is as small as can be, and no larger than it was when
  /// the plan was measured.
  FailureOr<std::pair<BuiltProgram, OwningOpRef<func::FuncOp>>> take(const Plan &plan) {
    if (failed(measure(plan, last.enoughBytes)))
      return failure();
    Layout fitting = std::move(last);
    bool mayShrink = fitting.enoughBytes > 0 && !fitting.built.provenPacking;
    if (mayShrink && failed(build(plan, 0)))
      return failure();
    Layout &best = mayShrink && last.built.program.arenaBytes < fitting.built.program.arenaBytes ? last : fitting;
    return std::pair(std::move(best.built), std::move(best.copy));
  }

private:
  LogicalResult build(const Plan &plan, int64_t enoughBytes) {
    last = {};
    last.enoughBytes = enoughBytes;
    IRMapping mapping;
    OwningOpRef<func::FuncOp> copy = cast<func::FuncOp>(function->clone(mapping));
    applyClusterPlan(*copy, llvm::map_to_vector(clusters.ops, [&](Operation *op) { return mapping.lookup(op); }), plan);
    FailureOr<BuiltProgram> built = buildProgram(*copy, kernels, enoughBytes);
    if (failed(built))
      return failure();
    int64_t plannedPeakBytes = simulate(clusters.graph, plan).peakBytes;
    if (built->livePeakBytes > plannedPeakBytes)
      return function.emitError() << "the planned clusters need " << built->livePeakBytes << " bytes, their plan "
                                  << plannedPeakBytes;
    last = {enoughBytes, plan.steps, std::move(copy), std::move(*built)};
    return success();
  }

  struct Layout {
    int64_t enoughBytes = 0;
    std::vector<OpId> steps;
    OwningOpRef<func::FuncOp> copy;
    BuiltProgram built;
  };

  func::FuncOp function;
  const ClusterGraph &clusters;
  const BuiltProgram &given;
  KernelTable &kernels;
  Layout last; ///< Of the plan that was measured last.
};

} // namespace

/// Lays the function out as the plan of `options` says. `built`: its layout as it came, which becomes the planned one.
static LogicalResult layOutPlanned(func::FuncOp function, const ClusterPhases &phases, KernelTable &kernels,
                                   const LayoutOptions &options, LaidOutStep &step, BuiltProgram &built) {
  FailureOr<ClusterGraph> clusters = clustersOf(function, phases, built, options);
  if (failed(clusters))
    return failure();
  PlanLayouts layouts(function, *clusters, built, kernels);
  auto measure = [&](const Plan &plan, int64_t enoughBytes) { return layouts.measure(plan, enoughBytes); };
  FailureOr<Plan> plan = options.planClusters(clusters->graph, measure);
  if (failed(plan))
    return failure();
  step.givenPeakBytes = built.livePeakBytes;
  if (layouts.isAsGiven(*plan))
    return success();
  auto taken = layouts.take(*plan);
  if (failed(taken))
    return failure();
  std::tie(built, step.planned) = std::move(*taken);
  return success();
}

FailureOr<LaidOutStep> layOutStep(func::FuncOp function, const LayoutOptions &options, KernelTable &kernels) {
  formClustersFor(function, kernels.target);
  ClusterPhases phases;
  if (options.planClusters)
    phases = takePhases(function);
  FailureOr<BuiltProgram> built = buildProgram(function, kernels);
  LaidOutStep step;
  if (failed(built) ||
      (options.planClusters && failed(layOutPlanned(function, phases, kernels, options, step, *built))))
    return failure();
  kernels.keepOnlyThoseOf(built->program);
  if (options.signature) {
    noteSignedness(options.signature.getInputs(), built->program.arguments);
    noteSignedness(options.signature.getResults(), built->program.results);
  }
  step.program = std::move(built->program);
  step.graph = std::move(built->graph);
  step.livePeakBytes = built->livePeakBytes;
  step.provenPacking = built->provenPacking;
  step.origins = std::move(built->origins);
  return step;
}

FailureOr<Graph> extractClusters(func::FuncOp function, const LayoutOptions &options, Target &target) {
  formClustersFor(function, target);
  ClusterPhases phases = takePhases(function);
  KernelTable kernels(target);
  FailureOr<BuiltProgram> built = buildProgram(function, kernels);
  if (failed(built))
    return failure();
  FailureOr<ClusterGraph> clusters = clustersOf(function, phases, *built, options);
  if (failed(clusters))
    return failure();
  return std::move(clusters->graph);
}

FailureOr<int64_t> findClusterPeak(func::FuncOp function, Target &target) {
  formClustersFor(function, target);
  KernelTable kernels(target);
  FailureOr<BuiltProgram> built = buildProgram(function, kernels);
  if (failed(built))
    return failure();
  return built->livePeakBytes;
}

} // namespace remat
