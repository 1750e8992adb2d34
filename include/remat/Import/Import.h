//===- Import.h - StableHLO to upstream dialects -----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The imported form is what code generation takes. On the top level, and in the bodies of loops and branches, stand
// only:
//   - `linalg.generic` on tensors of static shape with an `outs` that is a `tensor.empty` or, where it reduces, a
//     `linalg.fill` of one. A dot is one with the maps of a contraction and a body that multiplies and adds;
//   - `remat.convolution`;
//   - `remat.kernel`, for what isn't one loop nest (scatter, sort, …), and for a concatenation of many tensors;
//   - `tensor.expand_shape` and `tensor.collapse_shape` (reshapes, which cost nothing), `tensor.bitcast`-like views
//     written as `arith.bitcast` on tensors;
//   - `arith.constant`, `tensor.empty`, `linalg.fill`;
//   - `scf.while` and `scf.if` on tensors (conditions are read with `tensor.extract`);
//   - `remat.barrier`.
// Slices, reverses, broadcasts and transposes are generics that yield their input, and their maps say which element it
// is: `d * stride + offset`, `size - 1 - d`, the constant 0. A slice of the first elements reads `d mod size`, `size`
// being that of the whole dimension: the remainder is never taken, but of a plain `d` linalg demands that it run over
// the whole dimension.
// Constants that are broadcast are constants. Marks (ImportedMarks.h) say what the form doesn't: which kernel draws
// random numbers, how often a loop runs. Integers are signless, and every op says its signedness. i1 is stored in a
// byte. Every op's result is rounded to its type; dots and sums of bf16, f16 and f8 accumulate in f32.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace remat {

class ConvolutionOp;

/// Converts the StableHLO and CHLO ops of a flat function (`flattenFunction`) to the imported form; ops of other
/// dialects stay as they are. An op's `remat.…` attributes pass to the ops that are made of it. Emits an error at an op
/// or form that isn't supported and says the nearest one that is; the function is then as it was. O(ops).
mlir::LogicalResult importStableHlo(mlir::func::FuncOp function);

/// Writes each `remat.convolution` that `which` picks as one `linalg.generic`, which needs no memory of its own.
void decomposeConvolutions(mlir::func::FuncOp function, llvm::function_ref<bool(ConvolutionOp)> which);

/// Splices the bodies of every `remat.kernel` into the function and drops every `remat.barrier`: what is left are ops
/// of upstream dialects alone, which upstream's pipelines compile.
void inlineKernels(mlir::func::FuncOp function);

/// Registers `remat-import`, `remat-decompose-convolution` and `remat-inline-kernels`.
void registerImportPasses();

} // namespace remat
