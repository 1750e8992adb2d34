//===- TestPrograms.h - Small programs by hand ------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Executable.h"

#include <atomic>

namespace remat::runtime {

inline Buffer arenaAt(int64_t offset) { return {Buffer::Space::Arena, 0, offset}; }
inline Buffer argumentAt(uint32_t index, int64_t offset = 0) { return {Buffer::Space::Argument, index, offset}; }
inline Buffer constantAt(int64_t offset) { return {Buffer::Space::Constant, 0, offset}; }

inline TensorType f32(std::vector<int64_t> shape) { return {ElementType::F32, std::move(shape)}; }

inline float &floatAt(void *const *buffers, int buffer, int64_t i) { return static_cast<float *>(buffers[buffer])[i]; }

/// buffers[1][i] = 2 × buffers[0][i]
inline void doubleKernel(void *const *buffers, int64_t begin, int64_t end, int64_t) {
  for (int64_t i = begin; i < end; ++i)
    floatAt(buffers, 1, i) = 2 * floatAt(buffers, 0, i);
}

/// buffers[2][i] = buffers[0][i] + buffers[1][i]
inline void addKernel(void *const *buffers, int64_t begin, int64_t end, int64_t) {
  for (int64_t i = begin; i < end; ++i)
    floatAt(buffers, 2, i) = floatAt(buffers, 0, i) + floatAt(buffers, 1, i);
}

inline Step kernelStep(std::string name, uint32_t kernel, int64_t iterations, std::vector<Buffer> buffers,
                       std::vector<uint32_t> taken = {}, std::vector<uint32_t> released = {}) {
  Step step;
  step.name = std::move(name);
  step.kernel = kernel;
  step.iterations = iterations;
  step.buffers = std::move(buffers);
  step.taken = std::move(taken);
  step.released = std::move(released);
  return step;
}

/// y = 2x, z = 2y, result = y + z on `n` floats, with y, z and the result in slots one behind the other.
/// Peak: y(4n) + z(4n) + result(4n), each rounded up to 64.
inline Program chainProgram(int64_t n, int threads = 1) {
  Program program;
  program.name = "chain";
  program.threads = threads;
  program.arguments = {{"x", f32({n})}};
  program.results = {{"r", f32({n})}};
  int64_t slot = (4 * n + 63) / 64 * 64;
  program.slots = {{"y", 0, 4 * n}, {"z", slot, 4 * n}, {"r", 2 * slot, 4 * n}};
  program.kernels = {"double", "add"};
  program.steps = {
      kernelStep("y", 0, n, {argumentAt(0), arenaAt(0)}, {0}),
      kernelStep("z", 0, n, {arenaAt(0), arenaAt(slot)}, {1}),
      kernelStep("r", 1, n, {arenaAt(0), arenaAt(slot), arenaAt(2 * slot)}, {2}, {0, 1}),
  };
  program.resultBuffers = {arenaAt(2 * slot)};
  program.arenaBytes = program.plannedPeakBytes = 3 * slot;
  return program;
}

inline std::vector<KernelFunction> chainKernels() { return {doubleKernel, addKernel}; }

} // namespace remat::runtime
