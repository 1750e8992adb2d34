//===- FakeCuda.h - A CUDA without a GPU, for tests --------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library with the functions of the driver, cuBLASLt and cuDNN that the runtime loads. Device memory is the
// host's, kernels are functions of the test, and what is put on a stream runs at once, or when its graph is launched.
// Dots and convolutions are computed from what the descriptors say, by the libraries' documented meaning. It knows
// nothing of Remat's programs, and refuses what the real libraries refuse: calls without a context, synchronization
// during a capture, descriptors that don't fit each other.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fakecuda {

struct Launch {
  std::string symbol;
  std::array<unsigned, 3> grid, block;
  unsigned sharedBytes = 0;
  std::vector<uint64_t> parameters;
};

/// An engine that cuDNN's heuristic offers.
struct Engine {
  std::vector<int> notes;
  int64_t workspaceBytes = 0;
  bool refuses = false; ///< No plan can be made with it.
};

struct State {
  std::vector<std::string> calls; ///< Names, in order; what is put on a stream with its details behind.
  std::vector<Launch> launches;   ///< Those that ran.
  /// What the libraries offer.
  int64_t blasWorkspaceBytes = 0;
  std::vector<Engine> engines = {{}};
  /// What was asked of them: `workspace=… reductions=… a=… b=… c=… compute=…` of each heuristic of cuBLASLt.
  std::vector<std::string> blasRequests;
  /// `forward`, `data` or `filter`, and the engine's number, for each convolution that ran.
  std::vector<std::string> convolutions;
  int64_t totalBytes = int64_t(1) << 30; ///< Of the device.
};
State &state();

/// Frees all, forgets all.
void reset();
/// The function that `cuModuleGetFunction` finds in any module that begins with `FAKE`, with parameters of 8 bytes.
void defineKernel(const std::string &symbol, size_t parameters, std::function<void(const Launch &)> body);
/// The `nth` call (from 1, counted from now) of the function `call` fails with `status`.
void failCall(const std::string &call, int nth, int status);
int countCalls(const std::string &call);
/// Device memory that is in use.
int64_t liveBytes();
/// Device memory of the test's own, filled from `data`; freed by `reset`. `shift` bytes behind a multiple of 256.
uint64_t upload(const void *data, size_t bytes, size_t shift = 0);

// For the library's own parts.
/// Records the call; not 0: it fails with that.
int enter(const std::string &call, const std::string &details = {});
/// Runs `work` now, or keeps it where the stream is captured. `kind` tells graphs' nodes apart.
void enqueue(void *stream, const std::string &kind, std::function<void()> work);
bool hasContext();

} // namespace fakecuda
