//===- Driver.h - The CUDA driver --------------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Library.h"

#include <cuda.h>

namespace remat::runtime {

// Symbols are those of the library: cuda.h maps the plain names to them.
#define REMAT_DRIVER_FUNCTIONS(X)                                                                                      \
  X(cuInit)                                                                                                            \
  X(cuGetErrorName)                                                                                                    \
  X(cuDeviceGet)                                                                                                       \
  X(cuDeviceGetAttribute)                                                                                              \
  X(cuDeviceGetName)                                                                                                   \
  X(cuDeviceTotalMem_v2)                                                                                               \
  X(cuDevicePrimaryCtxRetain)                                                                                          \
  X(cuDevicePrimaryCtxRelease_v2)                                                                                      \
  X(cuCtxGetCurrent)                                                                                                   \
  X(cuCtxPushCurrent_v2)                                                                                               \
  X(cuCtxPopCurrent_v2)                                                                                                \
  X(cuModuleLoadData)                                                                                                  \
  X(cuModuleUnload)                                                                                                    \
  X(cuModuleGetFunction)                                                                                               \
  X(cuFuncSetAttribute)                                                                                                \
  X(cuLaunchKernel)                                                                                                    \
  X(cuMemAlloc_v2)                                                                                                     \
  X(cuMemFree_v2)                                                                                                      \
  X(cuMemAllocHost_v2)                                                                                                 \
  X(cuMemFreeHost)                                                                                                     \
  X(cuMemGetInfo_v2)                                                                                                   \
  X(cuMemcpyHtoD_v2)                                                                                                   \
  X(cuMemcpyDtoHAsync_v2)                                                                                              \
  X(cuMemcpyDtoDAsync_v2)                                                                                              \
  X(cuMemcpy2DAsync_v2)                                                                                                \
  X(cuMemsetD8Async)                                                                                                   \
  X(cuMemsetD2D8Async)                                                                                                 \
  X(cuEventCreate)                                                                                                     \
  X(cuEventDestroy_v2)                                                                                                 \
  X(cuEventRecord)                                                                                                     \
  X(cuEventSynchronize)                                                                                                \
  X(cuStreamCreate)                                                                                                    \
  X(cuStreamDestroy_v2)                                                                                                \
  X(cuStreamSynchronize)                                                                                               \
  X(cuStreamBeginCapture_v2)                                                                                           \
  X(cuStreamEndCapture)                                                                                                \
  X(cuGraphInstantiateWithFlags)                                                                                       \
  X(cuGraphExecUpdate_v2)                                                                                              \
  X(cuGraphExecDestroy)                                                                                                \
  X(cuGraphDestroy)                                                                                                    \
  X(cuGraphLaunch)

/// The driver's functions.
struct Driver {
#define REMAT_FIELD(name) decltype(&::name) name = nullptr;
  REMAT_DRIVER_FUNCTIONS(REMAT_FIELD)
#undef REMAT_FIELD
  /// The first version, which every driver has.
  decltype(&::cuEventElapsedTime_v2) elapsedTime = nullptr;

  /// Loads the library and starts it. Error: no driver, one that is too old, or no device.
  static Expected<Driver> load(const std::string &file);

  /// Nothing where `status` is success; otherwise the call and the status's name.
  std::optional<Error> check(const char *call, CUresult status) const;
};

/// A context that is current while the object lives.
class CurrentContext {
public:
  CurrentContext(const Driver &driver, CUcontext context);
  ~CurrentContext();
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

  /// Why the context isn't current.
  const std::optional<Error> &error() const { return failure; }

private:
  const Driver &driver;
  std::optional<Error> failure;
};

} // namespace remat::runtime
