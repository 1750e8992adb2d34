//===- Emit.h - Writes the compiled step ------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Compile.h"
#include "RunOptions.h"

namespace remat {

/// Compiles the step and writes `--emit`'s file, the header beside it and the reports: all of them or none; or, for
/// `graph-json`, the graph of its clusters. What keeps
/// them from being written is found before anything is compiled. `tool`: the path of this program. Prints errors.
mlir::LogicalResult emitStep(mlir::ModuleOp module, const CommandLine &line, const RunOptions &options,
                             const Input &input, llvm::StringRef tool);

} // namespace remat
