//===- Arena.h - Buffers with lifetimes in one arena -------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace remat {

/// A buffer that holds its bytes for the steps [begin, end). With no bytes, or with begin = end, it takes no place.
struct ArenaBuffer {
  int64_t begin = 0, end = 0;
  int64_t bytes = 0;
};

struct ArenaOptions {
  /// Every offset is a multiple of it, and every size counts rounded up to it.
  int64_t alignment = 64;
  /// The most bytes the arena may have. Without it the arena is made as small as the effort allows.
  std::optional<int64_t> capacity = std::nullopt;
  /// Nothing is gained below so many bytes.
  int64_t enoughBytes = 0;
  /// How long to search where the greedy packings are too large; 100 million are one or two seconds.
  int64_t effort = 100'000'000;
  uint64_t seed = 1;
};

struct ArenaPlan {
  std::vector<int64_t> offsets; ///< By buffer; 0 for one that takes no place.
  int64_t bytes = 0;            ///< The size of the arena, a multiple of the alignment.
  int64_t livePeakBytes = 0;    ///< The largest sum of rounded sizes alive in one step: no arena is smaller.
  /// No arena is smaller than `bytes`: it is the live peak, or the search for anything smaller was exhaustive.
  bool provenOptimal = false;
};

/// Gives each buffer an offset such that no two that are alive in the same step share a byte. Greedy packings first,
/// then, where they are above the live peak (or the capacity), a complete search for `effort`. The result depends on
/// the arguments alone. Near-linear time for the greedy part; the search is for parts of a few thousand buffers. Error:
/// a buffer with begin > end or negative bytes (`place` is `buffer 3`), sums beyond 2^63-1, an alignment below 1; a
/// capacity that is below the live peak, that is proven too small, or within which nothing was found.
Expected<ArenaPlan> packArena(std::span<const ArenaBuffer> buffers, const ArenaOptions &options = {});

/// Judges offsets, however they were made. Error: two buffers that are alive together and share bytes, an offset that
/// is negative or not aligned, a buffer that ends above the capacity; `place` is `buffer 3`.
std::optional<Error> verifyArena(std::span<const ArenaBuffer> buffers, std::span<const int64_t> offsets,
                                 int64_t alignment = 1, std::optional<int64_t> capacity = std::nullopt);

} // namespace remat
