//===- LoopKernel.h - Kernels that are no cluster ----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "KernelFrame.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace remat {

/// Any kernel, by upstream's bufferization and loops: what is no cluster (scatter, sort, pad, …). None, and an error
/// emitted, where upstream can't.
std::optional<GpuKernel> emitAnyLoops(mlir::gpu::GPUModuleOp module, KernelOp kernel, llvm::StringRef symbol);

/// The loops in `nest` whose iterations may all run at the same time while everything around them is repeated by each
/// thread, outer ones first. No iteration touches what another one writes: all accesses of the nest to a buffer that it
/// writes lie in the loop, and have the loop's index in one subscript.
llvm::SmallVector<mlir::scf::ForOp> findParallelLoops(mlir::Operation *nest);

/// The buffer that a memref is a view of.
mlir::Value findBuffer(mlir::Value memref);

} // namespace remat
