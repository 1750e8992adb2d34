//===- Passes.h - The passes -------------------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/RematDialect.h"
#include "remat/Transforms/Pipelines.h"

#include "mlir/Pass/Pass.h"

namespace remat {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "remat/Transforms/Passes.h.inc"

/// The pass `remat`: everything from the module as it came to the rewritten module; its options are those of
/// Options.def. Where nothing is recomputed the module is left as it is.
std::unique_ptr<mlir::Pass> createRematPass(const RematOptions &options = {});

/// Registers all passes, `remat` included. May be called more than once.
void registerRematPasses();

} // namespace remat
