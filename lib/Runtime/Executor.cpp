//===- Executor.cpp - Runs a compiled training step ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Observers.h"
#include "Steps.h"
#include "remat/Runtime/Processor.h"
#include "remat/Runtime/Types.h"

#include <algorithm>

using namespace remat::runtime;

struct Executable::Impl {
  Program program;
  std::vector<KernelFunction> kernels;
  std::shared_ptr<void> code;
  Pages constants;
  std::vector<uint32_t> overwritten;
};

Executable::Executable(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Executable::~Executable() = default;
const Program &Executable::program() const { return impl->program; }
std::vector<uint32_t> remat::runtime::findOverwrittenArguments(const Program &program) {
  std::vector<uint32_t> overwritten;
  for (const Buffer &buffer : program.resultBuffers)
    if (buffer.space == Buffer::Space::Argument)
      overwritten.push_back(buffer.index);
  std::ranges::sort(overwritten);
  overwritten.erase(std::unique(overwritten.begin(), overwritten.end()), overwritten.end());
  return overwritten;
}

const std::vector<uint32_t> &Executable::overwrittenArguments() const { return impl->overwritten; }

Expected<std::shared_ptr<const Executable>> Executable::create(Program program, std::vector<KernelFunction> kernels,
                                                               std::shared_ptr<void> code) {
  if (auto error = checkProgram(program))
    return std::move(*error);
  if (kernels.size() != program.kernels.size())
    return Error{std::to_string(program.kernels.size()) + " kernels in the program, " + std::to_string(kernels.size()) +
                 " in the code"};
  for (size_t i = 0; i < kernels.size(); ++i)
    if (!kernels[i])
      return Error{"the code has no kernel '" + program.kernels[i] + "'"};
  if (std::string_view missing = findMissingFeature(program.features); !missing.empty())
    return Error{"the kernels need '" + std::string(missing) + "', which this processor doesn't have", "",
                 "compile the step on a processor like the one that runs it"};
  auto impl = std::make_unique<Impl>();
  Expected<Pages> constants = Pages::allocate(int64_t(program.constants.size()), 0, "the program's constants");
  if (!constants)
    return constants.error();
  if (!program.constants.empty())
    std::memcpy(constants->data(), program.constants.data(), program.constants.size());
  impl->constants = std::move(*constants);
  std::vector<char>().swap(program.constants);
  impl->overwritten = findOverwrittenArguments(program);
  impl->program = std::move(program);
  impl->kernels = std::move(kernels);
  impl->code = std::move(code);
  return std::shared_ptr<const Executable>(new Executable(std::move(impl)));
}

struct Context::Impl {
  std::shared_ptr<const Executable> executable;
  Pages ownArena;
  char *arena = nullptr;
  std::vector<std::unique_ptr<LibraryCall>> matmuls, convolutions;
  std::vector<void *> addresses; ///< Buffers of all steps; never grows after `prepare`.
  std::vector<ArgumentAddress> argumentAddresses;
  std::vector<PreparedStep> steps;
  std::vector<const void *> results;

  const Program &program() const { return executable->program(); }
  std::optional<Error> takeArena(const ContextOptions &options);
  std::optional<Error> makeLibraryCalls();
  std::optional<Error> prepare(const std::vector<Step> &steps, std::vector<PreparedStep> &prepared);
  void *address(const Buffer &buffer) const;
  std::optional<Error> bind(std::span<const void *const> arguments);
};

std::optional<Error> Context::Impl::takeArena(const ContextOptions &options) {
  int64_t needed = program().arenaBytes;
  if (!options.arena) {
    Expected<Pages> pages = Pages::allocate(needed, options.arenaLimitBytes, "the arena");
    if (!pages)
      return pages.error();
    ownArena = std::move(*pages);
    arena = ownArena.data();
    return std::nullopt;
  }
  if (options.arenaBytes < needed)
    return Error{"the arena needs " + std::to_string(needed) + " bytes, the caller gives " +
                 std::to_string(options.arenaBytes)};
  if (reinterpret_cast<uintptr_t>(options.arena) % 64 != 0)
    return Error{"the caller's arena isn't at a multiple of 64"};
  arena = static_cast<char *>(options.arena);
  return std::nullopt;
}

std::optional<Error> Context::Impl::makeLibraryCalls() {
  auto make = [&](const auto &specs, auto makeOne, auto &calls, const char *what) -> std::optional<Error> {
    for (const auto &spec : specs) {
      std::string message;
      calls.push_back(makeOne(spec, program().threads, message));
      if (!calls.back())
        return Error{message, std::string(what) + " " + std::to_string(calls.size() - 1)};
    }
    return std::nullopt;
  };
  if (auto error = make(program().matmuls, makeMatmul, matmuls, "matmul"))
    return error;
  return make(program().convolutions, makeConvolution, convolutions, "convolution");
}

static size_t countBuffers(const std::vector<Step> &steps) {
  size_t count = 0;
  for (const Step &step : steps) {
    count += step.buffers.size();
    for (const std::vector<Step> &body : step.bodies)
      count += countBuffers(body);
  }
  return count;
}

void *Context::Impl::address(const Buffer &buffer) const {
  switch (buffer.space) {
  case Buffer::Space::Arena:
    return arena + buffer.offset;
  case Buffer::Space::Constant:
    return executable->impl->constants.data() + buffer.offset;
  default:
    return nullptr;
  }
}

/// The slot that the step takes for the workspace of its library call is large enough.
static std::optional<Error> checkWorkspace(const Program &program, const Step &step, int64_t needed) {
  if (needed == 0)
    return std::nullopt;
  int64_t found = 0;
  if (step.buffers.size() > 3 && step.buffers[3].space == Buffer::Space::Arena) {
    found = program.arenaBytes - step.buffers[3].offset;
    for (uint32_t slot : step.taken)
      if (program.slots[slot].offset == step.buffers[3].offset)
        found = program.slots[slot].bytes;
  }
  if (found >= needed)
    return std::nullopt;
  return Error{"its workspace has " + std::to_string(found) + " bytes, the library needs " + std::to_string(needed),
               "step '" + step.name + "'"};
}

std::optional<Error> Context::Impl::prepare(const std::vector<Step> &from, std::vector<PreparedStep> &to) {
  to.reserve(from.size());
  for (const Step &step : from) {
    PreparedStep &prepared = to.emplace_back();
    prepared.step = &step;
    prepared.buffers = addresses.data() + addresses.size();
    for (const Buffer &buffer : step.buffers) {
      addresses.push_back(address(buffer));
      if (buffer.space == Buffer::Space::Argument)
        argumentAddresses.push_back({&addresses.back(), buffer.index, buffer.offset});
    }
    if (step.kind == Step::Kind::Kernel) {
      prepared.kernel = executable->impl->kernels[step.kernel];
      prepared.parts = int(std::clamp<int64_t>(step.iterations / step.grain, 1, program().threads));
    }
    if (step.kind == Step::Kind::Matmul || step.kind == Step::Kind::Convolution) {
      prepared.call = (step.kind == Step::Kind::Matmul ? matmuls : convolutions)[step.library].get();
      if (auto error = checkWorkspace(program(), step, prepared.call->workspaceBytes()))
        return error;
    }
    prepared.bodies.resize(step.bodies.size());
    for (size_t i = 0; i < step.bodies.size(); ++i)
      if (auto error = prepare(step.bodies[i], prepared.bodies[i]))
        return error;
  }
  return std::nullopt;
}

Context::Context(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Context::~Context() = default;
const Executable &Context::executable() const { return *impl->executable; }

Expected<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Executable> executable,
                                                   const ContextOptions &options) {
  auto impl = std::make_unique<Impl>();
  impl->executable = std::move(executable);
  const Program &program = impl->program();
  if (auto error = impl->takeArena(options))
    return std::move(*error);
  if (auto error = impl->makeLibraryCalls())
    return std::move(*error);
  impl->addresses.reserve(countBuffers(program.steps));
  if (auto error = impl->prepare(program.steps, impl->steps))
    return std::move(*error);
  for (const Buffer &buffer : program.resultBuffers)
    impl->results.push_back(impl->address(buffer));
  return std::unique_ptr<Context>(new Context(std::move(impl)));
}

std::optional<Error> Context::Impl::bind(std::span<const void *const> arguments) {
  const Program &program = this->program();
  if (arguments.size() != program.arguments.size())
    return Error{"expected arguments: " + std::to_string(program.arguments.size()) +
                 ", found: " + std::to_string(arguments.size())};
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i] && program.arguments[i].type.bytes() > 0)
      return Error{"the argument is null", "argument " + std::to_string(i) + " '" + program.arguments[i].name + "'"};
  auto at = [&](uint32_t argument, int64_t offset) {
    return static_cast<char *>(const_cast<void *>(arguments[argument])) + offset;
  };
  for (const ArgumentAddress &address : argumentAddresses)
    *address.buffer = at(address.argument, address.offset);
  for (size_t i = 0; i < results.size(); ++i)
    if (const Buffer &buffer = program.resultBuffers[i]; buffer.space == Buffer::Space::Argument)
      results[i] = at(buffer.index, buffer.offset);
  return std::nullopt;
}

std::optional<Error> Context::run(std::span<const void *const> arguments) {
  if (auto error = impl->bind(arguments))
    return error;
  NoObserver observer;
  runSteps(impl->steps, observer);
  return std::nullopt;
}

Expected<Measurement> Context::measure(std::span<const void *const> arguments) {
  if (auto error = impl->bind(arguments))
    return std::move(*error);
  SlotWatch watch(impl->program(), impl->arena);
  if (runSteps(impl->steps, watch))
    watch.finish();
  if (watch.error())
    return *watch.error();
  return watch.take();
}

Expected<Profile> Context::profile(std::span<const void *const> arguments) {
  if (auto error = impl->bind(arguments))
    return std::move(*error);
  StopWatch watch(impl->program());
  runSteps(impl->steps, watch);
  return watch.take();
}

const void *Context::result(size_t index) const { return impl->results[index]; }
