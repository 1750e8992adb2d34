//===- Reductions.cpp - reduce --------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Importer.h"
#include "Tensors.h"

using namespace mlir;

namespace remat {

/// A body that only adds or multiplies its arguments works in any float type, so it may accumulate in a wider one.
static bool mayAccumulateWide(Operation *op) {
  Block &body = op->getRegion(0).front();
  if (op->getNumResults() != 1 || body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return false;
  Operation &first = body.front();
  StringRef name = first.getName().getStringRef();
  return (name == "stablehlo.add" || name == "stablehlo.multiply") && first.getNumOperands() == 2 &&
         llvm::all_of(first.getOperands(), [&](Value operand) { return operand.getParentBlock() == &body; }) &&
         first.getNumResults() == 1 && body.back().getNumOperands() == 1 &&
         body.back().getOperand(0) == first.getResult(0);
}

namespace {
/// The parts of a `reduce` that has been checked.
struct Reduce {
  Operation *op;
  unsigned count;      ///< Operands, initial values and results, each.
  AffineMap inputMap;  ///< All dimensions of the operands.
  AffineMap resultMap; ///< Those that stay.
  SmallVector<utils::IteratorType> loops;
};
} // namespace

static LogicalResult checkOperands(Importer &importer, const Reduce &reduce, ArrayRef<int64_t> kept) {
  auto shape = cast<RankedTensorType>(reduce.op->getOperand(0).getType()).getShape();
  Ints resultShape = llvm::map_to_vector<4>(kept, [&](int64_t dim) { return shape[dim]; });
  for (unsigned i = 0; i < reduce.count; ++i) {
    auto type = cast<RankedTensorType>(reduce.op->getOperand(i).getType());
    if (type.getShape() != shape)
      return malformed(reduce.op, "operands have different shapes");
    if (reduce.op->getResult(i).getType() != Type(type.clone(ArrayRef(resultShape))))
      return malformed(reduce.op, "result " + Twine(i) + " isn't the operand's type without the reduced dimensions");
    if (reduce.op->getOperand(reduce.count + i).getType() != Type(type.clone(ArrayRef<int64_t>())))
      return malformed(reduce.op, "expected a 0-d tensor of operand " + Twine(i) + "'s element type as initial value");
  }
  return success();
}

static FailureOr<Reduce> readReduce(Importer &importer, Operation *op) {
  if (op->getNumResults() == 0 || op->getNumOperands() != 2 * op->getNumResults() || op->getNumRegions() != 1 ||
      !op->getRegion(0).hasOneBlock())
    return malformed(op, "expected operands, as many initial values and results, and a body of one block");
  FailureOr<Ints> dims = requireIntegers(op, "dimensions");
  if (failed(dims))
    return failure();
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  Reduce reduce = {op, op->getNumResults(), importer.builder.getMultiDimIdentityMap(rank), {}, {}};
  reduce.loops.assign(rank, utils::IteratorType::parallel);
  for (int64_t dim : *dims) {
    if (dim < 0 || dim >= rank || reduce.loops[dim] == utils::IteratorType::reduction)
      return malformed(op, "expected different dimensions of the operand in 'dimensions'");
    reduce.loops[dim] = utils::IteratorType::reduction;
  }
  SmallVector<AffineExpr> results;
  Ints kept;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (reduce.loops[dim] == utils::IteratorType::parallel) {
      results.push_back(importer.builder.getAffineDimExpr(dim));
      kept.push_back(dim);
    }
  reduce.resultMap = AffineMap::get(rank, 0, results, op->getContext());
  if (failed(checkOperands(importer, reduce, kept)))
    return failure();
  return reduce;
}

/// One loop nest for all results; the accumulators are its `outs`.
static Converted emitReduce(Importer &importer, const Reduce &reduce, bool wide) {
  Operation *op = reduce.op;
  OpBuilder &builder = importer.builder;
  Location loc = op->getLoc();
  SmallVector<Value> inputs, outs;
  for (unsigned i = 0; i < reduce.count; ++i) {
    RankedTensorType type = importer.resultType(op, i);
    Type accumulator = wide ? accumulatorType(type.getElementType()) : type.getElementType();
    Value init = importer.scalar(loc, importer.operand(op, reduce.count + i));
    inputs.push_back(importer.operand(op, i));
    outs.push_back(importer.fill(loc, type.clone(accumulator), castScalar(builder, loc, init, accumulator)));
  }
  SmallVector<AffineMap> maps(reduce.count, reduce.inputMap);
  maps.append(reduce.count, reduce.resultMap);
  return importer.generic(loc, inputs, outs, maps, reduce.loops, [&](ValueRange arguments) -> Converted {
    // StableHLO's bodies take the accumulators first.
    SmallVector<Value> bodyArguments(arguments.take_back(reduce.count));
    for (auto [element, accumulator] : llvm::zip(arguments.take_front(reduce.count), arguments.take_back(reduce.count)))
      bodyArguments.push_back(castScalar(builder, loc, element, accumulator.getType()));
    Converted results = importer.convertScalarBlock(op->getRegion(0).front(), bodyArguments);
    if (succeeded(results) && ValueRange(*results).getTypes() != arguments.take_back(reduce.count).getTypes())
      return malformed(op, "its body must return values of the results' element types");
    return results;
  });
}

static Converted convertReduce(Importer &importer, Operation *op) {
  FailureOr<Reduce> reduce = readReduce(importer, op);
  if (failed(reduce))
    return failure();
  bool wide = mayAccumulateWide(op);
  Converted results = emitReduce(importer, *reduce, wide);
  if (succeeded(results) && wide)
    results->front() = castTensor(importer.builder, op->getLoc(), results->front(), importer.resultType(op));
  return results;
}

void addReductionConversions(ConversionTable &table) { table["stablehlo.reduce"] = convertReduce; }

} // namespace remat
