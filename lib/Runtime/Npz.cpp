//===- Npz.cpp - numpy's arrays --------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Npz.h"
#include "Zip.h"
#include "remat/Runtime/Memory.h"
#include "remat/Runtime/Types.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <ostream>

using namespace remat::runtime;

namespace {

constexpr std::string_view npyMagic("\x93NUMPY", 6);

struct ElementName {
  std::string_view name; ///< Without the byte order.
  ElementType element;
  bool isUnsigned = false;
};
constexpr ElementName elementNames[] = {
    {"f8", ElementType::F64},       {"f4", ElementType::F32},       {"f2", ElementType::F16},
    {"i8", ElementType::I64},       {"i4", ElementType::I32},       {"i2", ElementType::I16},
    {"i1", ElementType::I8},        {"u8", ElementType::I64, true}, {"b1", ElementType::I1},
    {"u4", ElementType::I32, true}, {"u2", ElementType::I16, true}, {"u1", ElementType::I8, true},
    {"V2", ElementType::BF16},
};

struct Header {
  std::string_view descr, shape;
  bool fortranOrder = false;
};

/// The text behind `'key':` in the header, which is a Python dictionary.
std::optional<std::string_view> valueOf(std::string_view header, std::string_view key) {
  size_t found = header.find("'" + std::string(key) + "'");
  if (found == header.npos)
    return std::nullopt;
  header.remove_prefix(found + key.size() + 2);
  size_t begin = header.find_first_not_of(" :");
  if (begin == header.npos)
    return std::nullopt;
  return header.substr(begin);
}

std::optional<Header> parseHeader(std::string_view text) {
  auto descr = valueOf(text, "descr"), order = valueOf(text, "fortran_order"), shape = valueOf(text, "shape");
  if (!descr || !order || !shape || !shape->starts_with("("))
    return std::nullopt;
  size_t shapeEnd = shape->find(')');
  if (shapeEnd == shape->npos)
    return std::nullopt;
  Header header;
  header.shape = shape->substr(1, shapeEnd - 1);
  header.fortranOrder = order->starts_with("True");
  if (!header.fortranOrder && !order->starts_with("False"))
    return std::nullopt;
  // A list of fields stays as it is, for the error.
  size_t end = descr->starts_with("'") ? descr->find('\'', 1) : descr->npos;
  header.descr = end == descr->npos ? "a list of fields" : descr->substr(1, end - 1);
  return header;
}

std::optional<std::vector<int64_t>> parseShape(std::string_view text) {
  std::vector<int64_t> shape;
  while (true) {
    size_t begin = text.find_first_not_of(" ,");
    if (begin == text.npos)
      return shape;
    text.remove_prefix(begin);
    int64_t size = 0;
    size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
      if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, text[digits] - '0', &size))
        return std::nullopt;
    // Python 2's numpy wrote 3L.
    if (digits < text.size() && text[digits] == 'L')
      ++digits;
    if (digits == 0 || (digits < text.size() && text[digits] != ',' && text[digits] != ' '))
      return std::nullopt;
    shape.push_back(size);
    text.remove_prefix(digits);
  }
}

std::optional<Error> parseType(const Header &header, NpzArray &array, const std::string &place) {
  std::string_view descr = header.descr;
  bool hasOrder = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  auto found = std::ranges::find(elementNames, hasOrder ? descr.substr(1) : descr, &ElementName::name);
  if (found == std::end(elementNames))
    return Error{"elements of type '" + std::string(descr) + "'", place,
                 "expected f2, f4, f8, i1 to i8, u1 to u8 or b1: convert with numpy's astype"};
  array.type.element = found->element;
  array.isUnsigned = found->isUnsigned;
  if (descr[0] == '>' && array.type.elementBytes() > 1)
    return Error{"elements of type '" + std::string(descr) + "' are big-endian", place,
                 "expected little-endian ones: convert with numpy's astype('<" + std::string(found->name) + "')"};
  auto shape = parseShape(header.shape);
  if (!shape)
    return Error{"the header's shape is '(" + std::string(header.shape) + ")'", place, "the file is corrupt"};
  array.type.shape = std::move(*shape);
  return std::nullopt;
}

/// The bytes of all elements, or nothing where an int64 can't count them.
std::optional<int64_t> countBytes(const TensorType &type) {
  int64_t bytes = type.elementBytes();
  for (int64_t size : type.shape)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  return bytes;
}

/// Copies column-major `data` into row-major order.
void fromFortranOrder(NpzArray &array, std::string_view data) {
  size_t width = size_t(array.type.elementBytes()), rank = array.type.shape.size();
  std::vector<int64_t> strides(rank), index(rank);
  int64_t stride = 1;
  for (size_t d = 0; d < rank; ++d) {
    strides[d] = stride;
    stride *= array.type.shape[d];
  }
  int64_t from = 0;
  for (int64_t i = 0, count = array.type.elements(); i < count; ++i) {
    std::memcpy(array.data.data() + size_t(i) * width, data.data() + size_t(from) * width, width);
    for (size_t d = rank; d-- > 0;) {
      from += strides[d];
      if (++index[d] < array.type.shape[d])
        break;
      from -= strides[d] * array.type.shape[d];
      index[d] = 0;
    }
  }
}

