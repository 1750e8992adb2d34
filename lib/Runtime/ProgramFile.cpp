//===- ProgramFile.cpp - Programs as bytes ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A header (magic, version, size, checksum), then the fields in the order of `visit`: numbers little-endian, lists with
// their length before them. One list of fields serves reading and writing, so the two can't differ.
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/ProgramFile.h"
#include "remat/Runtime/Executable.h"

#include <bit>
#include <cstring>
#include <type_traits>

using namespace remat::runtime;

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

namespace {

constexpr char magic[8] = {'R', 'E', 'M', 'A', 'T', 'R', 'U', 'N'};
/// Of the fields below: raise it with every change.
constexpr uint32_t version = 2;
constexpr size_t headerBytes = sizeof(magic) + 4 + 8 + 8;

template <typename T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
public:
  static constexpr bool reads = false;
  std::vector<char> bytes;

  void raw(const void *data, size_t size) {
    const char *begin = static_cast<const char *>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  }
  template <Number T>
  void number(T &value) {
    raw(&value, sizeof(T));
  }
  template <typename List>
  void size(List &list, size_t) {
    uint64_t size = list.size();
    number(size);
  }
};

class Reader {
public:
  static constexpr bool reads = true;
  std::span<const char> rest;
  bool failed = false;
  int depth = 0;

  void raw(void *data, size_t size) {
    if (failed || rest.size() < size) {
      failed = true;
      return;
    }
    if (size > 0)
      std::memcpy(data, rest.data(), size);
    rest = rest.subspan(size);
  }
  template <Number T>
  void number(T &value) {
    raw(&value, sizeof(T));
  }
  /// An item takes at least `itemBytes`: a longer list is a lie that must not make us take memory for it.
  template <typename List>
  void size(List &list, size_t itemBytes) {
    uint64_t size = 0;
    number(size);
    if (failed || size > rest.size() / itemBytes)
      failed = true;
    else
      list.resize(size);
  }
};

template <typename Archive, Number T>
void visit(Archive &archive, T &value) {
  archive.number(value);
}
template <typename Archive>
void visit(Archive &archive, std::string &text) {
  archive.size(text, 1);
  archive.raw(text.data(), text.size());
}
template <typename Archive, typename T>
void visit(Archive &archive, std::vector<T> &list);

template <typename Archive>
void visit(Archive &archive, bool &value) {
  uint8_t byte = value;
  archive.number(byte);
  value = byte != 0;
}

template <typename Archive, typename... Fields>
void visitAll(Archive &archive, Fields &...fields) {
  (visit(archive, fields), ...);
}

template <typename Archive>
void visit(Archive &archive, TensorType &type) {
  visitAll(archive, type.element, type.shape);
  if (type.element > ElementType::I1)
    if constexpr (Archive::reads)
      archive.failed = true;
}
template <typename Archive>
void visit(Archive &archive, Buffer &buffer) {
  visitAll(archive, buffer.space, buffer.index, buffer.offset);
  if (buffer.space > Buffer::Space::Constant)
    if constexpr (Archive::reads)
      archive.failed = true;
}
template <typename Archive>
void visit(Archive &archive, MatmulSpec &spec) {
  visitAll(archive, spec.a, spec.b, spec.c, spec.batch, spec.m, spec.n, spec.k, spec.aBatchStrides, spec.bBatchStrides,
           spec.cBatchStrides, spec.aRowStride, spec.aColumnStride, spec.bRowStride, spec.bColumnStride,
           spec.cRowStride, spec.cColumnStride);
}
template <typename Archive>
void visit(Archive &archive, ConvolutionSpec &spec) {
  visitAll(archive, spec.lhs, spec.rhs, spec.result, spec.strides, spec.padding, spec.lhsDilation, spec.rhsDilation,
           spec.lhsDims, spec.rhsDims, spec.resultDims, spec.reversed, spec.featureGroups, spec.batchGroups);
}
template <typename Archive>
void visit(Archive &archive, Slot &slot) {
  visitAll(archive, slot.name, slot.offset, slot.bytes);
}
template <typename Archive>
void visit(Archive &archive, Step &step) {
  if constexpr (Archive::reads)
    // Corrupt nesting must not exhaust the stack.
    if (archive.failed || ++archive.depth > 64) {
      archive.failed = true;
      return;
    }
  visitAll(archive, step.kind, step.name, step.kernel, step.library, step.iterations, step.grain, step.bytes,
           step.buffers, step.bodies, step.taken, step.released);
  if constexpr (Archive::reads)
    --archive.depth;
}
template <typename Archive>
void visit(Archive &archive, Program::Value &value) {
  visitAll(archive, value.name, value.type, value.isUnsigned);
}
template <typename Archive>
void visit(Archive &archive, Program &program) {
  visitAll(archive, program.name, program.threads, program.arguments, program.results, program.resultBuffers,
           program.slots, program.steps, program.matmuls, program.convolutions, program.kernels, program.features,
           program.constants, program.arenaBytes, program.plannedPeakBytes);
}

template <typename Archive, typename T>
void visit(Archive &archive, std::vector<T> &list) {
  if constexpr (Number<T>) {
    archive.size(list, sizeof(T));
    archive.raw(list.data(), list.size() * sizeof(T));
  } else {
    // Every item that isn't a number takes at least the eight bytes of a length.
    archive.size(list, 8);
    for (T &item : list)
      visit(archive, item);
  }
}

/// FNV-1a over words of 8 bytes: notices damage, not malice.
uint64_t checksum(std::span<const char> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<size_t>(8, bytes.size() - at));
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  return hash;
}

} // namespace

std::vector<char> remat::runtime::writeProgram(const Program &program) {
  Writer body, file;
  visit(body, const_cast<Program &>(program));
  uint64_t size = body.bytes.size(), sum = checksum(body.bytes);
  file.raw(magic, sizeof(magic));
  file.raw(&version, sizeof(version));
  visitAll(file, size, sum);
  file.raw(body.bytes.data(), body.bytes.size());
  return std::move(file.bytes);
}

Expected<Program> remat::runtime::readProgram(std::span<const char> bytes) {
  Error corrupt{"the program is cut off or corrupt", "", "compile it again"};
  if (bytes.size() < headerBytes)
    return corrupt;
  if (std::memcmp(bytes.data(), magic, sizeof(magic)) != 0)
    return Error{"these bytes are no compiled program"};
  Reader header{bytes.subspan(sizeof(magic))};
  uint32_t found = 0;
  uint64_t size = 0, sum = 0;
  visitAll(header, found, size, sum);
  if (found != version)
    return Error{"the program is of version " + std::to_string(found) + ", this runtime reads version " +
                     std::to_string(version),
                 "", "compile it again, or link the runtime that came with its compiler"};
  if (header.rest.size() != size || checksum(header.rest) != sum)
    return corrupt;
  Program program;
  visit(header, program);
  if (header.failed || !header.rest.empty())
    return corrupt;
  if (auto error = checkProgram(program))
    return std::move(*error);
  return program;
}
