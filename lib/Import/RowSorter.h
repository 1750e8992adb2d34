//===- RowSorter.h - A stable sort as loops ----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is sorted is a row of numbers of elements, the permutation, however many tensors follow it. Short rows are
// sorted by insertion, long ones by merging sorted blocks, back and forth between two rows.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Kernels.h"

namespace remat {

/// Emits the sort of one row of numbers. O(n log n) comparisons, O(n) of them where the row is sorted and short.
class RowSorter {
public:
  /// Whether the element with the first number must come before the one with the second.
  using Before = llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value, mlir::Value)>;

  RowSorter(Importer &importer, mlir::Location loc, int64_t length)
      : importer(importer), loc(loc), length(length), math{importer.builder, loc} {}

  /// The rows that `sort` works in: one or two, which many sorts can share.
  llvm::SmallVector<mlir::Value> makeRows();

  /// Fills the first of `rows` with the numbers 0 … length-1 in the order of `before`, those that are equal in their
  /// own; gives all rows for the next sort.
  Converted sort(mlir::ValueRange rows, Before before);

private:
  mlir::Value read(mlir::Value row, mlir::Value index) {
    return mlir::tensor::ExtractOp::create(importer.builder, loc, row, index);
  }
  mlir::Value write(mlir::Value number, mlir::Value row, mlir::Value index) {
    return mlir::tensor::InsertOp::create(importer.builder, loc, number, row, index);
  }
  /// `row` with the element `at` moved to its place in the sorted elements from `begin` on.
  Converted insertOne(mlir::Value begin, mlir::Value at, mlir::Value row, Before before);
  /// `row` with the elements in [begin, end) sorted.
  Converted insertAll(mlir::Value begin, mlir::Value end, mlir::Value row, Before before);
  /// `into` with the sorted blocks of `width` of `from` merged two by two.
  Converted mergeAll(mlir::Value from, mlir::Value into, mlir::Value width, Before before);
  /// `into` with the two blocks from `begin` on merged.
  Converted mergeTwo(mlir::Value from, mlir::Value into, mlir::Value begin, mlir::Value width, Before before);
  /// Both rows, the sorted one first, from blocks that are sorted.
  Converted mergeRounds(mlir::ValueRange rows, Before before);

  Importer &importer;
  mlir::Location loc;
  int64_t length;
  IndexMath math;
};

void addTopKConversions(ConversionTable &table); ///< top_k.

} // namespace remat
