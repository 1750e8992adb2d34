//===- ClusterPrepare.h - What clusters a block stands on ---------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace remat {

/// Iota and the like.
bool hasNoInputs(mlir::linalg::GenericOp op);

/// What a kernel rebuilds instead of reading it from a buffer.
bool isRebuilt(mlir::Value value);

/// Makes a block ready to be clustered: branches are taken by numbers, barriers are gone, what only moves data is
/// absorbed where its readers or its maker can do without, and every reader of a reshape has one of its own.
void prepareBlock(mlir::Block &block);

/// Makes kernels for fills that something needs in a buffer, and removes what nobody reads any more.
void finishBlock(mlir::Block &block);

} // namespace remat
