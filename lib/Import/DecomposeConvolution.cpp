//===- DecomposeConvolution.cpp - Convolutions as upstream loops ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One loop nest, and no copy of an operand: where the left operand is padded or dilated, its body asks at each point
// where in it that lies (Places.h); a reversed kernel is walked from its end; groups are a dimension of their own on
// both operands and the result. What is left is in the maps.
//
//===----------------------------------------------------------------------===//

#include "remat/Import/Import.h"

#include "Importer.h"
#include "Places.h"
#include "Tensors.h"

#include "mlir/Dialect/Affine/Utils.h"

using namespace mlir;

namespace remat {

namespace {
class Decomposer {
public:
  Decomposer(Importer &importer, ConvolutionOp op)
      : importer(importer), builder(importer.builder), op(op), loc(op.getLoc()), spatial(op.getStrides().size()) {}

  Value run();

private:
  /// Whether a point of the loops may lie outside of the left operand or between its elements.
  bool needsPadding();
  Value splitGroups(Value tensor, int64_t dim);
  RankedTensorType splitType(RankedTensorType type, int64_t dim);
  /// Where the dimensions of `dims` lie once `split`, one of them, has become two.
  Ints shiftDims(ArrayRef<int64_t> dims, int64_t split);
  void makeMaps();
  Value emitLoops(Value lhs, Value rhs);
  Value readPadded(Value lhs);
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

bool Decomposer::needsPadding() {
  return llvm::any_of(op.getPadding(), [](int64_t padding) { return padding != 0; }) ||
         llvm::any_of(op.getLhsDilation(), [](int64_t dilation) { return dilation != 1; });
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
    rhs[rhsDims[2 + i]] = inWindow;
    if (i < op.getReversed().size() && op.getReversed()[i])
      inWindow = op.getRhs().getType().getDimSize(op.getRhsDims()[2 + i]) - 1 - inWindow;
    lhs[lhsDims[2 + i]] = place * op.getStrides()[i] + inWindow * op.getRhsDilation()[i];
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
  Value start = importer.fill(loc, type, zero);
  bool isPadded = needsPadding();
  SmallVector<Value> inputs = {rhs};
  SmallVector<AffineMap> maps = {rhsMap, resultMap};
  if (!isPadded) {
    inputs.insert(inputs.begin(), lhs);
    maps.insert(maps.begin(), lhsMap);
  }
  Converted sums = importer.generic(loc, inputs, start, maps, loops, [&](ValueRange arguments) -> Converted {
    SmallVector<Value> operands(arguments);
    if (isPadded)
      operands.insert(operands.begin(), readPadded(lhs));
    return SmallVector<Value>{multiplyAdd(operands)};
  });
  return sums->front();
}

/// The element of the left operand at a point of the loops, or zero where the point lies outside.
Value Decomposer::readPadded(Value lhs) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(lhs.getType()).getShape();
  Ints low(shape.size(), 0), stride(shape.size(), 1), extent(shape), dims = shiftDims(op.getLhsDims(), lhsGroupDim());
  for (size_t i = 0; i < spatial; ++i) {
    int64_t dim = dims[2 + i];
    low[dim] = op.getPadding()[2 * i];
    stride[dim] = op.getLhsDilation()[i];
    extent[dim] = low[dim] + (shape[dim] - 1) * stride[dim] + 1 + op.getPadding()[2 * i + 1];
  }
  SmallVector<Value> loops;
  for (unsigned loop = 0; loop < lhsMap.getNumDims(); ++loop)
    loops.push_back(linalg::IndexOp::create(builder, loc, loop));
  PlaceBuilder places(builder, loc);
  Place place;
  for (auto [dim, expression] : llvm::enumerate(lhsMap.getResults()))
    places.add(place, affine::expandAffineExpr(builder, loc, expression, loops, {}), extent[dim], shape[dim], low[dim],
               stride[dim]);
  Type element = getElementTypeOrSelf(lhs.getType());
  return places.read(lhs, place, arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element)));
}

Value Decomposer::run() {
  RankedTensorType type = op.getResult().getType();
  builder.setInsertionPoint(op);
  // No loop nest runs over nothing.
  if (type.getNumElements() == 0)
    return importer.empty(loc, type);
  if (op.getLhs().getType().getNumElements() == 0 || op.getRhs().getType().getNumElements() == 0)
    return importer.fill(loc, type,
                         arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType())));
  makeMaps();
  Value sums = emitLoops(splitGroups(op.getLhs(), lhsGroupDim()), splitGroups(op.getRhs(), rhsGroupDim()));
  sums = reshape(builder, loc, sums, RankedTensorType::get(type.getShape(), accumulator()));
  return castTensor(builder, loc, sums, type);
}

void decomposeConvolutions(func::FuncOp function, llvm::function_ref<bool(ConvolutionOp)> which) {
  Importer importer(function.getContext());
  function.walk([&](ConvolutionOp op) {
    if (!which(op))
      return;
    op.getResult().replaceAllUsesWith(Decomposer(importer, op).run());
    op.erase();
  });
}

} // namespace remat
