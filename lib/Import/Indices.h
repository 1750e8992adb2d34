//===- Indices.h - The start indices of gather and scatter -------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor of indices holds one index vector for every point of its other dimensions, the batch. The vector's
// components lie along `indexVectorDim`; if that is the tensor's rank, there is one component and no such dimension.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Kernels.h"

namespace remat {

/// The dimension of the index tensor that the batch's dimension `batch` is, and back.
inline int64_t batchDimOfIndices(int64_t batch, int64_t indexVectorDim) {
  return batch < indexVectorDim ? batch : batch + 1;
}
inline int64_t batchNumber(int64_t dim, int64_t indexVectorDim) { return dim < indexVectorDim ? dim : dim - 1; }

/// The kth component of the index vector at the point `batch`.
mlir::Value readIndex(const IndexMath &math, mlir::Value indices, llvm::ArrayRef<mlir::Value> batch, int64_t k,
                      int64_t indexVectorDim);

/// Indices of one component without the dimension for it.
mlir::Value dropIndexVectorDim(Importer &importer, mlir::Location loc, mlir::Value indices, int64_t indexVectorDim);

/// Integers, with `components` of them along a dimension in range, which isn't one of `batchingDims`. Else emits an
/// error.
mlir::LogicalResult checkIndexTensor(mlir::Operation *op, mlir::RankedTensorType indices, int64_t indexVectorDim,
                                     int64_t components, llvm::ArrayRef<int64_t> batchingDims);

/// The dimensions that two tensors go along together have the same sizes. Else emits an error.
mlir::LogicalResult checkBatchSizes(mlir::Operation *op, mlir::RankedTensorType operand, llvm::ArrayRef<int64_t> dims,
                                    mlir::RankedTensorType indices, llvm::ArrayRef<int64_t> indexDims);

void addScatterConversions(ConversionTable &table); ///< scatter.

} // namespace remat
