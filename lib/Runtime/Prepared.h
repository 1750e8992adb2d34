//===- Prepared.h - Steps that are ready to run -----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Executable.h"
#include "remat/Runtime/Library.h"

namespace remat::runtime {

/// A step with its addresses, its code and its share of the threads. A run resolves nothing more.
struct PreparedStep {
  const Step *step = nullptr;
  KernelFunction kernel = nullptr;
  LibraryCall *call = nullptr;
  void **buffers = nullptr;
  int parts = 1; ///< Threads that a kernel is worth.
  std::vector<std::vector<PreparedStep>> bodies;
};

/// An address that each run takes from its arguments.
struct ArgumentAddress {
  void **buffer;
  uint32_t argument;
  int64_t offset;
};

} // namespace remat::runtime
