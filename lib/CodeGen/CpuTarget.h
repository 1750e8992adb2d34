//===- CpuTarget.h - Kernels and libraries of the CPU ---------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Target.h"

namespace remat {

/// Appends kernels to a module (Kernels.h); the runtime's own dots and convolutions.
class CpuTarget : public Target {
public:
  CpuTarget(mlir::ModuleOp module, int threads) : module(module), threadCount(threads) {}

  llvm::StringRef device() const override { return "CPU"; }
  int threads() const override { return threadCount; }
  mlir::FailureOr<EmittedKernel> emit(KernelOp kernel, unsigned number) override;
  void erase(const EmittedKernel &kernel) override;
  mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op, const runtime::MatmulSpec &spec) override;
  mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op, const runtime::ConvolutionSpec &spec) override;

private:
  mlir::ModuleOp module;
  int threadCount;
};

} // namespace remat
