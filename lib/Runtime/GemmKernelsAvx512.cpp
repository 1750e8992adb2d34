//===- GemmKernelsAvx512.cpp - Inner loops for machines with AVX-512 ------===//
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
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"))),                   \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")
#endif
namespace {
constexpr int vectorBytes = 64, tileRows = 14;
}
#include "GemmKernelsBody.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace remat::runtime {
extern const GemmKernels<float> floatKernelsAvx512;
extern const GemmKernels<double> doubleKernelsAvx512;
constexpr GemmKernels<float> floatKernelsAvx512 = makeKernels<float>();
constexpr GemmKernels<double> doubleKernelsAvx512 = makeKernels<double>();
} // namespace remat::runtime
#endif
