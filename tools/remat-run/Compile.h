//===- Compile.h - From a module to a compiled step -------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "CommandLine.h"
#include "Input.h"

#include "remat/CodeGen/Cpu.h"
#include "remat/Plan/Report.h"
#include "remat/Runtime/Executable.h"

namespace remat {

struct CompiledStep {
  CpuStep step;
  Report report;    ///< With the arena's size.
  std::string plan; ///< As JSON; empty where `--plan-out` isn't given.
  /// Peak of the clusters of the step as it came; nothing if the plan changes nothing.
  std::optional<int64_t> givenPeakBytes;
};

/// Plans, rewrites and compiles. sqrt-n promises not to raise the peak: where its plan of the graph raises that of the
/// clusters, it plans the clusters, and where that doesn't lower their peak the step stays as it came. A plan file is
/// applied to what it was made of, the graph or the clusters. `entry`: that of CpuOptions. Emits errors.
mlir::FailureOr<CompiledStep> compileStep(mlir::ModuleOp module, const CommandLine &line, const Input &input,
                                          int threads, std::string entry = "");

/// Whether any flag asks for another plan than the step as it came.
bool asksForAPlan(const CommandLine &line);

/// The clusters of the step as it came, which a limit plans. Emits errors.
mlir::FailureOr<Graph> extractClusters(mlir::ModuleOp module, const CommandLine &line, int threads);

/// The step as it came. Emits errors.
mlir::FailureOr<CpuStep> compileOriginal(mlir::ModuleOp module, const RematOptions &options, int threads,
                                         std::string entry = "");

/// Loads a step into this process. Emits errors.
mlir::FailureOr<std::shared_ptr<const runtime::Executable>> loadStep(CpuStep step, mlir::Location location);

} // namespace remat
