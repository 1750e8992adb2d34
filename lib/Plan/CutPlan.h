//===- CutPlan.h - Plans that hold what a cut says ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "GapProblem.h"

namespace remat {

/// Plans that hold in the stage where most is alive the values that are cheapest to hold (StageCut.h), and run again
/// behind it, just before they are read, the others. One of them holds no more than the limit there, one a little more;
/// other stages may be above the limit. None where no stage is above it.
std::vector<Plan> planByCut(const GapProblem &problem, int64_t limitBytes);

} // namespace remat
