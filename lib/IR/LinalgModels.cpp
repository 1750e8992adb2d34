//===- LinalgModels.cpp - RematOpInterface for linalg ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "remat/IR/RematOpInterface.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

namespace remat {

/// FLOPs of the payload for one point of the iteration space.
static int64_t payloadFlops(linalg::LinalgOp op) {
  int64_t flops = 0;
  op->walk([&](Operation *inner) { flops = addClamped(flops, scalarFlops(inner)); });
  return flops;
}

static int64_t iterationCount(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return llvm::any_of(ranges, ShapedType::isDynamic) ? 0 : productClamped(ranges);
}

/// A payload that multiplies; poolings have the loops of convolutions, but only compare or add.
static bool multiplies(linalg::LinalgOp op) {
  WalkResult found = op->walk([](Operation *inner) {
    StringRef name = inner->getName().getStringRef();
    bool product = name == "arith.mulf" || name == "arith.muli" || name == "arith.andi" || name == "complex.mul";
    return product ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

static OpClass classify(linalg::LinalgOp op) {
  if (linalg::isaContractionOpInterface(op))
    return OpClass::Dot;
  if (linalg::isaConvolutionOpInterface(op) && multiplies(op))
    return OpClass::Convolution;
  if (op.getNumReductionLoops() > 0)
    return OpClass::Reduction;
  // Copies, fills, broadcasts, transposes; gathers, which find their element themselves, compute only indices.
  bool gathers = op->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return gathers || payloadFlops(op) == 0 ? OpClass::DataMovement : OpClass::Elementwise;
}

/// Bytes of tensors that the payload reads on its own account: at most one element per point of the iteration space.
static int64_t gatheredBytes(linalg::LinalgOp op) {
  int64_t bytes = 0;
  op->walk([&](tensor::ExtractOp extract) {
    std::optional<int64_t> element = typeBytes(RankedTensorType::get({}, extract.getType()));
    bytes = addClamped(bytes, multiplyClamped(element.value_or(0), iterationCount(op)));
  });
  return bytes;
}

namespace {

template <typename Op>
struct StructuredModel : RematOpInterface::ExternalModel<StructuredModel<Op>, Op> {
  OpClass getOpClass(Operation *op) const { return classify(cast<linalg::LinalgOp>(op)); }

  int64_t getFlops(Operation *op) const {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    OpClass opClass = classify(linalgOp);
    bool multiplyAdd = opClass == OpClass::Dot || opClass == OpClass::Convolution;
    if (opClass == OpClass::DataMovement)
      return 0;
    return multiplyClamped(multiplyAdd ? 2 : payloadFlops(linalgOp), iterationCount(linalgOp));
  }

  int64_t getBytesMoved(Operation *op) const {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    int64_t bytes = addClamped(gatheredBytes(linalgOp), sumBytes(op->getResultTypes()));
    for (OpOperand &operand : op->getOpOperands())
      if (linalgOp.payloadUsesValueFromOperand(&operand))
        bytes = addClamped(bytes, bytesOrZero(operand.get().getType()));
    return bytes;
  }

  std::optional<unsigned> getDestinationOperand(Operation *op, unsigned result) const {
    return cast<linalg::LinalgOp>(op).getDpsInitOperand(result)->getOperandNumber();
  }

  int32_t getDotBatchDims(Operation *op) const {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    if (!linalg::isaContractionOpInterface(linalgOp))
      return 0;
    FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(linalgOp);
    return succeeded(dims) ? static_cast<int32_t>(dims->batch.size()) : 0;
  }
};

/// Ops of linalg that aren't structured ops: destination-passing all the same.
template <typename Op, OpClass opClass>
struct DestinationModel : RematOpInterface::ExternalModel<DestinationModel<Op, opClass>, Op> {
  OpClass getOpClass(Operation *) const { return opClass; }
  int64_t getBytesMoved(Operation *op) const {
    auto inputs = cast<DestinationStyleOpInterface>(op).getDpsInputs();
    int64_t bytes = sumBytes(op->getResultTypes());
    for (Value input : inputs)
      bytes = addClamped(bytes, bytesOrZero(input.getType()));
    return bytes;
  }
  std::optional<unsigned> getDestinationOperand(Operation *op, unsigned result) const {
    return cast<DestinationStyleOpInterface>(op).getDpsInitOperand(result)->getOperandNumber();
  }
};

template <typename... Ops>
void attachStructured(MLIRContext *context) {
  (Ops::template attachInterface<StructuredModel<Ops>>(*context), ...);
}

template <OpClass opClass, typename... Ops>
void attachDestination(MLIRContext *context) {
  (Ops::template attachInterface<DestinationModel<Ops, opClass>>(*context), ...);
}

} // namespace

void registerLinalgModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachStructured<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
    attachDestination<OpClass::DataMovement, linalg::PackOp, linalg::UnPackOp>(context);
    attachDestination<OpClass::Reduction, linalg::SoftmaxOp>(context);
  });
}

} // namespace remat
