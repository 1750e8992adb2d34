//===- Gather.cpp - Reads and writes at indices that are data -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gather is one loop over the result's indices that reads the operand with `tensor.extract`: every result element is
// written once, in order, and the operand's rows are read as they come. Start indices are clamped so that the whole
// slice lies in the operand, as StableHLO says.
//
//===----------------------------------------------------------------------===//

#include "Indices.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

namespace {

/// A gather that keeps StableHLO's rules.
struct Gather {
  GatherDims dims;
  Ints sliceSizes;
  Ints batchDims; ///< The result's dimensions that aren't offsets, in order.
  RankedTensorType operand, starts, result;

  int64_t components() const { return dims.startIndexMap.size(); }
  /// The operand's dimensions that a slice keeps, in order: one for every offset dimension of the result.
  Ints keptDims() const {
    Ints kept;
    for (int64_t dim = 0; dim < operand.getRank(); ++dim)
      if (!llvm::is_contained(dims.collapsedSliceDims, dim) && !llvm::is_contained(dims.operandBatchingDims, dim))
        kept.push_back(dim);
    return kept;
  }
};

} // namespace

/// The lists of dimensions are within the ranks.
static LogicalResult checkGatherDims(Operation *op, const Gather &gather) {
  const GatherDims &dims = gather.dims;
  int64_t rank = gather.operand.getRank(), startRank = gather.starts.getRank();
  Ints gone(dims.collapsedSliceDims), indexed(dims.startIndexMap);
  llvm::append_range(gone, dims.operandBatchingDims);
  llvm::append_range(indexed, dims.operandBatchingDims);
  if (failed(expectDims(op, "offset_dims", dims.offsetDims, gather.result.getRank())) ||
      failed(expectDims(op, "collapsed_slice_dims and operand_batching_dims", gone, rank)) ||
      failed(expectDims(op, "start_index_map and operand_batching_dims", indexed, rank)) ||
      failed(checkIndexTensor(op, gather.starts, dims.indexVectorDim, dims.startIndexMap.size(),
                              dims.startIndicesBatchingDims)))
    return failure();
  if (dims.operandBatchingDims.size() != dims.startIndicesBatchingDims.size())
    return malformed(op, "expected as many start_indices_batching_dims as operand_batching_dims");
  if (gather.keptDims().size() != dims.offsetDims.size())
    return malformed(op, "expected " + Twine(gather.keptDims().size()) + " offset_dims, found " +
                             Twine(dims.offsetDims.size()));
  int64_t batchRank = dims.indexVectorDim < startRank ? startRank - 1 : startRank;
  if (int64_t(gather.batchDims.size()) != batchRank)
    return malformed(op, "expected a result of rank " + Twine(batchRank + dims.offsetDims.size()) + ", found " +
                             Twine(gather.result.getRank()));
  return success();
}

/// The sizes agree: slices lie in the operand, and the result has theirs and the start indices'.
static LogicalResult checkGatherSizes(Operation *op, const Gather &gather) {
  const GatherDims &dims = gather.dims;
  if (gather.operand.getElementType() != gather.result.getElementType())
    return malformed(op, "expected a result with the operand's type of element");
  for (auto [dim, size] : llvm::enumerate(gather.sliceSizes))
    if (size < 0 || size > gather.operand.getDimSize(dim))
      return malformed(op, "slices of " + Twine(size) + " don't fit dimension " + Twine(dim) +
                               " of the operand, which is " + Twine(gather.operand.getDimSize(dim)));
  auto expectSize = [&](int64_t dim, int64_t expected) -> LogicalResult {
    if (gather.result.getDimSize(dim) == expected)
      return success();
    return malformed(op, "expected size " + Twine(expected) + " of the result's dimension " + Twine(dim) + ", found " +
                             Twine(gather.result.getDimSize(dim)));
  };
  for (auto [offset, kept] : llvm::zip_equal(dims.offsetDims, gather.keptDims()))
    if (failed(expectSize(offset, gather.sliceSizes[kept])))
      return failure();
  for (auto [batch, dim] : llvm::enumerate(gather.batchDims))
    if (failed(expectSize(dim, gather.starts.getDimSize(batchDimOfIndices(batch, dims.indexVectorDim)))))
      return failure();
  return checkBatchSizes(op, gather.operand, dims.operandBatchingDims, gather.starts, dims.startIndicesBatchingDims);
}

