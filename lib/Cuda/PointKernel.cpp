//===- PointKernel.cpp - Clusters without reductions ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread computes four neighbours along the last loop, or more where all elements are narrower than f32, so that what
// lies densely moves 16 bytes at once, and there are as many threads as that takes: the scheduler of blocks balances
// better than a loop over strides would.
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"

using namespace mlir;

namespace remat {

/// How many neighbours a thread has.
static int64_t chooseWidth(const LoopNest &nest) {
  constexpr int64_t accessBytes = 16, least = 4;
  if (nest.space.empty())
    return 1;
  int64_t width = std::max(least, accessBytes / widestBytes(nest)), length = nest.space.back();
  auto fits = [&] { return nest.space.size() == 1 ? length >= width : length % width == 0; };
  while (width > least && !fits())
    width /= 2;
  return fits() ? width : 1;
}

GpuKernel emitPoints(gpu::GPUModuleOp module, Location loc, const LoopNest &nest, StringRef symbol,
                     unsigned parameters) {
  if (std::optional<GpuKernel> tiles = emitTiles(module, loc, nest, symbol, parameters))
    return std::move(*tiles);
  constexpr int64_t blockThreads = 256;
  KernelFrame frame(module, loc, symbol, parameters);
  PointEmitter points(frame.builder, loc, nest, frame.buffers);
  int64_t count = product(nest.space), width = chooseWidth(nest), rest = count % width;
  int64_t needed = llvm::divideCeil(count, width),
          threads = std::min<int64_t>(blockThreads, llvm::alignTo(needed, warpSize));
  int64_t blocks = llvm::divideCeil(needed, threads);
  Value number = frame.add(frame.multiply(frame.block(), threads), frame.thread());
  auto emit = [&](Value element, int64_t neighbours) {
    Point point{points.split(element, nest.space), neighbours};
    points.computeOutputs(point);
    points.storeOutputs(point);
  };
  auto emitVector = [&] { emit(frame.multiply(number, width), width); };
  int64_t whole = count / width;
  whole == blocks *threads ? emitVector() : frame.ifThen(frame.isLess(number, frame.index(whole)), emitVector);
  // The rest of a space of one loop: a thread each, the first ones.
  if (rest != 0)
    frame.ifThen(frame.isLess(number, frame.index(rest)),
                 [&] { emit(frame.add(frame.index(count - rest), number), 1); });
  return {GpuKernel::Form::Points, {frame.finish(blocks, threads)}, parameters};
}

} // namespace remat
