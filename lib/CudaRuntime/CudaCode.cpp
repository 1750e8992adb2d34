//===- CudaCode.cpp - The code that a program runs on a GPU ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The bytes: magic, version, checksum of the rest, then the fields in the order of `visit`.
//
//===----------------------------------------------------------------------===//

#include "remat/CudaRuntime/CudaCode.h"

#include "WalkSteps.h"

#include <bit>
#include <cstring>

using namespace remat::runtime;

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

namespace {

constexpr char magic[8] = {'R', 'E', 'M', 'A', 'T', 'C', 'U', 'D'};
/// Of the fields below: raise it with every change.
constexpr uint32_t version = 1;
constexpr size_t headerBytes = sizeof(magic) + sizeof(version) + sizeof(uint64_t);

struct Writer {
  std::vector<char> bytes;

  void raw(void *data, size_t size) {
    const char *begin = static_cast<const char *>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  }
  template <typename T>
  void resize(std::vector<T> &, uint64_t, size_t) {}
  void resize(std::string &, uint64_t, size_t) {}
};

struct Reader {
  std::span<const char> rest;
  bool failed = false;

  void raw(void *data, size_t size) {
    failed |= rest.size() < size;
    if (failed || size == 0)
      return;
    std::memcpy(data, rest.data(), size);
    rest = rest.subspan(size);
  }
  /// An item takes at least `itemBytes`: a longer list is a lie that must not make us take memory for it.
  template <typename List>
  void resize(List &list, uint64_t size, size_t itemBytes) {
    failed |= size > rest.size() / itemBytes;
    if (!failed)
      list.resize(size);
  }
};

template <typename Archive, typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void visit(Archive &archive, T &value) {
  archive.raw(&value, sizeof(T));
}
template <typename Archive>
void visit(Archive &archive, std::string &text) {
  uint64_t size = text.size();
  visit(archive, size);
  archive.resize(text, size, 1);
  archive.raw(text.data(), text.size());
}
template <typename Archive>
void visit(Archive &archive, std::vector<char> &bytes) {
  uint64_t size = bytes.size();
  visit(archive, size);
  archive.resize(bytes, size, 1);
  archive.raw(bytes.data(), bytes.size());
}
template <typename Archive>
void visit(Archive &archive, CudaParameter &parameter) {
  visit(archive, parameter.kind);
  visit(archive, parameter.value);
}
template <typename Archive, typename T>
void visit(Archive &archive, std::vector<T> &list) {
  uint64_t size = list.size();
  visit(archive, size);
  archive.resize(list, size, 8); // Every item takes the eight bytes of a number or a length.
  for (T &item : list)
    visit(archive, item);
}
template <typename Archive>
void visit(Archive &archive, CudaLaunch &launch) {
  visit(archive, launch.symbol);
  for (uint32_t *size : {launch.grid.data(), launch.block.data()})
    archive.raw(size, 3 * sizeof(uint32_t));
  visit(archive, launch.sharedBytes);
  visit(archive, launch.parameters);
}
template <typename Archive>
void visit(Archive &archive, CudaCode &code) {
  visit(archive, code.kernels);
  visit(archive, code.tripCounts);
  visit(archive, code.locations);
  visit(archive, code.binary);
}

/// FNV-1a: notices damage, not malice.
uint64_t checksum(std::span<const char> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char byte : bytes)
    hash = (hash ^ uint8_t(byte)) * 0x100000001b3;
  return hash;
}

std::optional<Error> checkLaunch(const CudaLaunch &launch, const std::string &place) {
  constexpr uint32_t gridLimits[3] = {0x7FFFFFFF, 65535, 65535}, blockLimits[3] = {1024, 1024, 64};
  uint64_t threads = 1;
  for (size_t i = 0; i < 3; ++i) {
    threads *= launch.block[i];
    if (launch.grid[i] < 1 || launch.grid[i] > gridLimits[i] || launch.block[i] < 1 || launch.block[i] > blockLimits[i])
      return Error{"function '" + launch.symbol + "' has " + std::to_string(launch.grid[i]) + " blocks of " +
                       std::to_string(launch.block[i]) + " threads along " + "xyz"[i] + ", CUDA has 1 to " +
                       std::to_string(gridLimits[i]) + " of 1 to " + std::to_string(blockLimits[i]),
                   place};
  }
  if (threads > 1024)
    return Error{"function '" + launch.symbol + "' has blocks of " + std::to_string(threads) +
                     " threads, CUDA has at most 1024",
                 place};
  return std::nullopt;
}

