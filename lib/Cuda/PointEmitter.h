//===- PointEmitter.h - A GPU thread at one point ----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every form of a GPU kernel visits the points of a cluster's space in its own way. Values are computed when somebody
// asks for them, once a point: a value that two passes over a row ask for stays in registers where both ask the same
// point, and is computed again where each has its own.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "../CodeGen/PointReader.h"

namespace remat {

class PointEmitter : public PointReader {
public:
  PointEmitter(mlir::OpBuilder &builder, mlir::Location loc, const LoopNest &nest, llvm::ArrayRef<mlir::Value> pointers)
      : PointReader(builder, loc, nest) {
    buffers.assign(pointers.begin(), pointers.end());
  }

  /// The member's results at the point; those of members that are per row or reduce must be in `rowValues`.
  Lanes value(const Member &member, unsigned result, Point &point);

  /// Computes a member that is per row, and notes its results in `rowValues`.
  void computePerRow(const Member &member, Point &point);

  /// Computes everything that leaves the kernel at this point, then stores it: an output may lie where an input lay.
  void computeOutputs(Point &point);
  void storeOutputs(Point &point);

  /// Stores one value per row of a member that is per row or reduces along the row.
  void storePerRow(const Member &member, Point &point);
  void store(unsigned buffer, mlir::Value value, mlir::Value address, int64_t width);

  /// Indices of `sizes` for a row-major number.
  llvm::SmallVector<mlir::Value> split(mlir::Value number, llvm::ArrayRef<int64_t> sizes);

protected:
  Lanes readMember(const Source &source, Point &point) override;
};

} // namespace remat
