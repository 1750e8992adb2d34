//===- Elementwise.cpp - Ops that treat every element alike ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

using namespace mlir;

namespace remat {

static bool mayBroadcast(Operation *op, unsigned operand) {
  StringRef name = op->getName().getStringRef();
  return (name == "stablehlo.select" && operand == 0) || (name == "stablehlo.clamp" && operand != 1);
}

static LogicalResult checkShapes(Operation *op, RankedTensorType result) {
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes())) {
    auto shape = cast<RankedTensorType>(type).getShape();
    if (shape != result.getShape() && !(shape.empty() && mayBroadcast(op, i)))
      return malformed(op, "operand " + Twine(i) + " and the result have different shapes");
  }
  return success();
}

/// A parallel loop nest over the operands, of which 0-d ones are read everywhere.
static Converted elementwiseLoops(Importer &importer, Operation *op,
                                  llvm::function_ref<Converted(ValueRange)> emitBody) {
  RankedTensorType type = importer.resultType(op);
  if (failed(checkShapes(op, type)))
    return failure();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  AffineMap identity = importer.builder.getMultiDimIdentityMap(type.getRank());
  for (Value operand : op->getOperands()) {
    inputs.push_back(importer.get(operand));
    bool isScalar = cast<RankedTensorType>(operand.getType()).getRank() == 0;
    maps.push_back(isScalar ? AffineMap::get(type.getRank(), 0, op->getContext()) : identity);
  }
  maps.push_back(identity);
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return importer.generic(op->getLoc(), inputs, importer.empty(op->getLoc(), type), maps, loops,
                          [&](ValueRange arguments) { return emitBody(arguments.drop_back()); });
}

static Converted convertElementwise(Importer &importer, Operation *op) {
  if (op->getNumResults() != 1)
    return malformed(op, "expected 1 result, found " + Twine(op->getNumResults()));
  return elementwiseLoops(importer, op, [&](ValueRange arguments) -> Converted {
    FailureOr<Value> value = emitScalar(importer.builder, op, arguments);
    if (failed(value))
      return failure();
    return SmallVector<Value>{*value};
  });
}

/// Types that differ in their signedness alone are one type now.
static Converted convertConvert(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 1)))
    return failure();
  Value operand = importer.operand(op, 0);
  return operand.getType() == importer.resultType(op) ? Converted(SmallVector<Value>{operand})
                                                      : convertElementwise(importer, op);
}

static Converted convertMap(Importer &importer, Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || op->getNumRegions() != 1 ||
      !op->getRegion(0).hasOneBlock())
    return malformed(op, "expected operands, a body of one block and one result");
  return elementwiseLoops(importer, op, [&](ValueRange arguments) -> Converted {
    FailureOr<SmallVector<Value>> values = importer.convertScalarBlock(op->getRegion(0).front(), arguments);
    if (succeeded(values) &&
        (values->size() != 1 || values->front().getType() != importer.resultType(op).getElementType()))
      return malformed(op, "its body must return one value of the result's element type");
    return values;
  });
}

//===----------------------------------------------------------------------===//
// bitcast_convert
//===----------------------------------------------------------------------===//

/// The bits of the last loop's part of a wider integer: by how many they are shifted.
static Value partShift(OpBuilder &builder, Location loc, unsigned dim, unsigned partWidth, Type type) {
  Value part = linalg::IndexOp::create(builder, loc, dim);
  Value bits = arith::ConstantIndexOp::create(builder, loc, partWidth);
  return arith::IndexCastOp::create(builder, loc, type, arith::MulIOp::create(builder, loc, part, bits));
}

static Value asBits(OpBuilder &builder, Location loc, Value value, Type type) {
  return value.getType() == type ? value : arith::BitcastOp::create(builder, loc, type, value).getResult();
}

