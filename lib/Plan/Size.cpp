//===- Size.cpp - Bytes from text ---------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "remat/Plan/Policy.h"

#include <array>
#include <cctype>
#include <limits>

namespace remat {

namespace {

struct Unit {
  std::string_view name;
  int64_t bytes;
};

} // namespace

static constexpr std::array<Unit, 11> units = {{{"", 1},
                                                {"B", 1},
                                                {"kB", 1'000},
                                                {"KB", 1'000},
                                                {"MB", 1'000'000},
                                                {"GB", 1'000'000'000},
                                                {"TB", 1'000'000'000'000},
                                                {"KiB", int64_t(1) << 10},
                                                {"MiB", int64_t(1) << 20},
                                                {"GiB", int64_t(1) << 30},
                                                {"TiB", int64_t(1) << 40}}};

static Error badSize(std::string_view text, std::string_view what) {
  return makeError(formatText("bad size '{}': {}", text, what), {},
                   "write bytes such as 512, or a unit: kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (of 1024)");
}

/// Exact: the digits are read as an integer and a power of ten, and a fraction of a byte counts as a whole one.
Expected<int64_t> parseSize(std::string_view text) {
  using Wide = unsigned __int128;
  constexpr Wide limit = std::numeric_limits<int64_t>::max();
  Wide digits = 0, scale = 1;
  size_t i = 0, digitCount = 0;
  bool fraction = false;
  if (text.starts_with('-'))
    return badSize(text, "it is negative");
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (!std::isdigit(static_cast<unsigned char>(text[i])))
      break;
    ++digitCount;
    if (fraction && scale >= 1'000'000'000'000)
      continue; // Below a byte in every unit.
    digits = digits * 10 + (text[i] - '0');
    scale *= fraction ? 10 : 1;
    if (digits / scale > limit)
      return badSize(text, "it is beyond 2^63-1 bytes");
  }
  if (digitCount == 0)
    return badSize(text, "it does not begin with a number");
  for (const Unit &unit : units)
    if (unit.name == text.substr(i)) {
      Wide bytes = (digits * Wide(unit.bytes) + scale - 1) / scale;
      if (bytes > limit)
        return badSize(text, "it is beyond 2^63-1 bytes");
      return int64_t(bytes);
    }
  return badSize(text, formatText("unknown unit '{}'", text.substr(i)));
}

} // namespace remat
