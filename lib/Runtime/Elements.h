//===- Elements.h - Reading and writing elements of any type -----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The narrow floating-point types are widened exactly and narrowed to nearest, ties to even. The 16-bit ones by plain
// integer and float arithmetic, so that every instruction set gives the same bits and loops over them become vectors.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Types.h"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace remat::runtime {

/// Types of storage that C++ 20 has no name for.
struct BFloat16 {
  uint16_t bits;
};
struct Float16 {
  uint16_t bits;
};
struct Float8E5M2 {
  uint8_t bits;
};
struct Float8E4M3FN {
  uint8_t bits;
};

inline float widen(BFloat16 x) { return std::bit_cast<float>(uint32_t(x.bits) << 16); }

inline float widen(Float16 x) {
  // The product rebiases the exponent by 112 and makes subnormals normal.
  uint32_t magnitude = (x.bits & 0x7fffu) << 13, sign = (x.bits & 0x8000u) << 16;
  uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  uint32_t special = magnitude | 0x7f800000u;
  return std::bit_cast<float>(sign | (magnitude >= 0x0f800000u ? special : finite));
}

inline float widen(Float8E5M2 x) { return decodeNarrowFloat(ElementType::F8E5M2, x.bits); }
inline float widen(Float8E4M3FN x) { return decodeNarrowFloat(ElementType::F8E4M3FN, x.bits); }
inline float widen(float x) { return x; }
inline double widen(double x) { return x; }
inline int64_t widen(int64_t x) { return x; }
inline int32_t widen(int32_t x) { return x; }
inline int32_t widen(int16_t x) { return x; }
inline int32_t widen(int8_t x) { return x; }

inline void narrow(float x, BFloat16 &out) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  out.bits = uint16_t((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16) | 0x40u : rounded);
}

inline void narrow(float x, Float16 &out) {
  uint32_t bits = std::bit_cast<uint32_t>(x), magnitude = bits & 0x7fffffffu, sign = (bits >> 16) & 0x8000u;
  // Below 2^-14 the sum with 0.5 shifts the fraction so that the unit of the last place is 2^-24.
  uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1)) >> 13;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? 0x7e00u : result;
  out.bits = uint16_t(sign | result);
}

inline void narrow(float x, Float8E5M2 &out) { out.bits = uint8_t(encodeNarrowFloat(ElementType::F8E5M2, x)); }
inline void narrow(float x, Float8E4M3FN &out) { out.bits = uint8_t(encodeNarrowFloat(ElementType::F8E4M3FN, x)); }
inline void narrow(float x, float &out) { out = x; }
inline void narrow(double x, double &out) { out = x; }
inline void narrow(float x, double &out) { out = x; }
template <class Small>
  requires(!std::is_integral_v<Small>)
void narrow(double x, Small &out) {
  narrow(float(x), out);
}
template <class Wide, class Integer>
  requires std::is_integral_v<Wide> && std::is_integral_v<Integer>
void narrow(Wide x, Integer &out) {
  out = Integer(x);
}

/// Calls `use` with a pointer of the type's storage. I1 isn't a number and isn't among them.
template <class Use>
bool withFloats(ElementType type, const void *data, Use use) {
  switch (type) {
  case ElementType::F64:
    return use(static_cast<const double *>(data)), true;
  case ElementType::F32:
    return use(static_cast<const float *>(data)), true;
  case ElementType::F16:
    return use(static_cast<const Float16 *>(data)), true;
  case ElementType::BF16:
    return use(static_cast<const BFloat16 *>(data)), true;
  case ElementType::F8E5M2:
    return use(static_cast<const Float8E5M2 *>(data)), true;
  case ElementType::F8E4M3FN:
    return use(static_cast<const Float8E4M3FN *>(data)), true;
  default:
    return false;
  }
}
template <class Use>
bool withIntegers(ElementType type, const void *data, Use use) {
  switch (type) {
  case ElementType::I64:
    return use(static_cast<const int64_t *>(data)), true;
  case ElementType::I32:
    return use(static_cast<const int32_t *>(data)), true;
  case ElementType::I16:
    return use(static_cast<const int16_t *>(data)), true;
  case ElementType::I8:
    return use(static_cast<const int8_t *>(data)), true;
  default:
    return false;
  }
}

} // namespace remat::runtime
