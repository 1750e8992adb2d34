//===- Tensors.h - Whole tensors in other shapes and types -------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/StableHloAttributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace remat {

/// The shape after StableHLO's `pad`: `low` and `high` elements are added at the ends (negative: taken away), and
/// `interior` between every two. Sizes that would be negative are 0.
Ints paddedShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                 llvm::ArrayRef<int64_t> interior);

/// `input` padded to `type` (a paddedShape) with the scalar `padding`: a fill and a tensor.insert_slice.
mlir::Value pad(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, mlir::Value padding,
                mlir::RankedTensorType type, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> interior);

/// tensor.insert_slice with constant offsets, sizes and strides.
mlir::Value insertSlice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source, mlir::Value into,
                        llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
                        llvm::ArrayRef<int64_t> strides);

/// The elements in the same order in another shape, by tensor.expand_shape and tensor.collapse_shape.
mlir::Value reshape(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::RankedTensorType to);

/// Every element in another type of its kind: f32 rounded to bf16.
mlir::Value castTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::RankedTensorType type);

} // namespace remat