static FailureOr<Gather> readGather(Operation *op) {
  if (failed(expectOperands(op, 2)))
    return failure();
  Expected<GatherDims> dims = parseGatherDims(getHloAttr(op, "dimension_numbers"));
  if (!dims)
    return malformed(op, dims.error().message);
  Gather gather{*dims,
                {},
                {},
                cast<RankedTensorType>(op->getOperand(0).getType()),
                cast<RankedTensorType>(op->getOperand(1).getType()),
                cast<RankedTensorType>(op->getResult(0).getType())};
  FailureOr<Ints> sizes = requireIntegers(op, "slice_sizes", gather.operand.getRank());
  if (failed(sizes))
    return failure();
  gather.sliceSizes = *sizes;
  for (int64_t dim = 0; dim < gather.result.getRank(); ++dim)
    if (!llvm::is_contained(gather.dims.offsetDims, dim))
      gather.batchDims.push_back(dim);
  if (failed(checkGatherDims(op, gather)) || failed(checkGatherSizes(op, gather)))
    return failure();
  return gather;
}

/// Where in the operand the element of the result at `point` lies. `component(k)` is the kth start index there.
static SmallVector<Value> placeInOperand(const Gather &gather, const IndexMath &math, ArrayRef<Value> point,
                                         llvm::function_ref<Value(int64_t)> component) {
  SmallVector<Value> place(gather.operand.getRank());
  for (auto [offset, kept] : llvm::zip_equal(gather.dims.offsetDims, gather.keptDims()))
    place[kept] = point[offset];
  for (auto [dim, startDim] : llvm::zip_equal(gather.dims.operandBatchingDims, gather.dims.startIndicesBatchingDims))
    place[dim] = point[gather.batchDims[batchNumber(startDim, gather.dims.indexVectorDim)]];
  for (auto [k, dim] : llvm::enumerate(gather.dims.startIndexMap)) {
    Value start = math.clamp(component(k), gather.operand.getDimSize(dim) - gather.sliceSizes[dim]);
    place[dim] = place[dim] ? math.add(place[dim], start) : start;
  }
  for (Value &index : place)
    if (!index)
      index = math.constant(0);
  return place;
}

static Converted convertGather(Importer &importer, Operation *op) {
  FailureOr<Gather> gather = readGather(op);
  if (failed(gather))
    return failure();
  OpBuilder &builder = importer.builder;
  Location loc = op->getLoc();
  RankedTensorType type = Importer::resultType(op);
  int64_t rank = type.getRank();
  Value operand = importer.operand(op, 0), starts = importer.operand(op, 1);
  // Start indices of one component are an input like any other; several are read at every point.
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  if (gather->components() == 1) {
    inputs.push_back(dropIndexVectorDim(importer, loc, starts, gather->dims.indexVectorDim));
    SmallVector<AffineExpr> batch =
        llvm::map_to_vector(gather->batchDims, [&](int64_t dim) { return builder.getAffineDimExpr(dim); });
    maps.push_back(AffineMap::get(rank, 0, batch, builder.getContext()));
  }
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) {
    IndexMath math{inner, loc};
    SmallVector<Value> point;
    for (int64_t dim = 0; dim < rank; ++dim)
      point.push_back(linalg::IndexOp::create(inner, loc, dim));
    SmallVector<Value> batch = llvm::map_to_vector(gather->batchDims, [&](int64_t dim) { return point[dim]; });
    auto component = [&](int64_t k) {
      Value start = inputs.empty() ? readIndex(math, starts, batch, k, gather->dims.indexVectorDim) : arguments[0];
      return math.fromInteger(start, oldElementType(op->getOperand(1)));
    };
    SmallVector<Value> place = placeInOperand(*gather, math, point, component);
    Value element = tensor::ExtractOp::create(inner, loc, operand, place);
    linalg::YieldOp::create(inner, loc, element);
  };
  auto generic = linalg::GenericOp::create(builder, loc, type, inputs, importer.empty(loc, type), maps, loops, body);
  return SmallVector<Value>{generic.getResult(0)};
}

//===----------------------------------------------------------------------===//
// dynamic_slice, dynamic_update_slice
//===----------------------------------------------------------------------===//

