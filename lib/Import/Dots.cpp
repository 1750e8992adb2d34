//===- Dots.cpp - dot and dot_general -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dot is one loop nest: batch dimensions, those of the left operand alone, those of the right one alone, contracted
// ones. Which operand dimension each is stands in the maps, so no operand is transposed.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"
#include "Tensors.h"

using namespace mlir;

namespace remat {

namespace {
/// The loops of a dot while they are put together.
class DotLoops {
public:
  DotLoops(Operation *op, RankedTensorType lhs, RankedTensorType rhs)
      : op(op), lhs(lhs), rhs(rhs), lhsLoops(lhs.getRank(), -1), rhsLoops(rhs.getRank(), -1) {}

  LogicalResult read(const DotDims &dims);

  AffineMap lhsMap() const { return mapOf(lhsLoops); }
  AffineMap rhsMap() const { return mapOf(rhsLoops); }
  AffineMap resultMap() const { return mapOf(llvm::to_vector(llvm::seq<int64_t>(0, parallel))); }
  ArrayRef<int64_t> resultShape() const { return ArrayRef(sizes).take_front(parallel); }
  SmallVector<utils::IteratorType> iterators() const {
    SmallVector<utils::IteratorType> types(parallel, utils::IteratorType::parallel);
    types.append(sizes.size() - parallel, utils::IteratorType::reduction);
    return types;
  }

private:
  /// Gives dimensions that both operands have one loop each.
  LogicalResult pair(ArrayRef<int64_t> lhsDims, ArrayRef<int64_t> rhsDims, StringRef kind);
  void addFree(ArrayRef<int64_t> shape, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting,
               MutableArrayRef<int64_t> loops);
  AffineMap mapOf(ArrayRef<int64_t> loops) const {
    SmallVector<AffineExpr> dims =
        llvm::map_to_vector(loops, [&](int64_t loop) { return getAffineDimExpr(loop, op->getContext()); });
    return AffineMap::get(sizes.size(), 0, dims, op->getContext());
  }

  Operation *op;
  RankedTensorType lhs, rhs;
  Ints lhsLoops, rhsLoops; ///< By dimension of the operand; -1: none yet.
  Ints sizes;              ///< By loop.
  size_t parallel = 0;     ///< Loops that aren't contracted; they come first.
};
} // namespace

LogicalResult DotLoops::pair(ArrayRef<int64_t> lhsDims, ArrayRef<int64_t> rhsDims, StringRef kind) {
  if (lhsDims.size() != rhsDims.size())
    return malformed(op, "the operands have different numbers of " + kind + " dimensions");
  for (auto [l, r] : llvm::zip(lhsDims, rhsDims)) {
    if (l < 0 || l >= lhs.getRank() || r < 0 || r >= rhs.getRank() || lhsLoops[l] != -1 || rhsLoops[r] != -1)
      return malformed(op, "a " + kind + " dimension doesn't exist or stands twice");
    if (lhs.getDimSize(l) != rhs.getDimSize(r))
      return malformed(op, "a " + kind + " dimension has size " + Twine(lhs.getDimSize(l)) + " on the left, " +
                               Twine(rhs.getDimSize(r)) + " on the right");
    lhsLoops[l] = rhsLoops[r] = sizes.size();
    sizes.push_back(lhs.getDimSize(l));
  }
  return success();
}

void DotLoops::addFree(ArrayRef<int64_t> shape, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting,
                       MutableArrayRef<int64_t> loops) {
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (llvm::is_contained(batching, int64_t(dim)) || llvm::is_contained(contracting, int64_t(dim)))
      continue;
    loops[dim] = sizes.size();
    sizes.push_back(size);
  }
}

LogicalResult DotLoops::read(const DotDims &dims) {
  if (failed(pair(dims.lhsBatching, dims.rhsBatching, "batching")))
    return failure();
  addFree(lhs.getShape(), dims.lhsBatching, dims.lhsContracting, lhsLoops);
  addFree(rhs.getShape(), dims.rhsBatching, dims.rhsContracting, rhsLoops);
  parallel = sizes.size();
  return pair(dims.lhsContracting, dims.rhsContracting, "contracting");
}

