//===- Steps.h - Runs steps, watched or not ---------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Prepared.h"
#include "Team.h"

#include <cstring>

namespace remat::runtime {

inline void runKernel(const PreparedStep &prepared) {
  runOnTeam(
      prepared.parts,
      [](void *data, int part) {
        const PreparedStep &prepared = *static_cast<const PreparedStep *>(data);
        int64_t iterations = prepared.step->iterations, parts = prepared.parts;
        // Quotient and remainder apart: iterations × parts may overflow.
        int64_t each = iterations / parts, rest = iterations % parts;
        int64_t begin = each * part + std::min<int64_t>(part, rest);
        prepared.kernel(prepared.buffers, begin, begin + each + (part < rest), part);
      },
      const_cast<PreparedStep *>(&prepared));
}

/// Runs `steps` in order. The observer's `begin(step)` and `end(step)` stand around each, `reads(step)` behind the body
/// that makes a loop's condition; false ends the run.
template <typename Observer>
bool runSteps(const std::vector<PreparedStep> &steps, Observer &observer) {
  for (const PreparedStep &prepared : steps) {
    if (!observer.begin(prepared))
      return false;
    void *const *buffers = prepared.buffers;
    switch (prepared.step->kind) {
    case Step::Kind::Kernel:
      if (prepared.step->iterations > 0)
        runKernel(prepared);
      break;
    case Step::Kind::Matmul:
    case Step::Kind::Convolution:
      prepared.call->run(buffers[0], buffers[1], buffers[2], prepared.step->buffers.size() > 3 ? buffers[3] : nullptr);
      break;
    case Step::Kind::Copy:
      if (buffers[0] != buffers[1])
        std::memcpy(buffers[1], buffers[0], size_t(prepared.step->bytes));
      break;
    case Step::Kind::While:
      while (true) {
        if (!runSteps(prepared.bodies[0], observer) || !observer.reads(prepared))
          return false;
        if (*static_cast<const char *>(buffers[0]) == 0)
          break;
        if (!runSteps(prepared.bodies[1], observer))
          return false;
      }
      break;
    case Step::Kind::Branch: {
      int32_t index;
      std::memcpy(&index, buffers[0], sizeof(index));
      size_t last = prepared.bodies.size() - 1;
      if (!runSteps(prepared.bodies[index < 0 ? last : std::min(size_t(index), last)], observer))
        return false;
      break;
    }
    }
    if (!observer.end(prepared))
      return false;
  }
  return true;
}

} // namespace remat::runtime
