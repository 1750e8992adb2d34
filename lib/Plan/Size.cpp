//===- Size.cpp - Bytes from text ---------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Size.h"

#include "Text.h"
#include "remat/Plan/Policy.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

namespace remat {

namespace {

struct Unit {
  std::string_view name;
  int64_t bytes;
};

using Wide = unsigned __int128;
constexpr Wide mostBytes = std::numeric_limits<int64_t>::max();

/// What a text begins with, exactly: the integer `digits` divided by `scale`, a power of ten.
struct Decimal {
  Wide digits = 0, scale = 1;
  size_t length = 0; ///< Of what was read.
  bool hasDigits = false, isTooLarge = false;
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

static Decimal readDecimal(std::string_view text) {
  Decimal number;
  bool inFraction = false;
  for (; number.length < text.size() && !number.isTooLarge; ++number.length) {
    char c = text[number.length];
    if (c == '.' && !inFraction) {
      inFraction = true;
      continue;
    }
    if (!std::isdigit(static_cast<unsigned char>(c)))
      break;
    number.hasDigits = true;
    if (inFraction && number.scale >= 1'000'000'000'000'000)
      continue; // Below a byte in every unit.
    number.digits = number.digits * 10 + (c - '0');
    number.scale *= inFraction ? 10 : 1;
    number.isTooLarge = number.digits / number.scale > mostBytes;
  }
  return number;
}

/// Rounded down: what is at most so many bytes and a part of one is at most so many.
Expected<int64_t> parseSize(std::string_view text) {
  if (text.starts_with('-'))
    return badSize(text, "it is negative");
  Decimal number = readDecimal(text);
  if (!number.hasDigits)
    return badSize(text, "it does not begin with a number");
  std::string_view name = text.substr(number.length);
  auto unit = std::ranges::find(units, name, &Unit::name);
  if (unit == units.end() && !number.isTooLarge)
    return badSize(text, formatText("unknown unit '{}'", name));
  Wide scaled = 0;
  if (number.isTooLarge || __builtin_mul_overflow(number.digits, Wide(unit->bytes), &scaled) ||
      scaled / number.scale > mostBytes)
    return badSize(text, "it is beyond 2^63-1 bytes");
  if (unit->bytes == 1 && scaled % number.scale != 0)
    return badSize(text, "it is no whole number of bytes");
  return int64_t(scaled / number.scale);
}

std::optional<int64_t> parseShare(std::string_view text, int64_t ofBytes) {
  Decimal number = readDecimal(text);
  if (text.substr(number.length) != "%" || number.digits == 0 || number.digits > 1000 * number.scale)
    return std::nullopt;
  Wide whole = 100 * number.scale;
  return int64_t(std::min(mostBytes, (Wide(ofBytes) * number.digits + whole - 1) / whole));
}

} // namespace remat
