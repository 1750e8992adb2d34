//===- Compile.h - From a module to a compiled step -------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "CommandLine.h"
#include "GpuCalls.h"
#include "Input.h"

#include "remat/CodeGen/Cpu.h"
#include "remat/Cuda/Cuda.h"
#include "remat/Plan/Report.h"

#include <variant>

namespace remat {

/// What code is made for.
struct CodeOptions {
  bool forGpu = false;
  int threads = 1;        ///< Of the CPU.
  std::string entry = {}; ///< Of the CPU: CpuOptions's.
};

using CompiledCode = std::variant<CpuStep, CudaStep>;
inline const StepLayout &layoutOf(const CompiledCode &code) {
  return std::visit([](const auto &step) -> const StepLayout & { return step; }, code);
}

struct CompiledStep {
  CompiledCode code;
  Report report;    ///< With the arena's size.
  std::string plan; ///< As JSON; empty where `--plan-out` isn't given.
  /// Peak of the clusters of the step as it came; nothing if the plan changes nothing.
  std::optional<int64_t> givenPeakBytes;
  std::optional<GpuCalls> gpuCalls; ///< Of a step for a GPU.

  const StepLayout &layout() const { return layoutOf(code); }
};

/// Plans, rewrites and compiles what the flags ask for. Emits or prints errors.
mlir::FailureOr<CompiledStep> compileStep(mlir::ModuleOp module, const CommandLine &line, const Input &input,
                                          const CodeOptions &options);

/// Whether a flag asks for more than the step as it came.
bool asksForAPlan(const CommandLine &line);

/// The graph of clusters as the step came, which a limit plans. Emits errors.
mlir::FailureOr<Graph> extractClusters(mlir::ModuleOp module, const CommandLine &line, const CodeOptions &options);

/// The step as it came. Emits errors.
mlir::FailureOr<CompiledCode> compileOriginal(mlir::ModuleOp module, const RematOptions &options,
                                              const CodeOptions &code);

} // namespace remat
