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

/// Adds `factor` × `expression` to the access. False where the expression isn't linear.
static bool addLinear(AffineExpr expression, int64_t factor, Access &access) {
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
    return addLinear(binary.getLHS(), factor, access) && addLinear(binary.getRHS(), factor, access);
  auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expression.getKind() == AffineExprKind::Mul && scale &&
         addLinear(binary.getLHS(), factor * scale.getValue(), access);
}

std::optional<Access> findAccess(linalg::GenericOp op, OpOperand &operand) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Access access;
  access.strides.resize(map.getNumDims());
  for (auto [expression, stride] : llvm::zip(map.getResults(), rowMajorStrides(type.getShape())))
    if (!addLinear(expression, stride, access))
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
