//===- KernelTable.cpp - The kernels of a program -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target.h"

using namespace mlir;

namespace remat {

FailureOr<unsigned> KernelTable::number(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  // What stands behind the operands' names says all.
  std::string key = text.substr(std::min(text.find(')'), text.size()));
  auto [known, isNew] = numbers.try_emplace(key, kernels.size());
  if (!isNew)
    return known->second;
  FailureOr<EmittedKernel> emitted = target.emit(kernel, kernels.size());
  if (failed(emitted))
    return failure();
  kernels.push_back(*emitted);
  return kernels.size() - 1;
}

void forEachStep(std::vector<runtime::Step> &steps, llvm::function_ref<void(runtime::Step &)> visit) {
  for (runtime::Step &step : steps) {
    visit(step);
    for (std::vector<runtime::Step> &body : step.bodies)
      forEachStep(body, visit);
  }
}

void KernelTable::keepOnlyThoseOf(runtime::Program &program) {
  std::vector<bool> used(kernels.size());
  forEachStep(program.steps, [&](runtime::Step &step) {
    if (step.kind == runtime::Step::Kind::Kernel)
      used[step.kernel] = true;
  });
  std::vector<uint32_t> renumbered(kernels.size());
  SmallVector<EmittedKernel, 0> kept;
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    renumbered[i] = kept.size();
    if (used[i])
      kept.push_back(kernel);
    else
      target.erase(kernel);
  }
  kernels = std::move(kept);
  forEachStep(program.steps, [&](runtime::Step &step) {
    if (step.kind == runtime::Step::Kind::Kernel)
      step.kernel = renumbered[step.kernel];
  });
  program.kernels.clear();
  for (const EmittedKernel &kernel : kernels)
    program.kernels.push_back(kernel.symbol);
}

} // namespace remat
