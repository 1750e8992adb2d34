//===- LoopNest.h - A cluster as loops over strided buffers ------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is known of a cluster before any code is made: the space with neighbouring loops joined, where every operand
// lies, and in which pass over a row each member is computed.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ClusterForm.h"

#include "remat/IR/RematDialect.h"

namespace remat {

struct LoopNest {
  /// Where an input of a member comes from.
  struct Source {
    enum class Kind {
      Buffer,   ///< A buffer, at `access` over the nest's space.
      Member,   ///< Another member's result.
      Constant, ///< The same scalar everywhere.
      Rebuilt   ///< An op without operands (iota), computed at the index that the reader reads.
    };
    Kind kind = Kind::Buffer;
    unsigned buffer = 0; ///< Number among the kernel's inputs and results.
    unsigned member = 0, result = 0;
    Access access;
    mlir::Value value; ///< The scalar's or op's value in the kernel's body.
  };

  struct Output {
    unsigned result; ///< Of the member.
    unsigned buffer;
  };

  struct Member {
    mutable mlir::linalg::GenericOp op; ///< A handle, whose getters are not const.
    bool perRow = false, reduces = false;
    /// The pass that computes it. Per row: the first pass that may read it; it is computed before.
    unsigned pass = 0;
    llvm::SmallVector<Source> inputs, inits;
    llvm::SmallVector<Output> outputs;
    /// By loop of the op: the dimension of the nest's space, or -1 for a loop that runs once.
    llvm::SmallVector<int> dims;
    bool isScratch = false; ///< A later pass reads it.
  };

  Sizes space;
  /// Loops [0, outer) make the iterations of the kernel, but for column sums.
  unsigned outer = 0;
  std::optional<std::pair<unsigned, unsigned>> columns;
  bool byRows = false;
  unsigned passes = 1;
  llvm::SmallVector<Member, 0> members;
};

/// None if the kernel isn't one cluster.
std::optional<LoopNest> analyzeKernel(KernelOp kernel);

} // namespace remat
