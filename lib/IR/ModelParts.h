//===- ModelParts.h - Pieces of which op models are made ---------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/OpModel.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace remat {

/// What one scalar operation counts in FLOPs. A division, root or transcendental is a sequence of simple operations in
/// every library; the numbers are typical lengths. They matter only where an op isn't bound by memory: on CPUs.
enum FlopWeight : int64_t { simpleFlops = 1, divisionFlops = 4, exponentialFlops = 8, specialFlops = 16 };

/// Sums and products that stop at the largest integer instead of wrapping around: shapes come from files.
int64_t addClamped(int64_t a, int64_t b);
int64_t multiplyClamped(int64_t a, int64_t b);
int64_t productClamped(llvm::ArrayRef<int64_t> factors);

/// Number of elements of a tensor type; 1 for what has no shape; 0 for dynamic shapes.
int64_t elementCount(mlir::Type type);
/// typeBytes, or 0 where there is no static size.
int64_t bytesOrZero(mlir::Type type);
/// Sum of the bytes of some types.
int64_t sumBytes(mlir::TypeRange types);
/// Dimensions of a static tensor type; empty for everything else.
llvm::ArrayRef<int64_t> dimensions(mlir::Type type);

/// Fills in a StableHLO, CHLO or MHLO op. False: the table doesn't have it.
bool describeHloOp(mlir::Operation *op, OpModel &model);
/// FLOPs, batch dimensions and compute type of `dot`, `dot_general` and `ragged_dot`; FLOPs of `convolution`.
void describeHloDot(mlir::Operation *op, OpModel &model);
void describeHloConvolution(mlir::Operation *op, OpModel &model);
/// The op's class by the table alone.
std::optional<OpClass> lookUpHloClass(mlir::Operation *op);
/// The name without `stablehlo.`, `mhlo.` or `chlo.`; empty for other dialects.
llvm::StringRef hloName(mlir::Operation *op);

/// Fills in what a loop's model takes from its body; `model.tripCount` is known already.
void describeLoop(mlir::Operation *op, OpModel &model);
/// Sum of the FLOPs of the ops in an op's regions, each executed once; clears `recomputable` if one of them may not run
/// twice.
int64_t describeRegionBodies(mlir::Operation *op, bool &recomputable);

/// One per dialect group: attach the external models.
void registerArithModels(mlir::DialectRegistry &registry);
void registerLinalgModels(mlir::DialectRegistry &registry);
void registerScfModels(mlir::DialectRegistry &registry);
void registerTensorModels(mlir::DialectRegistry &registry);
void registerTosaModels(mlir::DialectRegistry &registry);

/// What an op of arith or math counts per element; 0 for every other op.
int64_t scalarFlops(mlir::Operation *op);

} // namespace remat
