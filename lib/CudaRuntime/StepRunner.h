//===- StepRunner.h - Puts the steps on a stream -----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Call.h"
#include "remat/CudaRuntime/CudaExecutable.h"

#include <span>
#include <vector>

namespace remat::runtime {

/// A launch whose function is found.
struct PreparedLaunch {
  const CudaLaunch *launch = nullptr;
  CUfunction function = nullptr;
};

/// A step with what it calls.
struct PreparedCudaStep {
  const Step *step = nullptr;
  const CudaStepPlan *plan = nullptr;
  const std::vector<PreparedLaunch> *launches = nullptr; ///< Of a kernel.
  CudaCall *call = nullptr;                              ///< Of a dot or convolution.
  std::vector<std::vector<PreparedCudaStep>> bodies;
};

/// Where the buffers of one run lie.
struct Addresses {
  CUdeviceptr arena = 0, constants = 0;
  std::span<const DevicePointer> arguments;

  CUdeviceptr of(const Buffer &buffer) const {
    CUdeviceptr base = buffer.space == Buffer::Space::Arena      ? arena
                       : buffer.space == Buffer::Space::Constant ? constants
                                                                 : arguments[buffer.index];
    return base + CUdeviceptr(buffer.offset);
  }
};

/// Enqueues steps in order. Waits for the stream where a step's plan says so, and nowhere else.
class StepRunner {
public:
  /// `decision` is memory of the host that the driver knows, for 8 bytes; null where nothing waits. `constants` are the
  /// program's, on the host.
  StepRunner(const Driver &driver, const Addresses &addresses, CUstream stream, void *decision,
             std::span<const char> constants)
      : driver(driver), addresses(addresses), stream(stream), decision(decision), constants(constants) {}

  /// Error: what the driver or a library says, with the step's name and the place of its op.
  std::optional<Error> run(const std::vector<PreparedCudaStep> &steps);

private:
  std::optional<Error> run(const PreparedCudaStep &prepared);
  std::optional<Error> launch(const PreparedCudaStep &prepared);
  std::optional<Error> call(const PreparedCudaStep &prepared);
  std::optional<Error> copy(const Step &step);
  std::optional<Error> loop(const PreparedCudaStep &prepared);
  std::optional<Error> branch(const PreparedCudaStep &prepared);
  std::optional<Error> readDecision(const Buffer &buffer, size_t bytes);

  const Driver &driver;
  const Addresses &addresses;
  CUstream stream;
  void *decision;
  std::span<const char> constants;
  std::vector<uint64_t> values;
  std::vector<void *> parameters;
};

/// `step 'dot.3' (model.py:41)`.
std::string placeOf(const CudaStepPlan &plan);

} // namespace remat::runtime
