//===- Kernels.h - Clusters as GPU kernels -----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace remat {

/// One launch: `blocks` × 1 × 1 blocks of `threads` × 1 × 1 threads, no dynamic shared memory.
struct GpuLaunch {
  std::string symbol;
  int64_t blocks = 1, threads = 1;
};

/// The code for a cluster: its launches one after the other on one stream; all forms but `Loops` have one. Parameters
/// are pointers, the same for every launch: to the buffers of the cluster's inputs, of its results and, if
/// `scratchBytes` is not 0, to that much scratch. Where the cluster says `inplace`, the result is written to the
/// input's buffer. Buffers are aligned to 16 bytes; booleans take a byte.
struct GpuKernel {
  enum class Form {
    Points,  ///< Element by element: a thread for up to 16 bytes of neighbours, or for one element.
    Rows,    ///< A team of threads for each row.
    Columns, ///< A block for a strip of columns that are summed.
    Loops    ///< What is no cluster.
  };
  Form form = Form::Points;
  llvm::SmallVector<GpuLaunch, 1> launches;
  unsigned parameters = 0;
  int64_t scratchBytes = 0;
};

/// `points`, `rows`, `columns` or `loops`.
llvm::StringRef nameOf(GpuKernel::Form form);

struct GpuKernels {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< Holds one `gpu.module` with a `gpu.func` for every kernel.
  std::vector<GpuKernel> kernels;
  /// The clusters, by kernel; of the function that was lowered.
  std::vector<mlir::Operation *> clusters;

  mlir::gpu::GPUModuleOp gpuModule() { return *module->getOps<mlir::gpu::GPUModuleOp>().begin(); }
};

/// Joins the loops of an imported function (Import.h) into clusters as the CPU's compiler does, and makes one kernel
/// for every distinct one: in the final form, with vectors of four elements with aligned accesses where shapes allow
/// them, and reductions by shuffles and shared memory. Lays nothing out: for checks of kernels, compileForCuda (Cuda.h)
/// makes steps. Emits an error at a cluster that has no form. O(ops).
///
/// Bits don't depend on clusters: every op's result is rounded to its type, nothing is contracted across ops, and the
/// order of a sum follows from the number of its elements alone (RowKernel.cpp, ColumnKernel.cpp).
mlir::FailureOr<GpuKernels> lowerKernelsToGpu(mlir::func::FuncOp function);

/// Dialects that GPU code needs, and how they convert to LLVM's.
void registerCudaDialects(mlir::DialectRegistry &registry);

} // namespace remat
