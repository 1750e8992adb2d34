//===- GraphCache.h - A step as a CUDA graph ---------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Driver.h"
#include "remat/CudaRuntime/CudaExecutable.h"

#include <functional>
#include <vector>

namespace remat::runtime {

/// The graph of the last run. The driver outlives it.
class GraphCache {
public:
  explicit GraphCache(const Driver &driver) : driver(driver) {}
  ~GraphCache();
  GraphCache(const GraphCache &) = delete;
  GraphCache &operator=(const GraphCache &) = delete;

  /// Makes what captures: a stream of its own, for the default stream can't be captured.
  std::optional<Error> prepare();

  /// Launches the graph of what `enqueue` puts on a stream. It is asked again where `key`, the addresses that it
  /// uses, isn't that of the last run.
  std::optional<Error> run(const std::vector<DevicePointer> &key, CUstream stream,
                           const std::function<std::optional<Error>(CUstream)> &enqueue);

  CudaContext::GraphCounts counts;

private:
  Expected<CUgraph> capture(const std::function<std::optional<Error>(CUstream)> &enqueue);
  std::optional<Error> take(CUgraph graph);

  const Driver &driver;
  CUstream stream = nullptr;
  CUgraphExec ready = nullptr;
  std::vector<DevicePointer> key;
};

} // namespace remat::runtime
