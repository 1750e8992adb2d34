//===- Inplace.h - Whose place a result takes --------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/OpModel.h"
#include "remat/Transforms/Extract.h"

#include "llvm/ADT/DenseMap.h"

namespace remat {

/// For every result of an op that takes the place of an operand: the operand's number. `models` are those of the
/// block's ops, in order, terminator left out. O(ops + operands).
llvm::DenseMap<mlir::Value, unsigned> findInplace(mlir::func::FuncOp function, llvm::ArrayRef<OpModel> models);

} // namespace remat
