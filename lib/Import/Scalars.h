//===- Scalars.h - Scalar forms of element-wise ops --------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Importer.h"

namespace remat {

/// An element-wise op in the making: the old op, its new operands, and shorthands for new ops.
struct Scalar {
  mlir::OpBuilder &builder;
  mlir::Operation *op;
  mlir::ValueRange in;
  mlir::Type from; ///< The old type of operand 0, with signedness; of a constant, the result's.
  mlir::Type to;   ///< The old type of the result, with signedness.

  mlir::Location loc() const { return op->getLoc(); }
  /// The new type of operand 0. A reducer's may be wider than `from`.
  mlir::Type type() const { return in.front().getType(); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(from); }
  bool isBool() const { return from.isInteger(1); }
  /// i1 is unsigned: true is 1.
  bool isUnsigned() const { return from.isUnsignedInteger() || isBool(); }

  template <typename Op, typename... Args>
  mlir::Value make(Args &&...arguments) const {
    return Op::create(builder, loc(), std::forward<Args>(arguments)...).getResult();
  }
  mlir::Value number(mlir::Type type, double value) const;
  mlir::Value integer(mlir::Type type, const llvm::APInt &value) const;
  mlir::Value integer(mlir::Type type, int64_t value) const;
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) const;
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs) const;
  /// The bits of a float as an integer.
  mlir::Value bits(mlir::Value value) const;
};

using ScalarEmitter = mlir::FailureOr<mlir::Value> (*)(const Scalar &scalar);

// Those that are more than a few lines, each in the file of its kind.
mlir::FailureOr<mlir::Value> emitConvert(const Scalar &s);
mlir::FailureOr<mlir::Value> emitBitcast(const Scalar &s);
mlir::FailureOr<mlir::Value> emitReducePrecision(const Scalar &s);
mlir::FailureOr<mlir::Value> emitCompare(const Scalar &s);
mlir::FailureOr<mlir::Value> emitDivide(const Scalar &s);
mlir::FailureOr<mlir::Value> emitRemainder(const Scalar &s);
mlir::FailureOr<mlir::Value> emitPower(const Scalar &s);
mlir::FailureOr<mlir::Value> emitSign(const Scalar &s);
mlir::FailureOr<mlir::Value> emitLogistic(const Scalar &s);
mlir::FailureOr<mlir::Value> emitErfInv(const Scalar &s);
mlir::FailureOr<mlir::Value> emitShiftLeft(const Scalar &s);
mlir::FailureOr<mlir::Value> emitShiftRightLogical(const Scalar &s);
mlir::FailureOr<mlir::Value> emitShiftRightArithmetic(const Scalar &s);

/// The names of all ops that have a scalar form and at least one operand, in alphabetical order.
llvm::SmallVector<llvm::StringRef> scalarOpNames();

} // namespace remat
