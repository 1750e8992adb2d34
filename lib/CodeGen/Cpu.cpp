//===- Cpu.cpp - A training step for the CPU ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/CodeGen/Cpu.h"

#include "BuildProgram.h"
#include "ClusterPlan.h"
#include "Clusters.h"
#include "EmitObject.h"
#include "Lower.h"

#include "remat/Plan/Simulator.h"
#include "remat/Runtime/Processor.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/Threading.h"

using namespace mlir;

namespace remat {

void registerCodeGenDialects(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect, cf::ControlFlowDialect,
              func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
              RematDialect, scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
}

/// Import takes the signedness off the types; files are read by it.
static void noteSignedness(TypeRange types, std::vector<runtime::Program::Value> &values) {
  for (auto [type, value] : llvm::zip(types, values))
    value.isUnsigned = getElementTypeOrSelf(type).isUnsignedInteger();
}

static FailureOr<ClusterGraph> clustersOf(func::FuncOp function, const ClusterPhases &phases, const BuiltProgram &given,
                                          const CpuOptions &options) {
  Expected<DeviceProfile> device = options.device ? *options.device : findDevice("cpu");
  if (!device)
    return function.emitError() << device.error().message;
  return makeClusterGraph(function, given.items, phases, *device);
}

/// Lays the function out as the plan of `options` says. `given`: its layout as it came.
static FailureOr<BuiltProgram> buildPlanned(func::FuncOp function, const ClusterPhases &phases, BuiltProgram given,
                                            KernelTable &kernels, const CpuOptions &options) {
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
  FailureOr<BuiltProgram> built = buildProgram(function, kernels, options.threads);
  if (succeeded(built) && built->livePeakBytes > plannedPeakBytes)
    return function.emitError() << "the planned clusters need " << built->livePeakBytes << " bytes, their plan "
                                << plannedPeakBytes;
  return built;
}

FailureOr<CpuStep> compileForCpu(func::FuncOp function, const CpuOptions &options) {
  formClusters(function);
  ClusterPhases phases;
  if (options.planClusters)
    phases = takePhases(function);
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  KernelTable kernels(*module);
  std::optional<int64_t> givenPeakBytes;
  FailureOr<BuiltProgram> built = buildProgram(function, kernels, options.threads);
  if (succeeded(built) && options.planClusters) {
    givenPeakBytes = built->livePeakBytes;
    built = buildPlanned(function, phases, std::move(*built), kernels, options);
  }
  if (failed(built))
    return failure();
  kernels.keepOnlyThoseOf(built->program);
  // An emitted step is one object.
  constexpr unsigned mostParts = 4;
  if (options.entry.empty())
    dealKernels(*module, std::min(mostParts, llvm::hardware_concurrency().compute_thread_count()));
  if (failed(lowerKernels(*module, kernels.kernels)))
    return failure();
  if (options.signature) {
    noteSignedness(options.signature.getInputs(), built->program.arguments);
    noteSignedness(options.signature.getResults(), built->program.results);
  }
  built->program.features = runtime::processorFeatures();
  if (!options.entry.empty())
    addEntryPoint(*module, built->program, options.entry);
  FailureOr<std::vector<std::vector<char>>> objects = compileObjects(*module);
  if (failed(objects))
    return failure();
  return CpuStep{std::move(built->program), std::move(*objects), std::move(built->graph),
                 built->livePeakBytes,      givenPeakBytes,      built->provenPacking};
}

FailureOr<Graph> extractClusters(func::FuncOp function, const CpuOptions &options) {
  formClusters(function);
  ClusterPhases phases = takePhases(function);
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  KernelTable kernels(*module);
  FailureOr<BuiltProgram> built = buildProgram(function, kernels, options.threads);
  if (failed(built))
    return failure();
  FailureOr<ClusterGraph> clusters = clustersOf(function, phases, *built, options);
  if (failed(clusters))
    return failure();
  return std::move(clusters->graph);
}

FailureOr<int64_t> findClusterPeak(func::FuncOp function, const CpuOptions &options) {
  formClusters(function);
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  KernelTable kernels(*module);
  FailureOr<BuiltProgram> built = buildProgram(function, kernels, options.threads);
  if (failed(built))
    return failure();
  return built->livePeakBytes;
}

FailureOr<LoadedKernels> loadKernels(const CpuStep &step, Location location) {
  FailureOr<LoadedCode> code = loadObjects(location, step.objects, step.program.kernels);
  if (failed(code))
    return failure();
  LoadedKernels result;
  result.code = code->owner;
  for (void *function : code->functions)
    result.functions.push_back(reinterpret_cast<runtime::KernelFunction>(function));
  return result;
}

namespace {
struct ClusterPass : PassWrapper<ClusterPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ClusterPass)
  StringRef getArgument() const override { return "remat-cluster"; }
  StringRef getDescription() const override { return "Join the loops of an imported function into kernels"; }
  void getDependentDialects(DialectRegistry &registry) const override { registerCodeGenDialects(registry); }
  void runOnOperation() override { formClusters(getOperation()); }
};
} // namespace

void registerCodeGenPasses() { PassRegistration<ClusterPass>(); }

} // namespace remat
