//===- LoopEmitter.h - A cluster as loops for the CPU ------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last loop of the space runs in lanes: first as many full vectors as there are, then the rest one by one. Every
// lane computes what a scalar would, so where a vector ends changes no bit.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Kernels.h"
#include "PointReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace remat {

/// Lanes of a vector, if the last loop is that long.
inline constexpr int64_t mostLanes = 16;
/// Elements whose work is worth a thread.
inline constexpr int64_t grainElements = 16384;

/// The function around a kernel's loops, its scratch, and what is stored at a point.
class LoopEmitter : public PointReader {
protected:
  LoopEmitter(mlir::OpBuilder &builder, KernelOp kernel, const LoopNest &nest, llvm::StringRef symbol)
      : PointReader(builder, kernel.getLoc(), nest), kernel(kernel) {
    result.symbol = symbol.str();
  }

  /// Emits the function where the builder stands; `body` emits one iteration.
  void emitFunction(llvm::function_ref<void(mlir::Value iteration)> body);

  /// A place for `elements` values of a member in a thread's scratch: its offset in bytes.
  int64_t addScratch(const Member &member, int64_t elements);
  mlir::Value scratchPointer(int64_t offset);

  /// Computes a member that doesn't reduce, and notes what is to be stored once everything has been read.
  void computeElementwise(const Member &member, Point &point);
  void flushStores(Point &point);

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, int64_t b);
  mlir::Value subtract(mlir::Value a, mlir::Value b);
  mlir::Value minimum(mlir::Value a, mlir::Value b);
  mlir::Value neutral(const Member &member);
  /// `body` gives what the next iteration carries.
  llvm::SmallVector<mlir::Value>
  forLoop(mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange carried,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  /// The indices of a row-major number.
  llvm::SmallVector<mlir::Value> split(mlir::Value number, llvm::ArrayRef<int64_t> sizes);

  Lanes readMember(const Source &source, Point &point) override;

  struct Store {
    mlir::Value pointer, value, place;
  };

  KernelOp kernel;
  EmittedKernel result;
  llvm::DenseMap<const Member *, int64_t> scratch; ///< Offsets in a thread's part.
  mlir::Value scratchPlace; ///< The point's row-major number within the row, for scratch; that of the first neighbour.
  llvm::SmallVector<Store> stores;

private:
  void loadPointers(mlir::Block *entry);

  mlir::Value scratchBase;
};

/// The kernel of a cluster without column sums: element-wise or by rows. The builder stands in a module.
EmittedKernel emitRowLoops(mlir::OpBuilder &builder, KernelOp kernel, LoopNest nest, llvm::StringRef symbol);
/// The kernel of a cluster with column sums.
EmittedKernel emitColumnLoops(mlir::OpBuilder &builder, KernelOp kernel, const LoopNest &nest, llvm::StringRef symbol);

} // namespace remat
