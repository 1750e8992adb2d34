//===- BufferCsv.h - Buffers as comma-separated values -----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Arena.h"

#include <ostream>
#include <string>
#include <string_view>

namespace remat {

/// Buffers in the order of a file.
struct BufferTable {
  std::vector<std::string> ids;
  std::vector<ArenaBuffer> buffers;
};

/// Reads minimalloc's format: a header with id, lower, upper, size and perhaps offset, in any order, then a buffer a
/// line. Offsets are not read. Error: a column that is missing, unknown or there twice; a line with too many or too few
/// fields, a number that is none or negative, lower > upper, an id that is there twice or empty, sizes whose sum is
/// beyond 2^63-1. `place` is the line.
Expected<BufferTable> readBuffers(std::string_view text);

/// Writes the table with offsets, by buffer.
void writeBuffers(std::ostream &out, const BufferTable &table, std::span<const int64_t> offsets);

} // namespace remat
