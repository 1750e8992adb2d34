//===- DecomposeConvolution.cpp - Convolutions as upstream loops ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Padding and the dilation of the left operand become a padded copy, a reversed kernel a reversed copy, groups a
// dimension of their own on both operands and the result. What is left is in the maps of one loop nest.
//
//===----------------------------------------------------------------------===//

#include "remat/Import/Import.h"

#include "Importer.h"
#include "Tensors.h"

using namespace mlir;

namespace remat {

namespace {
class Decomposer {
public:
  Decomposer(Importer &importer, ConvolutionOp op)
      : importer(importer), builder(importer.builder), op(op), loc(op.getLoc()), spatial(op.getStrides().size()) {}

  Value run();

private:
  Value padLhs();
  Value reverseRhs();
  Value splitGroups(Value tensor, int64_t dim);
  RankedTensorType splitType(RankedTensorType type, int64_t dim);
  /// Where the dimensions of `dims` lie once `split`, one of them, has become two.
  Ints shiftDims(ArrayRef<int64_t> dims, int64_t split);
  void makeMaps();
  Value emitLoops(Value lhs, Value rhs);
  Value multiplyAdd(ValueRange arguments);

  int64_t groups() { return std::max(op.getFeatureGroups(), op.getBatchGroups()); }
  int64_t lhsGroupDim() { return op.getLhsDims()[op.getBatchGroups() > 1 ? 0 : 1]; }
  int64_t rhsGroupDim() { return op.getRhsDims()[1]; }
  int64_t resultGroupDim() { return op.getResultDims()[1]; }
  Type accumulator() { return accumulatorType(op.getResult().getType().getElementType()); }

  Importer &importer;
  OpBuilder &builder;
  ConvolutionOp op;
  Location loc;
  size_t spatial;
  AffineMap lhsMap, rhsMap;
};
} // namespace

Value Decomposer::padLhs() {
  auto type = op.getLhs().getType();
  Ints low(type.getRank(), 0), high(type.getRank(), 0), interior(type.getRank(), 0);
  for (size_t i = 0; i < spatial; ++i) {
    int64_t dim = op.getLhsDims()[2 + i];
    low[dim] = op.getPadding()[2 * i];
    high[dim] = op.getPadding()[2 * i + 1];
    interior[dim] = op.getLhsDilation()[i] - 1;
  }
  auto padded = type.clone(paddedShape(type.getShape(), low, high, interior));
  bool isNeeded = llvm::any_of(llvm::concat<int64_t>(low, high, interior), [](int64_t n) { return n != 0; });
  if (!isNeeded)
    return op.getLhs();
  return importer
      .kernel(loc, padded, Value(op.getLhs()), {},
              [&](ValueRange inputs) -> SmallVector<Value> {
                Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
                return {pad(builder, loc, inputs.front(), zero, padded, low, interior)};
              })
      .front();
}

Value Decomposer::reverseRhs() {
  auto type = op.getRhs().getType();
  if (!llvm::is_contained(op.getReversed(), true))
    return op.getRhs();
  SmallVector<AffineExpr> indices;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    indices.push_back(builder.getAffineDimExpr(dim));
  for (auto [i, isReversed] : llvm::enumerate(op.getReversed()))
    if (int64_t dim = op.getRhsDims()[2 + i]; isReversed)
      indices[dim] = type.getDimSize(dim) - 1 - indices[dim];
  return importer.view(loc, type, op.getRhs(), AffineMap::get(type.getRank(), 0, indices, builder.getContext()));
}

RankedTensorType Decomposer::splitType(RankedTensorType type, int64_t dim) {
  Ints shape(type.getShape());
  shape[dim] /= groups();
  shape.insert(shape.begin() + dim, groups());
  return type.clone(shape);
}

Value Decomposer::splitGroups(Value tensor, int64_t dim) {
  if (groups() == 1)
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<ReassociationIndices> parts;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i == dim)
      parts.push_back({i, i + 1});
    else
      parts.push_back({i + (i > dim)});
  return tensor::ExpandShapeOp::create(builder, loc, splitType(type, dim), tensor, parts);
}

