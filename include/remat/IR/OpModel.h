//===- OpModel.h - What an op is, costs and needs ----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace remat {

/// Everything the planner is told about one op. Sizes are bytes, counts are of one execution.
struct OpModel {
  OpClass opClass = OpClass::Opaque;
  /// False: neither an interface nor a table knows the op, or `problem` says why it can't be read. It is then opaque.
  bool known = false;
  /// A second execution with the same operands gives the same results and does nothing else.
  bool recomputable = false;
  /// Floating-point operations; a multiply-add is two. Convolutions: every kernel tap of every output. Loops: trips ×
  /// body.
  int64_t flops = 0;
  /// Convolutions (and loops over them): `flops` without the taps that fall on padding or dilation holes; else as
  /// `flops`.
  int64_t convFlopsValid = 0;
  /// Bytes read and written.
  int64_t bytesMoved = 0;
  /// Scratch alive only while the op runs. Loops: the peak of the largest region's own values (design.md, memory
  /// model).
  int64_t workspaceBytes = 0;
  /// Number of batch dimensions of a dot.
  int32_t dotBatchDims = 0;
  /// By result: the operand that it views (shares storage with). Always as long as the op has results.
  llvm::SmallVector<std::optional<unsigned>, 1> viewOf;
  /// By result: the operand that it overwrites in destination-passing style (linalg's `outs`). As long as `viewOf`.
  llvm::SmallVector<std::optional<unsigned>, 1> destinationOf;
  /// Operands whose storage may become result 0's if nobody reads them later: same bytes, read element by element.
  llvm::SmallVector<unsigned, 2> inplaceOperands;
  /// Element type that decides the rate: a dot's left-hand side, else the first operand's or result's. May be null.
  mlir::Type computeType;
  /// Loops (class Loop): how often the regions run; 1 for `if` and `case`; none where it isn't known (`flops` then
  /// count 1).
  std::optional<int64_t> tripCount;
  /// Loops: the ops inside, terminators left out, in program order; costs are of one trip.
  std::vector<OpModel> body;
  /// Not empty: the op is one we know, but an attribute of it is malformed or a shape is dynamic. The text is an error
  /// message.
  std::string problem;

  /// True where executing the op takes no time and its results no bytes of their own.
  bool isFree() const { return opClass == OpClass::View || opClass == OpClass::Constant; }
};

/// Describes an op: by RematOpInterface if it implements it, else by the table for StableHLO, CHLO and MHLO (registered
/// or not), else as opaque. Linear in the size of the op's regions. Never fails: see OpModel::problem.
OpModel describeOp(mlir::Operation *op);

/// Storage of a value of this type: elements × bytes of an element, where i1 and everything narrower than a byte takes
/// a whole one, complex twice its part and index 8. 0 for what isn't a tensor, vector or memref (tokens, bare scalars).
/// Nothing for dynamic shapes, unranked tensors and unknown element types.
std::optional<int64_t> typeBytes(mlir::Type type);

/// True for an op whose results take no storage in a graph: constants, `tensor.empty`.
bool isStorageOfConstant(mlir::Operation *op);

/// Peak of the block's own values when its ops run in program order, arguments and captured values not counted: what a
/// loop adds to the bytes alive around it. Ops of class Loop inside add their own inner peak.
int64_t blockPeakBytes(mlir::Block &block);

/// Trips of a counted `stablehlo.while` (i = constant; i < limit; i += constant), or nothing.
std::optional<int64_t> tripCount(mlir::Operation *whileOp);

/// The op ends its block: a registered terminator or StableHLO's unregistered `return`.
bool isBlockTerminator(mlir::Operation *op);

/// Attaches RematOpInterface to the ops of arith, linalg, math, scf, tensor and tosa.
void registerExternalModels(mlir::DialectRegistry &registry);

/// Registers the pass `remat-print-op-model`: one line per op of a function, for tests.
void registerPrintOpModelPass();

} // namespace remat
