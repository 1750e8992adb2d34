//===- GpuCalls.h - What a step asks of a GPU -------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Cuda/Cuda.h"
#include "remat/Plan/Error.h"

#include <iosfwd>

namespace remat {

/// What the host asks of a GPU to run a step once. A loop's steps count as often as it runs them; once, where only the
/// device knows how often.
struct GpuCalls {
  int64_t clusters = 0; ///< Kernels that run; a launch each but for the exceptions.
  int64_t launches = 0, blasLt = 0, cudnn = 0, copies = 0;
  /// How often the host waits for a value of the device.
  int64_t waits = 0;
  /// Loops whose steps are counted once, because only the device knows how often they run.
  int64_t openLoops = 0;

  /// A cluster, dot or convolution that takes more than one call or none, or a value that is copied.
  struct Exception {
    std::string step, location; ///< The location may be empty.
    int64_t calls = 0;          ///< Each time.
    int64_t times = 1;          ///< How often the step runs, in loops.
    std::string reason;
  };
  std::vector<Exception> exceptions;
};

/// Error: a step that the GPU's runtime would refuse.
Expected<GpuCalls> countGpuCalls(const CudaStep &step);

void writeGpuCalls(std::ostream &out, const GpuCalls &calls);

/// A report as JSON with the member `gpu_calls` added.
std::string addGpuCalls(std::string reportJson, const GpuCalls &calls);

} // namespace remat
