//===- FakeDriver.cpp - A CUDA driver without a GPU -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <cuda.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

using namespace fakecuda;

namespace {

struct Node {
  std::string kind;
  std::function<void()> work;
};
struct Kernel {
  std::string symbol;
  size_t parameters;
  std::function<void(const Launch &)> body;
};
struct Failure {
  int left, status;
};

struct Device {
  State state;
  bool started = false;
  std::vector<CUcontext> contexts;
  int primaryUses = 0;
  std::map<uint64_t, size_t> memory;
  std::vector<uint64_t> uploads;
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
  std::map<std::string, Failure> failures;
  std::vector<std::shared_ptr<void>> objects; ///< Modules, streams and graphs: they end with `reset`.
};
Device device;
int primaryContext;

struct Stream {
  bool isCaptured = false;
  std::vector<Node> nodes;
};
using Graph = std::vector<Node>;

bool isAnyCaptured = false;

template <typename T>
T *own(T *object) {
  device.objects.push_back(std::shared_ptr<T>(object));
  return object;
}

uint64_t takeMemory(size_t bytes) {
  size_t rounded = (bytes + 255) / 256 * 256;
  void *memory = std::aligned_alloc(256, rounded);
  std::memset(memory, 0xff, rounded); // NaN
  device.memory[uint64_t(memory)] = bytes;
  return uint64_t(memory);
}

/// [address, address + bytes) lies in one allocation.
bool isDeviceMemory(uint64_t address, size_t bytes) {
  auto after = device.memory.upper_bound(address);
  if (after == device.memory.begin())
    return false;
  auto [begin, size] = *std::prev(after);
  return address + bytes <= begin + size;
}

CUresult enterWithContext(const std::string &call, const std::string &details = {}) {
  if (int status = enter(call, details))
    return CUresult(status);
  if (!device.started)
    return CUDA_ERROR_NOT_INITIALIZED;
  return hasContext() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

} // namespace

namespace fakecuda {

State &state() { return device.state; }

void reset() {
  for (auto [address, bytes] : device.memory)
    std::free(reinterpret_cast<void *>(address));
  device = Device();
  isAnyCaptured = false;
}

void defineKernel(const std::string &symbol, size_t parameters, std::function<void(const Launch &)> body) {
  device.kernels[symbol] = std::make_unique<Kernel>(Kernel{symbol, parameters, std::move(body)});
}

void failCall(const std::string &call, int nth, int status) { device.failures[call] = {nth, status}; }

int countCalls(const std::string &call) {
  int count = 0;
  for (const std::string &text : device.state.calls)
    count += text == call || text.starts_with(call + " ");
  return count;
}

int64_t liveBytes() {
  int64_t bytes = 0;
  for (auto [address, size] : device.memory)
    bytes += int64_t(size);
  return bytes;
}

uint64_t upload(const void *data, size_t bytes, size_t shift) {
  uint64_t address = takeMemory(std::max<size_t>(bytes, 1) + shift) + shift;
  if (bytes > 0)
    std::memcpy(reinterpret_cast<void *>(address), data, bytes);
  return address;
}

int enter(const std::string &call, const std::string &details) {
  device.state.calls.push_back(details.empty() ? call : call + " " + details);
  auto failure = device.failures.find(call);
  if (failure == device.failures.end() || --failure->second.left > 0)
    return 0;
  int status = failure->second.status;
  device.failures.erase(failure);
  return status;
}

void enqueue(void *handle, const std::string &kind, std::function<void()> work) {
  auto *stream = static_cast<Stream *>(handle);
  if (stream && stream->isCaptured)
    stream->nodes.push_back({kind, std::move(work)});
  else
    work();
}

bool hasContext() { return !device.contexts.empty(); }

} // namespace fakecuda

extern "C" {

CUresult cuInit(unsigned) {
  if (int status = enter("cuInit"))
    return CUresult(status);
  device.started = true;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult status, const char **name) {
  static const std::map<int, const char *> names = {
      {1, "CUDA_ERROR_INVALID_VALUE"},       {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {3, "CUDA_ERROR_NOT_INITIALIZED"},     {100, "CUDA_ERROR_NO_DEVICE"},
      {101, "CUDA_ERROR_INVALID_DEVICE"},    {201, "CUDA_ERROR_INVALID_CONTEXT"},
      {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"}, {500, "CUDA_ERROR_NOT_FOUND"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},   {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}};
  auto found = names.find(int(status));
  if (found == names.end())
    return CUDA_ERROR_INVALID_VALUE;
  *name = found->second;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *found, int ordinal) {
  if (int status = enter("cuDeviceGet"))
    return CUresult(status);
  *found = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice) {
  if (int status = enter("cuDeviceGetName"))
    return CUresult(status);
  std::strncpy(name, "no GPU", size_t(bytes));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
  if (int status = enter("cuDeviceGetAttribute"))
    return CUresult(status);
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  if (int status = enter("cuDeviceTotalMem"))
    return CUresult(status);
  *bytes = size_t(device.state.totalBytes);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  if (int status = enter("cuDevicePrimaryCtxRetain"))
    return CUresult(status);
  ++device.primaryUses;
  *context = reinterpret_cast<CUcontext>(&primaryContext);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  enter("cuDevicePrimaryCtxRelease");
  return --device.primaryUses < 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  if (int status = enter("cuCtxGetCurrent"))
    return CUresult(status);
  *context = hasContext() ? device.contexts.back() : nullptr;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (int status = enter("cuCtxPushCurrent"))
    return CUresult(status);
  device.contexts.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  if (CUresult status = enterWithContext("cuCtxPopCurrent"))
    return status;
  *context = device.contexts.back();
  device.contexts.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  if (CUresult status = enterWithContext("cuModuleLoadData"))
    return status;
  if (std::memcmp(image, "FAKE", 4) != 0)
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  *module = reinterpret_cast<CUmodule>(own(new int));
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) { return enterWithContext("cuModuleUnload"); }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  if (CUresult status = enterWithContext("cuModuleGetFunction", name))
    return status;
  auto found = device.kernels.find(name);
  if (found == device.kernels.end())
    return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(found->second.get());
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return enterWithContext("cuFuncSetAttribute", std::to_string(int(attribute)) + " " + std::to_string(value));
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned sharedBytes, CUstream stream, void **parameters, void **extra) {
  auto *kernel = reinterpret_cast<Kernel *>(function);
  if (CUresult status = enterWithContext("cuLaunchKernel", kernel->symbol))
    return status;
  Launch launch{kernel->symbol, {gx, gy, gz}, {bx, by, bz}, sharedBytes, {}};
  for (size_t i = 0; i < kernel->parameters; ++i)
    launch.parameters.push_back(*static_cast<uint64_t *>(parameters[i]));
  enqueue(stream, "launch " + kernel->symbol, [kernel, launch] {
    device.state.launches.push_back(launch);
    kernel->body(launch);
  });
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  if (CUresult status = enterWithContext("cuMemAlloc", std::to_string(bytes)))
    return status;
  if (isAnyCaptured)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (liveBytes() + int64_t(bytes) > device.state.totalBytes)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = takeMemory(bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  if (CUresult status = enterWithContext("cuMemFree"))
    return status;
  if (!device.memory.erase(address))
    return CUDA_ERROR_INVALID_VALUE;
  std::free(reinterpret_cast<void *>(address));
  return CUDA_SUCCESS;
}
CUresult cuMemAllocHost_v2(void **memory, size_t bytes) {
  if (CUresult status = enterWithContext("cuMemAllocHost"))
    return status;
  if (bytes > sizeof(std::array<uint64_t, 8>))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *memory = own(new std::array<uint64_t, 8>)->data();
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void *memory) { return enterWithContext("cuMemFreeHost"); }
CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  if (CUresult status = enterWithContext("cuMemGetInfo"))
    return status;
  *total = size_t(device.state.totalBytes);
  *free = size_t(device.state.totalBytes - liveBytes());
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  if (CUresult status = enterWithContext("cuMemcpyHtoD"))
    return status;
  if (!isDeviceMemory(to, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  if (CUresult status = enterWithContext("cuMemcpyDtoHAsync", std::to_string(bytes)))
    return status;
  if (!isDeviceMemory(from, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, "copy", [=] { std::memcpy(to, reinterpret_cast<void *>(from), bytes); });
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  if (CUresult status = enterWithContext("cuMemcpyDtoDAsync", std::to_string(bytes)))
    return status;
  if (!isDeviceMemory(from, bytes) || !isDeviceMemory(to, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, "copy " + std::to_string(bytes),
          [=] { std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes); });
  return CUDA_SUCCESS;
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *given, CUstream stream) {
  if (CUresult status = enterWithContext("cuMemcpy2DAsync"))
    return status;
  CUDA_MEMCPY2D copy = *given;
  if (copy.WidthInBytes > copy.srcPitch || copy.WidthInBytes > copy.dstPitch || copy.Height == 0 ||
      !isDeviceMemory(copy.srcDevice, copy.srcPitch * (copy.Height - 1) + copy.WidthInBytes) ||
      !isDeviceMemory(copy.dstDevice, copy.dstPitch * (copy.Height - 1) + copy.WidthInBytes))
    return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, "copy", [copy] {
    for (size_t row = 0; row < copy.Height; ++row)
      std::memcpy(reinterpret_cast<void *>(copy.dstDevice + row * copy.dstPitch),
                  reinterpret_cast<void *>(copy.srcDevice + row * copy.srcPitch), copy.WidthInBytes);
  });
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  if (CUresult status = enterWithContext("cuMemsetD8Async", std::to_string(bytes)))
    return status;
  if (!isDeviceMemory(to, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, "set", [=] { std::memset(reinterpret_cast<void *>(to), value, bytes); });
  return CUDA_SUCCESS;
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  if (CUresult status = enterWithContext("cuMemsetD2D8Async"))
    return status;
  if (width > pitch || height == 0 || !isDeviceMemory(to, pitch * (height - 1) + width))
    return CUDA_ERROR_INVALID_VALUE;
  enqueue(stream, "set", [=] {
    for (size_t row = 0; row < height; ++row)
      std::memset(reinterpret_cast<void *>(to + row * pitch), value, width);
  });
  return CUDA_SUCCESS;
}

// What runs on a stream has run when the call returns, so all times are 1 ms.
CUresult cuEventCreate(CUevent *event, unsigned) {
  if (CUresult status = enterWithContext("cuEventCreate"))
    return status;
  *event = reinterpret_cast<CUevent>(own(new int));
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy_v2(CUevent) { return enterWithContext("cuEventDestroy"); }
CUresult cuEventRecord(CUevent, CUstream) { return enterWithContext("cuEventRecord"); }
CUresult cuEventSynchronize(CUevent) { return enterWithContext("cuEventSynchronize"); }
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent, CUevent) {
  *milliseconds = 1;
  return enterWithContext("cuEventElapsedTime");
}

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  if (CUresult status = enterWithContext("cuStreamCreate"))
    return status;
  *stream = reinterpret_cast<CUstream>(own(new Stream));
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream stream) { return enterWithContext("cuStreamDestroy"); }
CUresult cuStreamSynchronize(CUstream stream) {
  if (CUresult status = enterWithContext("cuStreamSynchronize"))
    return status;
  return isAnyCaptured ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode) {
  if (CUresult status = enterWithContext("cuStreamBeginCapture"))
    return status;
  auto *stream = reinterpret_cast<Stream *>(handle);
  if (!stream || stream->isCaptured)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  stream->isCaptured = isAnyCaptured = true;
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  auto *stream = reinterpret_cast<Stream *>(handle);
  CUresult status = enterWithContext("cuStreamEndCapture");
  stream->isCaptured = isAnyCaptured = false;
  std::vector<Node> nodes = std::move(stream->nodes);
  stream->nodes.clear();
  if (status)
    return status;
  *graph = reinterpret_cast<CUgraph>(own(new Graph(std::move(nodes))));
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  if (CUresult status = enterWithContext("cuGraphInstantiate"))
    return status;
  *exec = reinterpret_cast<CUgraphExec>(own(new Graph(*reinterpret_cast<Graph *>(graph))));
  return CUDA_SUCCESS;
}
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *) {
  if (CUresult status = enterWithContext("cuGraphExecUpdate"))
    return status;
  Graph &old = *reinterpret_cast<Graph *>(exec), &fresh = *reinterpret_cast<Graph *>(graph);
  bool fits = old.size() == fresh.size();
  for (size_t i = 0; fits && i < old.size(); ++i)
    fits = old[i].kind == fresh[i].kind;
  if (!fits)
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  old = fresh;
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec exec) { return enterWithContext("cuGraphExecDestroy"); }
CUresult cuGraphDestroy(CUgraph graph) { return enterWithContext("cuGraphDestroy"); }
CUresult cuGraphLaunch(CUgraphExec exec, CUstream) {
  if (CUresult status = enterWithContext("cuGraphLaunch"))
    return status;
  for (const Node &node : *reinterpret_cast<Graph *>(exec))
    node.work();
  return CUDA_SUCCESS;
}

} // extern "C"
