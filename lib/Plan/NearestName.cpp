//===- NearestName.cpp - What was meant ---------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Policy.h"

#include <algorithm>
#include <numeric>

namespace remat {

/// Levenshtein's distance, one row at a time.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::optional<std::string_view> nearestName(std::string_view text, std::span<const std::string_view> candidates) {
  constexpr size_t longestText = 200; // Keeps the distance cheap on nonsense.
  if (text.size() > longestText)
    return std::nullopt;
  std::optional<std::string_view> nearest;
  size_t least = std::max<size_t>(1, text.size() / 3) + 1;
  for (std::string_view candidate : candidates)
    if (size_t distance = editDistance(text, candidate.substr(0, longestText)); distance < least) {
      least = distance;
      nearest = candidate;
    }
  return nearest;
}

} // namespace remat
