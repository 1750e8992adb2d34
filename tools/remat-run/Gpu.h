//===- Gpu.h - Steps on a GPU -----------------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without the CUDA toolkit's headers NoGpu.cpp stands in, whose functions all say so.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Runner.h"

#include "remat/CudaRuntime/CudaCode.h"

namespace remat {

/// For which of `cudaTargets` (Emit.h) the GPU that runs steps takes code. Error: no driver, no GPU, one that is too
/// old.
Expected<std::string> findGpuTarget();

/// `graph`: runs are captured as a CUDA graph. `allowTf32`: dots and convolutions of f32 may round their inputs.
Expected<std::unique_ptr<Runner>> makeGpuRunner(runtime::Program program, runtime::CudaCode code, bool graph,
                                                bool allowTf32);

} // namespace remat