/// tensor<AxT> to tensor<Ax(N)xU> where U is N times narrower: the lowest bits come first.
static Converted splitElements(Importer &importer, Operation *op, RankedTensorType from, RankedTensorType to) {
  OpBuilder &builder = importer.builder;
  Location loc = op->getLoc();
  unsigned rank = to.getRank(), width = to.getElementTypeBitWidth();
  Type wide = builder.getIntegerType(from.getElementTypeBitWidth()), narrow = builder.getIntegerType(width);
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return importer.generic(loc, importer.operand(op, 0), importer.empty(loc, to),
                          {identity.dropResult(rank - 1), identity}, loops, [&](ValueRange arguments) -> Converted {
                            Value bits = asBits(builder, loc, arguments.front(), wide);
                            Value shift = partShift(builder, loc, rank - 1, width, wide);
                            Value part = arith::ShRUIOp::create(builder, loc, bits, shift);
                            part = arith::TruncIOp::create(builder, loc, narrow, part);
                            return SmallVector<Value>{asBits(builder, loc, part, to.getElementType())};
                          });
}

/// The other way: the parts are combined by `or`, then taken for the result's type.
static Converted joinElements(Importer &importer, Operation *op, RankedTensorType from, RankedTensorType to) {
  OpBuilder &builder = importer.builder;
  Location loc = op->getLoc();
  unsigned rank = from.getRank(), width = from.getElementTypeBitWidth();
  Type narrow = builder.getIntegerType(width), wide = builder.getIntegerType(to.getElementTypeBitWidth());
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.back() = utils::IteratorType::reduction;
  auto bitsType = to.clone(wide);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(wide));
  Converted joined =
      importer.generic(loc, importer.operand(op, 0), importer.fill(loc, bitsType, zero),
                       {identity, identity.dropResult(rank - 1)}, loops, [&](ValueRange arguments) -> Converted {
                         Value part =
                             arith::ExtUIOp::create(builder, loc, wide, asBits(builder, loc, arguments[0], narrow));
                         Value shift = partShift(builder, loc, rank - 1, width, wide);
                         part = arith::ShLIOp::create(builder, loc, part, shift);
                         return SmallVector<Value>{arith::OrIOp::create(builder, loc, arguments[1], part)};
                       });
  if (succeeded(joined) && to != bitsType)
    joined->front() = arith::BitcastOp::create(builder, loc, to, joined->front());
  return joined;
}

static Converted convertBitcast(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 1)))
    return failure();
  Value operand = importer.operand(op, 0);
  auto from = cast<RankedTensorType>(operand.getType()), to = importer.resultType(op);
  int64_t fromBits = from.getElementTypeBitWidth(), toBits = to.getElementTypeBitWidth();
  if (fromBits != toBits && (fromBits < 8 || toBits < 8))
    return unsupported(op, "between whole bytes and less", "convert to i8 first");
  ArrayRef<int64_t> parts = fromBits > toBits ? to.getShape() : from.getShape();
  ArrayRef<int64_t> wholes = fromBits > toBits ? from.getShape() : to.getShape();
  int64_t ratio = std::max(fromBits, toBits) / std::min(fromBits, toBits);
  if (fromBits == toBits ? parts != wholes : parts.empty() || parts.back() != ratio || parts.drop_back() != wholes)
    return malformed(op, "the operand's and the result's shapes don't hold the same bits");
  if (fromBits != toBits)
    return fromBits > toBits ? splitElements(importer, op, from, to) : joinElements(importer, op, from, to);
  if (from == to)
    return SmallVector<Value>{operand};
  return SmallVector<Value>{arith::BitcastOp::create(importer.builder, op->getLoc(), to, operand)};
}

void addElementwiseConversions(ConversionTable &table) {
  for (StringRef name : scalarOpNames())
    table[name] = convertElementwise;
  table["stablehlo.convert"] = convertConvert;
  table["stablehlo.bitcast_convert"] = convertBitcast;
  table["stablehlo.map"] = convertMap;
}

} // namespace remat
