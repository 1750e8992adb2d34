//===- Importer.h - What the conversions of single ops share -----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The old function stays whole until the new one is done, so a conversion can ask the old op for its types, which hold
// the signedness that the new ones don't.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/RematDialect.h"
#include "remat/IR/StableHloAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace remat {

class Importer;

/// New values for the results of an op, or an error that has been emitted.
using Converted = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;
using Conversion = Converted (*)(Importer &importer, mlir::Operation *op);
using ConversionTable = llvm::StringMap<Conversion>;

// One function for each file of conversions; it adds its ops' names to the table.
void addElementwiseConversions(ConversionTable &table); ///< Arithmetic, compare, select, convert, clamp, map.
void addStructuralConversions(ConversionTable &table);  ///< Constants, iota, broadcast, reshape, slice, …
void addJoinConversions(ConversionTable &table);        ///< pad, concatenate.
void addReductionConversions(ConversionTable &table);   ///< reduce.
void addWindowConversions(ConversionTable &table);      ///< reduce_window, select_and_scatter.
void addDotConversions(ConversionTable &table);         ///< dot, dot_general.
void addConvolutionConversions(ConversionTable &table); ///< convolution.
void addGatherConversions(ConversionTable &table);      ///< gather, scatter, dynamic_slice, dynamic_update_slice.
void addSortConversions(ConversionTable &table);        ///< sort, top_k.
void addControlFlowConversions(ConversionTable &table); ///< while, if, case, optimization_barrier.
void addRandomConversions(ConversionTable &table);      ///< rng_bit_generator.

class Importer {
public:
  explicit Importer(mlir::MLIRContext *context);

  mlir::OpBuilder builder; ///< Stands where new ops belong.

  /// The new value of an old one.
  mlir::Value get(mlir::Value old) const { return values.lookup(old); }
  mlir::Value operand(mlir::Operation *op, unsigned i) const { return get(op->getOperand(i)); }
  void set(mlir::Value old, mlir::Value converted) { values.map(old, converted); }

  /// The new type of an old one: integers lose their signedness, everything else stays.
  static mlir::Type convertType(mlir::Type type);
  static mlir::RankedTensorType resultType(mlir::Operation *op, unsigned i = 0);

  /// Converts the ops of `block` but for its terminator, at the builder's place. The block's arguments must have been
  /// `set`.
  mlir::LogicalResult convertBlock(mlir::Block &block);

  /// The ops of a block of 0-d tensors (the body of a reduce, scatter, sort, map) as scalar ops at the builder's place:
  /// `arguments` stand for the block's arguments; gives what the terminator returns. Emits an error at an op that has
  /// no scalar form.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> convertScalarBlock(mlir::Block &block, mlir::ValueRange arguments);

  mlir::Value empty(mlir::Location loc, mlir::RankedTensorType type);
  /// A tensor of one scalar, for the `outs` of a reduction.
  mlir::Value fill(mlir::Location loc, mlir::RankedTensorType type, mlir::Value scalar);
  /// The only element of a 0-d tensor; of a constant, a constant.
  mlir::Value scalar(mlir::Location loc, mlir::Value tensor);

  /// A `remat.kernel` of `inputs`; `body` makes the results from the block's arguments. `inplace` is the attribute of
  /// the op: a number of an input, or -1, for every result; empty for none.
  mlir::ValueRange kernel(mlir::Location loc, mlir::TypeRange results, mlir::ValueRange inputs,
                          llvm::ArrayRef<int64_t> inplace,
                          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body);

  /// A loop nest with the body at the builder's place while it is made; `maps` are those of the inputs, then of `outs`.
  /// Fails where the body does. Where a loop has no iteration, what `outs` hold is the result.
  Converted generic(mlir::Location loc, mlir::ValueRange inputs, mlir::ValueRange outs,
                    llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<mlir::utils::IteratorType> loops,
                    llvm::function_ref<Converted(mlir::ValueRange)> body);

  /// One result that is `map`ped onto `input` element by element: transpose, slice, reverse, broadcast. The map goes
  /// from the result's indices to the input's.
  mlir::Value view(mlir::Location loc, mlir::RankedTensorType type, mlir::Value input, mlir::AffineMap map);

  int64_t nextBarrierId = 0; ///< Free, as are all that follow.

private:
  mlir::Value materialize(mlir::Location loc, mlir::Value start);
  mlir::LogicalResult convertOp(mlir::Operation *op);
  mlir::LogicalResult cloneOp(mlir::Operation *op);

  mlir::IRMapping values;
  ConversionTable table;
};

/// The scalar form of an element-wise StableHLO op, table-driven: `operands` are new (signless) scalars; the old op
/// gives types, signedness and attributes. Null, and no error, for an op that isn't element-wise.
mlir::FailureOr<mlir::Value> emitScalar(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands);

/// `stablehlo.x: … isn't supported` at the op, and a note with the nearest form that is.
mlir::InFlightDiagnostic unsupported(mlir::Operation *op, const llvm::Twine &what, const llvm::Twine &nearest);

/// An error at an op that breaks StableHLO's own rules, which nobody has checked where the dialect isn't registered:
/// `stablehlo.x: <what>`.
mlir::InFlightDiagnostic malformed(mlir::Operation *op, const llvm::Twine &what);

/// The old op has this many operands and results; else emits an error.
mlir::LogicalResult expectOperands(mlir::Operation *op, unsigned operands, unsigned results = 1);

/// The integers of an attribute. Emits an error where it is missing, malformed, or (`size` given) has another length.
mlir::FailureOr<Ints> requireIntegers(mlir::Operation *op, llvm::StringRef name, std::optional<size_t> size = {});
/// The same for an attribute that may be left out: then `size` times `value`.
mlir::FailureOr<Ints> integersOr(mlir::Operation *op, llvm::StringRef name, size_t size, int64_t value);

/// The type of the elements of the old value, with signedness.
inline mlir::Type oldElementType(mlir::Value old) { return mlir::getElementTypeOrSelf(old.getType()); }
/// What arithmetic in `type` accumulates in: f32 for narrower floats, else the type.
mlir::Type accumulatorType(mlir::Type type);
/// A float, or an integer of any width, in another type of its kind (f32 as bf16, i8 as i32).
mlir::Value castScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::Type type,
                       bool isUnsigned = false);

} // namespace remat
