//===- Describe.h - Arguments and results for C ------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat-c/Remat.h"
#include "remat/Runtime/Program.h"

namespace remat::runtime {

/// Fills in what C programs are told of a value; -1 where there is no such value.
inline int describe(const std::vector<Program::Value> &values, size_t index, remat_tensor *tensor) {
  if (index >= values.size())
    return -1;
  const Program::Value &value = values[index];
  *tensor = {value.name.c_str(),      remat_element(value.type.element), value.isUnsigned,
             value.type.shape.size(), value.type.shape.data(),           value.type.bytes()};
  return 0;
}

} // namespace remat::runtime
