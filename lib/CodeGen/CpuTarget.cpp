//===- CpuTarget.cpp - Kernels and libraries of the CPU -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuTarget.h"

#include "Copies.h"

#include "remat/Runtime/Library.h"

using namespace mlir;

namespace remat {

FailureOr<EmittedKernel> CpuTarget::emit(KernelOp kernel, unsigned number) {
  std::string symbol = "remat_kernel_" + std::to_string(number);
  if (std::optional<Copies> copies = findCopies(kernel))
    return emitCopies(module, kernel, *copies, symbol);
  if (!kernel.getInplace())
    if (std::optional<EmittedKernel> emitted = emitLoops(module, kernel, symbol))
      return *emitted;
  return emitUpstream(module, kernel, symbol);
}

void CpuTarget::erase(const EmittedKernel &kernel) {
  for (const std::string &symbol : {kernel.symbol, kernel.symbol + "_body"})
    if (Operation *function = module.lookupSymbol(symbol))
      function->erase();
}

static FailureOr<int64_t> workspaceOf(Operation *op, std::unique_ptr<runtime::LibraryCall> call, StringRef error) {
  if (call)
    return call->workspaceBytes();
  return op->emitError() << "no code for this " << op->getName().stripDialect() << ": " << error;
}

FailureOr<int64_t> CpuTarget::workspaceBytes(Operation *op, const runtime::MatmulSpec &spec) {
  std::string error;
  return workspaceOf(op, runtime::makeMatmul(spec, threadCount, error), error);
}

FailureOr<int64_t> CpuTarget::workspaceBytes(Operation *op, const runtime::ConvolutionSpec &spec) {
  std::string error;
  return workspaceOf(op, runtime::makeConvolution(spec, threadCount, error), error);
}

} // namespace remat
