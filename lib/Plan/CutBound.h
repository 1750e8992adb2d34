//===- CutBound.h - The least recomputation behind one op --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "GapProblem.h"

namespace remat {

/// A lower bound on what recomputation costs in any plan with the problem's order of first executions and at most
/// `limitBytes` (docs/Planning.md). It looks at some of the stages where most is alive: what is read behind such a
/// stage is either alive in it or computed again behind it, from values of which the same holds. Of the choices that
/// fit, the cheapest is found from below by a Lagrangian, each of whose values is a minimum cut. `enough`: a bound of
/// this much will do.
double boundCostByCuts(const GapProblem &problem, int64_t limitBytes, double enough);

} // namespace remat
