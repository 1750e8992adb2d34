//===- Twin.h - GPU kernels that run on the CPU ------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests: the arithmetic and the places of a kernel can be checked without a GPU.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Cuda/Kernels.h"
#include "remat/Runtime/Program.h"

#include <memory>
#include <vector>

namespace remat {

/// Kernels in this process. A call runs blocks [begin, end) of a launch; `buffers` holds its parameters.
struct CpuTwins {
  std::vector<std::vector<runtime::KernelFunction>> launches; ///< By kernel, then by launch.
  std::shared_ptr<void> code;
};

/// Compiles the final `gpu.func`s for this CPU with loops over blocks and threads. A block's threads run in lockstep:
/// the body is cut at barriers and shuffles, every thread runs a part before any runs the next, and values that are
/// needed across a cut wait in an array with a place for each thread. Emits an error where a cut lies within a loop or
/// a branch.
mlir::FailureOr<CpuTwins> compileTwins(GpuKernels &kernels);

/// The same without `kernels`' own code: the CPU's kernels for the same clusters, to compare with. A call runs
/// iterations [begin, end) of a kernel, as the CPU does.
struct CpuOriginals {
  std::vector<runtime::KernelFunction> functions; ///< By kernel.
  std::vector<int64_t> iterations;
  std::vector<int64_t> scratchBytes; ///< Of the last buffer; 0: none.
  std::shared_ptr<void> code;
};
mlir::FailureOr<CpuOriginals> compileOriginals(GpuKernels &kernels);

} // namespace remat
