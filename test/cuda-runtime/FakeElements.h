//===- FakeElements.h - Elements of fake device memory -----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Types.h"

#include <cstring>
#include <library_types.h>

namespace fakecuda {

using remat::runtime::ElementType;

inline ElementType elementOf(cudaDataType_t type) {
  return type == CUDA_R_64F    ? ElementType::F64
         : type == CUDA_R_16F  ? ElementType::F16
         : type == CUDA_R_16BF ? ElementType::BF16
                               : ElementType::F32;
}

inline double readElement(ElementType element, uint64_t data, int64_t index) {
  int64_t bytes = remat::runtime::TensorType{element, {}}.elementBytes();
  double value = 0;
  remat::runtime::toDoubles(element, false, reinterpret_cast<const void *>(data + uint64_t(index * bytes)), 1, &value);
  return value;
}

inline void writeElement(ElementType element, uint64_t data, int64_t index, double value) {
  int64_t bytes = remat::runtime::TensorType{element, {}}.elementBytes();
  void *place = reinterpret_cast<void *>(data + uint64_t(index * bytes));
  float narrow = float(value);
  if (element == ElementType::F64)
    std::memcpy(place, &value, sizeof(value));
  else
    remat::runtime::fromFloats(&narrow, 1, element, place);
}

} // namespace fakecuda
