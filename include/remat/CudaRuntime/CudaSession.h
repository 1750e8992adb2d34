//===- CudaSession.h - A step on a GPU for programs on the host -*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/CudaRuntime/CudaExecutable.h"

namespace remat::runtime {

struct CudaDeviceInfo {
  std::string name;
  int major = 0, minor = 0; ///< The compute capability.
  int64_t bytes = 0;        ///< Of memory.
};

/// Error: no driver, no such device.
Expected<CudaDeviceInfo> findCudaDevice(const CudaLibraries &libraries = {}, int device = 0);

/// A context with arguments of its own, for programs that keep theirs in the host's memory. Runs on the default stream.
class CudaSession {
public:
  /// Makes a context, allocates the arguments and uploads them: dense and row-major, in the program's order. They must
  /// outlive the session. Error: as `CudaContext::create`; a wrong number of arguments; too little memory.
  static Expected<std::unique_ptr<CudaSession>> create(std::shared_ptr<const CudaExecutable> executable,
                                                       const CudaOptions &options,
                                                       std::span<const void *const> arguments);
  ~CudaSession();

  /// Uploads again what the last run overwrote, runs once and waits: milliseconds between an event before the step and
  /// one behind it.
  Expected<double> run();
  /// Sets every byte of the arena, so that a value that nobody writes is noticed. Only behind a run.
  std::optional<Error> fillArena(uint8_t byte);
  /// Copies a result of the last run.
  std::optional<Error> download(size_t result, void *data) const;

  /// Bytes of the arguments on the device, each at a multiple of 256.
  int64_t argumentBytes() const;
  Expected<CudaMemory> memory() const;

private:
  struct Impl;
  explicit CudaSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace remat::runtime
