//===- CopyKernel.cpp - Tensors laid side by side -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread writes as many neighbours of the result as move at once and lie in one piece wherever it begins. It finds
// its piece by halving: the code is as long as the list of pieces, and a thread takes the logarithm of it.
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace remat {

/// Elements that a thread moves: what 16 bytes hold, or less where a piece doesn't begin and end at a multiple of it.
static int64_t chooseWidth(const Copies &copies) {
  constexpr int64_t accessBytes = 16;
  int64_t width = std::max<int64_t>(1, accessBytes / (copies.element.getIntOrFloatBitWidth() / 8));
  for (const Copies::Piece &piece : copies.pieces)
    while (piece.begin % width != 0 || piece.size % width != 0)
      width /= 2;
  return width;
}

namespace {

class CopyEmitter {
public:
  CopyEmitter(gpu::GPUModuleOp module, Location loc, const Copies &copies, StringRef symbol, unsigned parameters)
      : frame(module, loc, symbol, parameters), builder(frame.builder), loc(loc), copies(copies),
        width(chooseWidth(copies)) {}

  GpuLaunch run() {
    constexpr int64_t blockThreads = 256;
    int64_t rowThreads = copies.rowSize / width, needed = copies.rows * rowThreads;
    int64_t threads = std::min<int64_t>(blockThreads, llvm::alignTo(needed, warpSize));
    int64_t blocks = llvm::divideCeil(needed, threads);
    Value number = frame.add(frame.multiply(frame.block(), threads), frame.thread());
    frame.ifThen(needed == blocks * threads ? Value() : frame.isLess(number, frame.index(needed)), [&] {
      LoopNest none;
      SmallVector<Value> place = PointEmitter(builder, loc, none, {}).split(number, {copies.rows, rowThreads});
      row = place[0];
      inRow = frame.multiply(place[1], width);
      copyOneOf(0, copies.pieces.size());
    });
    return frame.finish(blocks, threads);
  }

private:
  /// Copies from that of the pieces [first, end) which the thread's place lies in.
  void copyOneOf(size_t first, size_t end) {
    if (end - first == 1)
      return copy(copies.pieces[first]);
    size_t middle = (first + end) / 2;
    auto branch = scf::IfOp::create(builder, loc, frame.isLess(inRow, frame.index(copies.pieces[middle].begin)),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    copyOneOf(first, middle);
    builder.setInsertionPointToStart(branch.elseBlock());
    copyOneOf(middle, end);
  }

  void copy(const Copies::Piece &piece) {
    LaneBuilder lanes(builder, loc, width);
    Value inPiece = frame.add(inRow, frame.index(-piece.begin));
    Value from = frame.add(frame.multiply(row, piece.size), inPiece);
    Value value = lanes.load(frame.buffers[piece.input], copies.element, from, 1).value;
    Value to = frame.add(frame.multiply(row, copies.rowSize), inRow);
    lanes.store(frame.buffers.back(), value, to, 1);
  }

  KernelFrame frame;
  OpBuilder &builder;
  Location loc;
  const Copies &copies;
  int64_t width;
  Value row, inRow; ///< Of the first element that the thread writes.
};

} // namespace

GpuKernel emitCopies(gpu::GPUModuleOp module, Location loc, const Copies &copies, StringRef symbol,
                     unsigned parameters) {
  GpuLaunch launch = CopyEmitter(module, loc, copies, symbol, parameters).run();
  return GpuKernel{GpuKernel::Form::Points, {launch}, parameters};
}

} // namespace remat
