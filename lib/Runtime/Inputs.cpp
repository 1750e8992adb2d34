//===- Inputs.cpp - Arrays of files as arguments and references ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Inputs.h"
#include "remat/Runtime/Types.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace remat::runtime;

/// The number before the `_` of `NNNN_name`.
static std::optional<size_t> indexOf(std::string_view key) {
  size_t digits = key.find('_');
  if (digits == 0 || digits == key.npos || digits > 9)
    return std::nullopt;
  size_t index = 0;
  for (char c : key.substr(0, digits)) {
    if (c < '0' || c > '9')
      return std::nullopt;
    index = index * 10 + size_t(c - '0');
  }
  return index;
}

static std::string plural(size_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// The arrays in the order of `values`.
static Expected<std::vector<NpzArray>> sortArrays(std::vector<NpzArray> arrays,
                                                  const std::vector<Program::Value> &values, const char *what,
                                                  const std::string &place) {
  std::vector<std::optional<size_t>> indices;
  for (const NpzArray &array : arrays)
    indices.push_back(indexOf(array.key));
  std::vector<const NpzArray *> found(values.size());
  bool byKey = std::ranges::all_of(indices, [](const auto &index) { return index.has_value(); });
  std::string count = plural(values.size(), what);
  for (size_t i = 0; i < arrays.size(); ++i) {
    size_t index = byKey ? *indices[i] : i;
    if (index >= values.size())
      return Error{"the array '" + arrays[i].key + "' is one too many: the program has " + count, place};
    if (found[index])
      return Error{"the arrays '" + found[index]->key + "' and '" + arrays[i].key + "' are both " + what + " " +
                       std::to_string(index),
                   place};
    found[index] = &arrays[i];
  }
  std::vector<NpzArray> sorted;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!found[i])
      return Error{"no array for " + std::string(what) + " " + std::to_string(i) + ": expected '" +
                       npzKey(i, values[i].name) + "' of " + spell(values[i].type),
                   place, "the program has " + count + ", the file " + plural(arrays.size(), "array")};
    sorted.push_back(std::move(arrays[size_t(found[i] - arrays.data())]));
  }
  return sorted;
}

static bool isNarrowFloat(ElementType element) {
  return isFloat(element) && TensorType{element, {}}.elementBytes() < 4;
}

static std::optional<Error> checkArray(const NpzArray &array, const Program::Value &value, const std::string &place) {
  const TensorType &type = value.type;
  bool asFloat = isNarrowFloat(type.element) && array.type.element == ElementType::F32;
  if (array.type.shape == type.shape && (array.type.element == type.element || asFloat))
    return std::nullopt;
  const char *note = "";
  if (array.type.shape == type.shape)
    note = "convert with numpy's astype";
  else if (array.type.elements() == type.elements())
    note = "reshape with numpy's reshape; a scalar's shape is ()";
  return Error{"expected " + spell(type) + " for '" + value.name + "', found " + spell(array.type),
               place + ": '" + array.key + "'", note};
}

Expected<std::vector<std::vector<char>>>
remat::runtime::matchArguments(std::vector<NpzArray> arrays, const Program &program, const std::string &place) {
  Expected<std::vector<NpzArray>> sorted = sortArrays(std::move(arrays), program.arguments, "argument", place);
  if (!sorted)
    return sorted.error();
  std::vector<std::vector<char>> data;
  for (size_t i = 0; i < sorted->size(); ++i) {
    NpzArray &array = (*sorted)[i];
    const TensorType &type = program.arguments[i].type;
    if (auto error = checkArray(array, program.arguments[i], place))
      return std::move(*error);
    if (array.type.element == type.element) {
      data.push_back(std::move(array.data));
    } else {
      data.emplace_back(size_t(type.bytes()));
      fromFloats(reinterpret_cast<const float *>(array.data.data()), type.elements(), type.element, data.back().data());
    }
  }
  return data;
}

Expected<std::vector<NpzArray>> remat::runtime::matchResults(std::vector<NpzArray> arrays, const Program &program,
                                                             const std::string &place) {
  Expected<std::vector<NpzArray>> sorted = sortArrays(std::move(arrays), program.results, "result", place);
  for (size_t i = 0; sorted && i < sorted->size(); ++i)
    if (auto error = checkArray((*sorted)[i], program.results[i], place))
      return std::move(*error);
  return sorted;
}

/// Calls `visit(begin, values, count)` for all elements as doubles, a chunk at a time, until it gives false.
template <typename Visit>
static void forChunks(const TensorType &type, bool isUnsigned, const void *data, Visit visit) {
  constexpr int64_t chunk = 1024;
  double values[chunk];
  for (int64_t begin = 0, count = type.elements(); begin < count; begin += chunk) {
    int64_t size = std::min(chunk, count - begin);
    toDoubles(type.element, isUnsigned, static_cast<const char *>(data) + begin * type.elementBytes(), size, values);
    if (!visit(begin, values, size))
      return;
  }
}

double remat::runtime::relativeError(const TensorType &type, bool isUnsigned, const void *data,
                                     const NpzArray &reference) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double largest = 0, difference = 0;
  std::vector<double> expected(1024);
  forChunks(type, isUnsigned, data, [&](int64_t begin, const double *values, int64_t count) {
    toDoubles(reference.type.element, reference.isUnsigned,
              reference.data.data() + begin * reference.type.elementBytes(), count, expected.data());
    for (int64_t i = 0; i < count; ++i) {
      double magnitude = std::fabs(expected[size_t(i)]);
      if (std::isfinite(magnitude))
        largest = std::max(largest, magnitude);
      bool bothNaN = std::isnan(values[i]) && std::isnan(expected[size_t(i)]);
      if (values[i] == expected[size_t(i)] || bothNaN)
        continue;
      double distance = std::fabs(values[i] - expected[size_t(i)]);
      difference = std::max(difference, std::isfinite(distance) ? distance : infinite);
    }
    return true;
  });
  return largest > 0 ? difference / largest : difference;
}

std::optional<int64_t> remat::runtime::findNonFinite(const TensorType &type, const void *data) {
  std::optional<int64_t> found;
  if (isFloat(type.element))
    forChunks(type, false, data, [&](int64_t begin, const double *values, int64_t count) {
      const double *bad = std::find_if(values, values + count, [](double value) { return !std::isfinite(value); });
      if (bad != values + count)
        found = begin + (bad - values);
      return !found;
    });
  return found;
}
