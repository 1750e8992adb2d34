//===- RematOpInterface.h - What the planner asks of an op -------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace remat {

/// What the implementation of an op's RematOpInterface answers, for defaults of other methods.
OpClass askOpClass(mlir::Operation *op);
int64_t askFlops(mlir::Operation *op);

/// Answers of an implementation of RematOpInterface that gives only the class.

/// About one operation per element of the larger of results and operands; 0 for views, constants and data movement.
int64_t defaultFlops(mlir::Operation *op, OpClass opClass);
/// Bytes of all operands and all results; 0 for views and constants.
int64_t defaultBytesMoved(mlir::Operation *op, OpClass opClass);
/// False for classes that run once (random, collective, opaque) and for ops with memory effects.
bool defaultIsRecomputable(mlir::Operation *op, OpClass opClass);
/// The element type of the first tensor operand, else of the first result.
mlir::Type defaultComputeType(mlir::Operation *op);

} // namespace remat

#include "remat/IR/RematOpInterface.h.inc"
