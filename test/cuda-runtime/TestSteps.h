//===- TestSteps.h - What the tests of the CUDA runtime share ----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "FakeCuda.h"
#include "TestPrograms.h"
#include "remat/CudaRuntime/CudaExecutable.h"

#include <gtest/gtest.h>

namespace remat::runtime {

/// All three libraries are the fake.
inline CudaOptions fakeOptions() {
  CudaOptions options;
  options.libraries = {FAKE_CUDA, FAKE_CUDA, FAKE_CUDA};
  return options;
}

inline std::vector<char> fakeBinary() { return {'F', 'A', 'K', 'E'}; }

inline CudaParameter bufferParameter(int64_t index) { return {CudaParameter::Kind::Buffer, index}; }

/// One launch of `blocks` blocks of 32 threads with pointers to `buffers` buffers.
inline CudaLaunch launchOf(std::string symbol, size_t buffers, uint32_t blocks = 1) {
  CudaLaunch launch;
  launch.symbol = std::move(symbol);
  launch.grid = {blocks, 1, 1};
  launch.block = {32, 1, 1};
  for (size_t i = 0; i < buffers; ++i)
    launch.parameters.push_back(bufferParameter(int64_t(i)));
  return launch;
}

/// A fake function that runs a CPU's kernel over `iterations`.
inline void defineCpuKernel(const std::string &symbol, size_t buffers, KernelFunction kernel, int64_t iterations) {
  fakecuda::defineKernel(symbol, buffers, [=](const fakecuda::Launch &launch) {
    std::vector<void *> addresses;
    for (uint64_t address : launch.parameters)
      addresses.push_back(reinterpret_cast<void *>(address));
    kernel(addresses.data(), 0, iterations, 0);
  });
}

/// The code of `chainProgram(n)`.
inline CudaCode chainCode(int64_t n) {
  defineCpuKernel("gpu_double", 2, doubleKernel, n);
  defineCpuKernel("gpu_add", 3, addKernel, n);
  return {{{launchOf("gpu_double", 2, 7)}, {launchOf("gpu_add", 3)}}, {}, {}, fakeBinary()};
}

inline std::shared_ptr<const CudaExecutable> executableOf(Program program, CudaCode code) {
  auto executable = CudaExecutable::create(std::move(program), std::move(code));
  if (!executable) {
    ADD_FAILURE() << executable.error().str();
    return nullptr;
  }
  return *executable;
}

inline std::unique_ptr<CudaContext> contextOf(std::shared_ptr<const CudaExecutable> executable,
                                              const CudaOptions &options = fakeOptions()) {
  if (!executable)
    return nullptr;
  auto context = CudaContext::create(std::move(executable), options);
  if (!context) {
    ADD_FAILURE() << context.error().str();
    return nullptr;
  }
  return std::move(*context);
}

template <typename T>
DevicePointer upload(const std::vector<T> &values) {
  return fakecuda::upload(values.data(), values.size() * sizeof(T));
}

inline const float *floatsAt(DevicePointer address) { return reinterpret_cast<const float *>(address); }

/// Every test starts with a fresh fake, and leaves no device memory in use but what it uploaded.
class CudaTest : public testing::Test {
protected:
  void SetUp() override { fakecuda::reset(); }
  void TearDown() override { fakecuda::reset(); }
};

} // namespace remat::runtime
