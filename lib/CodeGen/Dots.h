//===- Dots.h - Contractions as matrix products ------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Access.h"

#include "remat/Runtime/Program.h"

namespace remat {

/// The matrix product that a contraction (`linalg.generic` that multiplies two tensors and adds up) is. None for other
/// ops, and for contractions whose summed loops don't lie evenly in a tensor.
std::optional<runtime::MatmulSpec> findMatmul(mlir::linalg::GenericOp op);

/// None for types that no buffer of a program can hold.
std::optional<runtime::ElementType> toElementType(mlir::Type type);

} // namespace remat
