//===- LowerKernels.cpp - The kernels of a step ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuTarget.h"

#include "../CodeGen/BlockBuilder.h"
#include "../CodeGen/Clusters.h"

#include "remat/CodeGen/Cpu.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/ADT/StringSet.h"

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

/// Text that two ops share if they are the same but for their operands' names.
static std::string keyOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  return op->getName().getStringRef().str() + text.substr(std::min(text.find(')'), text.size()));
}

/// Why an op that takes time is no kernel; empty where it needs none.
static StringRef reasonAgainst(Operation *op) {
  if (isa<linalg::GenericOp>(op))
    return "a matrix product is a call of a library";
  if (isa<ConvolutionOp>(op))
    return "a convolution is a call of a library";
  if (isa<scf::WhileOp, scf::IfOp>(op))
    return "loops and branches need host code";
  return takesNoTime(op) ? "" : "it has no form for the GPU";
}

namespace {

class StepLowering {
public:
  explicit StepLowering(func::FuncOp function)
      : function(function), result(makeGpuKernels(function.getLoc())), target(result.gpuModule()), table(target) {}

  GpuKernels run() {
    lowerBlock(function.front());
    return std::move(result);
  }

private:
  void lowerBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (auto kernel = dyn_cast<KernelOp>(op)) {
        lowerKernel(kernel);
        continue;
      }
      StringRef reason = reasonAgainst(&op);
      if (!reason.empty())
        note(&op, reason);
      if (isa<scf::WhileOp, scf::IfOp>(op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            lowerBlock(inner);
    }
  }

  void note(Operation *op, StringRef reason) {
    if (known.insert(keyOf(op)).second)
      result.others.push_back({op->getLoc(), op->getName().getStringRef().str(), reason.str()});
  }

  void lowerKernel(KernelOp kernel) {
    FailureOr<unsigned> number = table.number(kernel);
    if (failed(number))
      return note(kernel, "its loops have no form for the GPU");
    if (*number != result.kernels.size())
      return;
    result.kernels.push_back(target.kernel(table.kernels.back().symbol));
    result.clusters.push_back(kernel);
  }

  func::FuncOp function;
  GpuKernels result;
  GpuTarget target;
  KernelTable table;
  llvm::StringSet<> known; ///< Ops without a kernel that came before.
};

} // namespace

GpuKernels lowerKernelsToGpu(func::FuncOp function) {
  formClusters(function);
  return StepLowering(function).run();
}

} // namespace remat
