//===- Marks.h - What a rewritten function says about itself -----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JAX and XLA refuse attributes of dialects they don't know, but hand `mhlo.frontend_attributes` through. In StableHLO
// graphs the marks stand there, as strings, and only on the barriers and the function, so that clones equal their
// originals.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace remat {

/// The function holds ops of StableHLO, MHLO or CHLO, registered or not.
bool isStableHlo(mlir::func::FuncOp function);
/// An `optimization_barrier` or `remat.barrier`, whoever made it.
bool isBarrier(mlir::Operation *op);

namespace mark {
inline constexpr llvm::StringLiteral frontend = "mhlo.frontend_attributes";
inline constexpr llvm::StringLiteral id = "remat.id";         ///< Of a barrier; unique in the function.
inline constexpr llvm::StringLiteral clones = "remat.clones"; ///< Clones that the barrier guards.
inline constexpr llvm::StringLiteral operands =
    "remat.operands"; ///< Operands of the barrier, those after which it comes included.
} // namespace mark

/// The function says that applyPlan rewrote it.
bool isRewritten(mlir::func::FuncOp function);

/// Of the op's frontend attributes; empty if there is none.
llvm::StringRef frontendText(mlir::Operation *op, llvm::StringRef name);
void setFrontendText(mlir::Operation *op, llvm::StringRef name, const llvm::Twine &text);
/// A number among the op's frontend attributes.
std::optional<int64_t> frontendNumber(mlir::Operation *op, llvm::StringRef name);
void setFrontendNumber(mlir::Operation *op, llvm::StringRef name, int64_t number);

} // namespace remat
