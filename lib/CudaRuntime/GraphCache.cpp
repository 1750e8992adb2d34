//===- GraphCache.cpp - A step as a CUDA graph -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphCache.h"

using namespace remat::runtime;

GraphCache::~GraphCache() {
  if (ready)
    (void)driver.cuGraphExecDestroy(ready);
  if (stream)
    (void)driver.cuStreamDestroy_v2(stream);
}

std::optional<Error> GraphCache::prepare() {
  return driver.check("cuStreamCreate", driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

Expected<CUgraph> GraphCache::capture(const std::function<std::optional<Error>(CUstream)> &enqueue) {
  // Relaxed: libraries load their code when a kernel is first used, which stricter modes forbid.
  if (auto error =
          driver.check("cuStreamBeginCapture", driver.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED)))
    return *error;
  std::optional<Error> error = enqueue(stream);
  CUgraph graph = nullptr;
  // The capture ends in any case, or the stream can't be used again.
  std::optional<Error> end = driver.check("cuStreamEndCapture", driver.cuStreamEndCapture(stream, &graph));
  if (!error && !end) {
    ++counts.captured;
    return graph;
  }
  if (graph)
    (void)driver.cuGraphDestroy(graph);
  return error ? *error : *end;
}

/// The same kernels with other addresses fit what is ready; anything else is instantiated.
std::optional<Error> GraphCache::take(CUgraph graph) {
  CUgraphExecUpdateResultInfo info = {};
  if (ready && driver.cuGraphExecUpdate_v2(ready, graph, &info) == CUDA_SUCCESS) {
    ++counts.updated;
    return std::nullopt;
  }
  if (ready)
    (void)driver.cuGraphExecDestroy(ready);
  ready = nullptr;
  if (auto error = driver.check("cuGraphInstantiate", driver.cuGraphInstantiateWithFlags(&ready, graph, 0))) {
    ready = nullptr;
    return error;
  }
  ++counts.instantiated;
  return std::nullopt;
}

std::optional<Error> GraphCache::run(const std::vector<DevicePointer> &wanted, CUstream target,
                                     const std::function<std::optional<Error>(CUstream)> &enqueue) {
  if (!ready || wanted != key) {
    Expected<CUgraph> graph = capture(enqueue);
    if (!graph)
      return graph.error();
    // What is ready may have been lost, or may have other addresses, until this ends.
    key.clear();
    std::optional<Error> error = take(*graph);
    (void)driver.cuGraphDestroy(*graph);
    if (error)
      return error;
    key = wanted;
  }
  ++counts.launched;
  return driver.check("cuGraphLaunch", driver.cuGraphLaunch(ready, target));
}
