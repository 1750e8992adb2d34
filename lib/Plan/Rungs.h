//===- Rungs.h - The limits that searches look at ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

namespace remat {

/// Fixed limits, whatever limit is asked for: per cents of the peak of the program order, rung 0 being the peak.
class Rungs {
public:
  static constexpr int count = 100;

  explicit Rungs(int64_t givenPeak) : givenPeak(givenPeak) {}

  /// Rounded up, as the limit of a share is.
  int64_t operator[](int number) const {
    int64_t share = count - number;
    return givenPeak / count * share + (givenPeak % count * share + count - 1) / count;
  }
  /// The number of the highest rung within the limit, at most `count`.
  int within(int64_t limitBytes) const {
    int number = 0;
    while (number < count && (*this)[number] > limitBytes)
      ++number;
    return number;
  }

private:
  int64_t givenPeak;
};

} // namespace remat
