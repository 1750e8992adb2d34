//===- StepRunner.cpp - Puts the steps on a stream -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepRunner.h"

#include "ExecutableImpl.h"

#include <algorithm>
#include <cstring>

using namespace remat::runtime;

std::string remat::runtime::placeOf(const CudaStepPlan &plan) {
  return "step '" + plan.name + "'" + (plan.location.empty() ? "" : " (" + plan.location + ")");
}

std::optional<Error> StepRunner::run(const std::vector<PreparedCudaStep> &steps) {
  for (const PreparedCudaStep &prepared : steps)
    if (auto error = run(prepared)) {
      // The innermost step's name stands; those around it add nothing.
      if (error->place.empty())
        error->place = placeOf(*prepared.plan);
      return error;
    }
  return std::nullopt;
}

std::optional<Error> StepRunner::run(const PreparedCudaStep &prepared) {
  switch (prepared.step->kind) {
  case Step::Kind::Kernel:
    return launch(prepared);
  case Step::Kind::Matmul:
  case Step::Kind::Convolution:
    return call(prepared);
  case Step::Kind::Copy:
    return copy(*prepared.step);
  case Step::Kind::While:
    return loop(prepared);
  case Step::Kind::Branch:
    return branch(prepared);
  }
  return std::nullopt;
}

std::optional<Error> StepRunner::launch(const PreparedCudaStep &prepared) {
  for (const PreparedLaunch &entry : *prepared.launches) {
    const CudaLaunch &launch = *entry.launch;
    values.clear();
    for (const CudaParameter &parameter : launch.parameters)
      values.push_back(parameter.kind == CudaParameter::Kind::Buffer
                           ? addresses.of(prepared.step->buffers[size_t(parameter.value)])
                           : uint64_t(parameter.value));
    parameters.clear();
    // An Int32 is the low half of its value: hosts are little-endian.
    for (uint64_t &value : values)
      parameters.push_back(&value);
    if (auto error = driver.check("cuLaunchKernel",
                                  driver.cuLaunchKernel(entry.function, launch.grid[0], launch.grid[1], launch.grid[2],
                                                        launch.block[0], launch.block[1], launch.block[2],
                                                        launch.sharedBytes, stream, parameters.data(), nullptr))) {
      error->message += " at function '" + launch.symbol + "'";
      return error;
    }
  }
  return std::nullopt;
}

std::optional<Error> StepRunner::call(const PreparedCudaStep &prepared) {
  const std::vector<Buffer> &buffers = prepared.step->buffers;
  CUdeviceptr workspace = buffers.size() > 3 ? addresses.of(buffers[3]) : 0;
  return prepared.call->enqueue({addresses.of(buffers[0]), addresses.of(buffers[1]), addresses.of(buffers[2])},
                                workspace, stream);
}

std::optional<Error> StepRunner::copy(const Step &step) {
  CUdeviceptr from = addresses.of(step.buffers[0]), to = addresses.of(step.buffers[1]);
  if (from == to || step.bytes == 0)
    return std::nullopt;
  return driver.check("cuMemcpyDtoDAsync", driver.cuMemcpyDtoDAsync_v2(to, from, size_t(step.bytes), stream));
}

std::optional<Error> StepRunner::readDecision(const Buffer &buffer, size_t bytes) {
  if (auto error =
          driver.check("cuMemcpyDtoHAsync", driver.cuMemcpyDtoHAsync_v2(decision, addresses.of(buffer), bytes, stream)))
    return error;
  return driver.check("cuStreamSynchronize", driver.cuStreamSynchronize(stream));
}

std::optional<Error> StepRunner::loop(const PreparedCudaStep &prepared) {
  for (int64_t i = 0; i < prepared.plan->trips; ++i)
    if (auto error = run(prepared.bodies[1]))
      return error;
  while (prepared.plan->trips < 0) {
    if (auto error = run(prepared.bodies[0]))
      return error;
    if (auto error = readDecision(prepared.step->buffers[0], 1))
      return error;
    if (*static_cast<const char *>(decision) == 0)
      break;
    if (auto error = run(prepared.bodies[1]))
      return error;
  }
  return std::nullopt;
}

std::optional<Error> StepRunner::branch(const PreparedCudaStep &prepared) {
  const Buffer &buffer = prepared.step->buffers[0];
  int32_t index = 0;
  if (isDecidedEarly(*prepared.step)) {
    std::memcpy(&index, constants.data() + buffer.offset, sizeof(index));
  } else {
    if (auto error = readDecision(buffer, sizeof(index)))
      return error;
    std::memcpy(&index, decision, sizeof(index));
  }
  size_t last = prepared.bodies.size() - 1;
  return run(prepared.bodies[index < 0 ? last : std::min(size_t(index), last)]);
}
