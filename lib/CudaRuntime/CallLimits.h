//===- CallLimits.h - What an algorithm may rely on -----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <array>
#include <cstdint>

namespace remat::runtime {

/// What an algorithm may rely on. The same for all steps of equal dots or convolutions, so that a value that is
/// computed again equals the original bit for bit.
struct CallLimits {
  int64_t workspaceBytes = 0;
  std::array<int64_t, 3> alignment = {16, 16, 16}; ///< Bytes; of the operands and the result.
  bool allowTf32 = false;

  bool operator==(const CallLimits &) const = default;
};

/// The largest power of two up to 16 that divides both.
inline int64_t commonAlignment(int64_t alignment, int64_t bytes) {
  while (alignment > 1 && bytes % alignment != 0)
    alignment /= 2;
  return alignment;
}

} // namespace remat::runtime
