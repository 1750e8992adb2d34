//===- ImportPasses.cpp - Import as passes --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Import/Import.h"

#include "remat/IR/RematDialect.h"
#include "remat/Transforms/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace remat {

void inlineKernels(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  function.walk([&](Operation *op) {
    if (auto barrier = dyn_cast<BarrierOp>(op)) {
      rewriter.replaceOp(barrier, barrier.getInput());
      return;
    }
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel)
      return;
    Block &body = kernel.getBody().front();
    auto yield = cast<YieldOp>(body.getTerminator());
    rewriter.inlineBlockBefore(&body, kernel, kernel.getInputs());
    SmallVector<Value> results(yield.getOperands());
    rewriter.eraseOp(yield);
    rewriter.replaceOp(kernel, results);
  });
}

namespace {

/// What the passes have in common: they work on the function of the training step.
template <typename Derived>
class MainFunctionPass : public PassWrapper<Derived, OperationPass<ModuleOp>> {
public:
  MainFunctionPass() = default;
  MainFunctionPass(const MainFunctionPass &other) : PassWrapper<Derived, OperationPass<ModuleOp>>(other) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<RematDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                    scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> main = findMainFunction(this->getOperation(), function);
    if (failed(main) || failed(static_cast<Derived *>(this)->runOn(*main)))
      this->signalPassFailure();
  }

  Pass::Option<std::string> function{
      *this, "function", llvm::cl::desc("The function of the training step (default: main, else the only public one)"),
      llvm::cl::init("")};
};

class ImportPass : public MainFunctionPass<ImportPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ImportPass)
  StringRef getArgument() const override { return "remat-import"; }
  StringRef getDescription() const override {
    return "Inline calls, then convert StableHLO and CHLO ops of the main function to upstream dialects";
  }

  LogicalResult runOn(func::FuncOp main) {
    if (failed(flattenFunction(main)))
      return failure();
    stripMarks(main);
    return importStableHlo(main);
  }
};

class DecomposeConvolutionPass : public MainFunctionPass<DecomposeConvolutionPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecomposeConvolutionPass)
  StringRef getArgument() const override { return "remat-decompose-convolution"; }
  StringRef getDescription() const override { return "Write every remat.convolution as one linalg.generic"; }

  LogicalResult runOn(func::FuncOp main) {
    decomposeConvolutions(main, [](ConvolutionOp) { return true; });
    return success();
  }
};

class InlineKernelsPass : public MainFunctionPass<InlineKernelsPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineKernelsPass)
  StringRef getArgument() const override { return "remat-inline-kernels"; }
  StringRef getDescription() const override { return "Splice the bodies of remat.kernel ops and drop barriers"; }

  LogicalResult runOn(func::FuncOp main) { return inlineKernels(main), success(); }
};

} // namespace

void registerImportPasses() {
  PassRegistration<ImportPass>();
  PassRegistration<DecomposeConvolutionPass>();
  PassRegistration<InlineKernelsPass>();
}

} // namespace remat
