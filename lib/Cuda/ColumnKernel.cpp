//===- ColumnKernel.cpp - Clusters with sums of columns -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block has a strip of 8 to 32 columns, in threads of four neighbours or of one: 32 where that makes blocks enough to
// fill a GPU, fewer otherwise, down to the 32 bytes that memory moves at once. Behind each such row of threads stand
// others, the slices, which share the elements of the columns, so that many rows are in flight at once, and nothing is
// added by atomics.
//
// The order of a sum follows from the number n of its elements alone:
//   slices = √n rounded up to a power of two, at most 128;
//   slice s sums the elements s, s + slices, …; then the slices are added pairwise, the upper half to the lower; the
//   value that the sum starts with comes first of all.
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace remat {

namespace {

class ColumnEmitter {
public:
  ColumnEmitter(gpu::GPUModuleOp module, Location loc, const LoopNest &nest, StringRef symbol, unsigned parameters)
      : frame(module, loc, symbol, parameters), builder(frame.builder), loc(loc), nest(nest),
        points(builder, loc, nest, frame.buffers) {
    auto [first, last] = *nest.columns;
    for (auto [d, size] : llvm::enumerate(nest.space)) {
      bool isReduced = d >= first && d < last;
      (isReduced ? reducedSizes : keptSizes).push_back(size);
      (isReduced ? reducedDims : keptDims).push_back(d);
    }
    for (const LoopNest::Member &member : nest.members)
      if (member.reduces)
        sums.push_back(&member);
    width = nest.space.back() % 4 == 0 ? 4 : 1;
    count = product(reducedSizes);
    constexpr int64_t mostSlices = 128, mostThreads = 1024, enoughThreads = 128, enoughBlocks = 128, fewestColumns = 8;
    while (slices * slices < count && slices < mostSlices)
      slices *= 2;
    stripColumns = 32;
    auto isTooWide = [&] {
      int64_t threads = stripColumns / width * slices;
      bool leavesIdle = product(keptSizes) < stripColumns * enoughBlocks && threads > enoughThreads;
      return threads > mostThreads || (leavesIdle && stripColumns > fewestColumns);
    };
    while (isTooWide())
      stripColumns /= 2;
    acrossThreads = stripColumns / width;
  }

  GpuLaunch run() {
    int64_t groups = product(keptSizes) / width, blocks = llvm::divideCeil(groups, acrossThreads);
    across = frame.modulo(frame.thread(), acrossThreads);
    slice = frame.divide(frame.thread(), acrossThreads);
    Value group = frame.add(frame.multiply(frame.block(), acrossThreads), across);
    Value isColumn;
    if (groups % acrossThreads != 0) {
      isColumn = frame.isLess(group, frame.index(groups));
      group = frame.minimum(group, frame.index(groups - 1));
    }
    Point column;
    column.width = width;
    column.indices.resize(nest.space.size());
    SmallVector<Value> kept = points.split(frame.multiply(group, width), keptSizes);
    for (auto [d, index] : llvm::zip(keptDims, kept))
      column.indices[d] = index;
    SmallVector<Value> parts = sumSlices(column, isColumn);
    for (auto [i, member] : llvm::enumerate(sums))
      finishSum(*member, parts[i], column, isColumn);
    return frame.finish(blocks, acrossThreads * slices);
  }

private:
  /// What this thread's slice adds up to, by member.
  SmallVector<Value> sumSlices(const Point &column, Value isColumn) {
    SmallVector<Value> carried;
    LaneBuilder lanes(builder, loc, width);
    for (const LoopNest::Member *member : sums)
      carried.push_back(lanes.spread(arith::ConstantOp::create(
          builder, loc, neutralElement(findCombiner(member->op), PointEmitter::elementType(*member)))));
    Value end = frame.index(count);
    if (isColumn) // Nothing to do behind the last column.
      end = arith::SelectOp::create(builder, loc, isColumn, end, frame.index(0));
    return frame.forLoop(slice, end, slices, carried, [&](Value element, ValueRange inside) {
      Point point{column.indices, width};
      for (auto [d, index] : llvm::zip(reducedDims, points.split(element, reducedSizes)))
        point.indices[d] = index;
      SmallVector<Value> next;
      for (auto [i, member] : llvm::enumerate(sums))
        next.push_back(lanes.spread(points.compute(*member, point, {{inside[i], {}}})[0].value));
      points.computeOutputs(point);
      points.storeOutputs(point);
      return next;
    });
  }

  /// Adds the slices up in shared memory, the upper half to the lower; the threads of the first store the sums.
  void finishSum(const LoopNest::Member &member, Value part, const Point &column, Value isColumn) {
    Operation *combiner = findCombiner(member.op);
    Value base = frame.multiply(frame.add(frame.multiply(slice, acrossThreads), across), width);
    if (slices > 1) {
      Value &shared = sharedByType[part.getType()];
      if (shared)
        frame.barrier(); // The last sum has been read.
      else
        shared = frame.sharedMemory(stripColumns * slices, PointEmitter::elementType(member));
      storePart(shared, part, base);
      for (int64_t half = slices / 2; half > 0; half /= 2) {
        frame.barrier();
        frame.ifThen(frame.isLess(slice, frame.index(half)), [&] {
          LaneBuilder lanes(builder, loc, width);
          Value lower = loadPart(shared, base),
                upper = loadPart(shared, frame.add(base, frame.index(half * stripColumns)));
          storePart(shared, lanes.clone(combiner, {lower, upper}), base);
        });
      }
      frame.ifThen(frame.isFirst(slice), [&] { storeSum(member, loadPart(shared, base), column, isColumn); });
      return;
    }
    storeSum(member, part, column, isColumn);
  }

  void storePart(Value shared, Value part, Value place) {
    for (int64_t v = 0; v < width; ++v) {
      Value scalar = width == 1 ? part : Value(vector::ExtractOp::create(builder, loc, part, v));
      memref::StoreOp::create(builder, loc, scalar, shared, ValueRange(frame.add(place, frame.index(v))));
    }
  }

  Value loadPart(Value shared, Value place) {
    SmallVector<Value> elements;
    for (int64_t v = 0; v < width; ++v)
      elements.push_back(memref::LoadOp::create(builder, loc, shared, ValueRange(frame.add(place, frame.index(v)))));
    if (width == 1)
      return elements[0];
    return vector::FromElementsOp::create(builder, loc, VectorType::get({width}, elements[0].getType()), elements);
  }

  void storeSum(const LoopNest::Member &member, Value total, Point column, Value isColumn) {
    Access access;
    Sizes dense = rowMajorStrides(keptSizes);
    access.strides.resize(nest.space.size());
    for (auto [d, stride] : llvm::zip(keptDims, dense))
      access.strides[d] = stride;
    auto store = [&] {
      Value result = points.withInitial(member, total, column);
      for (const LoopNest::Output &output : member.outputs)
        points.store(output.buffer, result, points.address(access, column), width);
    };
    frame.ifThen(isColumn, store);
  }

  KernelFrame frame;
  OpBuilder &builder;
  Location loc;
  const LoopNest &nest;
  PointEmitter points;
  Sizes keptSizes, reducedSizes;
  SmallVector<unsigned> keptDims, reducedDims;
  SmallVector<const LoopNest::Member *> sums;
  int64_t width = 1, stripColumns = 1, acrossThreads = 1, count = 1, slices = 1;
  Value across, slice; ///< The thread's place in the block.
  DenseMap<Type, Value> sharedByType;
};

} // namespace

GpuKernel emitColumns(gpu::GPUModuleOp module, Location loc, const LoopNest &nest, StringRef symbol,
                      unsigned parameters) {
  return {GpuKernel::Form::Columns, {ColumnEmitter(module, loc, nest, symbol, parameters).run()}, parameters};
}

} // namespace remat
