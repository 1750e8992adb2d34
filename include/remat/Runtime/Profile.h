//===- Profile.h - Where the time goes --------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace remat::runtime {

/// The times of one run. Steps of loops and branches count in the step that holds them too.
struct Profile {
  struct Execution {
    std::string name;
    std::string kind; ///< `kernel`, `matmul`, `convolution`, `copy`, `while`, `branch`.
    int64_t startNs = 0, durationNs = 0;
    int64_t bytes = 0;     ///< Read and written, as the step says.
    int64_t liveBytes = 0; ///< Of the slots in use while it ran, each rounded up to 64.
    int depth = 0;         ///< 0: not inside another step.
  };
  std::vector<Execution> executions; ///< In the order of their ends.
  int64_t totalNs = 0;
};

/// Chrome's trace format (chrome://tracing, Perfetto): one bar an execution, and the live bytes as a counter.
void writeChromeTrace(std::ostream &out, const Profile &profile);

/// A table by name of step, longest time first: times run, milliseconds, share, GB/s. `rows` at most; the rest is
/// summed.
void writeProfileTable(std::ostream &out, const Profile &profile, size_t rows = 30);

} // namespace remat::runtime
