//===- Structural.cpp - Constants and ops that move elements --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Importer.h"
#include "Tensors.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The elements with the new, signless type.
static FailureOr<TypedAttr> convertElements(Operation *op, Attribute value, RankedTensorType type) {
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
      dense && Importer::convertType(dense.getType()) == Type(type)) {
    // `bitcast` refuses to do nothing.
    return dense.getType() == type ? TypedAttr(dense)
                                   : TypedAttr(cast<DenseElementsAttr>(dense).bitcast(type.getElementType()));
  }
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(value);
  if (!resource || Importer::convertType(resource.getType()) != Type(type))
    return malformed(op, "expected elements of the result's type as 'value'");
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return malformed(op, "no data for '" + resource.getRawHandle().getKey() + "'");
  ArrayRef<char> data = blob->getData();
  if (type.getElementType().isInteger(1)) {
    // One byte each in the file.
    auto bytes = ArrayRef(reinterpret_cast<const bool *>(data.data()), data.size());
    if (int64_t(bytes.size()) != type.getNumElements())
      return malformed(op, "'" + resource.getRawHandle().getKey() + "' holds too few or too many bytes");
    return TypedAttr(DenseElementsAttr::get(type, bytes));
  }
  if (int64_t(data.size()) != type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8))
    return malformed(op, "'" + resource.getRawHandle().getKey() + "' holds too few or too many bytes");
  return TypedAttr(DenseResourceElementsAttr::get(type, resource.getRawHandle()));
}

static Converted convertConstant(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 0)))
    return failure();
  FailureOr<TypedAttr> elements = convertElements(op, getHloAttr(op, "value"), importer.resultType(op));
  if (failed(elements))
    return failure();
  return SmallVector<Value>{arith::ConstantOp::create(importer.builder, op->getLoc(), *elements)};
}

static Converted convertIota(Importer &importer, Operation *op) {
  std::optional<int64_t> dimension = hloInteger(getHloAttr(op, "iota_dimension"));
  if (failed(expectOperands(op, 0)))
    return failure();
  RankedTensorType type = importer.resultType(op);
  if (!dimension || *dimension < 0 || *dimension >= type.getRank())
    return malformed(op, "expected a dimension of the result as 'iota_dimension'");
  OpBuilder &builder = importer.builder;
  Location loc = op->getLoc();
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return importer.generic(loc, {}, importer.empty(loc, type), identity, loops, [&](ValueRange) -> Converted {
    Type element = type.getElementType();
    Value index = linalg::IndexOp::create(builder, loc, *dimension);
    if (!isa<FloatType>(element))
      return SmallVector<Value>{arith::IndexCastOp::create(builder, loc, element, index)};
    Value integer = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
    Value wide = arith::SIToFPOp::create(builder, loc, accumulatorType(element), integer);
    return SmallVector<Value>{castScalar(builder, loc, wide, element)};
  });
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static AffineMap mapOf(Importer &importer, unsigned dims, ArrayRef<AffineExpr> results) {
  return AffineMap::get(dims, 0, results, importer.builder.getContext());
}

/// One element of a constant everywhere is a constant too: readers see its value, and it needs no loop.
static Value broadcast(Importer &importer, Location loc, RankedTensorType type, Value input, AffineMap map) {
  if (auto constant = input.getDefiningOp<arith::ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(importer.builder, loc,
                                       DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
  return importer.view(loc, type, input, map);
}

static Converted convertBroadcastInDim(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 1)))
    return failure();
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  RankedTensorType to = importer.resultType(op);
  FailureOr<Ints> dims = requireIntegers(op, "broadcast_dimensions", from.getRank());
  if (failed(dims))
    return failure();
  SmallVector<AffineExpr> indices;
  for (auto [i, dim] : llvm::enumerate(*dims)) {
    if (dim < 0 || dim >= to.getRank() || llvm::is_contained(ArrayRef(*dims).take_front(i), dim))
      return malformed(op, "expected different dimensions of the result in 'broadcast_dimensions'");
    int64_t size = from.getDimSize(i);
    if (size != 1 && size != to.getDimSize(dim))
      return malformed(op, "dimension " + Twine(i) + " of the operand has size " + Twine(size) + ", dimension " +
                               Twine(dim) + " of the result " + Twine(to.getDimSize(dim)));
    bool repeats = size == 1 && to.getDimSize(dim) != 1;
    indices.push_back(repeats ? importer.builder.getAffineConstantExpr(0) : importer.builder.getAffineDimExpr(dim));
  }
  AffineMap map = mapOf(importer, to.getRank(), indices);
  return SmallVector<Value>{broadcast(importer, op->getLoc(), to, importer.operand(op, 0), map)};
}

