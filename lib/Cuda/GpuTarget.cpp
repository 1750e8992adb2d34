//===- GpuTarget.cpp - Kernels and libraries of a GPU ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuTarget.h"

#include "LoopKernel.h"

#include "remat/CudaRuntime/CudaExecutable.h"
#include "remat/Runtime/Types.h"

using namespace mlir;

namespace remat {

GpuKernels makeGpuKernels(Location location) {
  GpuKernels kernels;
  kernels.module = ModuleOp::create(location);
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.module->getBody());
  gpu::GPUModuleOp::create(builder, location, "remat_kernels");
  return kernels;
}

/// The symbol says the form: profilers show it. Without a nest: copies, or loops of any kind.
static std::optional<GpuKernel> emitAs(GpuKernel::Form form, const LoopNest *nest, const Copies *copies,
                                       gpu::GPUModuleOp module, KernelOp kernel, StringRef symbol) {
  unsigned parameters = kernel.getInputs().size() + kernel.getNumResults();
  if (copies)
    return emitCopies(module, kernel.getLoc(), *copies, symbol, parameters);
  switch (form) {
  case GpuKernel::Form::Points:
    return emitPoints(module, kernel.getLoc(), *nest, symbol, parameters);
  case GpuKernel::Form::Rows:
    return emitRows(module, kernel.getLoc(), *nest, symbol, parameters);
  case GpuKernel::Form::Columns:
    return emitColumns(module, kernel.getLoc(), *nest, symbol, parameters);
  case GpuKernel::Form::Loops:
    return emitAnyLoops(module, kernel, symbol);
  }
  llvm_unreachable("every form emits");
}

FailureOr<EmittedKernel> GpuTarget::emit(KernelOp kernel, unsigned number) {
  std::optional<LoopNest> nest;
  std::optional<Copies> copies = findCopies(kernel);
  if (!copies && !kernel.getInplace())
    nest = analyzeKernel(kernel);
  GpuKernel::Form form = copies          ? GpuKernel::Form::Points
                         : !nest         ? GpuKernel::Form::Loops
                         : nest->columns ? GpuKernel::Form::Columns
                         : nest->byRows  ? GpuKernel::Form::Rows
                                         : GpuKernel::Form::Points;
  std::string symbol = ("remat_" + nameOf(form) + "_" + llvm::Twine(number)).str();
  std::optional<GpuKernel> emitted =
      emitAs(form, nest ? &*nest : nullptr, copies ? &*copies : nullptr, module, kernel, symbol);
  if (!emitted)
    return failure();
  EmittedKernel result{.symbol = symbol, .scratchBytes = emitted->scratchBytes};
  kernels[symbol] = std::move(*emitted);
  return result;
}

void GpuTarget::erase(const EmittedKernel &kernel) {
  for (const GpuLaunch &launch : kernels[kernel.symbol].launches)
    if (Operation *function = module.lookupSymbol(launch.symbol))
      function->erase();
  kernels.erase(kernel.symbol);
}

bool GpuTarget::multiplies(const runtime::MatmulSpec &spec) const { return !runtime::checkCudaMatmul(spec); }

bool GpuTarget::convolves(const runtime::ConvolutionSpec &spec) const {
  return bool(runtime::leastCudaWorkspaceBytes(spec));
}

/// What a library may take beyond what it can't do without: where a long sum is split, every part has a result in f32.
static int64_t usefulWorkspace(int64_t results) {
  constexpr int64_t most = int64_t(32) << 20;
  return std::min(most, results * int64_t(sizeof(float)));
}

FailureOr<int64_t> GpuTarget::workspaceBytes(Operation *op, const runtime::MatmulSpec &spec) {
  if (spec.k <= std::max(spec.m, spec.n))
    return 0;
  int64_t results = spec.m * spec.n;
  for (int64_t size : spec.batch)
    results *= size;
  return usefulWorkspace(results);
}

FailureOr<int64_t> GpuTarget::workspaceBytes(Operation *op, const runtime::ConvolutionSpec &spec) {
  runtime::Expected<int64_t> least = runtime::leastCudaWorkspaceBytes(spec);
  if (!least)
    return op->emitError() << "no code for this " << op->getName().stripDialect() << ": " << least.error().message;
  return *least + usefulWorkspace(spec.result.elements());
}

} // namespace remat
