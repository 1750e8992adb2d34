//===- RematDialect.h - The remat dialect and its ops ------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/RematOpInterface.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "remat/IR/RematDialect.h.inc"

#define GET_OP_CLASSES
#include "remat/IR/RematOps.h.inc"

namespace remat {

/// Names of the dialect's discardable attributes; RematDialect.td says on which ops they may stand and what they mean.
namespace attr {
inline constexpr llvm::StringLiteral phase = "remat.phase";
inline constexpr llvm::StringLiteral region = "remat.region";
inline constexpr llvm::StringLiteral checkpointName = "remat.checkpoint_name";
inline constexpr llvm::StringLiteral loss = "remat.loss";
inline constexpr llvm::StringLiteral plan = "remat.plan";
inline constexpr llvm::StringLiteral clone = "remat.clone";
inline constexpr llvm::StringLiteral regions = "remat.regions";
inline constexpr llvm::StringLiteral inplace = "remat.inplace";
inline constexpr llvm::StringLiteral residuals = "remat.residuals";
inline constexpr llvm::StringLiteral recomputations = "remat.recomputations";
inline constexpr llvm::StringLiteral policy = "remat.policy";
} // namespace attr

} // namespace remat
