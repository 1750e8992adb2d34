//===- Zip.cpp - The archive behind .npz -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// PKWARE's APPNOTE.TXT, 4.3: members, a directory of them, and a record at the end that says where the directory lies.
//
//===----------------------------------------------------------------------===//

#include "Zip.h"

#include <limits>
#include <ostream>
#include <zlib.h>

using namespace remat::runtime;

namespace {

constexpr uint32_t localSignature = 0x04034b50, directorySignature = 0x02014b50, endSignature = 0x06054b50,
                   end64Signature = 0x06064b50, locator64Signature = 0x07064b50;
constexpr uint32_t in64 = 0xFFFFFFFF; ///< The value stands in a zip64 record.
constexpr size_t endSize = 22, locatorSize = 20;

/// Reads little-endian numbers; beyond the end they are 0 and `ok` is false.
struct Reader {
  std::string_view bytes;
  uint64_t at = 0;
  bool ok = true;

  uint64_t number(size_t width) {
    uint64_t value = 0;
    std::string_view text = take(width);
    for (size_t i = 0; i < text.size(); ++i)
      value |= uint64_t(static_cast<unsigned char>(text[i])) << (8 * i);
    return value;
  }
  std::string_view take(uint64_t size) {
    if (at > bytes.size() || bytes.size() - at < size) {
      ok = false;
      return {};
    }
    at += size;
    return bytes.substr(at - size, size);
  }
  void skip(uint64_t size) { take(size); }
};

struct Directory {
  uint64_t entries = 0, offset = 0;
};

std::optional<Directory> findDirectory(std::string_view bytes) {
  if (bytes.size() < endSize)
    return std::nullopt;
  // A comment of up to 64 KiB may follow the record.
  size_t last = bytes.size() - endSize, first = last > 0xFFFF ? last - 0xFFFF : 0;
  for (size_t at = last + 1; at-- > first;) {
    Reader end{bytes, at};
    if (end.number(4) != endSignature)
      continue;
    end.skip(6);
    Directory directory;
    directory.entries = end.number(2);
    end.skip(4);
    directory.offset = end.number(4);
    if (end.number(2) != bytes.size() - at - endSize)
      continue;
    if (Reader locator{bytes, at - locatorSize}; at >= locatorSize && locator.number(4) == locator64Signature) {
      locator.skip(4);
      Reader end64{bytes, locator.number(8)};
      if (end64.number(4) != end64Signature)
        return std::nullopt;
      end64.skip(28);
      directory.entries = end64.number(8);
      end64.skip(8);
      directory.offset = end64.number(8);
      if (!end64.ok)
        return std::nullopt;
    }
    return directory;
  }
  return std::nullopt;
}

/// Takes the values that are `in64` from the zip64 field of a member's extra fields, in their order.
void read64(std::string_view extra, std::initializer_list<uint64_t *> values) {
  Reader fields{extra};
  while (fields.at < extra.size() && fields.ok) {
    uint64_t kind = fields.number(2);
    Reader field{fields.take(fields.number(2))};
    for (uint64_t *value : values)
      if (kind == 1 && *value == in64)
        *value = field.number(8);
  }
}

/// The member that the directory describes at `directory`, and its packed bytes behind its own header.
std::optional<ZipMember> readMember(std::string_view bytes, Reader &directory, bool &encrypted) {
  if (directory.number(4) != directorySignature)
    return std::nullopt;
  directory.skip(4);
  encrypted = directory.number(2) & 1;
  ZipMember member;
  member.method = uint16_t(directory.number(2));
  directory.skip(4);
  member.crc = uint32_t(directory.number(4));
  uint64_t packedSize = directory.number(4);
  member.size = directory.number(4);
  uint64_t nameSize = directory.number(2), extraSize = directory.number(2), commentSize = directory.number(2);
  directory.skip(8);
  uint64_t offset = directory.number(4);
  member.name = directory.take(nameSize);
  read64(directory.take(extraSize), {&member.size, &packedSize, &offset});
  directory.skip(commentSize);
  Reader local{bytes, offset};
  if (local.number(4) != localSignature)
    return std::nullopt;
  local.skip(22);
  uint64_t localNameSize = local.number(2), localExtraSize = local.number(2);
  local.skip(localNameSize + localExtraSize);
  member.packed = local.take(packedSize);
  if (!directory.ok || !local.ok)
    return std::nullopt;
  return member;
}

std::string little(uint64_t value, size_t width) {
  std::string text;
  for (size_t i = 0; i < width; ++i)
    text += char(value >> (8 * i) & 0xFF);
  return text;
}

/// zlib begins anew where the text has no address.
uint32_t checksum(uint32_t crc, std::string_view text) {
  return text.empty() ? crc : uint32_t(crc32_z(crc, reinterpret_cast<const Bytef *>(text.data()), text.size()));
}

} // namespace

