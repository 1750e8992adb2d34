//===- Inplace.h - Results over dying inputs ---------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/RematDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace remat {

/// By result of the kernel: the inputs whose buffers it may be written over, because emitLoops reads every element of
/// them before it writes the result's at the same place, and never again.
llvm::SmallVector<llvm::SmallVector<unsigned>> findOverwritable(KernelOp kernel);

} // namespace remat
