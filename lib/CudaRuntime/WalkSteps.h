//===- WalkSteps.h - Every step of a program ---------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Program.h"

namespace remat::runtime {

/// Calls `visit(step, depth)` for every step in preorder: a step, then those of its bodies.
template <typename Visit>
void walkSteps(const std::vector<Step> &steps, Visit &&visit, int depth = 0) {
  for (const Step &step : steps) {
    visit(step, depth);
    for (const std::vector<Step> &body : step.bodies)
      walkSteps(body, visit, depth + 1);
  }
}

} // namespace remat::runtime
