//===- Random.h - Random numbers of planners and generators ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

namespace remat {

/// SplitMix64 (Steele, Lea and Flood, 2014). Not std::mt19937 with std:: distributions: those give other numbers in
/// other libraries.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, count), without a division.
  uint32_t below(uint32_t count) { return (next() >> 32) * count >> 32; }
  /// In [0, count); the bias of the remainder is below 2^-32 for counts below 2^32.
  uint64_t remainder(uint64_t count) { return next() % count; }
  /// In [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }

private:
  uint64_t state;
};

} // namespace remat
