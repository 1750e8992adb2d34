//===- Tensors.cpp - Whole tensors in other shapes and types ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include "Importer.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace remat {

Ints paddedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> low, ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  Ints padded;
  for (size_t i = 0; i < shape.size(); ++i)
    padded.push_back(
        std::max<int64_t>(0, low[i] + shape[i] + std::max<int64_t>(shape[i] - 1, 0) * interior[i] + high[i]));
  return padded;
}

Value insertSlice(OpBuilder &builder, Location loc, Value source, Value into, ArrayRef<int64_t> offsets,
                  ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  return tensor::InsertSliceOp::create(
      builder, loc, source, into, getAsIndexOpFoldResult(builder.getContext(), offsets),
      getAsIndexOpFoldResult(builder.getContext(), sizes), getAsIndexOpFoldResult(builder.getContext(), strides));
}

static Value extractSlice(OpBuilder &builder, Location loc, Value source, ArrayRef<int64_t> offsets,
                          ArrayRef<int64_t> sizes) {
  if (sizes == cast<RankedTensorType>(source.getType()).getShape())
    return source;
  Ints ones(sizes.size(), 1);
  return tensor::ExtractSliceOp::create(builder, loc, source, getAsIndexOpFoldResult(builder.getContext(), offsets),
                                        getAsIndexOpFoldResult(builder.getContext(), sizes),
                                        getAsIndexOpFoldResult(builder.getContext(), ones));
}

Value pad(OpBuilder &builder, Location loc, Value input, Value padding, RankedTensorType type, ArrayRef<int64_t> low,
          ArrayRef<int64_t> interior) {
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  Value result = linalg::FillOp::create(builder, loc, padding, empty).getResult(0);
  // Element i stands at low + i * stride; the first and the last ones may lie outside.
  ArrayRef<int64_t> shape = cast<RankedTensorType>(input.getType()).getShape();
  Ints firsts, sizes, offsets, strides;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t stride = interior[i] + 1;
    int64_t first = low[i] < 0 ? llvm::divideCeil(-low[i], stride) : 0;
    int64_t last = std::min(shape[i] - 1, llvm::divideFloorSigned(type.getDimSize(i) - 1 - low[i], stride));
    if (last < first)
      return result;
    firsts.push_back(first);
    sizes.push_back(last - first + 1);
    offsets.push_back(low[i] + first * stride);
    strides.push_back(stride);
  }
  Value inside = extractSlice(builder, loc, input, firsts, sizes);
  return insertSlice(builder, loc, inside, result, offsets, sizes, strides);
}
static Value collapse(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 1)
    return value;
  ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return tensor::CollapseShapeOp::create(builder, loc, value, ArrayRef<ReassociationIndices>(all));
}

Value reshape(OpBuilder &builder, Location loc, Value value, RankedTensorType to) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == to)
    return value;
  // Without elements, sizes don't tell which dimensions belong together.
  if (to.getNumElements() == 0)
    return tensor::EmptyOp::create(builder, loc, to.getShape(), to.getElementType());
  if (to.getRank() == 0)
    return tensor::CollapseShapeOp::create(builder, loc, to, value, ArrayRef<ReassociationIndices>());
  if (from.getRank() == 0)
    return tensor::ExpandShapeOp::create(builder, loc, to, value, ArrayRef<ReassociationIndices>());
  if (from.getRank() != to.getRank())
    if (std::optional<SmallVector<ReassociationIndices>> groups = getReassociationIndicesForReshape(from, to)) {
      if (from.getRank() > to.getRank())
        return tensor::CollapseShapeOp::create(builder, loc, to, value, *groups);
      return tensor::ExpandShapeOp::create(builder, loc, to, value, *groups);
    }
  return reshape(builder, loc, collapse(builder, loc, value), to);
}

Value castTensor(OpBuilder &builder, Location loc, Value value, RankedTensorType type) {
  if (value.getType() == type)
    return value;
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, type, value, empty, maps, loops,
                                   [&](OpBuilder &inner, Location loc, ValueRange arguments) {
                                     Value cast = castScalar(inner, loc, arguments.front(), type.getElementType());
                                     linalg::YieldOp::create(inner, loc, cast);
                                   })
      .getResult(0);
}

} // namespace remat
