//===- CudaSession.cpp - A step on a GPU for programs on the host ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/CudaRuntime/CudaSession.h"

#include "ContextImpl.h"

using namespace remat::runtime;

Expected<CudaDeviceInfo> remat::runtime::findCudaDevice(const CudaLibraries &libraries, int device) {
  Expected<Driver> driver = Driver::load(libraries.driver);
  if (!driver)
    return driver.error();
  CUdevice handle = 0;
  char name[256] = "";
  CudaDeviceInfo info;
  size_t bytes = 0;
  const std::pair<const char *, CUresult> calls[] = {
      {"cuDeviceGet", driver->cuDeviceGet(&handle, device)},
      {"cuDeviceGetName", driver->cuDeviceGetName(name, sizeof(name), handle)},
      {"cuDeviceGetAttribute",
       driver->cuDeviceGetAttribute(&info.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle)},
      {"cuDeviceGetAttribute",
       driver->cuDeviceGetAttribute(&info.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle)},
      {"cuDeviceTotalMem", driver->cuDeviceTotalMem_v2(&bytes, handle)},
  };
  for (auto [call, status] : calls)
    if (auto error = driver->check(call, status)) {
      error->place = "device " + std::to_string(device);
      return *error;
    }
  info.name = name;
  info.bytes = int64_t(bytes);
  return info;
}

struct CudaSession::Impl {
  std::unique_ptr<CudaContext> context;
  std::vector<const void *> given;
  CUdeviceptr block = 0; ///< Holds all arguments.
  int64_t blockBytes = 0;
  std::vector<DevicePointer> arguments;
  CUevent begin = nullptr, end = nullptr;

  const Driver &driver() const { return context->impl->driver; }
  CUcontext current() const { return context->impl->context; }
  const Program &program() const { return context->executable().program(); }

  std::optional<Error> upload(size_t index) const;
  std::optional<Error> prepare();
  Expected<double> run();
  ~Impl();
};

CudaSession::CudaSession(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
CudaSession::~CudaSession() = default;
int64_t CudaSession::argumentBytes() const { return impl->blockBytes; }
Expected<CudaMemory> CudaSession::memory() const { return impl->context->memory(); }

/// Statuses are ignored: there is nobody to tell.
CudaSession::Impl::~Impl() {
  if (!context)
    return;
  CurrentContext here(driver(), current());
  if (block)
    (void)driver().cuMemFree_v2(block);
  for (CUevent event : {begin, end})
    if (event)
      (void)driver().cuEventDestroy_v2(event);
}

std::optional<Error> CudaSession::Impl::upload(size_t index) const {
  size_t bytes = size_t(program().arguments[index].type.bytes());
  return bytes == 0 ? std::nullopt
                    : driver().check("cuMemcpyHtoD", driver().cuMemcpyHtoD_v2(arguments[index], given[index], bytes));
}

std::optional<Error> CudaSession::Impl::prepare() {
  constexpr int64_t alignment = 256;
  std::vector<int64_t> offsets;
  for (const Program::Value &argument : program().arguments) {
    offsets.push_back(blockBytes);
    blockBytes += (argument.type.bytes() + alignment - 1) / alignment * alignment;
  }
  if (auto error = context->impl->allocate(block, blockBytes, "the arguments"))
    return error;
  for (size_t i = 0; i < offsets.size(); ++i) {
    arguments.push_back(block + uint64_t(offsets[i]));
    if (auto error = upload(i))
      return error;
  }
  for (CUevent *event : {&begin, &end})
    if (auto error = driver().check("cuEventCreate", driver().cuEventCreate(event, CU_EVENT_DEFAULT)))
      return error;
  return std::nullopt;
}

Expected<std::unique_ptr<CudaSession>> CudaSession::create(std::shared_ptr<const CudaExecutable> executable,
                                                           const CudaOptions &options,
                                                           std::span<const void *const> arguments) {
  if (size_t expected = executable->program().arguments.size(); arguments.size() != expected)
    return Error{"expected arguments: " + std::to_string(expected) + ", found: " + std::to_string(arguments.size())};
  auto context = CudaContext::create(std::move(executable), options);
  if (!context)
    return context.error();
  auto impl = std::make_unique<Impl>();
  impl->context = std::move(*context);
  impl->given.assign(arguments.begin(), arguments.end());
  CurrentContext here(impl->driver(), impl->current());
  if (here.error())
    return *here.error();
  if (auto error = impl->prepare())
    return *error;
  return std::unique_ptr<CudaSession>(new CudaSession(std::move(impl)));
}

Expected<double> CudaSession::Impl::run() {
  for (uint32_t index : context->executable().overwrittenArguments())
    if (auto error = upload(index))
      return *error;
  if (auto error = driver().check("cuEventRecord", driver().cuEventRecord(begin, nullptr)))
    return *error;
  if (auto error = context->run(arguments))
    return *error;
  if (auto error = driver().check("cuEventRecord", driver().cuEventRecord(end, nullptr)))
    return *error;
  if (auto error = driver().check("cuEventSynchronize", driver().cuEventSynchronize(end)))
    return *error;
  float milliseconds = 0;
  if (auto error = driver().check("cuEventElapsedTime", driver().elapsedTime(&milliseconds, begin, end)))
    return *error;
  return double(milliseconds);
}

Expected<double> CudaSession::run() {
  CurrentContext here(impl->driver(), impl->current());
  if (here.error())
    return *here.error();
  return impl->run();
}

std::optional<Error> CudaSession::fillArena(uint8_t byte) {
  CurrentContext here(impl->driver(), impl->current());
  if (here.error())
    return here.error();
  CUdeviceptr arena = impl->context->impl->ownArena;
  if (!arena)
    return std::nullopt;
  if (auto error = impl->driver().check(
          "cuMemsetD8Async", impl->driver().cuMemsetD8Async(arena, byte, size_t(impl->program().arenaBytes), nullptr)))
    return error;
  return impl->driver().check("cuStreamSynchronize", impl->driver().cuStreamSynchronize(nullptr));
}

std::optional<Error> CudaSession::download(size_t result, void *data) const {
  CurrentContext here(impl->driver(), impl->current());
  if (here.error())
    return here.error();
  size_t bytes = size_t(impl->program().results[result].type.bytes());
  if (bytes == 0)
    return std::nullopt;
  const Driver &driver = impl->driver();
  if (auto error = driver.check("cuMemcpyDtoHAsync",
                                driver.cuMemcpyDtoHAsync_v2(data, impl->context->result(result), bytes, nullptr)))
    return error;
  return driver.check("cuStreamSynchronize", driver.cuStreamSynchronize(nullptr));
}
