//===- Driver.cpp - The CUDA driver ----------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

using namespace remat::runtime;

/// The names of statuses that a driver may give without being able to name them: the toolkit's stub, and one that
/// doesn't start.
static const char *nameOfStartStatus(CUresult status) {
  switch (status) {
  case CUDA_ERROR_NOT_INITIALIZED:
    return "CUDA_ERROR_NOT_INITIALIZED";
  case CUDA_ERROR_STUB_LIBRARY:
    return "CUDA_ERROR_STUB_LIBRARY";
  case CUDA_ERROR_NO_DEVICE:
    return "CUDA_ERROR_NO_DEVICE";
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    return "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
  default:
    return nullptr;
  }
}

static const char *noteOf(CUresult status) {
  switch (status) {
  case CUDA_ERROR_STUB_LIBRARY:
    return "this is the toolkit's stub, for linking: keep its folder out of the loader's path, and install NVIDIA's "
           "driver";
  case CUDA_ERROR_NO_DEVICE:
    return "no GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES, or run the step on the CPU";
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
    return "the code isn't for this GPU: compile the step for it, or as a fat binary";
  case CUDA_ERROR_OUT_OF_MEMORY:
    return "plan for less memory: --memory-limit";
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return "update NVIDIA's driver";
  default:
    return "";
  }
}

std::optional<Error> Driver::check(const char *call, CUresult status) const {
  if (status == CUDA_SUCCESS)
    return std::nullopt;
  const char *name = nullptr;
  if (cuGetErrorName(status, &name) != CUDA_SUCCESS || !name)
    name = nameOfStartStatus(status);
  return callError(call, name, int(status), noteOf(status));
}

Expected<Driver> Driver::load(const std::string &file) {
  auto library = Library::open(file, "CUDA driver", "install NVIDIA's driver, or run the step on the CPU");
  if (!library)
    return library.error();
  Driver driver;
#define REMAT_FIND(name)                                                                                               \
  if (auto error = library->find(#name, driver.name))                                                                  \
    return *error;
  REMAT_DRIVER_FUNCTIONS(REMAT_FIND)
#undef REMAT_FIND
  if (auto error = library->find("cuEventElapsedTime", driver.elapsedTime))
    return *error;
  if (auto error = driver.check("cuInit", driver.cuInit(0)))
    return *error;
  return driver;
}

CurrentContext::CurrentContext(const Driver &driver, CUcontext context)
    : driver(driver), failure(driver.check("cuCtxPushCurrent", driver.cuCtxPushCurrent_v2(context))) {}

CurrentContext::~CurrentContext() {
  CUcontext popped;
  if (!failure)
    (void)driver.cuCtxPopCurrent_v2(&popped);
}
