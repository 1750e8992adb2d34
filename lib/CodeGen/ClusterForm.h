//===- ClusterForm.h - Which loops can run as one ----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cluster is a list of `linalg.generic` over one space of loops, seen row-major and without loops that run once. Two
// kinds can hold reductions:
//   - by rows: the leading `rowDims` loops are the rows; reductions run along the rest of the space and give one value
//   a
//     row, which later members may read: softmax and layer norm, forward and backward, are one cluster;
//   - by columns: reductions run over one group of loops in front of others that stay: sums for biases and for the
//     scales of normalizations.
// Within a cluster a value is read only where it was made (or all along its row), so every member can be computed
// point by point while the values between them stay in registers or in a row of scratch.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Access.h"

#include "llvm/ADT/DenseMap.h"

namespace remat {

class ClusterForm {
public:
  struct Member {
    mutable mlir::linalg::GenericOp op; ///< A handle, whose getters are not const.
    bool perRow = false;                ///< Computed once a row.
    bool reduces = false;               ///< Its results are per row (or per column).
    llvm::SmallVector<unsigned> loops;  ///< Its loops that run more than once: the space's, or the leading ones of it.
  };

  /// Adds `op` if it fits; otherwise changes nothing.
  bool tryAdd(mlir::linalg::GenericOp op);

  llvm::ArrayRef<Member> members() const { return list; }
  llvm::ArrayRef<int64_t> space() const { return sizes; }
  /// How many loops make the rows, if the cluster has rows.
  std::optional<unsigned> rowDims() const { return rows; }
  /// The group of loops that column reductions run over.
  std::optional<std::pair<unsigned, unsigned>> columnReduction() const { return columns; }
  /// The number of the member that makes `value` (through reshapes).
  std::optional<unsigned> findMember(mlir::Value value) const;

private:
  enum class Reading { Outside, Fits, Unfit };

  bool add(Member member);
  bool addElementwise(Member &member, llvm::ArrayRef<int64_t> loopSizes);
  bool addReduction(Member &member, llvm::ArrayRef<int64_t> loopSizes, llvm::ArrayRef<bool> reduced);
  bool growTo(llvm::ArrayRef<int64_t> loopSizes);
  bool readsFit(const Member &member);
  Reading read(const Member &member, mlir::OpOperand &operand);

  Sizes sizes;
  std::optional<unsigned> rows;
  std::optional<std::pair<unsigned, unsigned>> columns;
  llvm::SmallVector<Member> list;
  llvm::DenseMap<mlir::Value, unsigned> makers;
};

/// The only op that combines the accumulator of a one-result reduction with each new element (`arith.addf`, …), if it
/// has a neutral element. Null otherwise.
mlir::Operation *findCombiner(mlir::linalg::GenericOp op);

} // namespace remat
