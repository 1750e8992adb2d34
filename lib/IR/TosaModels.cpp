//===- TosaModels.cpp - RematOpInterface for tosa -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "remat/IR/RematOpInterface.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace remat {

/// What isn't named here is element-wise.
static OpClass classify(Operation *op) {
  StringRef name = op->getName().getStringRef();
  name.consume_front("tosa.");
  return llvm::StringSwitch<OpClass>(name)
      .Cases({"matmul", "matmul_t_block_scaled"}, OpClass::Dot)
      .Cases({"conv2d", "conv2d_block_scaled", "conv3d", "depthwise_conv2d", "transpose_conv2d"}, OpClass::Convolution)
      .Cases({"argmax", "avg_pool2d", "max_pool2d", "fft2d", "rfft2d"}, OpClass::Reduction)
      .Cases({"reduce_all", "reduce_any", "reduce_max", "reduce_min", "reduce_product", "reduce_sum"},
             OpClass::Reduction)
      .Cases({"const", "const_shape"}, OpClass::Constant)
      .Cases({"reshape", "reshape_block_scaled", "identity"}, OpClass::View)
      .Cases({"concat", "dim", "gather", "pad", "resize", "reverse", "scatter", "slice", "tile", "transpose"},
             OpClass::DataMovement)
      .Cases({"apply_scale", "assert_equal_shape", "custom", "variable", "variable_read", "variable_write"},
             OpClass::Opaque)
      .Cases({"cond_if", "while_loop"}, OpClass::Loop)
      .Default(OpClass::Elementwise);
}

static int64_t elementFlops(StringRef name) {
  return llvm::StringSwitch<int64_t>(name)
      .Cases({"tosa.intdiv", "tosa.reciprocal", "tosa.rsqrt"}, divisionFlops)
      .Cases({"tosa.cos", "tosa.erf", "tosa.exp", "tosa.log", "tosa.sigmoid", "tosa.sin", "tosa.tanh"},
             exponentialFlops)
      .Case("tosa.pow", specialFlops)
      .Default(simpleFlops);
}

/// Multiply-adds of one convolution. Weights: [OC, (D,) H, W, IC], depthwise [H, W, C, M].
static int64_t convolutionFlops(Operation *op) {
  ArrayRef<int64_t> input = dimensions(op->getOperand(0).getType()), weight = dimensions(op->getOperand(1).getType());
  int64_t outputs = elementCount(op->getResult(0).getType());
  StringRef name = op->getName().getStringRef();
  if (weight.size() < 4)
    return 0;
  if (name == "tosa.depthwise_conv2d")
    return productClamped({2, outputs, weight[0], weight[1]});
  // Every input element meets every tap of every output channel.
  if (name == "tosa.transpose_conv2d")
    return productClamped({2, productClamped(input), productClamped(weight.drop_back())});
  return productClamped({2, outputs, productClamped(weight.drop_front())});
}

/// Elements that one element of a pooling's result reads.
static int64_t poolingWindow(Operation *op) {
  auto kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel");
  return kernel ? productClamped(kernel.asArrayRef()) : 1;
}

namespace {

template <typename Op>
struct TosaModel : RematOpInterface::ExternalModel<TosaModel<Op>, Op> {
  OpClass getOpClass(Operation *op) const { return classify(op); }

  int64_t getFlops(Operation *op) const {
    StringRef name = op->getName().getStringRef();
    int64_t results = op->getNumResults() ? elementCount(op->getResult(0).getType()) : 0;
    switch (classify(op)) {
    case OpClass::Dot: {
      ArrayRef<int64_t> lhs = dimensions(op->getOperand(0).getType());
      return lhs.empty() ? 0 : productClamped({2, results, lhs.back()});
    }
    case OpClass::Convolution:
      return convolutionFlops(op);
    case OpClass::Elementwise:
      return multiplyClamped(elementFlops(name), results);
    case OpClass::Reduction:
      if (name.ends_with("_pool2d"))
        return multiplyClamped(results, poolingWindow(op));
      return elementCount(op->getOperand(0).getType());
    default:
      return 0;
    }
  }

  int64_t getBytesMoved(Operation *op) const {
    StringRef name = op->getName().getStringRef();
    if (name == "tosa.gather" || name == "tosa.slice")
      return multiplyClamped(2, sumBytes(op->getResultTypes()));
    return defaultBytesMoved(op, classify(op));
  }

  std::optional<unsigned> getViewedOperand(Operation *op, unsigned) const {
    return classify(op) == OpClass::View ? std::optional(0u) : std::nullopt;
  }

  int32_t getDotBatchDims(Operation *op) const { return classify(op) == OpClass::Dot ? 1 : 0; }

  std::optional<int64_t> getTripCount(Operation *op) const {
    return op->getName().getStringRef() == "tosa.cond_if" ? std::optional<int64_t>(1) : std::nullopt;
  }
};

template <typename... Ops>
void attach(MLIRContext *context) {
  (Ops::template attachInterface<TosaModel<Ops>>(*context), ...);
}

} // namespace

void registerTosaModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    attach<
#define GET_OP_LIST
#include "mlir/Dialect/Tosa/IR/TosaOps.cpp.inc"
        >(context);
  });
}

} // namespace remat