/// `broadcast_sizes` are new dimensions in front of the operand's.
static Converted convertBroadcast(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 1)))
    return failure();
  FailureOr<Ints> sizes = requireIntegers(op, "broadcast_sizes");
  if (failed(sizes))
    return failure();
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  RankedTensorType to = importer.resultType(op);
  Ints shape = *sizes;
  llvm::append_range(shape, from.getShape());
  if (to.getShape() != ArrayRef(shape))
    return malformed(op, "the result's shape isn't 'broadcast_sizes' and the operand's shape");
  AffineMap map = AffineMap::getMinorIdentityMap(to.getRank(), from.getRank(), op->getContext());
  return SmallVector<Value>{broadcast(importer, op->getLoc(), to, importer.operand(op, 0), map)};
}

static Converted convertTranspose(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 1)))
    return failure();
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  RankedTensorType to = importer.resultType(op);
  FailureOr<Ints> permutation = requireIntegers(op, "permutation", from.getRank());
  if (failed(permutation))
    return failure();
  SmallVector<AffineExpr> indices(from.getRank());
  for (auto [i, dim] : llvm::enumerate(*permutation)) {
    if (dim < 0 || dim >= from.getRank() || indices[dim])
      return malformed(op, "'permutation' isn't one");
    if (to.getRank() != from.getRank() || to.getDimSize(i) != from.getDimSize(dim))
      return malformed(op, "the result's shape isn't the permuted shape of the operand");
    indices[dim] = importer.builder.getAffineDimExpr(i);
  }
  AffineMap map = mapOf(importer, to.getRank(), indices);
  return SmallVector<Value>{importer.view(op->getLoc(), to, importer.operand(op, 0), map)};
}

static Converted convertSlice(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 1)))
    return failure();
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  RankedTensorType to = importer.resultType(op);
  size_t rank = from.getRank();
  FailureOr<Ints> starts = requireIntegers(op, "start_indices", rank),
                  limits = requireIntegers(op, "limit_indices", rank), strides = integersOr(op, "strides", rank, 1);
  if (failed(starts) || failed(limits) || failed(strides))
    return failure();
  SmallVector<AffineExpr> indices;
  Ints shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t start = (*starts)[i], limit = (*limits)[i], stride = (*strides)[i];
    if (start < 0 || limit < start || limit > from.getDimSize(i) || stride < 1)
      return malformed(op, "the slice of dimension " + Twine(i) + " lies outside the operand");
    shape.push_back((limit - start + stride - 1) / stride);
    AffineExpr index = importer.builder.getAffineDimExpr(i) * stride + start;
    // For linalg, an index that is a plain loop runs over the whole dimension.
    bool isPlain = start == 0 && stride == 1 && limit != from.getDimSize(i);
    indices.push_back(isPlain ? index % from.getDimSize(i) : index);
  }
  if (to.getShape() != ArrayRef(shape))
    return malformed(op, "the result's shape isn't the slice's");
  AffineMap map = mapOf(importer, rank, indices);
  return SmallVector<Value>{importer.view(op->getLoc(), to, importer.operand(op, 0), map)};
}

static Converted convertReverse(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 1)))
    return failure();
  RankedTensorType type = importer.resultType(op);
  FailureOr<Ints> dims = requireIntegers(op, "dimensions");
  if (failed(dims))
    return failure();
  if (type != importer.operand(op, 0).getType())
    return malformed(op, "the operand and the result have different types");
  SmallVector<AffineExpr> indices;
  for (int64_t i = 0; i < type.getRank(); ++i)
    indices.push_back(importer.builder.getAffineDimExpr(i));
  for (int64_t dim : *dims) {
    if (dim < 0 || dim >= type.getRank())
      return malformed(op, "no dimension " + Twine(dim));
    indices[dim] = type.getDimSize(dim) - 1 - importer.builder.getAffineDimExpr(dim);
  }
  AffineMap map = mapOf(importer, type.getRank(), indices);
  return SmallVector<Value>{importer.view(op->getLoc(), type, importer.operand(op, 0), map)};
}

static Converted convertReshape(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 1)))
    return failure();
  Value operand = importer.operand(op, 0);
  RankedTensorType to = importer.resultType(op);
  auto from = cast<RankedTensorType>(operand.getType());
  if (from.getElementType() != to.getElementType() || from.getNumElements() != to.getNumElements())
    return malformed(op, "the operand and the result have different numbers or types of elements");
  return SmallVector<Value>{reshape(importer.builder, op->getLoc(), operand, to)};
}

void addStructuralConversions(ConversionTable &table) {
  table["stablehlo.constant"] = convertConstant;
  table["stablehlo.iota"] = convertIota;
  table["stablehlo.broadcast_in_dim"] = convertBroadcastInDim;
  table["stablehlo.broadcast"] = convertBroadcast;
  table["stablehlo.transpose"] = convertTranspose;
  table["stablehlo.slice"] = convertSlice;
  table["stablehlo.reverse"] = convertReverse;
  table["stablehlo.reshape"] = convertReshape;
}

} // namespace remat
