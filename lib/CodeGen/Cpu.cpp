//===- Cpu.cpp - A training step for the CPU ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/CodeGen/Cpu.h"

#include "BuildProgram.h"
#include "Clusters.h"
#include "EmitObject.h"
#include "Lower.h"

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

FailureOr<CpuStep> compileForCpu(func::FuncOp function, const CpuOptions &options) {
  formClusters(function);
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  FailureOr<BuiltProgram> built = buildProgram(function, *module, options.threads);
  if (failed(built) || failed(lowerKernels(*module, built->kernels)))
    return failure();
  if (options.signature) {
    noteSignedness(options.signature.getInputs(), built->program.arguments);
    noteSignedness(options.signature.getResults(), built->program.results);
  }
  if (!options.entry.empty())
    addEntryPoint(*module, built->program, options.entry);
  FailureOr<std::vector<char>> object = compileObject(*module);
  if (failed(object))
    return failure();
  return CpuStep{std::move(built->program), std::move(*object), std::move(built->graph), built->livePeakBytes,
                 built->provenPacking};
}

FailureOr<int64_t> findClusterPeak(func::FuncOp function, const CpuOptions &options) {
  formClusters(function);
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  FailureOr<BuiltProgram> built = buildProgram(function, *module, options.threads);
  if (failed(built))
    return failure();
  return built->livePeakBytes;
}

FailureOr<LoadedKernels> loadKernels(const CpuStep &step, Location location) {
  FailureOr<LoadedCode> code = loadObject(location, step.object, step.program.kernels);
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