Ints Decomposer::shiftDims(ArrayRef<int64_t> dims, int64_t split) {
  return llvm::map_to_vector<4>(dims, [&](int64_t dim) { return dim + (groups() > 1 && dim >= split); });
}

/// Loops: the result's dimensions in their order, then those of the kernel's window, then the input features.
void Decomposer::makeMaps() {
  int64_t rank = op.getResult().getType().getRank() + (groups() > 1), loops = rank + spatial + 1;
  Ints lhsDims = shiftDims(op.getLhsDims(), lhsGroupDim()), rhsDims = shiftDims(op.getRhsDims(), rhsGroupDim()),
       resultDims = shiftDims(op.getResultDims(), resultGroupDim());
  SmallVector<AffineExpr> lhs(rank), rhs(rank);
  auto loop = [&](int64_t i) { return builder.getAffineDimExpr(i); };
  lhs[lhsDims[0]] = loop(resultDims[0]);
  rhs[rhsDims[1]] = loop(resultDims[1]);
  lhs[lhsDims[1]] = rhs[rhsDims[0]] = loop(loops - 1);
  for (size_t i = 0; i < spatial; ++i) {
    AffineExpr place = loop(resultDims[2 + i]), inWindow = loop(rank + i);
    lhs[lhsDims[2 + i]] = place * op.getStrides()[i] + inWindow * op.getRhsDilation()[i];
    rhs[rhsDims[2 + i]] = inWindow;
  }
  if (groups() > 1)
    lhs[lhsGroupDim()] = rhs[rhsGroupDim()] = loop(resultGroupDim());
  lhsMap = AffineMap::get(loops, 0, lhs, builder.getContext());
  rhsMap = AffineMap::get(loops, 0, rhs, builder.getContext());
}

Value Decomposer::multiplyAdd(ValueRange arguments) {
  Type type = accumulator();
  Value lhs = castScalar(builder, loc, arguments[0], type), rhs = castScalar(builder, loc, arguments[1], type);
  if (isa<FloatType>(type))
    return arith::AddFOp::create(builder, loc, arguments[2], arith::MulFOp::create(builder, loc, lhs, rhs));
  return arith::AddIOp::create(builder, loc, arguments[2], arith::MulIOp::create(builder, loc, lhs, rhs));
}

Value Decomposer::emitLoops(Value lhs, Value rhs) {
  RankedTensorType type = op.getResult().getType();
  type = RankedTensorType::get(type.getShape(), accumulator());
  if (groups() > 1)
    type = splitType(type, resultGroupDim());
  AffineMap resultMap = builder.getMultiDimIdentityMap(lhsMap.getNumDims()).getMajorSubMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  loops.append(spatial + 1, utils::IteratorType::reduction);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(accumulator()));
  Converted sums =
      importer.generic(loc, {lhs, rhs}, importer.fill(loc, type, zero), {lhsMap, rhsMap, resultMap}, loops,
                       [&](ValueRange arguments) -> Converted { return SmallVector<Value>{multiplyAdd(arguments)}; });
  return sums->front();
}

Value Decomposer::run() {
  RankedTensorType type = op.getResult().getType();
  builder.setInsertionPoint(op);
  // No loop nest runs over nothing.
  if (type.getNumElements() == 0)
    return importer.empty(loc, type);
  if (op.getRhs().getType().getNumElements() == 0)
    return importer.fill(loc, type,
                         arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType())));
  makeMaps();
  Value sums = emitLoops(splitGroups(padLhs(), lhsGroupDim()), splitGroups(reverseRhs(), rhsGroupDim()));
  sums = reshape(builder, loc, sums, RankedTensorType::get(type.getShape(), accumulator()));
  return castTensor(builder, loc, sums, type);
}

LogicalResult decomposeConvolutions(func::FuncOp function) {
  Importer importer(function.getContext());
  function.walk([&](ConvolutionOp op) {
    op.getResult().replaceAllUsesWith(Decomposer(importer, op).run());
    op.erase();
  });
  return success();
}

} // namespace remat
