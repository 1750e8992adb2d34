//===- Memory.h - The arena's memory and the process's ----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Error.h"

#include <cstdint>

namespace remat::runtime {

/// Zeroed pages of the system, aligned to a page at least. They go back to it when the object ends.
class Pages {
public:
  Pages() = default;
  Pages(Pages &&other) noexcept : address(std::exchange(other.address, nullptr)), size(std::exchange(other.size, 0)) {}
  Pages &operator=(Pages &&other) noexcept {
    std::swap(address, other.address);
    std::swap(size, other.size);
    return *this;
  }
  ~Pages();

  /// `purpose` is for the error: the system has less than `bytes`, or `limitBytes` (0: none) allows less.
  static Expected<Pages> allocate(int64_t bytes, int64_t limitBytes, const char *purpose);

  char *data() const { return address; }
  int64_t bytes() const { return size; }

private:
  char *address = nullptr;
  int64_t size = 0;
};

/// What the system says of an `errno`, in the form of errors: lower case.
std::string systemText(int code);

/// What the system says of this process; 0 where it says nothing.
struct ProcessMemory {
  int64_t residentBytes = 0;     ///< VmRSS.
  int64_t peakResidentBytes = 0; ///< VmHWM.
};

/// Allocates nothing.
ProcessMemory readProcessMemory();

/// Makes the peak start from now. False where the system doesn't allow it.
bool resetPeakMemory();

} // namespace remat::runtime