std::optional<Error> checkBuffers(const Step &step, const std::vector<CudaLaunch> &launches) {
  for (const CudaLaunch &launch : launches)
    for (const CudaParameter &parameter : launch.parameters)
      if (parameter.kind == CudaParameter::Kind::Buffer &&
          (parameter.value < 0 || uint64_t(parameter.value) >= step.buffers.size()))
        return Error{"function '" + launch.symbol + "' takes buffer " + std::to_string(parameter.value) + " of " +
                         std::to_string(step.buffers.size()),
                     "step '" + step.name + "'"};
  return std::nullopt;
}

} // namespace

std::optional<Error> remat::runtime::checkCudaCode(const Program &program, const CudaCode &code) {
  if (code.kernels.size() != program.kernels.size())
    return Error{std::to_string(program.kernels.size()) + " kernels in the program, " +
                 std::to_string(code.kernels.size()) + " in its code for a GPU"};
  bool needsBinary = false;
  for (size_t i = 0; i < code.kernels.size(); ++i)
    for (const CudaLaunch &launch : code.kernels[i]) {
      needsBinary = true;
      if (auto error = checkLaunch(launch, "kernel '" + program.kernels[i] + "'"))
        return error;
    }
  if (needsBinary && code.binary.empty())
    return Error{"the code has launches and no binary"};
  size_t steps = 0, loops = 0;
  std::optional<Error> failure;
  walkSteps(program.steps, [&](const Step &step, int) {
    ++steps;
    loops += step.kind == Step::Kind::While;
    if (step.kind == Step::Kind::Kernel && !failure)
      failure = checkBuffers(step, code.kernels[step.kernel]);
  });
  if (failure)
    return failure;
  if (!code.tripCounts.empty() && code.tripCounts.size() != loops)
    return Error{std::to_string(loops) + " loops in the program, trip counts for " +
                 std::to_string(code.tripCounts.size())};
  if (!code.locations.empty() && code.locations.size() != steps)
    return Error{std::to_string(steps) + " steps in the program, locations of " +
                 std::to_string(code.locations.size())};
  return std::nullopt;
}

std::vector<char> remat::runtime::writeCudaCode(const CudaCode &code) {
  Writer body, file;
  visit(body, const_cast<CudaCode &>(code));
  uint64_t sum = checksum(body.bytes);
  uint32_t number = version;
  file.raw(const_cast<char *>(magic), sizeof(magic));
  visit(file, number);
  visit(file, sum);
  file.raw(body.bytes.data(), body.bytes.size());
  return std::move(file.bytes);
}

Expected<CudaCode> remat::runtime::readCudaCode(std::span<const char> bytes) {
  Error corrupt{"the GPU code is cut off or corrupt", "", "compile it again"};
  if (bytes.size() < headerBytes)
    return corrupt;
  if (std::memcmp(bytes.data(), magic, sizeof(magic)) != 0)
    return Error{"these bytes are no GPU code of a program"};
  Reader reader{bytes.subspan(sizeof(magic))};
  uint32_t found = 0;
  uint64_t sum = 0;
  visit(reader, found);
  visit(reader, sum);
  if (found != version)
    return Error{"the GPU code is of version " + std::to_string(found) + ", this runtime reads version " +
                     std::to_string(version),
                 "", "compile it again, or link the runtime that came with its compiler"};
  if (checksum(reader.rest) != sum)
    return corrupt;
  CudaCode code;
  visit(reader, code);
  if (reader.failed || !reader.rest.empty())
    return corrupt;
  for (const std::vector<CudaLaunch> &launches : code.kernels)
    for (const CudaLaunch &launch : launches)
      for (const CudaParameter &parameter : launch.parameters)
        if (parameter.kind > CudaParameter::Kind::Int64)
          return corrupt;
  return code;
}
