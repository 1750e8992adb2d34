//===- Random.cpp - Arguments from a seed, checksums of results ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014) as a hash of the element's
// number: elements are independent of each other, so that any of them can be made alone.
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Inputs.h"
#include "remat/Runtime/Types.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

using namespace remat::runtime;

static constexpr uint64_t golden = 0x9E3779B97F4A7C15;

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

namespace {
/// The hashes of the elements of one argument.
struct Hashes {
  uint64_t key;
  Hashes(uint64_t seed, uint32_t argument) : key(mix(seed + golden * (uint64_t(argument) + 1))) {}
  uint64_t operator()(int64_t element) const { return mix(key + golden * (uint64_t(element) + 1)); }
};
} // namespace

/// In [-1, 1), a multiple of 2^-23: exact in f32.
static float unit(uint64_t hash) { return float(int32_t(hash >> 40) - (1 << 23)) * 0x1p-23f; }

RandomRule remat::runtime::defaultRule(ElementType element) {
  return isFloat(element) ? RandomRule{false, 0, 0x1p-5f, 0} : RandomRule{true, 0, 0, 0};
}

void remat::runtime::fillRandom(const TensorType &type, const RandomRule &rule, uint64_t seed, uint32_t argument,
                                void *out) {
  Hashes hashes(seed, argument);
  int64_t width = type.elementBytes(), count = type.elements();
  char *bytes = static_cast<char *>(out);
  constexpr int64_t chunk = 1024;
  float values[chunk];
  for (int64_t begin = 0; begin < count; begin += chunk) {
    int64_t size = std::min(chunk, count - begin);
    for (int64_t i = 0; i < size; ++i) {
      uint64_t hash = hashes(begin + i);
      uint64_t integer = ((hash >> 32) * rule.max) >> 32;
      // A scale that is a power of two makes the product exact, so that fused multiply-add changes nothing.
      values[i] = rule.isInteger ? float(integer) : rule.offset + rule.scale * unit(hash);
      if (!isFloat(type.element))
        std::memcpy(bytes + (begin + i) * width, &integer, size_t(width));
    }
    if (isFloat(type.element))
      fromFloats(values, size, type.element, bytes + begin * width);
  }
}

Checksum remat::runtime::computeChecksum(uint32_t index, const TensorType &type, bool isUnsigned, const void *data,
                                         uint64_t weightSeed) {
  Hashes hashes(weightSeed, index);
  Checksum checksum;
  constexpr int64_t chunk = 1024;
  double values[chunk];
  // Sums of chunks are added apart, so that rounding grows with the number of chunks and not of elements.
  for (int64_t begin = 0, count = type.elements(); begin < count; begin += chunk) {
    int64_t size = std::min(chunk, count - begin);
    toDoubles(type.element, isUnsigned, static_cast<const char *>(data) + begin * type.elementBytes(), size, values);
    Checksum part;
    for (int64_t i = 0; i < size; ++i) {
      part.sum += values[i];
      part.absoluteSum += std::fabs(values[i]);
      part.weightedSum += values[i] * double(unit(hashes(begin + i)));
      // NaN must not be lost in a comparison.
      part.max = std::fabs(values[i]) <= part.max ? part.max : std::fabs(values[i]);
    }
    checksum.sum += part.sum;
    checksum.absoluteSum += part.absoluteSum;
    checksum.weightedSum += part.weightedSum;
    checksum.max = part.max <= checksum.max ? checksum.max : part.max;
  }
  return checksum;
}

static std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

template <typename T>
static bool parseNumber(std::string_view text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

Expected<std::map<uint32_t, RandomRule>> remat::runtime::parseRules(std::string_view table, const std::string &place) {
  std::map<uint32_t, RandomRule> rules;
  std::vector<std::string_view> lines = split(table, '\n'), columns = split(lines[0], '\t');
  auto column = [&](std::string_view name) { return size_t(std::ranges::find(columns, name) - columns.begin()); };
  size_t io = column("io"), index = column("index"), kind = column("rule"), offset = column("offset"),
         scale = column("scale"), max = column("max");
  if (kind == columns.size())
    return rules;
  if (std::max({io, index, offset, scale, max}) == columns.size())
    return Error{"the table's columns are '" + std::string(lines[0]) + "'", place,
                 "expected index, io, rule, offset, scale and max among them"};
  for (size_t i = 1; i < lines.size(); ++i) {
    std::vector<std::string_view> fields = split(lines[i], '\t');
    if (lines[i].empty() || (fields.size() == columns.size() && fields[io] != "in"))
      continue;
    uint32_t argument = 0;
    RandomRule rule;
    bool ok = fields.size() == columns.size() && parseNumber(fields[index], argument) &&
              (fields[kind] == "f" || fields[kind] == "i") && parseNumber(fields[offset], rule.offset) &&
              parseNumber(fields[scale], rule.scale) && parseNumber(fields[max], rule.max);
    if (!ok)
      return Error{"the row can't be read", place + ":" + std::to_string(i + 1)};
    rule.isInteger = fields[kind] == "i";
    rules[argument] = rule;
  }
  return rules;
}
