//===- Npz.h - numpy's files ------------------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Error.h"
#include "remat/Runtime/Program.h"

#include <iosfwd>
#include <string_view>
#include <vector>

namespace remat::runtime {

/// An array of a file, row-major and dense.
struct NpzArray {
  std::string key; ///< Without `.npy`.
  TensorType type;
  bool isUnsigned = false;
  std::vector<char> data;
};

/// The arrays of the bytes of an .npz file (zip, stored or deflated, zip64 too), in the file's order, or of one .npy
/// file, whose key is empty. Fortran order is made row-major. Types: f2 f4 f8 i1–i8 u1–u8 b1, and two-byte voids, as
/// which numpy stores bf16. `place` names the file in errors: cut off or corrupt, another type, big-endian.
Expected<std::vector<NpzArray>> parseNpz(std::string_view bytes, const std::string &place);

/// Reads the file first. Error also: what the system says of the path.
Expected<std::vector<NpzArray>> readNpz(const std::string &path);

/// An array to write; `data` stays the caller's.
struct NpzEntry {
  std::string key;
  TensorType type;
  bool isUnsigned = false;
  const void *data = nullptr;
};

/// Writes an .npz file that numpy reads: stored, dated 1980; same arrays, same bytes. numpy has no bf16 and f8: these
/// are written as f32. A failure is the stream's.
void writeNpz(std::ostream &out, const std::vector<NpzEntry> &entries);

/// `NNNN_name`: the key of argument or result `index`.
std::string npzKey(size_t index, std::string_view name);

} // namespace remat::runtime
