//===- GemmKernels.cpp - Which inner loops this machine runs ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmKernels.h"

#include <atomic>

namespace remat::runtime {

extern const GemmKernels<float> floatKernelsBaseline, floatKernelsAvx2, floatKernelsAvx512;
extern const GemmKernels<double> doubleKernelsBaseline, doubleKernelsAvx2, doubleKernelsAvx512;

static std::atomic<int> levelLimit = 2;
void limitKernelLevel(int level) { levelLimit = level; }

#ifdef __x86_64__
static bool hasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
static bool hasAvx512() {
  return hasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
template <class T>
static const GemmKernels<T> *tableFor(int level, const GemmKernels<T> &baseline, const GemmKernels<T> &avx2,
                                      const GemmKernels<T> &avx512) {
  if (level == 0)
    return &baseline;
  return level == 1 ? (hasAvx2() ? &avx2 : nullptr) : (hasAvx512() ? &avx512 : nullptr);
}
template <>
const GemmKernels<float> *gemmKernelsAt<float>(int level) {
  return tableFor(level, floatKernelsBaseline, floatKernelsAvx2, floatKernelsAvx512);
}
template <>
const GemmKernels<double> *gemmKernelsAt<double>(int level) {
  return tableFor(level, doubleKernelsBaseline, doubleKernelsAvx2, doubleKernelsAvx512);
}
#else
template <>
const GemmKernels<float> *gemmKernelsAt<float>(int level) {
  return level == 0 ? &floatKernelsBaseline : nullptr;
}
template <>
const GemmKernels<double> *gemmKernelsAt<double>(int level) {
  return level == 0 ? &doubleKernelsBaseline : nullptr;
}
#endif

template <class T>
const GemmKernels<T> &gemmKernels() {
  for (int level = levelLimit; level > 0; --level)
    if (const GemmKernels<T> *kernels = gemmKernelsAt<T>(level))
      return *kernels;
  return *gemmKernelsAt<T>(0);
}
template const GemmKernels<float> &gemmKernels<float>();
template const GemmKernels<double> &gemmKernels<double>();

} // namespace remat::runtime
