//===- Emit.h - Writes the compiled step ------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Compile.h"

namespace remat {

/// Whether `--emit` is of a compiled step: object, shared, ptx, cubin or fatbin.
bool emitsStep(llvm::StringRef emit);

/// What the flags ask code to be made for: `cpu`, or GPUs such as `sm_90`. Of a step that runs on a GPU, `--device` is
/// that GPU. Precondition: a step is emitted or run.
std::vector<std::string> codeTargets(const CommandLine &line);

/// Error: flags and a device that have nothing to say to each other.
std::optional<Error> checkDevice(const CommandLine &line);

/// Compiles the step and writes `--emit`'s file at `line.output`, the header beside an object or shared object, and the
/// reports: all of them or none; or, for `graph-json`, the graph of its clusters. What keeps them from being written is
/// found before anything is compiled. `program`: argv[0], for what stands beside it. Prints errors.
mlir::LogicalResult emitStep(mlir::ModuleOp module, const CommandLine &line, const Input &input, const char *program);

} // namespace remat
