//===- Cpu.cpp - A training step for the CPU ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/CodeGen/Cpu.h"

#include "Clusters.h"
#include "CpuTarget.h"
#include "EmitObject.h"
#include "LayOut.h"
#include "Lower.h"

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

FailureOr<CpuStep> compileForCpu(func::FuncOp function, const CpuOptions &options) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  CpuTarget target(*module, options.threads);
  KernelTable kernels(target);
  FailureOr<LaidOutStep> laidOut = layOutStep(function, options, kernels);
  if (failed(laidOut))
    return failure();
  // An emitted step is one object.
  constexpr unsigned mostParts = 4;
  if (options.entry.empty())
    dealKernels(*module, std::min(mostParts, llvm::hardware_concurrency().compute_thread_count()));
  if (failed(lowerKernels(*module, kernels.kernels)))
    return failure();
  CpuStep step{std::move(*laidOut), {}};
  step.program.features = runtime::processorFeatures();
  if (!options.entry.empty())
    addEntryPoint(*module, step.program, options.entry);
  FailureOr<std::vector<std::vector<char>>> objects = compileObjects(*module);
  if (failed(objects))
    return failure();
  step.objects = std::move(*objects);
  return step;
}

FailureOr<Graph> extractClusters(func::FuncOp function, const CpuOptions &options) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  CpuTarget target(*module, options.threads);
  return extractClusters(function, options, target);
}

FailureOr<int64_t> findClusterPeak(func::FuncOp function, const CpuOptions &options) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  CpuTarget target(*module, options.threads);
  return findClusterPeak(function, target);
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
