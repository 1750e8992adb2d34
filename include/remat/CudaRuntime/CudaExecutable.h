//===- CudaExecutable.h - Runs a compiled step on a GPU ----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//   auto executable = CudaExecutable::create(std::move(program), std::move(code)); // no driver needed
//   int64_t bytes = (*executable)->program().arenaBytes;
//   auto context = CudaContext::create(*executable);                               // loads driver, code, libraries
//   if (auto error = (*context)->run(arguments, arena, stream)) …
//   DevicePointer loss = (*context)->result(0);
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/CudaRuntime/CudaCode.h"
#include "remat/Runtime/Error.h"
#include "remat/Runtime/Program.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace remat::runtime {

/// An address in a GPU's memory, as `CUdeviceptr`.
using DevicePointer = uint64_t;
/// A `CUstream` or `cudaStream_t`; null is the default stream.
using CudaStream = void *;

/// What a step becomes on a GPU.
struct CudaStepPlan {
  std::string name;     ///< The step's.
  std::string location; ///< Where its op stands; may be empty.
  enum class Kind : uint8_t {
    Launch, ///< Launches of the step's kernel.
    BlasLt, ///< Matrix products of cuBLASLt.
    Cudnn,  ///< Convolutions of cuDNN.
    Copy,   ///< A copy within the device.
    Loop,   ///< A loop of the host.
    Branch  ///< A branch of the host.
  };
  Kind kind = Kind::Launch;
  /// Launches, calls or copies of one execution; of loops and branches 0: their steps count for themselves.
  int64_t calls = 1;
  /// Why `calls` isn't 1; empty where it is.
  std::string reason = {};
  /// A loop's iterations; negative: only the device knows.
  int64_t trips = -1;
  /// The host waits for a value of the device: a loop without a known trip count, or a branch.
  bool waits = false;
  int depth = 0; ///< 0: not inside another step.
};

/// A program and its GPU code. Immutable; threads share it. Needs no driver and no GPU.
class CudaExecutable {
public:
  /// Error: a program or code that isn't legal, or a dot or convolution that the libraries don't have.
  static Expected<std::shared_ptr<const CudaExecutable>> create(Program program, CudaCode code);
  ~CudaExecutable();

  const Program &program() const;
  const CudaCode &code() const;
  /// Arguments that a run overwrites, because a result lies in them.
  const std::vector<uint32_t> &overwrittenArguments() const;
  /// Of every step in preorder.
  const std::vector<CudaStepPlan> &plan() const;
  /// Nothing in the plan waits: a step runs without synchronization, and can be captured as a graph.
  bool canBeCaptured() const;

private:
  friend class CudaContext;
  struct Impl;
  explicit CudaExecutable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Error: types or strides of a matrix product that cuBLASLt doesn't have.
std::optional<Error> checkCudaMatmul(const MatmulSpec &spec);

/// Bytes of workspace that a convolution can't do without; what its slot has beyond them is the library's. Dots do
/// without any. Error: a convolution that cuDNN doesn't have.
Expected<int64_t> leastCudaWorkspaceBytes(const ConvolutionSpec &spec);

/// Where the libraries are that are loaded when they are first needed: names for `dlopen`.
struct CudaLibraries {
  std::string driver = "libcuda.so.1";
  std::string blasLt = "libcublasLt.so.13";
  std::string cudnn = "libcudnn.so.9";
};

struct CudaOptions {
  CudaLibraries libraries;
  /// The device whose primary context is used where the calling thread has no current context.
  int device = 0;
  /// Dots and convolutions of f32 may round their inputs to TF32.
  bool allowTf32 = false;
  /// Runs are captured as a CUDA graph and replayed. An executable that can't be captured is an error.
  bool graph = false;
  /// An arena that the context allocates itself may not be larger. 0: no limit.
  int64_t arenaLimitBytes = 0;
};

/// What a context holds of a GPU's memory. What is not counted: the driver's own, code, and what libraries take for
/// their handles; `usedBefore` and `usedAfter` have these too, and what other processes took meanwhile.
struct CudaMemory {
  int64_t arenaBytes = 0;    ///< Of the context's own arena; 0 where the caller gives one.
  int64_t constantBytes = 0; ///< The program's constants.
  int64_t allocations = 0;   ///< Calls of the driver's allocator, for the two.
  int64_t usedBefore = 0;    ///< Used on the device before the context was made, by cuMemGetInfo.
  int64_t usedAfter = 0;     ///< Used on the device now.
};

/// What one thread needs to run an executable: the code on a device, algorithms of libraries, an arena. One context
/// runs on one thread at a time.
class CudaContext {
public:
  /// Loads the driver, the code and the libraries that the program needs, picks algorithms within the workspaces of the
  /// program's steps, and uploads its constants. Deterministic: the same device and libraries give the same choice.
  /// Error: no driver, no device, code for another device, a function the code lacks, no algorithm for a dot or
  /// convolution, too little memory.
  static Expected<std::unique_ptr<CudaContext>> create(std::shared_ptr<const CudaExecutable> executable,
                                                       const CudaOptions &options = {});
  ~CudaContext();

  const CudaExecutable &executable() const;

  /// Enqueues the step on `stream` and returns; the host only waits where the plan says so. `arguments` are addresses
  /// in the device's memory at multiples of 16, in the program's order, dense and row-major; they are only read, but
  /// for the executable's `overwrittenArguments`. `arena` has the program's `arenaBytes` at a multiple of 256; 0: the
  /// context's own, allocated once. A failure of a kernel while it runs is reported by the stream's next
  /// synchronization, as always with CUDA. Error: a wrong number of arguments, a null or misaligned one, or what the
  /// driver or a library says.
  std::optional<Error> run(std::span<const DevicePointer> arguments, DevicePointer arena = 0,
                           CudaStream stream = nullptr);

  /// Where result `index` of the last run lies: in the arena until the next run, in an argument, or a constant. 0
  /// where nothing has run.
  DevicePointer result(size_t index) const;

  /// Error: what cuMemGetInfo says.
  Expected<CudaMemory> memory() const;

  /// What runs did with graphs.
  struct GraphCounts {
    int64_t captured = 0;     ///< The steps were captured.
    int64_t updated = 0;      ///< The graph took other pointers without being instantiated again.
    int64_t instantiated = 0; ///< A graph was made ready to run.
    int64_t launched = 0;     ///< It ran.
  };
  GraphCounts graphCounts() const;

private:
  friend class CudaSession;
  struct Impl;
  explicit CudaContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace remat::runtime
