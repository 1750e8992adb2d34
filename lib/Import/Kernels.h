//===- Kernels.h - Kernels made of loops over indices ------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What gather, scatter, windows, sort and random bits share: a `remat.kernel` around loops that carry tensors, and
// arithmetic on indices. The loops run one after the other, outermost first, so their order is the order of the work.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Importer.h"

namespace remat {

/// Arithmetic on values of type `index` at the builder's place.
struct IndexMath {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value constant(int64_t value) const { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }
  mlir::Value add(mlir::Value a, mlir::Value b) const { return mlir::arith::AddIOp::create(builder, loc, a, b); }
  mlir::Value add(mlir::Value a, int64_t b) const { return b == 0 ? a : add(a, constant(b)); }
  mlir::Value subtract(mlir::Value a, mlir::Value b) const { return mlir::arith::SubIOp::create(builder, loc, a, b); }
  mlir::Value multiply(mlir::Value a, int64_t b) const;
  mlir::Value min(mlir::Value a, mlir::Value b) const { return mlir::arith::MinSIOp::create(builder, loc, a, b); }
  mlir::Value max(mlir::Value a, mlir::Value b) const { return mlir::arith::MaxSIOp::create(builder, loc, a, b); }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) const {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) const { return mlir::arith::AndIOp::create(builder, loc, a, b); }
  mlir::Value either(mlir::Value a, mlir::Value b) const { return mlir::arith::OrIOp::create(builder, loc, a, b); }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }

  /// An integer as an index; `old` is its type with signedness. An unsigned number too large for an index becomes the
  /// largest index.
  mlir::Value fromInteger(mlir::Value integer, mlir::Type old) const;
  /// `value` moved into [0, `last`].
  mlir::Value clamp(mlir::Value value, int64_t last) const { return max(min(value, constant(last)), constant(0)); }
};

/// The body of a kernel: its results from its arguments.
using KernelBody = llvm::function_ref<Converted(mlir::ValueRange)>;

/// `Importer::kernel` whose body may fail. Inputs that are constants of one element are constants in the body instead,
/// so that bounds are known there; `inplace` counts the inputs as they are given here.
Converted buildKernel(Importer &importer, mlir::Location loc, mlir::TypeRange results, mlir::ValueRange inputs,
                      llvm::ArrayRef<int64_t> inplace, KernelBody body);

/// One dimension of a loop nest: [`lower`, `upper`) by 1.
struct LoopRange {
  mlir::OpFoldResult lower, upper;
};

/// The body of a loop nest: the next carried values from the indices and the carried values.
using LoopBody = llvm::function_ref<Converted(mlir::ValueRange indices, mlir::ValueRange carried)>;

/// Nested `scf.for`, the last dimension innermost, that carry at least one value. Dimensions that are known to have one
/// index get no loop. Gives what the loops leave.
Converted buildLoops(Importer &importer, mlir::Location loc, llvm::ArrayRef<LoopRange> ranges, mlir::ValueRange carried,
                     LoopBody body);
/// The same over [0, size) in every dimension.
Converted buildLoops(Importer &importer, mlir::Location loc, llvm::ArrayRef<int64_t> sizes, mlir::ValueRange carried,
                     LoopBody body);

/// `scf.if` that gives what `body` makes, or `otherwise` where the condition is false.
Converted buildIf(Importer &importer, mlir::Location loc, mlir::Value condition, mlir::ValueRange otherwise,
                  llvm::function_ref<Converted()> body);

/// The `i`th region of an op, which must be one block with `arguments` arguments. Emits an error where it isn't.
mlir::FailureOr<mlir::Block *> requireBody(mlir::Operation *op, unsigned i, unsigned arguments);

/// Whether a body does nothing but add its two arguments.
bool isAddition(mlir::Block &body);

/// Every dimension in `dims` is in [0, `rank`) and none stands twice. Emits an error that calls them `name`.
mlir::LogicalResult expectDims(mlir::Operation *op, llvm::StringRef name, llvm::ArrayRef<int64_t> dims, int64_t rank);

} // namespace remat
