//===- GemmKernelsBaseline.cpp - Inner loops for any machine --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "GemmKernels.h"

#include <algorithm>
#include <cstring>
#include <utility>

#ifdef __clang__
#define REMAT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define REMAT_UNROLL _Pragma("GCC unroll 16")
#endif

namespace {
constexpr int vectorBytes = 16, tileRows = 6;
}
#include "GemmKernelsBody.h"

namespace remat::runtime {
extern const GemmKernels<float> floatKernelsBaseline;
extern const GemmKernels<double> doubleKernelsBaseline;
constexpr GemmKernels<float> floatKernelsBaseline = makeKernels<float>();
constexpr GemmKernels<double> doubleKernelsBaseline = makeKernels<double>();
} // namespace remat::runtime
