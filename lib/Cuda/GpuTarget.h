//===- GpuTarget.h - Kernels and libraries of a GPU -------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "../CodeGen/Target.h"

#include "remat/Cuda/Kernels.h"

namespace remat {

/// Appends kernels to a `gpu.module`; dots are cuBLASLt's, convolutions cuDNN's.
class GpuTarget : public Target {
public:
  explicit GpuTarget(mlir::gpu::GPUModuleOp module) : module(module) {}

  llvm::StringRef device() const override { return "GPU"; }
  mlir::FailureOr<EmittedKernel> emit(KernelOp kernel, unsigned number) override;
  void erase(const EmittedKernel &kernel) override;
  bool multiplies(const runtime::MatmulSpec &spec) const override;
  bool convolves(const runtime::ConvolutionSpec &spec) const override;
  mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op, const runtime::MatmulSpec &spec) override;
  mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op, const runtime::ConvolutionSpec &spec) override;

  /// How an emitted kernel is launched.
  const GpuKernel &kernel(llvm::StringRef symbol) const { return kernels.find(symbol)->second; }

private:
  mlir::gpu::GPUModuleOp module;
  llvm::StringMap<GpuKernel> kernels; ///< By symbol.
};

/// A module with an empty `gpu.module` for kernels.
GpuKernels makeGpuKernels(mlir::Location location);

} // namespace remat