/// The clamped offsets of a slice of `sizes` in a tensor of `whole`: the operands of `op` from `first` on, 0-d tensors
/// whose new values are `starts`.
static SmallVector<OpFoldResult> sliceOffsets(Importer &importer, Operation *op, unsigned first, ValueRange starts,
                                              RankedTensorType whole, ArrayRef<int64_t> sizes) {
  IndexMath math{importer.builder, op->getLoc()};
  SmallVector<OpFoldResult> offsets;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    int64_t last = whole.getDimSize(dim) - sizes[dim];
    if (last == 0) { // There is but one place, whatever the start says.
      offsets.push_back(importer.builder.getIndexAttr(0));
      continue;
    }
    Value scalar = importer.scalar(op->getLoc(), start);
    offsets.push_back(math.clamp(math.fromInteger(scalar, oldElementType(op->getOperand(first + dim))), last));
  }
  return offsets;
}

/// One 0-d integer for every dimension of `whole`, from operand `first` on, and slices that fit.
static LogicalResult checkSlice(Operation *op, unsigned first, RankedTensorType whole, ArrayRef<int64_t> sizes) {
  if (failed(expectOperands(op, first + whole.getRank())))
    return failure();
  for (Value start : op->getOperands().drop_front(first))
    if (auto type = cast<RankedTensorType>(start.getType());
        type.getRank() != 0 || !isa<IntegerType>(type.getElementType()))
      return malformed(op, "expected start indices that are 0-d tensors of integers");
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0 || size > whole.getDimSize(dim))
      return malformed(op, "a slice of " + Twine(size) + " doesn't fit dimension " + Twine(dim) +
                               " of the operand, which is " + Twine(whole.getDimSize(dim)));
  return success();
}

static SmallVector<OpFoldResult> indexAttrs(OpBuilder &builder, ArrayRef<int64_t> integers) {
  return llvm::map_to_vector(integers, [&](int64_t i) { return OpFoldResult(builder.getIndexAttr(i)); });
}

static Converted convertDynamicSlice(Importer &importer, Operation *op) {
  if (op->getNumOperands() == 0)
    return expectOperands(op, 1);
  auto whole = cast<RankedTensorType>(importer.operand(op, 0).getType());
  FailureOr<Ints> sizes = requireIntegers(op, "slice_sizes", whole.getRank());
  if (failed(sizes) || failed(checkSlice(op, 1, whole, *sizes)))
    return failure();
  RankedTensorType type = Importer::resultType(op);
  if (type.getShape() != ArrayRef<int64_t>(*sizes))
    return malformed(op, "expected a result of the shape in 'slice_sizes'");
  SmallVector<Value> inputs = llvm::map_to_vector(op->getOperands(), [&](Value old) { return importer.get(old); });
  return buildKernel(importer, op->getLoc(), type, inputs, {}, [&](ValueRange arguments) -> Converted {
    OpBuilder &builder = importer.builder;
    SmallVector<OpFoldResult> offsets = sliceOffsets(importer, op, 1, arguments.drop_front(), whole, *sizes);
    SmallVector<OpFoldResult> strides(whole.getRank(), builder.getIndexAttr(1));
    return SmallVector<Value>{tensor::ExtractSliceOp::create(builder, op->getLoc(), type, arguments[0], offsets,
                                                             indexAttrs(builder, *sizes), strides)};
  });
}

static Converted convertDynamicUpdateSlice(Importer &importer, Operation *op) {
  if (op->getNumOperands() < 2)
    return malformed(op, "expected an operand, an update and start indices");
  RankedTensorType type = Importer::resultType(op);
  auto update = cast<RankedTensorType>(importer.operand(op, 1).getType());
  if (importer.operand(op, 0).getType() != type || update.getRank() != type.getRank() ||
      update.getElementType() != type.getElementType())
    return malformed(op, "expected an operand of the result's type and an update of its rank and elements");
  if (failed(checkSlice(op, 2, type, update.getShape())))
    return failure();
  SmallVector<Value> inputs = llvm::map_to_vector(op->getOperands(), [&](Value old) { return importer.get(old); });
  return buildKernel(importer, op->getLoc(), type, inputs, {0}, [&](ValueRange arguments) -> Converted {
    OpBuilder &builder = importer.builder;
    SmallVector<OpFoldResult> offsets = sliceOffsets(importer, op, 2, arguments.drop_front(2), type, update.getShape());
    SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
    return SmallVector<Value>{tensor::InsertSliceOp::create(builder, op->getLoc(), arguments[1], arguments[0], offsets,
                                                            indexAttrs(builder, update.getShape()), strides)};
  });
}

void addGatherConversions(ConversionTable &table) {
  table["stablehlo.gather"] = convertGather;
  table["stablehlo.dynamic_slice"] = convertDynamicSlice;
  table["stablehlo.dynamic_update_slice"] = convertDynamicUpdateSlice;
  addScatterConversions(table);
}

} // namespace remat
