//===- Emit.h - Writes the compiled step ------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Compile.h"

namespace remat {

struct EmitOptions {
  std::string output; ///< The file; a header is written beside a step.
  int threads = 1;    ///< Of a step for the CPU.
};

/// Whether `--emit` is of a compiled step: object, shared, ptx, cubin or fatbin.
bool emitsStep(llvm::StringRef emit);

/// Compiles the step and writes `--emit`'s file, the header beside an object or shared object, and the reports: all of
/// them or none; or, for `graph-json`, the graph of its clusters. What keeps them from being written is found before
/// anything is compiled. `program`: argv[0], for what stands beside it. Prints errors.
mlir::LogicalResult emitStep(mlir::ModuleOp module, const CommandLine &line, const EmitOptions &options,
                             const Input &input, const char *program);

} // namespace remat
