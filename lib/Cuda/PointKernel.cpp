//===- PointKernel.cpp - Clusters without reductions ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread computes four neighbours along the last loop, so that what lies densely moves 16 bytes at once (8 of bf16),
// and there are as many threads as that takes: the scheduler of blocks balances better than a loop over strides would.
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"

using namespace mlir;

namespace remat {

GpuKernel emitPoints(gpu::GPUModuleOp module, Location loc, const LoopNest &nest, StringRef symbol,
                     unsigned parameters) {
  constexpr int64_t blockThreads = 256, vector = 4;
  KernelFrame frame(module, loc, symbol, parameters);
  PointEmitter points(frame.builder, loc, nest, frame.buffers);
  int64_t count = product(nest.space);
  bool isVector =
      !nest.space.empty() && nest.space.back() >= vector && (nest.space.size() == 1 || nest.space.back() % vector == 0);
  int64_t width = isVector ? vector : 1, rest = count % width;
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
