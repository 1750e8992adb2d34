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
#include "Dots.h"

#include "remat/Plan/Simulator.h"

using namespace mlir;

namespace remat {

void formClustersFor(func::FuncOp function, const Target &target) {
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

/// Lays the function out as the plan of `options` says. `given`: its layout as it came.
static FailureOr<BuiltProgram> buildPlanned(func::FuncOp function, const ClusterPhases &phases, BuiltProgram given,
                                            KernelTable &kernels, const LayoutOptions &options) {
  FailureOr<ClusterGraph> clusters = clustersOf(function, phases, given, options);
  if (failed(clusters))
    return failure();
  FailureOr<Plan> plan = options.planClusters(clusters->graph);
  if (failed(plan))
    return failure();
  if (std::optional<Error> error = verify(clusters->graph, *plan))
    return function.emitError() << "the plan of the clusters breaks a rule: " << error->place << ": " << error->message;
  if (plan->steps == programOrder(clusters->graph).steps)
    return std::move(given);
  int64_t plannedPeakBytes = simulate(clusters->graph, *plan).peakBytes;
  applyClusterPlan(function, *clusters, *plan);
  FailureOr<BuiltProgram> built = buildProgram(function, kernels);
  if (succeeded(built) && built->livePeakBytes > plannedPeakBytes)
    return function.emitError() << "the planned clusters need " << built->livePeakBytes << " bytes, their plan "
                                << plannedPeakBytes;
  return built;
}

FailureOr<LaidOutStep> layOutStep(func::FuncOp function, const LayoutOptions &options, KernelTable &kernels) {
  formClustersFor(function, kernels.target);
  ClusterPhases phases;
  if (options.planClusters)
    phases = takePhases(function);
  std::optional<int64_t> givenPeakBytes;
  FailureOr<BuiltProgram> built = buildProgram(function, kernels);
  if (succeeded(built) && options.planClusters) {
    givenPeakBytes = built->livePeakBytes;
    built = buildPlanned(function, phases, std::move(*built), kernels, options);
  }
  if (failed(built))
    return failure();
  kernels.keepOnlyThoseOf(built->program);
  if (options.signature) {
    noteSignedness(options.signature.getInputs(), built->program.arguments);
    noteSignedness(options.signature.getResults(), built->program.results);
  }
  LaidOutStep step;
  step.program = std::move(built->program);
  step.graph = std::move(built->graph);
  step.livePeakBytes = built->livePeakBytes;
  step.givenPeakBytes = givenPeakBytes;
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
