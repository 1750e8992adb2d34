//===- TwoFunctions.h - Forward and backward as two functions ----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module may hold the forward part as one function that returns (results…, residuals…) and the backward part as
// another that takes (residuals…, cotangents…), as `jax.vjp` exported twice gives. The two are joined, planned as one
// step, and split again; the residual lists of both come out new.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace remat {

struct JoinedFunctions {
  mlir::func::FuncOp forward, backward;
  /// Temporary: arguments are forward's, then the cotangents; results are forward's without residuals, then backward's.
  /// Flat, and every op carries `remat.phase`.
  mlir::func::FuncOp joined;
  int64_t residualCount = 0;    ///< As given.
  int64_t newResidualCount = 0; ///< After splitFunctions.
};

/// Joins the two functions of a module that has this form; nothing if it hasn't. The functions are those with
/// `remat.phase = "forward"` and `"backward"`, else those called `forward`/`backward` or `fwd`/`bwd`. The last N
/// results of forward are the first N arguments of backward; N is forward's `remat.residuals`, else what the types
/// allow, where every cotangent has the type of its result. Emits an error: one function without the other, types that
/// do not match, several N that do, calls of the two functions, flattenFunction's.
mlir::FailureOr<std::optional<JoinedFunctions>> joinFunctions(mlir::ModuleOp module);

/// Takes the (rewritten) joined function apart again, into new bodies and types of the two, and erases it. Forward gets
/// everything in front of the first backward op, clone or barrier, and what its results need; backward the rest. Every
/// value that crosses becomes a residual, once, in the order of the forward function (its arguments first); constants
/// are rebuilt instead. `remat.residuals` on forward says how many there are. Emits an error if a result of forward
/// needs a cotangent.
mlir::LogicalResult splitFunctions(JoinedFunctions &functions);

} // namespace remat
