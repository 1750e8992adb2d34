//===- EmitLoops.cpp - A cluster as vector code ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopEmitter.h"

using namespace mlir;

namespace remat {

std::optional<EmittedKernel> emitLoops(ModuleOp module, KernelOp kernel, StringRef symbol) {
  std::optional<LoopNest> nest = analyzeKernel(kernel);
  if (!nest)
    return std::nullopt;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  return nest->columns ? emitColumnLoops(builder, kernel, *nest, symbol)
                       : emitRowLoops(builder, kernel, std::move(*nest), symbol);
}

} // namespace remat
