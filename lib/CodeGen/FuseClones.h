//===- FuseClones.h - Recomputed kernels inside their readers ----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/RematDialect.h"

namespace remat {

/// Makes each of the `clones` that is a kernel a part of the kernel that alone reads it, where one cluster can hold
/// both, the buffers that live longer for it are no larger than those that are saved, and no more scratch is needed: at
/// no time more bytes are alive than before, but for what is written in place. O(clones × ops of a kernel + ops of the
/// block).
void fuseClones(mlir::Block &block, llvm::ArrayRef<mlir::Operation *> clones);

/// Removes ops of a kernel's body that nobody reads, and inputs that nothing in it reads.
void dropUnused(KernelOp kernel);

} // namespace remat
