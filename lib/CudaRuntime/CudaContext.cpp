//===- CudaContext.cpp - Runs a compiled step on a GPU ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContextImpl.h"

#include <algorithm>

using namespace remat::runtime;

CudaContext::CudaContext(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
CudaContext::~CudaContext() = default;
const CudaExecutable &CudaContext::executable() const { return *impl->executable; }
DevicePointer CudaContext::result(size_t index) const { return impl->results.empty() ? 0 : impl->results[index]; }
CudaContext::GraphCounts CudaContext::graphCounts() const { return impl->graph ? impl->graph->counts : GraphCounts(); }

Expected<std::unique_ptr<CudaContext>> CudaContext::create(std::shared_ptr<const CudaExecutable> executable,
                                                           const CudaOptions &options) {
  if (options.graph && !executable->canBeCaptured()) {
    const CudaStepPlan &waits = *std::ranges::find_if(executable->plan(), &CudaStepPlan::waits);
    return Error{"the host waits here for a value of the device, which a CUDA graph can't", placeOf(waits),
                 "run without a graph"};
  }
  Expected<Driver> driver = Driver::load(options.libraries.driver);
  if (!driver)
    return driver.error();
  auto impl = std::make_unique<Impl>();
  impl->executable = std::move(executable);
  impl->options = options;
  impl->driver = *driver;
  if (auto error = impl->takeContext())
    return *error;
  {
    CurrentContext current(impl->driver, impl->context);
    if (current.error())
      return *current.error();
    if (auto error = impl->load())
      return *error;
  }
  return std::unique_ptr<CudaContext>(new CudaContext(std::move(impl)));
}

std::optional<Error> CudaContext::Impl::checkArguments(std::span<const DevicePointer> arguments) const {
  const Program &program = this->program();
  if (arguments.size() != program.arguments.size())
    return Error{"expected arguments: " + std::to_string(program.arguments.size()) +
                 ", found: " + std::to_string(arguments.size())};
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string place = "argument " + std::to_string(i) + " '" + program.arguments[i].name + "'";
    if (program.arguments[i].type.bytes() == 0)
      continue;
    if (!arguments[i])
      return Error{"the argument is null", place};
    if (arguments[i] % 16 != 0)
      return Error{"the argument isn't at a multiple of 16", place, "copy it to memory of its own"};
  }
  return std::nullopt;
}

Expected<CUdeviceptr> CudaContext::Impl::arenaFor(DevicePointer given) {
  if (given % 256 != 0)
    return Error{"the caller's arena isn't at a multiple of 256"};
  int64_t needed = program().arenaBytes;
  if (given || ownArena || needed == 0)
    return CUdeviceptr(given ? given : ownArena);
  if (options.arenaLimitBytes > 0 && needed > options.arenaLimitBytes)
    return Error{"the arena needs " + std::to_string(needed) + " bytes, the limit is " +
                     std::to_string(options.arenaLimitBytes),
                 "", "raise the limit, or plan for less memory: --memory-limit"};
  if (auto error = allocate(ownArena, needed, "the arena"))
    return *error;
  memory.arenaBytes = needed;
  return ownArena;
}

std::optional<Error> CudaContext::Impl::run(const Addresses &addresses, CUstream stream) {
  auto enqueue = [&](CUstream onto) {
    return StepRunner(driver, addresses, onto, decision, program().constants).run(steps);
  };
  if (!graph)
    return enqueue(stream);
  key.assign(addresses.arguments.begin(), addresses.arguments.end());
  key.push_back(addresses.arena);
  return graph->run(key, stream, enqueue);
}

std::optional<Error> CudaContext::run(std::span<const DevicePointer> arguments, DevicePointer arena,
                                      CudaStream stream) {
  if (auto error = impl->checkArguments(arguments))
    return error;
  CurrentContext current(impl->driver, impl->context);
  if (current.error())
    return current.error();
  Expected<CUdeviceptr> place = impl->arenaFor(arena);
  if (!place)
    return place.error();
  Addresses addresses{*place, impl->constants, arguments};
  if (auto error = impl->run(addresses, static_cast<CUstream>(stream)))
    return error;
  impl->results.clear();
  for (const Buffer &buffer : impl->program().resultBuffers)
    impl->results.push_back(addresses.of(buffer));
  return std::nullopt;
}

Expected<CudaMemory> CudaContext::memory() const {
  CurrentContext current(impl->driver, impl->context);
  if (current.error())
    return *current.error();
  Expected<int64_t> used = impl->usedBytes();
  if (!used)
    return used.error();
  CudaMemory memory = impl->memory;
  memory.usedAfter = *used;
  return memory;
}
