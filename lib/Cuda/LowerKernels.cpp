//===- LowerKernels.cpp - The kernels of a step ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuTarget.h"

#include "../CodeGen/LayOut.h"

#include "remat/CodeGen/Cpu.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/InitAllExtensions.h"

using namespace mlir;

namespace remat {

void registerCudaDialects(DialectRegistry &registry) {
  registerCodeGenDialects(registry);
  registry.insert<gpu::GPUDialect, NVVM::NVVMDialect>();
  registerAllExtensions(registry); // How dialects convert to LLVM's.
}

StringRef nameOf(GpuKernel::Form form) {
  constexpr StringLiteral names[] = {"points", "rows", "columns", "loops"};
  return names[unsigned(form)];
}

FailureOr<GpuKernels> lowerKernelsToGpu(func::FuncOp function) {
  GpuKernels result = makeGpuKernels(function.getLoc());
  GpuTarget target(result.gpuModule());
  KernelTable table(target);
  formClustersFor(function, target);
  WalkResult walked = function.walk<WalkOrder::PreOrder>([&](KernelOp kernel) {
    FailureOr<unsigned> number = table.number(kernel);
    if (failed(number))
      return WalkResult::interrupt();
    if (*number == result.kernels.size()) {
      result.kernels.push_back(target.kernel(table.kernels.back().symbol));
      result.clusters.push_back(kernel);
    }
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  return result;
}

} // namespace remat