Expected<NpzArray> parseNpy(std::string_view bytes, std::string key, const std::string &place) {
  Error cutOff{"the array is cut off", place, "write the file again"};
  if (!bytes.starts_with(npyMagic))
    return Error{"no array of numpy's", place, "expected a .npy file: numpy.save or numpy.savez writes them"};
  if (bytes.size() < 10)
    return cutOff;
  int version = bytes[6];
  if (version < 1 || version > 3)
    return Error{"numpy's format " + std::to_string(version) + ", expected 1 to 3", place};
  size_t lengthBytes = version == 1 ? 2 : 4, length = 0;
  if (bytes.size() < 8 + lengthBytes)
    return cutOff;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= size_t(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  if (bytes.size() - 8 - lengthBytes < length)
    return cutOff;
  auto header = parseHeader(bytes.substr(8 + lengthBytes, length));
  if (!header)
    return Error{"numpy's header can't be read", place, "the file is corrupt"};
  NpzArray array;
  array.key = std::move(key);
  if (auto error = parseType(*header, array, place))
    return std::move(*error);
  std::string_view data = bytes.substr(8 + lengthBytes + length);
  auto expected = countBytes(array.type);
  if (!expected || size_t(*expected) != data.size())
    return Error{spell(array.type) + " needs " + (expected ? std::to_string(*expected) : "more") + " bytes, found " +
                     std::to_string(data.size()),
                 place, "the array is cut off: write the file again"};
  array.data.resize(data.size());
  if (header->fortranOrder && array.type.shape.size() > 1)
    fromFortranOrder(array, data);
  else
    std::ranges::copy(data, array.data.begin());
  return array;
}

std::string npyHeader(const TensorType &type, bool isUnsigned) {
  auto name = std::ranges::find_if(elementNames, [&](const ElementName &candidate) {
    return candidate.element == type.element && candidate.isUnsigned == (isUnsigned && type.element != ElementType::I1);
  });
  std::string text = "{'descr': '" + std::string(type.elementBytes() == 1 ? "|" : "<") + std::string(name->name) +
                     "', 'fortran_order': False, 'shape': (";
  for (size_t d = 0; d < type.shape.size(); ++d)
    text += std::to_string(type.shape[d]) + (type.shape.size() == 1 ? "," : d + 1 < type.shape.size() ? ", " : "");
  text += "), }";
  // numpy wants the data at a multiple of 64.
  size_t prefix = 10, whole = (prefix + text.size() + 1 + 63) / 64 * 64;
  text.append(whole - prefix - text.size() - 1, ' ');
  text += '\n';
  std::string length = {char(text.size() & 0xFF), char(text.size() >> 8)};
  return std::string(npyMagic) + std::string("\1\0", 2) + length + text;
}

} // namespace

Expected<std::vector<NpzArray>> remat::runtime::parseNpz(std::string_view bytes, const std::string &place) {
  std::vector<NpzArray> arrays;
  if (bytes.starts_with(npyMagic)) {
    Expected<NpzArray> array = parseNpy(bytes, "", place);
    if (!array)
      return array.error();
    arrays.push_back(std::move(*array));
    return arrays;
  }
  Expected<std::vector<ZipMember>> members = readZip(bytes, place);
  if (!members)
    return members.error();
  for (const ZipMember &member : *members) {
    std::string key = member.name;
    if (key.ends_with(".npy"))
      key.resize(key.size() - 4);
    std::string where = place + ": '" + key + "'";
    std::string inflated;
    Expected<std::string_view> content = unpack(member, inflated, where);
    if (!content)
      return content.error();
    Expected<NpzArray> array = parseNpy(*content, std::move(key), where);
    if (!array)
      return array.error();
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

Expected<std::vector<NpzArray>> remat::runtime::readNpz(const std::string &path) {
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return Error{"cannot read: " + systemText(errno), path};
  std::string bytes;
  size_t chunk = size_t(1) << 20, got = 0;
  do {
    size_t size = bytes.size();
    bytes.resize(size + chunk);
    got = std::fread(bytes.data() + size, 1, chunk, file.get());
    bytes.resize(size + got);
  } while (got > 0);
  if (std::ferror(file.get()))
    return Error{"cannot read: " + systemText(errno), path};
  return parseNpz(bytes, path);
}

void remat::runtime::writeNpz(std::ostream &out, const std::vector<NpzEntry> &entries) {
  ZipWriter zip(out);
  for (const NpzEntry &entry : entries) {
    TensorType type = entry.type;
    const void *data = entry.data;
    std::vector<float> widened;
    if (isFloat(type.element) && type.elementBytes() < 4 && type.element != ElementType::F16) {
      std::vector<double> values(static_cast<size_t>(type.elements()));
      toDoubles(type.element, false, data, type.elements(), values.data());
      widened.assign(values.begin(), values.end());
      type.element = ElementType::F32;
      data = widened.data();
    }
    zip.add(entry.key + ".npy", npyHeader(type, entry.isUnsigned),
            {static_cast<const char *>(data), size_t(type.bytes())});
  }
  zip.finish();
}

std::string remat::runtime::npzKey(size_t index, std::string_view name) {
  char number[24];
  std::snprintf(number, sizeof(number), "%04zu_", index);
  return number + std::string(name);
}