/// What the products are added up in: the result's type, but at least f32 for floats.
static FailureOr<Type> dotAccumulator(Operation *op) {
  Type result = Importer::convertType(oldElementType(op->getResult(0)));
  Type widest = accumulatorType(result);
  for (Value operand : op->getOperands()) {
    Type type = oldElementType(operand);
    if (isa<FloatType>(type) != isa<FloatType>(result) ||
        (!isa<FloatType>(result) && type.getIntOrFloatBitWidth() > result.getIntOrFloatBitWidth()))
      return unsupported(op, "this mix of types", "convert the operands to the result's type first");
    if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() > widest.getIntOrFloatBitWidth())
      widest = type;
  }
  return widest;
}

/// acc + lhs * rhs.
static Converted emitMultiplyAdd(Importer &importer, Operation *op, ValueRange arguments) {
  OpBuilder &builder = importer.builder;
  Location loc = op->getLoc();
  Value accumulator = arguments[2];
  Type type = accumulator.getType();
  SmallVector<Value> factors;
  for (unsigned i : {0, 1}) {
    Type old = oldElementType(op->getOperand(i));
    factors.push_back(castScalar(builder, loc, arguments[i], type, old.isUnsignedInteger() || old.isInteger(1)));
  }
  if (isa<FloatType>(type)) {
    Value product = arith::MulFOp::create(builder, loc, factors[0], factors[1]);
    return SmallVector<Value>{arith::AddFOp::create(builder, loc, accumulator, product)};
  }
  if (type.isInteger(1)) {
    Value product = arith::AndIOp::create(builder, loc, factors[0], factors[1]);
    return SmallVector<Value>{arith::OrIOp::create(builder, loc, accumulator, product)};
  }
  Value product = arith::MulIOp::create(builder, loc, factors[0], factors[1]);
  return SmallVector<Value>{arith::AddIOp::create(builder, loc, accumulator, product)};
}

static Converted emitDot(Importer &importer, Operation *op, const DotDims &dims) {
  Value lhs = importer.operand(op, 0), rhs = importer.operand(op, 1);
  RankedTensorType type = importer.resultType(op);
  DotLoops loops(op, cast<RankedTensorType>(lhs.getType()), cast<RankedTensorType>(rhs.getType()));
  if (failed(loops.read(dims)))
    return failure();
  if (type.getShape() != loops.resultShape())
    return malformed(op, "the result's shape isn't the batching, then the left, then the right dimensions");
  FailureOr<Type> accumulator = dotAccumulator(op);
  if (failed(accumulator))
    return failure();
  Location loc = op->getLoc();
  Value zero = arith::ConstantOp::create(importer.builder, loc, importer.builder.getZeroAttr(*accumulator));
  Converted sums = importer.generic(loc, {lhs, rhs}, importer.fill(loc, type.clone(*accumulator), zero),
                                    {loops.lhsMap(), loops.rhsMap(), loops.resultMap()}, loops.iterators(),
                                    [&](ValueRange arguments) { return emitMultiplyAdd(importer, op, arguments); });
  if (succeeded(sums))
    sums->front() = castTensor(importer.builder, loc, sums->front(), type);
  return sums;
}

static Converted convertDotGeneral(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 2)))
    return failure();
  Expected<DotDims> dims = parseDotDims(getHloAttr(op, "dot_dimension_numbers"));
  if (!dims)
    return malformed(op, dims.error().message);
  return emitDot(importer, op, *dims);
}

/// Vectors and matrices: the last dimension of the left operand and the first of the right one are contracted.
static Converted convertDot(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 2)))
    return failure();
  DotDims dims;
  for (Value operand : op->getOperands())
    if (int64_t rank = cast<RankedTensorType>(operand.getType()).getRank(); rank != 1 && rank != 2)
      return malformed(op, "expected operands of rank 1 or 2, found rank " + Twine(rank));
  dims.lhsContracting = {cast<RankedTensorType>(op->getOperand(0).getType()).getRank() - 1};
  dims.rhsContracting = {0};
  return emitDot(importer, op, dims);
}

void addDotConversions(ConversionTable &table) {
  table["stablehlo.dot"] = convertDot;
  table["stablehlo.dot_general"] = convertDotGeneral;
}

} // namespace remat
