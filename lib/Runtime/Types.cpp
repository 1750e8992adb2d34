//===- Types.cpp - What elements are called and worth ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Types.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace remat::runtime {

int64_t TensorType::elementBytes() const {
  switch (element) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16:
    return 2;
  default:
    return 1;
  }
}

int64_t TensorType::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string_view spell(ElementType element) {
  constexpr std::string_view names[] = {"f64", "f32", "f16", "bf16", "f8E5M2", "f8E4M3FN",
                                        "i64", "i32", "i16", "i8",   "i1"};
  return names[size_t(element)];
}

std::string spell(const TensorType &type) {
  std::string text;
  for (int64_t size : type.shape)
    text += std::to_string(size) + "x";
  return text.append(spell(type.element));
}

bool isFloat(ElementType element) { return element <= ElementType::F8E4M3FN; }

namespace {

/// A float format of at most 16 bits. `finiteOnly`: the only special value is NaN, all ones.
struct Format {
  int exponentBits, mantissaBits;
  bool finiteOnly;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int sign() const { return 1 << (exponentBits + mantissaBits); }
  int infinity() const { return ((1 << exponentBits) - 1) << mantissaBits; }
  int nan() const { return finiteOnly ? sign() - 1 : infinity() | 1 << (mantissaBits - 1); }
};

Format formatOf(ElementType element) {
  switch (element) {
  case ElementType::F16:
    return {5, 10, false};
  case ElementType::BF16:
    return {8, 7, false};
  case ElementType::F8E5M2:
    return {5, 2, false};
  default:
    return {4, 3, true};
  }
}

template <typename T>
void widen(const void *data, int64_t count, double *out) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, static_cast<const char *>(data) + i * int64_t(sizeof(T)), sizeof(T));
    out[i] = double(value);
  }
}

template <typename Signed, typename Unsigned>
void widenInteger(bool isUnsigned, const void *data, int64_t count, double *out) {
  isUnsigned ? widen<Unsigned>(data, count, out) : widen<Signed>(data, count, out);
}

} // namespace

uint16_t encodeNarrowFloat(ElementType element, float value) {
  Format format = formatOf(element);
  int sign = std::signbit(value) ? format.sign() : 0;
  if (std::isnan(value))
    return uint16_t(sign | format.nan());
  int last = format.finiteOnly ? format.nan() - 1 : format.infinity();
  int beyond = format.finiteOnly ? format.nan() : format.infinity();
  double magnitude = std::fabs(double(value));
  if (std::isinf(value))
    return uint16_t(sign | beyond);
  if (magnitude == 0)
    return uint16_t(sign);
  int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  // Both the scaling and the rounding of a double are exact here. A carry out of the mantissa raises the exponent.
  int mantissa = int(std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent)));
  int64_t code = (int64_t(exponent + format.bias() - 1) << format.mantissaBits) + mantissa;
  return uint16_t(sign | int(code > last ? beyond : code));
}

float decodeNarrowFloat(ElementType element, uint16_t bits) {
  Format format = formatOf(element);
  int magnitude = bits & (format.sign() - 1);
  float sign = bits & format.sign() ? -1.0f : 1.0f;
  if (format.finiteOnly ? magnitude == format.nan() : magnitude > format.infinity())
    return std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
  if (!format.finiteOnly && magnitude == format.infinity())
    return sign * std::numeric_limits<float>::infinity();
  int exponent = magnitude >> format.mantissaBits;
  int mantissa = magnitude & ((1 << format.mantissaBits) - 1);
  if (exponent)
    mantissa |= 1 << format.mantissaBits;
  return sign * std::ldexp(float(mantissa), std::max(exponent, 1) - format.bias() - format.mantissaBits);
}

void toDoubles(ElementType element, bool isUnsigned, const void *data, int64_t count, double *out) {
  switch (element) {
  case ElementType::F64:
    return widen<double>(data, count, out);
  case ElementType::F32:
    return widen<float>(data, count, out);
  case ElementType::F16:
  case ElementType::BF16:
    for (int64_t i = 0; i < count; ++i) {
      uint16_t bits;
      std::memcpy(&bits, static_cast<const char *>(data) + 2 * i, 2);
      out[i] = decodeNarrowFloat(element, bits);
    }
    return;
  case ElementType::F8E5M2:
  case ElementType::F8E4M3FN:
    for (int64_t i = 0; i < count; ++i)
      out[i] = decodeNarrowFloat(element, static_cast<const uint8_t *>(data)[i]);
    return;
  case ElementType::I64:
    return widenInteger<int64_t, uint64_t>(isUnsigned, data, count, out);
  case ElementType::I32:
    return widenInteger<int32_t, uint32_t>(isUnsigned, data, count, out);
  case ElementType::I16:
    return widenInteger<int16_t, uint16_t>(isUnsigned, data, count, out);
  case ElementType::I8:
    return widenInteger<int8_t, uint8_t>(isUnsigned, data, count, out);
  case ElementType::I1:
    return widen<uint8_t>(data, count, out);
  }
}

void fromFloats(const float *values, int64_t count, ElementType element, void *out) {
  char *bytes = static_cast<char *>(out);
  int64_t width = TensorType{element, {}}.elementBytes();
  for (int64_t i = 0; i < count; ++i) {
    double wide = values[i];
    uint16_t narrow = width < 4 ? encodeNarrowFloat(element, values[i]) : 0;
    const void *from = &narrow;
    if (width >= 4)
      from = width == 8 ? static_cast<const void *>(&wide) : values + i;
    // The low byte of a one-byte float comes first: hosts are little-endian.
    std::memcpy(bytes + i * width, from, size_t(width));
  }
}

} // namespace remat::runtime
