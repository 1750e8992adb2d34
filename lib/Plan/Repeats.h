//===- Repeats.h - Repetitions in a sequence ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace remat {

/// A stretch `[begin, begin + length)` of a sequence in which every element looks like the one `period` places before.
/// `length` is at least twice the period.
struct Repeat {
  size_t begin, length, period;
};

/// Repetitions that don't overlap, those that cover most first; by position. `tokens[i]` says what element i and what
/// follows it up to the next one look like, `heads[i]` the element alone: the last element of a repetition has another
/// follower. Only the periods that the most tokens suggest are tried, so this is near-linear.
std::vector<Repeat> findRepeats(const std::vector<uint64_t> &tokens, const std::vector<uint64_t> &heads);

} // namespace remat
