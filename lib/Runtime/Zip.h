//===- Zip.h - The archive behind .npz --------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Error.h"

#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <vector>

namespace remat::runtime {

/// A file of an archive, packed as it lies there.
struct ZipMember {
  std::string name;
  uint16_t method = 0; ///< 0: stored, 8: deflated.
  uint32_t crc = 0;
  uint64_t size = 0; ///< Unpacked.
  std::string_view packed;
};

/// The members of an archive in memory, in its directory's order. Error: no archive, cut off, corrupt, encrypted.
Expected<std::vector<ZipMember>> readZip(std::string_view bytes, const std::string &place);

/// The content of a member: a view into `member.packed`, or into `inflated`. Error: an unknown method, corrupt data.
Expected<std::string_view> unpack(const ZipMember &member, std::string &inflated, const std::string &place);

/// Writes an archive of stored members; sizes beyond 4 GiB in the form of zip64.
class ZipWriter {
public:
  explicit ZipWriter(std::ostream &out) : out(out) {}
  /// A member whose content is `head` and `body`.
  void add(const std::string &name, std::string_view head, std::string_view body);
  void finish();

private:
  struct Entry {
    std::string name;
    uint32_t crc;
    uint64_t size, offset;
  };
  void write(std::string_view text);

  std::ostream &out;
  uint64_t written = 0;
  std::vector<Entry> entries;
};

} // namespace remat::runtime
