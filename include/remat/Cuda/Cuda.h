//===- Cuda.h - A training step for a GPU -----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/CodeGen/StepLayout.h"
#include "remat/Cuda/Kernels.h"
#include "remat/CudaRuntime/CudaCode.h"

namespace remat {

/// A step as a program, the launches of its kernels, and the kernels themselves.
struct CudaStep : StepLayout {
  /// Launches, trip counts of loops and locations; the binary is still to be made of `kernels` (Emit.h).
  runtime::CudaCode code;
  GpuKernels kernels; ///< Prepared; by the program's numbers.
};

/// Compiles an imported function like `compileForCpu`, for a GPU: kernels (Kernels.h), dots and convolutions for
/// libraries, whose workspaces are slots of the arena. A workspace is a function of the dot or convolution alone, so
/// that equal ones get the same algorithm. Emits an error at an op that has no code.
mlir::FailureOr<CudaStep> compileForCuda(mlir::func::FuncOp function, const LayoutOptions &options);

/// The graph that `LayoutOptions::planClusters` is asked to plan, as `extractClusters` in Cpu.h.
mlir::FailureOr<Graph> extractClustersForCuda(mlir::func::FuncOp function, const LayoutOptions &options);

/// The live peak that compiling would find; compiles nothing.
mlir::FailureOr<int64_t> findClusterPeakForCuda(mlir::func::FuncOp function);

} // namespace remat
