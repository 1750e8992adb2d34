//===- Processor.cpp - What this processor can do --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Processor.h"

#include <algorithm>

namespace remat::runtime {

#ifdef __x86_64__
/// The names of the compiler's builtin are LLVM's; it wants them as literals. It knows whether the system saves the
/// registers, too.
#define REMAT_FEATURES(HAS)                                                                                            \
  HAS("sse3")                                                                                                          \
  HAS("ssse3")                                                                                                         \
  HAS("sse4.1")                                                                                                        \
  HAS("sse4.2")                                                                                                        \
  HAS("popcnt")                                                                                                        \
  HAS("avx")                                                                                                           \
  HAS("avx2")                                                                                                          \
  HAS("fma")                                                                                                           \
  HAS("f16c")                                                                                                          \
  HAS("bmi")                                                                                                           \
  HAS("bmi2")                                                                                                          \
  HAS("lzcnt")                                                                                                         \
  HAS("movbe")                                                                                                         \
  HAS("gfni")                                                                                                          \
  HAS("avxvnni")                                                                                                       \
  HAS("avx512f")                                                                                                       \
  HAS("avx512cd")                                                                                                      \
  HAS("avx512dq")                                                                                                      \
  HAS("avx512bw")                                                                                                      \
  HAS("avx512vl")                                                                                                      \
  HAS("avx512vbmi")                                                                                                    \
  HAS("avx512vbmi2")                                                                                                   \
  HAS("avx512vnni")                                                                                                    \
  HAS("avx512bitalg")                                                                                                  \
  HAS("avx512ifma")                                                                                                    \
  HAS("avx512vpopcntdq")                                                                                               \
  HAS("avx512bf16")                                                                                                    \
  HAS("avx512fp16")

std::vector<std::string> processorFeatures() {
  std::vector<std::string> features;
#define REMAT_HAS(NAME)                                                                                                \
  if (__builtin_cpu_supports(NAME))                                                                                    \
    features.push_back(NAME);
  REMAT_FEATURES(REMAT_HAS)
#undef REMAT_HAS
  return features;
}
#else
// Kernels take the architecture's baseline.
std::vector<std::string> processorFeatures() { return {}; }
#endif

std::string_view findMissingFeature(std::span<const std::string> needed) {
  std::vector<std::string> features = processorFeatures();
  auto missing = std::ranges::find_if(
      needed, [&](const std::string &name) { return std::ranges::find(features, name) == features.end(); });
  return missing == needed.end() ? std::string_view() : std::string_view(*missing);
}

} // namespace remat::runtime
