//===- Access.h - Where a loop nest reads and writes -------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace remat {

using Sizes = llvm::SmallVector<int64_t, 4>;

/// The element that iteration (i0, i1, …) touches in a dense row-major buffer: offset + Σ strides[d] × i[d].
/// Transposes, broadcasts, slices, reversals, and reshapes of any of them, are all of this form.
struct Access {
  int64_t offset = 0;
  Sizes strides; ///< By loop, in elements.

  bool operator==(const Access &) const = default;
};

/// Strides of a dense row-major tensor.
Sizes rowMajorStrides(llvm::ArrayRef<int64_t> shape);

int64_t product(llvm::ArrayRef<int64_t> sizes);

/// The access of an operand of `op` (input or `outs`). None if its map isn't linear or its shape isn't static.
std::optional<Access> findAccess(mlir::linalg::GenericOp op, mlir::OpOperand &operand);

/// Loops that run more than once, in order.
llvm::SmallVector<unsigned> realLoops(mlir::linalg::GenericOp op);

/// Through reshapes to the value whose buffer `value` looks at.
mlir::Value findBase(mlir::Value value);

} // namespace remat
