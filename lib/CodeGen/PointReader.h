//===- PointReader.h - A cluster's members at one point ----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every back end visits the points of a cluster's space in its own order and keeps what it made in its own place. What
// is read at a point, and what a member's body makes of it, is the same for all, and is here.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "EmitBody.h"
#include "LoopNest.h"

namespace remat {

/// A point of the space, or `width` neighbours along its last dimension.
struct Point {
  llvm::SmallVector<mlir::Value> indices{}; ///< By dimension; that of the first neighbour. Null: not known (per row).
  int64_t width = 1;
  /// What has been computed here, but for what is per row.
  llvm::DenseMap<mlir::Value, Lanes> values{};
  struct Loaded {
    Access access;
    unsigned buffer;
    Lanes value;
  };
  llvm::SmallVector<Loaded, 0> loaded{}; ///< What has been read here, or is known to lie here.
};

class PointReader {
public:
  using Source = LoopNest::Source;
  using Member = LoopNest::Member;

  virtual ~PointReader() = default;

  static mlir::Type elementType(const Member &member, unsigned result = 0) {
    return mlir::getElementTypeOrSelf(member.op->getResult(result).getType());
  }

  /// What the body of `member` gives, `accumulators` being what it reduces into.
  llvm::SmallVector<Lanes> compute(const Member &member, Point &point, llvm::ArrayRef<Lanes> accumulators);

  /// What the body of a member that doesn't reduce gives, by result.
  llvm::SmallVector<Lanes> computeAlone(const Member &member, Point &point);

  /// Combines the start of a reduction with what was summed.
  mlir::Value withInitial(const Member &member, mlir::Value total, Point &point);

  mlir::Value index(int64_t value);
  /// The number of the element in its buffer.
  mlir::Value address(const Access &access, const Point &point);
  /// Where a member's results lie: row by row.
  Access denseAccess(const Member &member) const;

  /// By result of members that are per row or reduce.
  llvm::DenseMap<mlir::Value, Lanes> rowValues;

protected:
  PointReader(mlir::OpBuilder &builder, mlir::Location loc, const LoopNest &nest)
      : builder(builder), loc(loc), nest(nest) {}

  /// What another member of the cluster made at this point, or of this row.
  virtual Lanes readMember(const Source &source, Point &point) = 0;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const LoopNest &nest;
  llvm::SmallVector<mlir::Value> buffers; ///< Pointers, by number.

private:
  Lanes readInput(const Member &member, unsigned input, Point &point);
  Lanes readBuffer(const Source &source, mlir::Type element, Point &point);
  Lanes scalar(mlir::Value value);
  Lanes loopIndex(int dim, const Point &point);
  Lanes rebuild(const Member &reader, unsigned input, const Point &point);
  Lanes evaluate(mlir::AffineExpr expression, const Member &reader, const Point &point);
  mlir::Value initialValue(const Member &member, unsigned number, Point &point);
};

} // namespace remat
