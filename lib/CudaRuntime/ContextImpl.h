//===- ContextImpl.h - What a context holds ----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Blas.h"
#include "Dnn.h"
#include "ExecutableImpl.h"
#include "GraphCache.h"
#include "StepRunner.h"

namespace remat::runtime {

struct CudaContext::Impl {
  std::shared_ptr<const CudaExecutable> executable;
  CudaOptions options;
  Driver driver;
  CUcontext context = nullptr;
  std::optional<CUdevice> retained; ///< The device whose primary context is held.
  CUmodule module = nullptr;
  CUdeviceptr constants = 0, ownArena = 0;
  void *decision = nullptr;
  std::shared_ptr<Blas> blas;
  std::shared_ptr<Dnn> dnn;
  std::vector<std::unique_ptr<CudaCall>> matmuls, convolutions;
  std::vector<std::vector<PreparedLaunch>> launches; ///< By kernel.
  std::vector<PreparedCudaStep> steps;
  std::unique_ptr<GraphCache> graph;
  std::vector<DevicePointer> results, key;
  CudaMemory memory;

  ~Impl();
  const CudaExecutable::Impl &shared() const { return *executable->impl; }
  const Program &program() const { return executable->program(); }

  std::optional<Error> takeContext();
  /// All that needs the context: code, constants, libraries.
  std::optional<Error> load();
  std::optional<Error> allocate(CUdeviceptr &address, int64_t bytes, const char *purpose);
  std::optional<Error> uploadConstants();
  std::optional<Error> loadModule();
  std::optional<Error> findFunction(const CudaLaunch &launch, CUfunction &function);
  std::optional<Error> makeCalls();
  void prepare(const std::vector<Step> &from, std::vector<PreparedCudaStep> &to, size_t &number);
  Expected<int64_t> usedBytes() const;

  std::optional<Error> checkArguments(std::span<const DevicePointer> arguments) const;
  Expected<CUdeviceptr> arenaFor(DevicePointer given);
  std::optional<Error> run(const Addresses &addresses, CUstream stream);
};

} // namespace remat::runtime
