//===- EmitBody.h - The scalar body of a loop for many lanes -----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace remat {

/// The value of an expression in every lane: a scalar that all share, or a vector. Indices that count up by one from
/// lane to lane also know the first, those that are clamped then also what it was before.
struct Lanes {
  mlir::Value value;
  mlir::Value first = {}; ///< Lane i holds first + i.
  /// Lane i holds the smaller of `unclampedFirst` + i and `most`, compared without sign.
  mlir::Value unclampedFirst = {};
  int64_t most = 0;

  explicit operator bool() const { return value != nullptr; }
};

/// Whether a type's elements are floats of eight bits, which the dialect of LLVM has not.
bool isFloat8(mlir::Type type);
/// What an element is in memory, in the dialect of LLVM: booleans and floats of eight bits are bytes.
mlir::Type memoryType(mlir::Type element);

/// Builds ops for `width` lanes at once; width 1 builds scalars.
class LaneBuilder {
public:
  LaneBuilder(mlir::OpBuilder &builder, mlir::Location loc, int64_t width) : builder(builder), loc(loc), width(width) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t width;

  bool varies(mlir::Value value) const;
  mlir::Type laneType(mlir::Type scalar) const;
  /// The value as a vector (as a scalar where width is 1).
  mlir::Value spread(mlir::Value value);
  /// first, first + 1, …
  Lanes countUp(mlir::Value first);
  mlir::Value index(int64_t value);

  /// Reads or writes the element `address` (in elements) behind `pointer`; lanes lie `laneStride` elements apart.
  /// Booleans take a byte.
  Lanes load(mlir::Value pointer, mlir::Type element, mlir::Value address, int64_t laneStride);
  void store(mlir::Value pointer, mlir::Value value, mlir::Value address, int64_t laneStride);
  /// One element for each lane at computed addresses.
  mlir::Value gather(mlir::Value pointer, mlir::Type element, mlir::Value addresses);

  /// `op` for all lanes; narrow floats are computed in f32 and rounded to their type.
  mlir::Value clone(mlir::Operation *op, mlir::ValueRange operands);

  /// Combines the lanes of `value` pairwise by `combiner`, an op of two operands: the upper half with the lower until
  /// one is left.
  mlir::Value combineLanes(mlir::Operation *combiner, mlir::Value value);

  /// `op` on operands of its own types, scalars or vectors.
  mlir::Value cloneWide(mlir::Operation *op, mlir::ValueRange operands);

private:
  mlir::Value elementPointer(mlir::Value pointer, mlir::Type element, mlir::Value address);
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
};

/// What surrounds a body.
struct BodyInputs {
  /// Inputs and accumulators, by block argument.
  llvm::SmallVector<Lanes> arguments;
  /// The index of a loop of the op.
  llvm::function_ref<Lanes(unsigned loop)> index;
  /// The buffer of a tensor that the body reads by computed indices.
  llvm::function_ref<mlir::Value(mlir::Value tensor)> buffer;
};

/// The op's body for all lanes: what it yields.
llvm::SmallVector<Lanes> emitBody(LaneBuilder &lanes, mlir::linalg::GenericOp op, const BodyInputs &inputs);

/// A loop; `body` gives what the next iteration carries.
llvm::SmallVector<mlir::Value>
emitFor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value begin, mlir::Value end, int64_t step,
        mlir::ValueRange carried,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

/// x such that combining it with any value gives that value.
mlir::TypedAttr neutralElement(mlir::Operation *combiner, mlir::Type type);

} // namespace remat
