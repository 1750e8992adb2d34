//===- Lower.cpp - Kernels to the LLVM dialect ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace remat {

/// Functions whose polynomials are good to a few units in the last place and run in vectors. What isn't named here, and
/// f64, is left to libm, element by element.
static bool hasPolynomial(StringRef name) {
  return llvm::is_contained({math::ExpOp::getOperationName(), math::ExpM1Op::getOperationName(),
                             math::LogOp::getOperationName(), math::Log1pOp::getOperationName(),
                             math::TanhOp::getOperationName(), math::ErfOp::getOperationName()},
                            name);
}

void populateFunctionPatterns(RewritePatternSet &patterns) {
  populateMathPolynomialApproximationPatterns(patterns, hasPolynomial);
  math::populateExpansionPatterns(patterns, {"rsqrt"});
  populateFloat8Patterns(patterns);
}

namespace {
struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<vector::VectorDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateFunctionPatterns(patterns);
    arith::populateExpandBFloat16Patterns(patterns);
    GreedyRewriteConfig config;
    config.enableFolding(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
    // What the processor has no instructions for is left to libm.
    RewritePatternSet calls(&getContext());
    populateMathToLibmConversionPatterns(calls);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<math::MathDialect>();
    target.addLegalOp<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
                      math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundEvenOp,
                      math::SqrtOp, math::TruncOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(calls))))
      signalPassFailure();
  }
};
} // namespace

/// A function that unpacks the buffers for a kernel's body on bare pointers.
static void addEntry(ModuleOp module, const EmittedKernel &kernel) {
  auto body = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel.symbol + "_body");
  if (!body)
    return;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  Location loc = body.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()), {pointer, i64, i64, i64});
  auto entry = LLVM::LLVMFuncOp::create(builder, loc, kernel.symbol, type);
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> buffers;
  for (unsigned i = 0; i < body.getNumArguments(); ++i) {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, block->getArgument(0), LLVM::GEPArg(int32_t(i)));
    buffers.push_back(LLVM::LoadOp::create(builder, loc, pointer, place));
  }
  LLVM::CallOp::create(builder, loc, body, buffers);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  body.setLinkage(LLVM::Linkage::Internal);
}

void dealKernels(ModuleOp module, unsigned parts) {
  struct Part {
    ModuleOp module;
    size_t ops = 0;
  };
  SmallVector<Operation *> functions = llvm::map_to_vector(*module.getBody(), [](Operation &op) { return &op; });
  parts = std::min<size_t>(parts, functions.size());
  if (parts < 2)
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  SmallVector<Part> dealt(parts);
  for (Part &part : dealt)
    part.module = ModuleOp::create(builder, module.getLoc());
  for (Operation *function : functions) {
    Part &least = *llvm::min_element(dealt, [](const Part &a, const Part &b) { return a.ops < b.ops; });
    function->walk([&](Operation *) { ++least.ops; });
    function->moveBefore(least.module.getBody(), least.module.getBody()->end());
  }
}

/// The passes from emitted kernels to the LLVM dialect.
static void addLowering(OpPassManager &manager) {
  manager.addPass(std::make_unique<ExpandMathPass>());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(arith::createArithExpandOpsPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions options;
  options.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(options));
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

LogicalResult lowerKernels(ModuleOp module, ArrayRef<EmittedKernel> kernels) {
  PassManager manager(module.getContext());
  SmallVector<ModuleOp> parts(module.getOps<ModuleOp>());
  addLowering(parts.empty() ? manager : manager.nest<ModuleOp>());
  if (failed(manager.run(module)))
    return failure();
  if (parts.empty())
    parts.push_back(module);
  for (ModuleOp part : parts)
    for (const EmittedKernel &kernel : kernels)
      addEntry(part, kernel);
  return success();
}

} // namespace remat
