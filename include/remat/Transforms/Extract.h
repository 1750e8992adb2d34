//===- Extract.h - From a function to a planner graph ------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only crossing from MLIR into the planner. Passes extract, plan and attach; they decide nothing.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/DeviceProfile.h"
#include "remat/Plan/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace remat {

struct ExtractOptions {
  DeviceProfile device;
  /// Bounds of dynamic dimensions by name (`--dim=name=N`). `NAME.D` is dimension D of the argument or op result called
  /// NAME (an argument is also `argI`), `*` every dimension without a bound of its own. See BoundedTypes.
  llvm::StringMap<int64_t> dimensionBounds;
  /// A bound that is of no dynamic dimension is an error. False for a function that was rewritten: its ops have other
  /// names.
  bool boundsMustMatch = true;
};

/// A planner graph and what its ids stand for. The ops of the function's only block are the graph's ops, in order,
/// terminator left out.
struct ExtractedGraph {
  Graph graph;
  llvm::SmallVector<mlir::Operation *> ops; ///< By OpId.
  llvm::SmallVector<mlir::Value> values;    ///< By ValueId.
};

/// Extracts the graph of a flat function (`flattenFunction`) whose ops all carry `remat.phase`.
///
/// Values captured by an op's regions are among the planner op's operands. An op is called by its kind and number
/// (`dot_general.12`), its results the same (`while.7#1` if there are several), an argument as its location says or
/// `argI`. A result takes the place of another value
///   - in destination-passing style (linalg's `outs`), where nobody reads the destination afterwards;
///   - of a donated argument, where the ops between overwrite element by element and nobody reads the argument
///   afterwards;
/// but if the function has `remat.inplace` (`recordInplace`), only where its ops say so.
/// Emits errors at the op that causes them: a dynamic shape without a bound (named), several blocks, a missing phase.
/// O(ops + operands).
mlir::FailureOr<ExtractedGraph> extractGraph(mlir::func::FuncOp function, const ExtractOptions &options);

/// Writes down which results take whose place: `remat.inplace` on these ops, an array<i64> with an operand number or -1
/// for every result, and as a unit attribute on the function. A rewritten function holds more and other chances to
/// overwrite than the one that was planned; with the attributes, extractGraph takes the planned ones and no others.
void recordInplace(mlir::func::FuncOp function, const ExtractedGraph &extracted);

/// A function argument whose storage a result may take (`jax.buffer_donor`, `tf.aliasing_output`).
bool isDonated(mlir::func::FuncOp function, unsigned argument);
/// The only result that may take it (`tf.aliasing_output`); nothing: any.
std::optional<unsigned> donatedResult(mlir::func::FuncOp function, unsigned argument);

/// Inlines calls of functions of the module, StableHLO composites (their decomposition) and `remat.region` bodies into
/// `function`, recursively and inside loops too, so that its block holds only leaf ops. Works on unregistered ops,
/// which keep all attributes. An inlined op's location is a call-site location. Calls of functions without a body stay.
///
/// Ops of a region carry its path as `remat.region`; the second region with a path is called `PATH#1`, and so on.
/// Regions with a policy are listed in the function's `remat.regions`. `remat.name` becomes `remat.checkpoint_name` on
/// the op that makes the value (through views; all results of that op then have the name). It has no effect on an
/// argument, and a warning says so. Private functions that nothing refers to any more are erased. Emits an error:
/// recursion, a callee with several blocks, several blocks. O(ops that come out).
mlir::LogicalResult flattenFunction(mlir::func::FuncOp function);

/// Inlines the calls that MLIR's verifier would find no function for: those in an op of an unregistered dialect with
/// one region (the body of a `stablehlo.reduce_window`), because such an op may be a symbol table of its own. For a
/// module that was parsed and not yet verified; one that the verifier refuses anyway may be left as it is. Private
/// functions that nothing refers to any more are erased. Emits an error as flattenFunction does.
mlir::LogicalResult inlineHiddenCalls(mlir::ModuleOp module);

struct PhaseOptions {
  /// The result that is the loss where names don't tell the phases; negative: the one marked `remat.loss`, else result
  /// 0 if it is a scalar float.
  int64_t lossResult = -1;
};

/// Sets `remat.phase` on every op of a flat function, by the rules of docs/Phases.md: given attributes, else name
/// stacks, else program order. Forward ops that `jax.checkpoint` computes again in the backward part get a
/// `remat.region` (markCheckpoints). Emits an error that says what to add where none of the rules works. Returns true
/// if there is a backward part; false comes with a remark. O(ops + operands).
mlir::FailureOr<bool> findPhases(mlir::func::FuncOp function, const PhaseOptions &options);

/// Recognises `jax.checkpoint`: behind an `optimization_barrier` of the backward part that guards forward values, ops
/// that repeat forward ops. Those forward ops get `remat.region` `checkpointN`, N in the order of the forward part, in
/// front of a region they have. Returns the number of regions. Needs `remat.phase`; needs no names.
int64_t markCheckpoints(mlir::func::FuncOp function);

/// The name stack (outermost scope first, joined by `/`, call sites included) and source line of a location, as text:
/// such as `jit(f)/jvp(h00)/dot_general model.py:12:3`. Either part may be missing; the first blank ends the stack
/// (blanks in it become underscores), for only the stack holds scopes. Names of a Python traceback are no stack.
std::string describeLocation(mlir::Location location);

} // namespace remat
