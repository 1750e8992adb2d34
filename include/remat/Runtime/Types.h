//===- Types.h - What elements are called and worth --------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Program.h"

#include <string_view>

namespace remat::runtime {

/// MLIR's name: `f32`, `f8E4M3FN`, `i1`.
std::string_view spell(ElementType element);
/// `2x3xf32`; `f32` for a scalar.
std::string spell(const TensorType &type);

bool isFloat(ElementType element);
inline bool operator==(const TensorType &a, const TensorType &b) {
  return a.element == b.element && a.shape == b.shape;
}

/// The element of a float type nearest to `value`, ties to even, in the low bits. Overflow gives infinity, and NaN
/// in F8E4M3FN, which has none. Precondition: F16, BF16, F8E5M2 or F8E4M3FN.
uint16_t encodeNarrowFloat(ElementType element, float value);
/// Exact.
float decodeNarrowFloat(ElementType element, uint16_t bits);

/// `count` elements of any type as doubles; an I64 is rounded, integers are signed unless `isUnsigned`.
void toDoubles(ElementType element, bool isUnsigned, const void *data, int64_t count, double *out);
/// `count` floats as elements of any float type, rounded to nearest, ties to even.
void fromFloats(const float *values, int64_t count, ElementType element, void *out);

} // namespace remat::runtime
