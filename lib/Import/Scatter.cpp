//===- Scatter.cpp - scatter ----------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that writes into its operands: loops over the index vectors, row by row, and within each over its window.
// The order is fixed, so updates of the same element are combined in the order of the indices and the bits don't depend
// on anything else.
//
// StableHLO's text drops the elements of a window that lie outside; XLA drops the whole window if any of it does, and
// frameworks are written for XLA. Here too the window goes as a whole, which also keeps the test out of the inner loop.
//
//===----------------------------------------------------------------------===//

#include "Indices.h"

using namespace mlir;

namespace remat {

namespace {

/// A scatter that keeps StableHLO's rules.
struct Scatter {
  ScatterDims dims;
  int64_t operands = 0;
  RankedTensorType operand, indices, update; ///< All operands have one shape, all updates another.
  Type indexType;                            ///< With signedness.
  Block *body = nullptr;

  /// The update's dimensions that aren't a window's, in order.
  Ints batchDims() const {
    Ints batch;
    for (int64_t dim = 0; dim < update.getRank(); ++dim)
      if (!llvm::is_contained(dims.updateWindowDims, dim))
        batch.push_back(dim);
    return batch;
  }
  /// The operand's dimensions that a window has, in order: one for every update_window_dims.
  Ints keptDims() const {
    Ints kept;
    for (int64_t dim = 0; dim < operand.getRank(); ++dim)
      if (!llvm::is_contained(dims.insertedWindowDims, dim) && !llvm::is_contained(dims.inputBatchingDims, dim))
        kept.push_back(dim);
    return kept;
  }
  /// The size of a window along every dimension of the operand.
  Ints windowSizes() const {
    Ints sizes(operand.getRank(), 1);
    for (auto [dim, updateDim] : llvm::zip_equal(keptDims(), dims.updateWindowDims))
      sizes[dim] = update.getDimSize(updateDim);
    return sizes;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static LogicalResult checkScatterDims(Operation *op, const Scatter &scatter) {
  const ScatterDims &dims = scatter.dims;
  int64_t rank = scatter.operand.getRank();
  Ints gone(dims.insertedWindowDims), indexed(dims.scatterDimsToOperandDims);
  llvm::append_range(gone, dims.inputBatchingDims);
  llvm::append_range(indexed, dims.inputBatchingDims);
  if (failed(expectDims(op, "update_window_dims", dims.updateWindowDims, scatter.update.getRank())) ||
      failed(expectDims(op, "inserted_window_dims and input_batching_dims", gone, rank)) ||
      failed(expectDims(op, "scatter_dims_to_operand_dims and input_batching_dims", indexed, rank)) ||
      failed(checkIndexTensor(op, scatter.indices, dims.indexVectorDim, dims.scatterDimsToOperandDims.size(),
                              dims.scatterIndicesBatchingDims)))
    return failure();
  if (dims.inputBatchingDims.size() != dims.scatterIndicesBatchingDims.size())
    return malformed(op, "expected as many scatter_indices_batching_dims as input_batching_dims");
  if (scatter.keptDims().size() != dims.updateWindowDims.size())
    return malformed(op, "expected " + Twine(scatter.keptDims().size()) + " update_window_dims, found " +
                             Twine(dims.updateWindowDims.size()));
  int64_t indexRank = scatter.indices.getRank(), batchRank = scatter.batchDims().size();
  if (batchRank != (dims.indexVectorDim < indexRank ? indexRank - 1 : indexRank))
    return malformed(op, "expected updates whose other dimensions are the indices', found updates of rank " +
                             Twine(scatter.update.getRank()));
  for (auto [batch, dim] : llvm::enumerate(scatter.batchDims()))
    if (scatter.update.getDimSize(dim) != scatter.indices.getDimSize(batchDimOfIndices(batch, dims.indexVectorDim)))
      return malformed(op, "dimension " + Twine(dim) + " of the updates doesn't have the size of the indices'");
  for (auto [dim, size] : llvm::enumerate(scatter.windowSizes()))
    if (size > scatter.operand.getDimSize(dim) && scatter.operand.getNumElements() > 0)
      return malformed(op, "windows of " + Twine(size) + " don't fit dimension " + Twine(dim) +
                               " of the operand, which is " + Twine(scatter.operand.getDimSize(dim)));
  return checkBatchSizes(op, scatter.operand, dims.inputBatchingDims, scatter.indices, dims.scatterIndicesBatchingDims);
}

/// N operands and N results of one shape, indices, N updates of one shape.
static LogicalResult checkScatterShapes(Operation *op, const Scatter &scatter) {
  for (int64_t i = 0; i < scatter.operands; ++i) {
    auto operand = cast<RankedTensorType>(op->getOperand(i).getType());
    auto update = cast<RankedTensorType>(op->getOperand(scatter.operands + 1 + i).getType());
    if (operand.getShape() != scatter.operand.getShape() || update.getShape() != scatter.update.getShape())
      return malformed(op, "expected operands of one shape and updates of one shape");
    if (operand != op->getResult(i).getType() || operand.getElementType() != update.getElementType())
      return malformed(op, "expected result " + Twine(i) + " and update " + Twine(i) + " to have operand " + Twine(i) +
                               "'s type of element");
  }
  return success();
}

static FailureOr<Scatter> readScatter(Operation *op) {
  Scatter scatter;
  scatter.operands = op->getNumOperands() / 2;
  if (scatter.operands == 0)
    return malformed(op, "expected operands, indices and updates");
  if (failed(expectOperands(op, 2 * scatter.operands + 1, scatter.operands)))
    return failure();
  Expected<ScatterDims> dims = parseScatterDims(getHloAttr(op, "scatter_dimension_numbers"));
  if (!dims)
    return malformed(op, dims.error().message);
  scatter.dims = *dims;
  scatter.operand = cast<RankedTensorType>(op->getOperand(0).getType());
  scatter.indices = cast<RankedTensorType>(op->getOperand(scatter.operands).getType());
  scatter.update = cast<RankedTensorType>(op->getOperand(scatter.operands + 1).getType());
  scatter.indexType = scatter.indices.getElementType();
  FailureOr<Block *> body = requireBody(op, 0, 2 * scatter.operands);
  if (failed(body) || failed(checkScatterShapes(op, scatter)) || failed(checkScatterDims(op, scatter)))
    return failure();
  scatter.body = *body;
  return scatter;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// A window's first place in the operand, and whether the whole window lies in it (null: it always does).
struct WindowPlace {
  SmallVector<Value> first;
  Value inside;
};

static WindowPlace placeWindow(const Scatter &scatter, const IndexMath &math, Value indices, ArrayRef<Value> batch) {
  WindowPlace place;
  place.first.resize(scatter.operand.getRank());
  Ints sizes = scatter.windowSizes();
  for (auto [dim, indexDim] : llvm::zip_equal(scatter.dims.inputBatchingDims, scatter.dims.scatterIndicesBatchingDims))
    place.first[dim] = batch[batchNumber(indexDim, scatter.dims.indexVectorDim)];
  for (auto [k, dim] : llvm::enumerate(scatter.dims.scatterDimsToOperandDims)) {
    Value start = math.fromInteger(readIndex(math, indices, batch, k, scatter.dims.indexVectorDim), scatter.indexType);
    // As unsigned numbers, negative starts are large too.
    Value fits =
        math.compare(arith::CmpIPredicate::ule, start, math.constant(scatter.operand.getDimSize(dim) - sizes[dim]));
    place.inside = place.inside ? math.both(place.inside, fits) : fits;
    place.first[dim] = place.first[dim] ? math.add(place.first[dim], start) : start;
  }
  return place;
}

/// Combines the updates of one window with the operands.
static Converted scatterWindow(Importer &importer, Location loc, const Scatter &scatter, ArrayRef<Value> first,
                               ArrayRef<Value> batch, ValueRange updates, ValueRange carried) {
  OpBuilder &builder = importer.builder;
  Ints kept = scatter.keptDims(), batchDims = scatter.batchDims(), sizes;
  for (int64_t dim : scatter.dims.updateWindowDims)
    sizes.push_back(scatter.update.getDimSize(dim));
  return buildLoops(importer, loc, sizes, carried, [&](ValueRange window, ValueRange carried) -> Converted {
    IndexMath math{builder, loc};
    SmallVector<Value> to(first), from(scatter.update.getRank());
    for (auto [dim, index] : llvm::zip_equal(kept, window))
      to[dim] = to[dim] ? math.add(to[dim], index) : index;
    for (Value &index : to)
      if (!index)
        index = math.constant(0);
    for (auto [dim, index] : llvm::zip_equal(scatter.dims.updateWindowDims, window))
      from[dim] = index;
    for (auto [dim, index] : llvm::zip_equal(batchDims, batch))
      from[dim] = index;
    SmallVector<Value> arguments;
    for (Value tensor : carried)
      arguments.push_back(tensor::ExtractOp::create(builder, loc, tensor, to));
    for (Value update : updates)
      arguments.push_back(tensor::ExtractOp::create(builder, loc, update, from));
    Converted combined = importer.convertScalarBlock(*scatter.body, arguments);
    if (failed(combined))
      return failure();
    if (combined->size() != carried.size())
      return malformed(scatter.body->getParentOp(), "expected " + Twine(carried.size()) + " values from its body");
    SmallVector<Value> next;
    for (auto [value, tensor] : llvm::zip_equal(*combined, carried))
      next.push_back(tensor::InsertOp::create(builder, loc, value, tensor, to));
    return next;
  });
}

static Converted convertScatter(Importer &importer, Operation *op) {
  FailureOr<Scatter> scatter = readScatter(op);
  if (failed(scatter))
    return failure();
  Location loc = op->getLoc();
  int64_t count = scatter->operands;
  SmallVector<Value> inputs = llvm::map_to_vector(op->getOperands(), [&](Value old) { return importer.get(old); });
  if (scatter->operand.getNumElements() == 0)
    return SmallVector<Value>(ArrayRef<Value>(inputs).take_front(count));
  SmallVector<Type> types = llvm::map_to_vector(op->getResultTypes(), Importer::convertType);
  SmallVector<int64_t> inplace = llvm::to_vector(llvm::seq<int64_t>(0, count));
  Ints batchSizes;
  for (int64_t dim : scatter->batchDims())
    batchSizes.push_back(scatter->update.getDimSize(dim));
  return buildKernel(importer, loc, types, inputs, inplace, [&](ValueRange arguments) -> Converted {
    ValueRange updates = arguments.drop_front(count + 1);
    auto body = [&](ValueRange point, ValueRange carried) -> Converted {
      SmallVector<Value> batch(point);
      WindowPlace place = placeWindow(*scatter, {importer.builder, loc}, arguments[count], batch);
      auto window = [&] { return scatterWindow(importer, loc, *scatter, place.first, batch, updates, carried); };
      return place.inside ? buildIf(importer, loc, place.inside, carried, window) : window();
    };
    return buildLoops(importer, loc, batchSizes, arguments.take_front(count), body);
  });
}

void addScatterConversions(ConversionTable &table) { table["stablehlo.scatter"] = convertScatter; }

} // namespace remat
