//===- Places.h - Where in an operand a point of a loop lies -----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pads, concatenations and padded windows ask at each point whether it lies in an operand. The body of their loop reads
// the operand with `tensor.extract` at an index that is clamped, and so safe everywhere, and selects another value
// where the point lies outside; every back end reads under the condition (EmitBody.cpp).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Importer.h"

namespace remat {

struct Place {
  llvm::SmallVector<mlir::Value> indices; ///< Inside the operand wherever the point lies.
  mlir::Value isInside = {};              ///< Null where it always is.
};

/// Builds the index arithmetic of one body.
class PlaceBuilder {
public:
  PlaceBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// Adds the operand's next dimension, of `size` elements: element i stands at `low + i * stride`, the point at
  /// `index`, which is in [0, `extent`).
  void add(Place &place, mlir::Value index, int64_t extent, int64_t size, int64_t low, int64_t stride);

  /// The operand's element, or `otherwise` where the point lies outside.
  mlir::Value read(mlir::Value operand, const Place &place, mlir::Value otherwise);

private:
  mlir::Value constant(int64_t value);
  void require(Place &place, mlir::Value condition);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace remat
