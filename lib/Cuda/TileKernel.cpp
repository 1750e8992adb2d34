//===- TileKernel.cpp - Operands that are read transposed -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operand that lies along another loop than the last one would be read by neighbouring threads from places far
// apart, 32 bytes for each element. Here a block has a tile of 32 × 32 points of the two loops: it reads such operands
// along the loop that they lie along, leaves them in shared memory, and computes along the last loop. A row of shared
// memory is one element longer than the tile, so that the threads of a warp meet no bank twice in either direction.
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace remat {

namespace {

constexpr int64_t tileSize = 32, rowSize = tileSize + 1, tileThreads = 256;

/// An operand that passes through shared memory.
struct Transposed {
  Access access;
  unsigned buffer;
  Type element;
  Value shared = {};
};

struct Tiling {
  unsigned across; ///< The loop that the operands lie along.
  SmallVector<Transposed> operands;
};

/// The loop that an access lies along if that isn't the last one, and both are long enough to fill a tile.
std::optional<unsigned> findOtherLoop(const LoopNest &nest, const Access &access) {
  constexpr int64_t leastLength = tileSize / 2;
  int64_t lastStride = access.strides.back();
  if (lastStride == 0 || lastStride == 1 || nest.space.back() < leastLength)
    return std::nullopt;
  for (unsigned d = 0; d + 1 < nest.space.size(); ++d)
    if (access.strides[d] == 1 && nest.space[d] >= leastLength)
      return d;
  return std::nullopt;
}

/// What a kernel reads transposed; operands that lie along yet another loop than the first such one are not among it.
std::optional<Tiling> findTiling(const LoopNest &nest) {
  constexpr size_t mostOperands = 5; // So many tiles of eight bytes fit the shared memory of any block.
  std::optional<Tiling> tiling;
  for (const LoopNest::Member &member : nest.members)
    for (auto [i, source] : llvm::enumerate(member.inputs)) {
      if (source.kind != LoopNest::Source::Kind::Buffer || nest.space.size() < 2)
        continue;
      std::optional<unsigned> loop = findOtherLoop(nest, source.access);
      Type element = getElementTypeOrSelf(member.op.getDpsInputOperand(i)->get().getType());
      // Booleans aren't in memory what they are in registers, and are small.
      if (!loop || element.isInteger(1) || element.isIndex())
        continue;
      if (!tiling)
        tiling = Tiling{*loop, {}};
      bool isKnown = llvm::any_of(tiling->operands, [&, &source = source](const Transposed &known) {
        return known.buffer == source.buffer && known.access == source.access;
      });
      if (tiling->across == *loop && !isKnown && tiling->operands.size() < mostOperands)
        tiling->operands.push_back({source.access, source.buffer, element});
    }
  return tiling;
}

class TileEmitter {
public:
  TileEmitter(gpu::GPUModuleOp module, Location loc, const LoopNest &nest, StringRef symbol, unsigned parameters,
              Tiling tiling)
      : frame(module, loc, symbol, parameters), builder(frame.builder), loc(loc), nest(nest),
        points(builder, loc, nest, frame.buffers), tiling(std::move(tiling)), last(nest.space.size() - 1) {}

  GpuLaunch run() {
    int64_t blocks = findTile();
    for (Transposed &operand : tiling.operands)
      operand.shared = frame.sharedMemory(tileSize * rowSize, operand.element);
    forTile(last, tiling.across, [&](ArrayRef<Value> indices, int64_t width, Value place) {
      Point point{llvm::to_vector(indices)};
      for (const Transposed &operand : tiling.operands)
        toShared(operand, points.address(operand.access, point), width, place);
    });
    frame.barrier();
    forTile(tiling.across, last, [&](ArrayRef<Value> indices, int64_t width, Value place) {
      Point point{llvm::to_vector(indices), width};
      for (const Transposed &operand : tiling.operands)
        point.loaded.push_back({operand.access, operand.buffer, {fromShared(operand, width, place)}});
      points.computeOutputs(point);
      points.storeOutputs(point);
    });
    return frame.finish(blocks, tileThreads);
  }

private:
  /// The indices of the block's first point; gives how many blocks there are.
  int64_t findTile() {
    Sizes tiles(nest.space);
    for (unsigned d : {tiling.across, last})
      tiles[d] = llvm::divideCeil(tiles[d], tileSize);
    first = points.split(frame.block(), tiles);
    for (unsigned d : {tiling.across, last})
      first[d] = frame.multiply(first[d], tileSize);
    return product(tiles);
  }

  /// The tile's points: neighbouring threads along the loop `along`, with four neighbours each where four divide it.
  /// `body` is given the first one's indices and its place in shared memory, whose rows are as the operands'.
  void forTile(unsigned beside, unsigned along,
               function_ref<void(ArrayRef<Value> indices, int64_t width, Value place)> body) {
    int64_t width = nest.space[along] % 4 == 0 ? 4 : 1;
    int64_t rowThreads = tileSize / width, rows = tileThreads / rowThreads;
    Value a = frame.multiply(frame.modulo(frame.thread(), rowThreads), width);
    for (int64_t row = 0; row < tileSize; row += rows) {
      Value b = frame.add(frame.divide(frame.thread(), rowThreads), frame.index(row));
      SmallVector<Value> indices = first;
      indices[along] = frame.add(first[along], a);
      indices[beside] = frame.add(first[beside], b);
      Value place = frame.add(frame.multiply(along == last ? a : b, rowSize), along == last ? b : a);
      frame.ifThen(frame.both(isInside(along, indices[along]), isInside(beside, indices[beside])),
                   [&] { body(indices, width, place); });
    }
  }

  /// Null where every tile is full.
  Value isInside(unsigned dim, Value place) {
    return nest.space[dim] % tileSize == 0 ? Value() : frame.isLess(place, frame.index(nest.space[dim]));
  }

  /// Moves neighbours along the operand's loop.
  void toShared(const Transposed &operand, Value address, int64_t width, Value place) {
    LaneBuilder lanes(builder, loc, width);
    Value value = lanes.load(frame.buffers[operand.buffer], operand.element, address, 1).value;
    for (int64_t v = 0; v < width; ++v) {
      Value element = width == 1 ? value : Value(vector::ExtractOp::create(builder, loc, value, v));
      memref::StoreOp::create(builder, loc, element, operand.shared, ValueRange(frame.add(place, frame.index(v))));
    }
  }

  /// Neighbours along the last loop.
  Value fromShared(const Transposed &operand, int64_t width, Value place) {
    SmallVector<Value> elements;
    for (int64_t v = 0; v < width; ++v) {
      Value there = frame.add(place, frame.index(v * rowSize));
      elements.push_back(memref::LoadOp::create(builder, loc, operand.shared, ValueRange(there)));
    }
    if (width == 1)
      return elements[0];
    return vector::FromElementsOp::create(builder, loc, VectorType::get({width}, operand.element), elements);
  }

  KernelFrame frame;
  OpBuilder &builder;
  Location loc;
  const LoopNest &nest;
  PointEmitter points;
  Tiling tiling;
  unsigned last;
  SmallVector<Value> first; ///< The indices of the tile's first point.
};

} // namespace

std::optional<GpuKernel> emitTiles(gpu::GPUModuleOp module, Location loc, const LoopNest &nest, StringRef symbol,
                                   unsigned parameters) {
  std::optional<Tiling> tiling = findTiling(nest);
  if (!tiling)
    return std::nullopt;
  GpuLaunch launch = TileEmitter(module, loc, nest, symbol, parameters, std::move(*tiling)).run();
  return GpuKernel{GpuKernel::Form::Points, {launch}, parameters};
}

} // namespace remat
