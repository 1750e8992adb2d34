//===- Runner.h - A compiled step on some device ----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"
#include "remat/Runtime/Executable.h"
#include "remat/Runtime/Profile.h"

#include <memory>
#include <span>

namespace remat {

/// What a run took, as counted while it ran.
struct Measured {
  int64_t peakBytes = 0;
  std::string peakStep; ///< The step that ran then; empty where nobody can tell.
};

/// Runs a compiled step on arguments in the host's memory, which stay where they are from `start` on.
class Runner {
public:
  using Arguments = std::span<const void *const>;
  virtual ~Runner() = default;

  /// `CPU`, `GPU`.
  virtual std::string_view device() const = 0;
  virtual const runtime::Program &program() const = 0;
  /// Those that a run destroys.
  virtual const std::vector<uint32_t> &overwrittenArguments() const = 0;

  /// Takes the memory that runs need; called once, before all below. Error: a larger arena than the limit (0: none),
  /// too little memory, what the device's driver says.
  virtual std::optional<Error> start(Arguments arguments, int64_t arenaLimitBytes) = 0;
  /// Milliseconds of a run on the arguments as they were given.
  virtual Expected<double> run(Arguments arguments) = 0;
  /// The run that counts; values that nobody wrote are poisoned as far as the device allows.
  virtual Expected<Measured> measure(Arguments arguments) = 0;
  virtual Expected<runtime::Profile> profile(Arguments arguments) = 0;
  /// Makes the last run's results readable until the next one.
  virtual std::optional<Error> fetchResults() = 0;
  virtual const void *result(size_t index) const = 0;
  /// What the device's memory in use grew by since `start` began: the process's, or the GPU's.
  virtual Expected<int64_t> memoryGrowthBytes() const = 0;
};

std::unique_ptr<Runner> makeCpuRunner(std::shared_ptr<const runtime::Executable> executable);

} // namespace remat
