//===- Phases.h - Forward and backward ops while they are found --*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Transforms/Extract.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace remat {

/// The ops of a flat function by number, with who reads whom. Captures count as reads; the terminator is left out.
struct FlatOps {
  explicit FlatOps(mlir::func::FuncOp function);

  size_t size() const { return ops.size(); }
  /// The number of the op that makes `value`; nothing for an argument.
  std::optional<size_t> producer(mlir::Value value) const;

  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<llvm::SmallVector<unsigned, 4>> producers; ///< By op: the ops it reads, each once.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> readers;   ///< By op: the ops that read it, each once, in order.

private:
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
};

/// What depends on a backward op is backward, and so is what stands behind the first backward op and is read by
/// backward ops alone.
void closePhases(const FlatOps &flat, llvm::BitVector &backward);

/// The result that is the loss: the one of the options, else the one marked `remat.loss` (function, result or op), else
/// result 0 if it is a scalar float.
std::optional<unsigned> findLoss(const FlatOps &flat, const PhaseOptions &options);

/// The backward ops of a function whose ops don't say so by name: those behind the loss. See docs/Phases.md.
/// Empty if there is no backward part. Emits an error where the loss isn't known or can't split the function.
mlir::FailureOr<llvm::BitVector> findPhasesByOrder(const FlatOps &flat, const PhaseOptions &options);

} // namespace remat
