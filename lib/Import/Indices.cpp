//===- Indices.cpp - The start indices of gather and scatter --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Indices.h"

#include "Tensors.h"

using namespace mlir;

namespace remat {

Value readIndex(const IndexMath &math, Value indices, ArrayRef<Value> batch, int64_t k, int64_t indexVectorDim) {
  SmallVector<Value> place(batch);
  if (indexVectorDim < cast<RankedTensorType>(indices.getType()).getRank())
    place.insert(place.begin() + indexVectorDim, math.constant(k));
  return tensor::ExtractOp::create(math.builder, math.loc, indices, place);
}

Value dropIndexVectorDim(Importer &importer, Location loc, Value indices, int64_t indexVectorDim) {
  auto type = cast<RankedTensorType>(indices.getType());
  if (indexVectorDim == type.getRank())
    return indices;
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + indexVectorDim);
  return reshape(importer.builder, loc, indices, type.clone(shape));
}

LogicalResult checkIndexTensor(Operation *op, RankedTensorType indices, int64_t indexVectorDim, int64_t components,
                               ArrayRef<int64_t> batchingDims) {
  if (!isa<IntegerType>(indices.getElementType()))
    return malformed(op, "expected indices that are integers");
  int64_t rank = indices.getRank();
  if (indexVectorDim < 0 || indexVectorDim > rank)
    return malformed(op, "expected an index_vector_dim in [0, " + Twine(rank) + "], found " + Twine(indexVectorDim));
  int64_t found = indexVectorDim == rank ? 1 : indices.getDimSize(indexVectorDim);
  if (found != components)
    return malformed(op, "expected index vectors of " + Twine(components) + " components, found " + Twine(found));
  if (llvm::is_contained(batchingDims, indexVectorDim))
    return malformed(op, "dimension " + Twine(indexVectorDim) + " holds index vectors, so it can't be a batch's");
  return expectDims(op, "the batching dimensions of the indices", batchingDims, rank);
}

LogicalResult checkBatchSizes(Operation *op, RankedTensorType operand, ArrayRef<int64_t> dims, RankedTensorType indices,
                              ArrayRef<int64_t> indexDims) {
  for (auto [dim, indexDim] : llvm::zip_equal(dims, indexDims))
    if (operand.getDimSize(dim) != indices.getDimSize(indexDim))
      return malformed(op, "batching dimensions differ in size: " + Twine(operand.getDimSize(dim)) +
                               " of the operand, " + Twine(indices.getDimSize(indexDim)) + " of the indices");
  return success();
}

} // namespace remat
