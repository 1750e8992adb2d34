//===- EmitRows.cpp - Element-wise clusters and clusters by rows ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An iteration is a row: its passes run one after the other, and what a later pass reads of an earlier one waits in
// scratch. Where nothing is summed, rows are as long as makes them worth a loop; a space of one loop is cut into
// blocks.
//
//===----------------------------------------------------------------------===//

#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace remat {

namespace {

/// Elements of a block of a space with one loop.
constexpr int64_t blockElements = 2048;

class RowLoops : LoopEmitter {
public:
  RowLoops(OpBuilder &builder, KernelOp kernel, const LoopNest &nest, StringRef symbol)
      : LoopEmitter(builder, kernel, nest, symbol), lastDim(int64_t(nest.space.size()) - 1) {
    if (!nest.byRows && nest.space.size() == 1) {
      isBlocked = nest.space[0] > blockElements;
      result.iterations = isBlocked ? llvm::divideCeil(nest.space[0], blockElements) : 1;
      result.grain = std::max<int64_t>(1, grainElements / blockElements);
      return;
    }
    result.iterations = product(ArrayRef(nest.space).take_front(nest.outer));
    int64_t inner = product(ArrayRef(nest.space).drop_front(nest.outer));
    result.grain = std::max<int64_t>(1, grainElements / std::max<int64_t>(inner * nest.passes, 1));
    for (const Member &member : nest.members)
      if (member.isScratch)
        scratch[&member] = addScratch(member, inner);
  }

  EmittedKernel run() {
    emitFunction([&](Value row) { emitRow(row); });
    return result;
  }

private:
  using Members = SmallVector<const Member *>;

  void emitRow(Value row) {
    Point point;
    point.indices.resize(nest.space.size());
    if (!isBlocked)
      llvm::copy(split(row, ArrayRef(nest.space).take_front(nest.outer)), point.indices.begin());
    for (unsigned pass = 0; pass < nest.passes; ++pass) {
      for (const Member &member : nest.members)
        if (member.perRow && member.pass == pass) {
          computeElementwise(member, point);
          flushStores(point);
        }
      Members members;
      for (const Member &member : nest.members)
        if (!member.perRow && member.pass == pass)
          members.push_back(&member);
      if (!members.empty())
        emitPass(members, point, isBlocked ? row : Value());
    }
    rowValues.clear();
  }

  void emitPass(const Members &members, Point &point, Value block) {
    if (lastDim + 1 == int64_t(nest.outer)) { // A row is one element.
      scratchPlace = index(0);
      for (const Member *member : members)
        computeElementwise(*member, point);
      flushStores(point);
      return;
    }
    int64_t lanes = std::min<int64_t>(mostLanes, llvm::bit_floor(uint64_t(std::max<int64_t>(nest.space.back(), 1))));
    SmallVector<Value> carried = startSums(members, lanes);
    carried = emitInnerLoops(nest.outer, members, point, carried, lanes, block, Value());
    finishSums(members, carried, lanes, point);
    point.loaded.clear();
  }

  /// The accumulators of the members that reduce, two each: a vector for the full vectors, a scalar for the rest.
  SmallVector<Value> startSums(const Members &members, int64_t lanes) {
    SmallVector<Value> carried;
    for (const Member *member : members)
      if (member->reduces) {
        Value start = neutral(*member);
        llvm::append_values(carried, LaneBuilder(builder, loc, lanes).spread(start), start);
      }
    return carried;
  }

  void finishSums(const Members &members, ArrayRef<Value> carried, int64_t lanes, Point &point) {
    LaneBuilder one(builder, loc, 1), wide(builder, loc, lanes);
    for (const Member *member : members) {
      if (!member->reduces)
        continue;
      Operation *combiner = findCombiner(member->op);
      Value total = wide.combineLanes(combiner, carried[0]);
      total = one.clone(combiner, {total, carried[1]});
      carried = carried.drop_front(2);
      total = withInitial(*member, total, point);
      rowValues[member->op->getResult(0)] = {total, {}};
      for (const LoopNest::Output &output : member->outputs)
        one.store(buffers[output.buffer], total, address(denseAccess(*member), point), 0);
    }
  }

  /// Loops over the dimensions from `dim` on; gives the carried sums.
  SmallVector<Value> emitInnerLoops(int64_t dim, const Members &members, Point &point, SmallVector<Value> carried,
                                    int64_t lanes, Value block, Value innerBase) {
    if (dim == lastDim)
      return emitLastLoop(members, point, carried, lanes, block, innerBase);
    return forLoop(index(0), index(nest.space[dim]), 1, carried, [&](Value i, ValueRange inside) {
      point.indices[dim] = i;
      Value base = innerBase ? add(multiply(innerBase, nest.space[dim]), i) : i;
      return emitInnerLoops(dim + 1, members, point, llvm::to_vector_of<Value>(inside), lanes, block, base);
    });
  }

  SmallVector<Value> emitLastLoop(const Members &members, Point &point, SmallVector<Value> carried, int64_t lanes,
                                  Value block, Value innerBase) {
    int64_t length = nest.space.back();
    Value begin = index(0), end = index(length), middle = index(length - length % lanes);
    if (block) {
      begin = multiply(block, blockElements);
      end = minimum(add(begin, index(blockElements)), end);
      middle = minimum(end, middle);
    }
    Value base = innerBase ? multiply(innerBase, length) : index(0);
    auto loop = [&](Value from, Value to, int64_t width, unsigned which) {
      point.width = width;
      carried = forLoop(from, to, width, carried, [&](Value i, ValueRange inside) {
        point.indices.back() = i;
        scratchPlace = add(base, i);
        return emitPoint(members, point, llvm::to_vector_of<Value>(inside), which);
      });
      point.width = 1;
    };
    if (lanes > 1)
      loop(begin, middle, lanes, 0);
    if (lanes == 1 || length % lanes != 0)
      loop(lanes == 1 ? begin : middle, end, 1, 1);
    return carried;
  }

  /// `which` accumulator of each sum goes on: that of the vectors or that of the rest.
  SmallVector<Value> emitPoint(const Members &members, Point &point, SmallVector<Value> carried, unsigned which) {
    LaneBuilder lanes(builder, loc, point.width);
    unsigned sum = 0;
    for (const Member *member : members) {
      if (!member->reduces) {
        computeElementwise(*member, point);
        continue;
      }
      Value &accumulator = carried[2 * sum++ + which];
      accumulator = lanes.spread(compute(*member, point, {{accumulator, {}}})[0].value);
    }
    flushStores(point);
    point.values.clear();
    return carried;
  }

  int64_t lastDim;
  bool isBlocked = false; ///< A space of one loop, cut into blocks.
};

} // namespace

/// How many loops of an element-wise cluster make the iterations.
static unsigned chooseOuter(const LoopNest &nest) {
  constexpr int64_t leastInner = 512;
  unsigned outer = nest.outer, rank = nest.space.size();
  if (nest.byRows || rank == 1)
    return outer;
  while (outer + 1 < rank && product(ArrayRef(nest.space).drop_front(outer + 1)) >= leastInner)
    ++outer;
  // Better short inner loops than one thread.
  if (outer == 0 && rank > 1 && product(nest.space) > 4 * grainElements)
    outer = 1;
  return outer;
}

EmittedKernel emitRowLoops(OpBuilder &builder, KernelOp kernel, LoopNest nest, StringRef symbol) {
  nest.outer = chooseOuter(nest);
  return RowLoops(builder, kernel, nest, symbol).run();
}

} // namespace remat
