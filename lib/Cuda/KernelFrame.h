//===- KernelFrame.h - The function around a kernel --------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "PointEmitter.h"

#include "../CodeGen/Copies.h"

#include "remat/Cuda/Kernels.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace remat {

inline constexpr int64_t warpSize = 32;

/// A `gpu.func` that is being built, and small things that all forms need.
class KernelFrame {
public:
  /// Appends the function to `module`; `parameters` pointers.
  KernelFrame(mlir::gpu::GPUModuleOp module, mlir::Location loc, llvm::StringRef symbol, unsigned parameters);

  /// Ends the function and gives how it is launched.
  GpuLaunch finish(int64_t blocks, int64_t threads);

  mlir::Value thread(); ///< Within the block.
  mlir::Value block();

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, int64_t b);
  mlir::Value divide(mlir::Value a, int64_t b);
  mlir::Value modulo(mlir::Value a, int64_t b);
  mlir::Value isLess(mlir::Value a, mlir::Value b);
  mlir::Value isFirst(mlir::Value number); ///< Whether it is 0.
  mlir::Value minimum(mlir::Value a, mlir::Value b);

  /// Conditions may be null where they always hold.
  mlir::Value both(mlir::Value a, mlir::Value b);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);
  /// `body` gives what the next iteration carries.
  llvm::SmallVector<mlir::Value>
  forLoop(mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange carried,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

  /// Combines `team` values, a power of two; every thread of the team gets the result. A thread has the values of one
  /// or more neighbours of the order, a power of two; teams start at a multiple of their threads. Among 32 values each
  /// step combines with the one whose number differs in one bit, from the upper bit to the lowest, so that all threads
  /// have the same bits if the combiner commutes, and how many values a thread has changes none. More than that are
  /// left in shared memory by 32, and each warp combines those the same way.
  mlir::Value combineTeam(mlir::Operation *combiner, llvm::ArrayRef<mlir::Value> values, int64_t team);

  mlir::Value sharedMemory(int64_t elements, mlir::Type element);
  void barrier();

  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> buffers;

private:
  mlir::Value shuffle(mlir::Value value, int64_t distance, int64_t width);
  mlir::Value combineWarp(mlir::Operation *combiner, llvm::SmallVector<mlir::Value> values, int64_t width);

  mlir::gpu::GPUFuncOp function;
  mlir::Value threadId, blockId;
  llvm::DenseMap<mlir::Type, mlir::Value> teamMemory; ///< Shared memory of `combineTeam`, by type.
};

/// Notes the alignment of vector accesses, as far as it is known: up to that of the whole vector.
void raiseAlignment(mlir::gpu::GPUFuncOp function);

/// The bytes of the widest elements that lie along the last loop of a space that isn't one point.
int64_t widestBytes(const LoopNest &nest);

/// The forms. Each appends its launches to `module`; `parameters` is how many buffers the cluster has.
/// Element by element: a thread for four neighbours, or for one.
GpuKernel emitPoints(mlir::gpu::GPUModuleOp module, mlir::Location loc, const LoopNest &nest, llvm::StringRef symbol,
                     unsigned parameters);
/// The same through shared memory, where an operand lies along another loop than the last one, so that neighbouring
/// threads would read it from places far apart. None where there is no such operand.
std::optional<GpuKernel> emitTiles(mlir::gpu::GPUModuleOp module, mlir::Location loc, const LoopNest &nest,
                                   llvm::StringRef symbol, unsigned parameters);
/// Tensors side by side: a thread for up to 16 bytes of the result.
GpuKernel emitCopies(mlir::gpu::GPUModuleOp module, mlir::Location loc, const Copies &copies, llvm::StringRef symbol,
                     unsigned parameters);
/// By rows: a team of threads for each; few rows that are very long: many blocks for each, and one more launch.
GpuKernel emitRows(mlir::gpu::GPUModuleOp module, mlir::Location loc, const LoopNest &nest, llvm::StringRef symbol,
                   unsigned parameters);
/// Sums of columns: a block for a strip of them.
GpuKernel emitColumns(mlir::gpu::GPUModuleOp module, mlir::Location loc, const LoopNest &nest, llvm::StringRef symbol,
                      unsigned parameters);

} // namespace remat
