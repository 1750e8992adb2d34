//===- PointEmitter.h - A cluster's members at one point ---------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every form of a GPU kernel visits the points of a cluster's space in its own way; what is computed at a point is the
// same for all, and is here. Values are computed when somebody asks for them, once a point: a value that two passes
// over a row ask for stays in registers where both ask the same point, and is computed again where each has its own.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "../CodeGen/EmitBody.h"
#include "../CodeGen/LoopNest.h"

namespace remat {

/// A point of the space, or `width` neighbours along its last dimension.
struct Point {
  llvm::SmallVector<mlir::Value> indices{}; ///< By dimension; that of the first neighbour. Null: not known (per row).
  int64_t width = 1;
  /// What has been computed here.
  llvm::DenseMap<mlir::Value, Lanes> values{};
  struct Loaded {
    Access access;
    unsigned buffer;
    Lanes value;
  };
  llvm::SmallVector<Loaded, 0> loaded{};
};

class PointEmitter {
public:
  PointEmitter(mlir::OpBuilder &builder, mlir::Location loc, const LoopNest &nest, llvm::ArrayRef<mlir::Value> buffers)
      : builder(builder), loc(loc), nest(nest), buffers(buffers) {}

  using Member = LoopNest::Member;

  static mlir::Type elementType(const Member &member, unsigned result = 0) {
    return mlir::getElementTypeOrSelf(member.op->getResult(result).getType());
  }

  /// The member's results at the point; those of members that are per row or reduce must be in `rowValues`.
  Lanes value(const Member &member, unsigned result, Point &point);

  /// What the body of `member` gives, `accumulators` being what it reduces into.
  llvm::SmallVector<Lanes> compute(const Member &member, Point &point, llvm::ArrayRef<Lanes> accumulators);

  /// Combines the start of a reduction with what was summed.
  mlir::Value withInitial(const Member &member, mlir::Value total, Point &point);

  /// Computes a member that is per row, and notes its results in `rowValues`.
  void computePerRow(const Member &member, Point &point);

  /// Computes everything that leaves the kernel at this point, then stores it: an output may lie where an input lay.
  void computeOutputs(Point &point);
  void storeOutputs(Point &point);

  /// Stores one value per row of a member that is per row or reduces along the row.
  void storePerRow(const Member &member, Point &point);
  void store(unsigned buffer, mlir::Value value, mlir::Value address, int64_t width);

  mlir::Value index(int64_t value);
  /// Indices of `sizes` for a row-major number.
  llvm::SmallVector<mlir::Value> split(mlir::Value number, llvm::ArrayRef<int64_t> sizes);
  mlir::Value address(const Access &access, const Point &point);

  /// By result of members that are per row or reduce.
  llvm::DenseMap<mlir::Value, Lanes> rowValues;

private:
  Lanes readInput(const Member &member, unsigned input, Point &point);
  Lanes readBuffer(const LoopNest::Source &source, mlir::Type element, Point &point);
  Lanes scalar(mlir::Value value);
  Lanes loopIndex(int dim, const Point &point);
  Lanes rebuild(const Member &reader, unsigned input, const Point &point);
  Lanes evaluate(mlir::AffineExpr expression, const Member &reader, const Point &point);
  mlir::Value initialValue(const Member &member, unsigned number, Point &point);
  Access denseAccess(const Member &member) const;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const LoopNest &nest;
  llvm::ArrayRef<mlir::Value> buffers;
};

} // namespace remat
