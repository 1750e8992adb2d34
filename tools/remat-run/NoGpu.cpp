//===- NoGpu.cpp - Built without the CUDA toolkit -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

namespace remat {

static Error leftOut() {
  return makeError("this build can't run steps on a GPU: the CUDA toolkit's headers weren't there", "",
                   "set CUDA_HOME to the toolkit and build again, or run the step with --device=cpu");
}

Expected<std::string> findGpuTarget() { return leftOut(); }
Expected<std::unique_ptr<Runner>> makeGpuRunner(runtime::Program, runtime::CudaCode, bool, bool) { return leftOut(); }

} // namespace remat
