//===- GemmKernelsAvx2.cpp - Inner loops for machines with AVX2 -----------===//
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

#ifdef __x86_64__
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace {
constexpr int vectorBytes = 32, tileRows = 6;
}
#include "GemmKernelsBody.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace remat::runtime {
extern const GemmKernels<float> floatKernelsAvx2;
extern const GemmKernels<double> doubleKernelsAvx2;
constexpr GemmKernels<float> floatKernelsAvx2 = makeKernels<float>();
constexpr GemmKernels<double> doubleKernelsAvx2 = makeKernels<double>();
} // namespace remat::runtime
#endif
