//===- Kernels.h - Kernels as functions --------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/RematDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace remat {

/// How a kernel is called; runtime/Program.h says what the numbers mean.
struct EmittedKernel {
  std::string symbol;
  int64_t iterations = 1, grain = 1;
  /// Bytes of scratch for each thread (emitLoops) or for the call (emitUpstream); a last buffer if not 0.
  int64_t threadScratchBytes = 0, scratchBytes = 0;
};

/// Appends a function for the kernel to `module`: `(ptr buffers, i64 begin, i64 end, i64 thread)` in scf, arith, math,
/// vector and llvm. Buffers are the kernel's inputs, then its results. None if the kernel's members aren't one cluster
/// (ClusterForm.h); nothing is appended then.
///
/// What is computed for an element depends on shapes alone: sums along rows run in lanes, one for each of up to 16
/// neighbours, which are added pairwise; sums along columns run in blocks. No multiplication is fused with an addition
/// unless the op itself says so.
std::optional<EmittedKernel> emitLoops(mlir::ModuleOp module, KernelOp kernel, llvm::StringRef symbol);

/// The same for any kernel, by upstream's bufferization and loops, run by one thread. Emits an error where upstream
/// can't. The function is `symbol` + "_body" on memrefs until the module is lowered.
mlir::FailureOr<EmittedKernel> emitUpstream(mlir::ModuleOp module, KernelOp kernel, llvm::StringRef symbol);

} // namespace remat
