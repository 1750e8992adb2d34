//===- Access.cpp - Where a loop nest reads and writes --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace remat {

Sizes rowMajorStrides(ArrayRef<int64_t> shape) {
  Sizes strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

/// `d mod size` where loop d never reaches the size: how an import writes the start of a dimension.
static bool neverWraps(AffineBinaryOpExpr mod, ArrayRef<int64_t> loopSizes) {
  auto dim = dyn_cast<AffineDimExpr>(mod.getLHS());
  auto size = dyn_cast<AffineConstantExpr>(mod.getRHS());
  return dim && size && loopSizes[dim.getPosition()] <= size.getValue();
}

/// Adds `factor` × `expression` to the access. False where the expression isn't linear.
static bool addLinear(AffineExpr expression, int64_t factor, ArrayRef<int64_t> loopSizes, Access &access) {
  if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
    access.strides[dim.getPosition()] += factor;
    return true;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expression)) {
    access.offset += factor * constant.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return false;
  if (expression.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), factor, loopSizes, access) &&
           addLinear(binary.getRHS(), factor, loopSizes, access);
  if (expression.getKind() == AffineExprKind::Mod)
    return neverWraps(binary, loopSizes) && addLinear(binary.getLHS(), factor, loopSizes, access);
  auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expression.getKind() == AffineExprKind::Mul && scale &&
         addLinear(binary.getLHS(), factor * scale.getValue(), loopSizes, access);
}

std::optional<Access> findAccess(linalg::GenericOp op, OpOperand &operand) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Access access;
  access.strides.resize(map.getNumDims());
  SmallVector<int64_t> loopSizes = op.getStaticLoopRanges();
  for (auto [expression, stride] : llvm::zip(map.getResults(), rowMajorStrides(type.getShape())))
    if (!addLinear(expression, stride, loopSizes, access))
      return std::nullopt;
  return access;
}

SmallVector<unsigned> realLoops(linalg::GenericOp op) {
  SmallVector<unsigned> loops;
  for (auto [i, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (size != 1)
      loops.push_back(i);
  return loops;
}

Value findBase(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

} // namespace remat
