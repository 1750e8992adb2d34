//===- SearchRandom.h - Random numbers of the search -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

namespace remat {

/// SplitMix64 (Steele, Lea and Flood, 2014): small, and the same numbers everywhere.
class SearchRandom {
public:
  explicit SearchRandom(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, count).
  uint32_t below(uint32_t count) { return (next() >> 32) * count >> 32; }
  /// In [0, 1).
  double unit() { return (next() >> 11) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }

private:
  uint64_t state;
};

} // namespace remat
