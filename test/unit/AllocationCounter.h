//===- AllocationCounter.h - Counts calls of malloc -------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>

/// Allocations of the whole process, the libraries and their threads included, since it started. 0 where a sanitizer
/// has malloc for itself.
size_t allocationCount();
