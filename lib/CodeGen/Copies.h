//===- Copies.h - Kernels that lay tensors side by side ----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A concatenation of many tensors. Upstream's bufferization compares every two of its insertions, and each becomes a
// nest of loops; what it is follows from the sizes alone.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Kernels.h"

namespace remat {

/// A result of `rows` rows, each made of one row of every piece, in order.
struct Copies {
  struct Piece {
    unsigned input;      ///< Of the kernel.
    int64_t begin, size; ///< In elements of the result's row.
  };
  int64_t rows = 1, rowSize = 0;
  mlir::Type element; ///< What is in memory (memoryType).
  llvm::SmallVector<Piece> pieces;
};

/// None for a kernel that does anything else than insert its inputs into an empty tensor that they fill, side by side
/// along one dimension. O(inputs).
std::optional<Copies> findCopies(KernelOp kernel);

/// The kernel for the CPU (Kernels.h): an iteration for each row.
EmittedKernel emitCopies(mlir::ModuleOp module, KernelOp kernel, const Copies &copies, llvm::StringRef symbol);

} // namespace remat
