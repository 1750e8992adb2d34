//===- Call.h - Calls of libraries on a stream -------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "CallLimits.h"
#include "Driver.h"

#include <array>
#include <memory>

namespace remat::runtime {

/// A dot or convolution whose algorithm is chosen. Used by one thread at a time.
class CudaCall {
public:
  virtual ~CudaCall() = default;
  /// Enqueues the call; takes no memory of the device. `buffers` are the operands and the result, `workspace` has the
  /// bytes of the limits.
  virtual std::optional<Error> enqueue(const std::array<CUdeviceptr, 3> &buffers, CUdeviceptr workspace,
                                       CUstream stream) = 0;
};

} // namespace remat::runtime
