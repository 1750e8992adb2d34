//===- CheckProgram.cpp - What every legal program holds -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Executable.h"
#include "remat/Runtime/Types.h"

using namespace remat::runtime;

namespace {

std::string quoted(const std::string &name) { return "'" + name + "'"; }

Error outOfRange(const char *what, int64_t found, size_t count) {
  return {std::string(what) + " " + std::to_string(found) + " of " + std::to_string(count)};
}

/// Elements of all sizes, or nothing where there are more than an int64 counts.
std::optional<int64_t> checkedBytes(const TensorType &type) {
  int64_t bytes = type.elementBytes();
  for (int64_t size : type.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  return bytes;
}

/// The checks of one program; the first failure is kept.
class Checker {
public:
  explicit Checker(const Program &program) : program(program) {}

  std::optional<Error> check() {
    if (program.threads < 1)
      return Error{"a program for " + std::to_string(program.threads) + " threads"};
    if (program.arenaBytes < 0)
      return Error{"an arena of " + std::to_string(program.arenaBytes) + " bytes"};
    for (const std::vector<Program::Value> *values : {&program.arguments, &program.results})
      for (const Program::Value &value : *values)
        if (!checkedBytes(value.type))
          return Error{"a shape whose bytes can't be counted", quoted(value.name)};
    for (const Slot &slot : program.slots)
      if (auto error = checkSlot(slot))
        return error;
    if (auto error = checkSteps(program.steps, 0))
      return error;
    return checkResults();
  }

private:
  std::optional<Error> checkSlot(const Slot &slot) {
    if (slot.bytes < 0 || slot.offset < 0 || slot.offset % 64 != 0 || slot.bytes > program.arenaBytes ||
        slot.offset > program.arenaBytes - slot.bytes)
      return Error{"a slot of " + std::to_string(slot.bytes) + " bytes at " + std::to_string(slot.offset) +
                       " in an arena of " + std::to_string(program.arenaBytes) + ", at multiples of 64",
                   "slot " + quoted(slot.name)};
    return std::nullopt;
  }

  /// `bytes` from the buffer's offset lie within its space.
  std::optional<Error> checkBuffer(const Buffer &buffer, int64_t bytes) {
    int64_t size = program.arenaBytes;
    if (buffer.space == Buffer::Space::Argument) {
      if (buffer.index >= program.arguments.size())
        return outOfRange("argument", buffer.index, program.arguments.size());
      size = program.arguments[buffer.index].type.bytes();
    } else if (buffer.space == Buffer::Space::Constant) {
      size = int64_t(program.constants.size());
    }
    if (buffer.offset < 0 || bytes > size || buffer.offset > size - bytes)
      return Error{"a buffer of " + std::to_string(bytes) + " bytes at " + std::to_string(buffer.offset) + ", beyond " +
                   std::to_string(size)};
    return std::nullopt;
  }

  std::optional<Error> checkResults() {
    if (program.resultBuffers.size() != program.results.size())
      return Error{std::to_string(program.results.size()) + " results in " +
                   std::to_string(program.resultBuffers.size()) + " buffers"};
    for (size_t i = 0; i < program.results.size(); ++i)
      if (auto error = checkBuffer(program.resultBuffers[i], program.results[i].type.bytes())) {
        error->place = "result " + quoted(program.results[i].name);
        return error;
      }
    return std::nullopt;
  }

  std::optional<Error> checkSteps(const std::vector<Step> &steps, int depth) {
    if (depth > 64)
      return Error{"steps inside steps, 64 deep"};
    for (const Step &step : steps) {
      if (auto error = checkStep(step)) {
        error->place = "step " + quoted(step.name);
        return error;
      }
      for (const std::vector<Step> &body : step.bodies)
        if (auto error = checkSteps(body, depth + 1))
          return error;
    }
    return std::nullopt;
  }

  std::optional<Error> checkStep(const Step &step) {
    for (const std::vector<uint32_t> *slots : {&step.taken, &step.released})
      for (uint32_t slot : *slots)
        if (slot >= program.slots.size())
          return outOfRange("slot", slot, program.slots.size());
    int64_t bytes = step.kind == Step::Kind::Copy     ? std::max<int64_t>(step.bytes, 0)
                    : step.kind == Step::Kind::While  ? 1
                    : step.kind == Step::Kind::Branch ? 4
                                                      : 0;
    for (const Buffer &buffer : step.buffers)
      if (auto error = checkBuffer(buffer, bytes))
        return error;
    if (auto error = checkForm(step))
      return error;
    switch (step.kind) {
    case Step::Kind::Kernel:
      if (step.kernel >= program.kernels.size())
        return outOfRange("kernel", step.kernel, program.kernels.size());
      if (step.iterations < 0 || step.grain < 1)
        return Error{std::to_string(step.iterations) + " iterations by " + std::to_string(step.grain)};
      return std::nullopt;
    case Step::Kind::Matmul:
      if (step.library >= program.matmuls.size())
        return outOfRange("matmul", step.library, program.matmuls.size());
      return std::nullopt;
    case Step::Kind::Convolution:
      if (step.library >= program.convolutions.size())
        return outOfRange("convolution", step.library, program.convolutions.size());
      return std::nullopt;
    default:
      return std::nullopt;
    }
  }

  /// As many buffers and bodies as the kind takes.
  static std::optional<Error> checkForm(const Step &step) {
    size_t buffers = step.buffers.size(), bodies = step.bodies.size();
    bool fits = true;
    switch (step.kind) {
    case Step::Kind::Kernel:
      fits = bodies == 0;
      break;
    case Step::Kind::Matmul:
    case Step::Kind::Convolution:
      fits = (buffers == 3 || buffers == 4) && bodies == 0;
      break;
    case Step::Kind::Copy:
      fits = buffers == 2 && bodies == 0 && step.bytes >= 0;
      break;
    case Step::Kind::While:
      fits = buffers == 1 && bodies == 2;
      break;
    case Step::Kind::Branch:
      fits = buffers == 1 && bodies >= 1;
      break;
    default:
      return Error{"an unknown kind of step: " + std::to_string(int(step.kind))};
    }
    if (fits)
      return std::nullopt;
    return Error{std::to_string(buffers) + " buffers and " + std::to_string(bodies) +
                 " bodies, not what its kind of step takes"};
  }

  const Program &program;
};

} // namespace

std::optional<Error> remat::runtime::checkProgram(const Program &program) { return Checker(program).check(); }