Expected<std::vector<ZipMember>> remat::runtime::readZip(std::string_view bytes, const std::string &place) {
  Error corrupt{"the archive is cut off or corrupt", place, "write the file again"};
  if (!bytes.starts_with(little(localSignature, 4)) && !bytes.starts_with(little(endSignature, 4)))
    return Error{bytes.empty() ? "the file is empty" : "no archive of numpy's", place,
                 "expected an .npz file: numpy.savez writes them"};
  auto directory = findDirectory(bytes);
  if (!directory)
    return corrupt;
  Reader reader{bytes, directory->offset};
  std::vector<ZipMember> members;
  for (uint64_t i = 0; i < directory->entries; ++i) {
    bool encrypted = false;
    auto member = readMember(bytes, reader, encrypted);
    if (!member)
      return corrupt;
    if (encrypted)
      return Error{"the archive's '" + member->name + "' is encrypted", place};
    members.push_back(std::move(*member));
  }
  return members;
}

Expected<std::string_view> remat::runtime::unpack(const ZipMember &member, std::string &inflated,
                                                  const std::string &place) {
  Error corrupt{"the packed data is corrupt", place, "write the file again"};
  std::string_view content = member.packed;
  if (member.method == 8) {
    // Deflate packs 1032 to 1 at best: more is a lie that must not make us take memory for it.
    if (member.size / 1100 > member.packed.size())
      return corrupt;
    inflated.resize(member.size);
    z_stream stream = {};
    // A window of 15 bits, negative: without zlib's own header.
    if (inflateInit2(&stream, -15) != Z_OK)
      return Error{"zlib can't start", place};
    constexpr size_t chunk = size_t(1) << 30; // zlib counts in 32 bits.
    size_t taken = 0, made = 0;
    int state = Z_OK;
    while (state == Z_OK) {
      stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(member.packed.data() + taken));
      stream.avail_in = uInt(std::min(chunk, member.packed.size() - taken));
      stream.next_out = reinterpret_cast<Bytef *>(inflated.data() + made);
      stream.avail_out = uInt(std::min(chunk, inflated.size() - made));
      uInt in = stream.avail_in, out = stream.avail_out;
      state = inflate(&stream, Z_NO_FLUSH);
      taken += in - stream.avail_in;
      made += out - stream.avail_out;
    }
    inflateEnd(&stream);
    if (state != Z_STREAM_END || made != member.size)
      return corrupt;
    content = inflated;
  } else if (member.method != 0) {
    return Error{"packed by method " + std::to_string(member.method), place, "expected stored or deflated"};
  }
  if (content.size() != member.size || checksum(0, content) != member.crc)
    return corrupt;
  return content;
}

void ZipWriter::write(std::string_view text) {
  out.write(text.data(), std::streamsize(text.size()));
  written += text.size();
}

// Version, flags, method 0, and the date 1 January 1980.
static std::string commonFields(bool large) {
  return little(large ? 45 : 20, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0x21, 2);
}

void ZipWriter::add(const std::string &name, std::string_view head, std::string_view body) {
  Entry entry{name, checksum(checksum(0, head), body), head.size() + body.size(), written};
  bool large = entry.size >= in64;
  std::string sizes = little(large ? in64 : entry.size, 4) + little(large ? in64 : entry.size, 4);
  std::string extra = large ? little(1, 2) + little(16, 2) + little(entry.size, 8) + little(entry.size, 8) : "";
  write(little(localSignature, 4) + commonFields(large) + little(entry.crc, 4) + sizes + little(name.size(), 2) +
        little(extra.size(), 2) + name + extra);
  write(head);
  write(body);
  entries.push_back(std::move(entry));
}

void ZipWriter::finish() {
  uint64_t begin = written;
  for (const Entry &entry : entries) {
    bool largeSize = entry.size >= in64, largeOffset = entry.offset >= in64;
    std::string extra;
    if (largeSize)
      extra += little(entry.size, 8) + little(entry.size, 8);
    if (largeOffset)
      extra += little(entry.offset, 8);
    if (!extra.empty())
      extra = little(1, 2) + little(extra.size(), 2) + extra;
    std::string sizes = little(largeSize ? in64 : entry.size, 4) + little(largeSize ? in64 : entry.size, 4);
    write(little(directorySignature, 4) + little(extra.empty() ? 20 : 45, 2) + commonFields(!extra.empty()) +
          little(entry.crc, 4) + sizes + little(entry.name.size(), 2) + little(extra.size(), 2) + little(0, 2 + 2 + 2) +
          little(0, 4) + little(largeOffset ? in64 : entry.offset, 4) + entry.name + extra);
  }
  uint64_t size = written - begin, count = entries.size();
  if (count >= 0xFFFF || begin >= in64 || size >= in64) {
    uint64_t end64 = written;
    write(little(end64Signature, 4) + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 4) + little(0, 4) +
          little(count, 8) + little(count, 8) + little(size, 8) + little(begin, 8));
    write(little(locator64Signature, 4) + little(0, 4) + little(end64, 8) + little(1, 4));
  }
  uint64_t shortCount = std::min<uint64_t>(count, 0xFFFF);
  write(little(endSignature, 4) + little(0, 4) + little(shortCount, 2) + little(shortCount, 2) +
        little(std::min<uint64_t>(size, in64), 4) + little(std::min<uint64_t>(begin, in64), 4) + little(0, 2));
}
