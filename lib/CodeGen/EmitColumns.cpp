//===- EmitColumns.cpp - Clusters with sums of columns --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An iteration is a strip of columns, whose sums wait in scratch while the rows go by. Rows are summed in blocks, and
// the blocks' sums then: no chain is longer than a block, or than there are blocks.
//
//===----------------------------------------------------------------------===//

#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace remat {

namespace {

class ColumnLoops : LoopEmitter {
public:
  ColumnLoops(OpBuilder &builder, KernelOp kernel, const LoopNest &nest, StringRef symbol)
      : LoopEmitter(builder, kernel, nest, symbol), first(nest.columns->first), last(nest.columns->second) {
    constexpr int64_t mostColumns = 512;
    int64_t width = nest.space.back();
    stripColumns =
        std::min(mostColumns, std::max<int64_t>(mostLanes, llvm::alignTo(llvm::divideCeil(width, 4), mostLanes)));
    // Iterations run over the kept dimensions, the last one in strips.
    for (unsigned d = 0; d + 1 < nest.space.size(); ++d)
      if (d < first || d >= last) {
        keptDims.push_back(d);
        iterationSizes.push_back(nest.space[d]);
      }
    iterationSizes.push_back(llvm::divideCeil(width, stripColumns));
    result.iterations = product(iterationSizes);
    int64_t reduced = product(ArrayRef(nest.space).slice(first, last - first));
    result.grain = std::max<int64_t>(1, grainElements / std::max<int64_t>(1, stripColumns * reduced));
    for (const Member &member : nest.members)
      if (member.reduces) {
        sums.push_back(&member);
        totals[&member] = addScratch(member, stripColumns);
        scratch[&member] = addScratch(member, stripColumns); // Of a block of rows.
      }
  }

  EmittedKernel run() {
    emitFunction([&](Value iteration) { emitStrip(iteration); });
    return result;
  }

private:
  void emitStrip(Value iteration) {
    point.indices.assign(nest.space.size(), Value());
    SmallVector<Value> indices = split(iteration, iterationSizes);
    for (auto [i, d] : llvm::enumerate(keptDims))
      point.indices[d] = indices[i];
    begin = multiply(indices.back(), stripColumns);
    end = minimum(add(begin, index(stripColumns)), index(nest.space.back()));
    clear(totals);
    emitRowBlocks();
    forColumns([&](LaneBuilder &lanes, Value column) {
      point.indices.back() = column;
      for (const Member *sum : sums)
        storeColumns(lanes, *sum, subtract(column, begin));
    });
  }

  void clear(const DenseMap<const Member *, int64_t> &places) {
    forColumns([&](LaneBuilder &lanes, Value column) {
      for (const Member *sum : sums)
        lanes.store(scratchPointer(places.lookup(sum)), neutral(*sum), subtract(column, begin),
                    lanes.width == 1 ? 0 : 1);
    });
  }

  /// Full vectors of columns, then the rest one by one.
  void forColumns(function_ref<void(LaneBuilder &, Value)> body) {
    int64_t width = nest.space.back();
    int64_t lanes = std::min<int64_t>(mostLanes, llvm::bit_floor(uint64_t(width)));
    Value middle = minimum(end, index(width - width % lanes));
    auto loop = [&](Value from, Value to, int64_t step) {
      point.width = step;
      forLoop(from, to, step, {}, [&](Value column, ValueRange) -> SmallVector<Value> {
        LaneBuilder builderOfLanes(builder, loc, step);
        body(builderOfLanes, column);
        return {};
      });
      point.width = 1;
    };
    if (lanes > 1)
      loop(begin, middle, lanes);
    if (lanes == 1 || width % lanes != 0)
      loop(lanes == 1 ? begin : Value(arith::MaxUIOp::create(builder, loc, begin, middle)), end, 1);
  }

  void emitRowBlocks() {
    int64_t rows = nest.space[first], block = 1;
    while (block * block < rows)
      block *= 2;
    forLoop(index(0), index(rows), block, {}, [&](Value from, ValueRange) -> SmallVector<Value> {
      clear(scratch);
      Value to = minimum(add(from, index(block)), index(rows));
      forLoop(from, to, 1, {}, [&](Value row, ValueRange) -> SmallVector<Value> {
        point.indices[first] = row;
        emitReducedLoops(first + 1);
        return {};
      });
      addBlock();
      return {};
    });
  }

  /// Adds a block's sums to the totals.
  void addBlock() {
    forColumns([&](LaneBuilder &lanes, Value column) {
      Value place = subtract(column, begin);
      for (const Member *sum : sums) {
        Value total = loadColumns(lanes, *sum, totals[sum], place),
              part = loadColumns(lanes, *sum, scratch[sum], place);
        lanes.store(scratchPointer(totals[sum]), lanes.clone(findCombiner(sum->op), {total, part}), place,
                    lanes.width == 1 ? 0 : 1);
      }
    });
  }

  Value loadColumns(LaneBuilder &lanes, const Member &member, int64_t offset, Value place) {
    return lanes.load(scratchPointer(offset), elementType(member), place, lanes.width == 1 ? 0 : 1).value;
  }

  void emitReducedLoops(unsigned dim) {
    if (dim < last) {
      forLoop(index(0), index(nest.space[dim]), 1, {}, [&](Value i, ValueRange) -> SmallVector<Value> {
        point.indices[dim] = i;
        emitReducedLoops(dim + 1);
        return {};
      });
      return;
    }
    forColumns([&](LaneBuilder &lanes, Value column) {
      point.indices.back() = column;
      Value place = subtract(column, begin);
      for (const Member &member : nest.members) {
        if (!member.reduces) {
          computeElementwise(member, point);
          continue;
        }
        Lanes accumulator{loadColumns(lanes, member, scratch[&member], place), {}};
        stores.push_back({scratchPointer(scratch[&member]), compute(member, point, accumulator)[0].value, place});
      }
      flushStores(point);
      point.values.clear();
    });
  }

  void storeColumns(LaneBuilder &lanes, const Member &member, Value place) {
    Value total = withInitial(member, loadColumns(lanes, member, totals[&member], place), point);
    Sizes kept(nest.space);
    for (unsigned d = first; d < last; ++d)
      kept[d] = 1;
    Access access;
    access.strides = rowMajorStrides(kept);
    for (unsigned d = first; d < last; ++d)
      access.strides[d] = 0;
    for (const LoopNest::Output &output : member.outputs)
      lanes.store(buffers[output.buffer], total, address(access, point), lanes.width == 1 ? 0 : 1);
    point.loaded.clear();
  }

  unsigned first, last; ///< The reduced dimensions are [first, last).
  int64_t stripColumns = 0;
  SmallVector<unsigned> keptDims; ///< Without the last one.
  Sizes iterationSizes;
  SmallVector<const Member *> sums;
  DenseMap<const Member *, int64_t> totals; ///< Offsets in a thread's part.
  Point point;
  Value begin, end; ///< The strip's columns.
};

} // namespace

EmittedKernel emitColumnLoops(OpBuilder &builder, KernelOp kernel, const LoopNest &nest, StringRef symbol) {
  return ColumnLoops(builder, kernel, nest, symbol).run();
}

} // namespace remat
