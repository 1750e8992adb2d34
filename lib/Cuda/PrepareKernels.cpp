//===- PrepareKernels.cpp - Kernels in ops that every target has ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions are the polynomials that the CPU's kernels use, not libdevice's: element-wise results are then equal on all
// devices bit for bit, the CPU twin computes what the GPU does, and PTX needs no toolkit. They cost a dozen
// instructions where libdevice takes half as many, which kernels that wait for memory don't notice. Sine, cosine,
// powers and what f64 needs are left to libdevice: upstream's polynomials for those are only good for small arguments.
//
//===----------------------------------------------------------------------===//

#include "../CodeGen/Lower.h"
#include "remat/Cuda/Emit.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace remat {

namespace {
struct ExpandFunctionsPass : PassWrapper<ExpandFunctionsPass, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandFunctionsPass)
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<vector::VectorDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateFunctionPatterns(patterns);
    GreedyRewriteConfig config;
    config.enableFolding(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    // One instruction each; convert-gpu-to-nvvm would call libdevice for them.
    LLVMTypeConverter converter(&getContext());
    RewritePatternSet instructions(&getContext());
    populateMathToLLVMConversionPatterns(converter, instructions);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
                        math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundEvenOp,
                        math::SqrtOp, math::TruncOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(instructions))))
      signalPassFailure();
  }
};
} // namespace

LogicalResult prepareKernels(GpuKernels &kernels) {
  PassManager manager(kernels.module->getContext());
  OpPassManager &nested = manager.nest<gpu::GPUModuleOp>();
  nested.addPass(std::make_unique<ExpandFunctionsPass>());
  nested.addPass(createCSEPass());
  return manager.run(*kernels.module);
}

} // namespace remat
