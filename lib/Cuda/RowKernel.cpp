//===- RowKernel.cpp - Clusters by rows -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row is a team's: a power of two of neighbouring threads, at most a warp for up to 512 elements, a block above that.
// Its elements are dealt in groups of four neighbours (of one, where four don't divide the row): thread t has the
// groups t, t + team, … Rows of up to 16,384 elements lie in registers from the first pass to the last; longer ones are
// read again in each.
//
// The order of a sum follows from the number n of its elements alone:
//   width = 4 if it divides n, else 1;
//   team  = min(32, n / width rounded up to a power of two) for n <= 512, n / 16 rounded up so for n <= 16,384, else
//     512;
//   thread t sums the elements (c × team + t) × width + v for c = 0, 1, … in one accumulator for each v; then the
//   accumulators are added pairwise, the upper half to the lower; then those of the team (KernelFrame::combineTeam);
//   the value that the sum starts with comes first of all.
// More than 131,072 elements are cut into up to 64 parts, each is summed like that, and then one after the other. Where
// such rows are few, every part is a block's, which leaves its sum in scratch, and a second launch adds those up.
//
// Where everything that lies along the row is narrower than f32, a thread stands for two or four threads of that order,
// so that it still moves 16 bytes at once: it has their groups, which are neighbours, and their accumulators.
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace remat {

namespace {

/// How a row is dealt. The order of sums is of its length alone: `width` and `team` are those of the order.
struct Deal {
  int64_t length, width, team;
  int64_t partLength; ///< A multiple of what the team deals at once; the last part may be shorter.
  int64_t fold = 1;   ///< How many threads of the order a thread stands for.

  explicit Deal(const LoopNest &nest) : Deal(product(ArrayRef(nest.space).drop_front(nest.outer))) {
    constexpr int64_t accessBytes = 16;
    // A block that has one row keeps full warps, for shuffles need them.
    int64_t leastThreads = team > warpSize ? warpSize : 1;
    while (width != 1 && 2 * group() * widestBytes(nest) <= accessBytes && threads() / 2 >= leastThreads &&
           nest.space.back() % (2 * group()) == 0)
      fold *= 2;
  }
  int64_t parts() const { return llvm::divideCeil(length, partLength); }
  /// Groups of each thread.
  int64_t chunks() const { return llvm::divideCeil(length, team * width); }
  bool fitsRegisters() const { return chunks() * width <= 16; }
  /// Neighbours that a thread has at once, and threads that share a row.
  int64_t group() const { return fold * width; }
  int64_t threads() const { return team / fold; }

private:
  explicit Deal(int64_t length) : length(length), width(length % 4 == 0 ? 4 : 1) {
    constexpr int64_t warpLength = 512, perThread = 16, mostInRegisters = 16384;
    // A loop's threads get more registers than a block of 1024 has.
    constexpr int64_t loopTeam = 512;
    if (length <= warpLength)
      team = std::min<int64_t>(warpSize, llvm::PowerOf2Ceil(llvm::divideCeil(length, width)));
    else
      team = length <= mostInRegisters ? llvm::PowerOf2Ceil(llvm::divideCeil(length, perThread)) : loopTeam;
    constexpr int64_t leastPart = 131072, mostParts = 64;
    partLength = std::max<int64_t>(leastPart, llvm::alignTo(llvm::divideCeil(length, mostParts), team * width));
  }
};

class RowEmitter {
public:
  RowEmitter(gpu::GPUModuleOp module, Location loc, const LoopNest &nest, StringRef symbol, unsigned parameters)
      : frame(module, loc, symbol, parameters), builder(frame.builder), loc(loc), nest(nest),
        points(builder, loc, nest, frame.buffers), inner(ArrayRef(nest.space).drop_front(nest.outer)), deal(nest) {}

  GpuLaunch run() {
    int64_t rows = countRows(nest);
    constexpr int64_t blockThreads = 128;
    // Teams of several warps meet in shared memory, and have a block each.
    int64_t threads = deal.team > warpSize
                          ? deal.threads()
                          : std::min<int64_t>(blockThreads, llvm::alignTo(rows * deal.threads(), warpSize));
    int64_t blocks = llvm::divideCeil(rows * deal.threads(), threads);
    findRow(rows, threads, blocks);
    deal.fitsRegisters() ? emitInRegisters() : emitInLoops();
    storePerRow();
    return frame.finish(blocks, threads);
  }

  static int64_t countRows(const LoopNest &nest) { return product(ArrayRef(nest.space).take_front(nest.outer)); }

  /// Whether the parts of a row are blocks of their own: nothing but the sums themselves needs a whole row.
  static bool isInParts(const LoopNest &nest) {
    constexpr int64_t enoughRows = 64;
    return Deal(nest).parts() > 1 && nest.passes == 1 && countRows(nest) < enoughRows &&
           llvm::none_of(nest.members, [](const LoopNest::Member &member) { return member.perRow; });
  }

  /// The first launch of such rows: a block for each part. What it sums goes to the last buffer.
  GpuLaunch runParts() {
    findRowOf(frame.divide(frame.block(), deal.parts()));
    place = frame.thread();
    Value part = frame.modulo(frame.block(), deal.parts());
    Value begin = frame.multiply(part, deal.partLength);
    Value end = frame.minimum(frame.add(begin, frame.index(deal.partLength)), frame.index(deal.length));
    SmallVector<const LoopNest::Member *> sums = sumsOf(0);
    SmallVector<Value> totals = sumRange(sums, begin, end, /*storesOutputs=*/true);
    frame.ifThen(frame.isFirst(place), [&] {
      for (auto [i, total] : llvm::enumerate(totals))
        LaneBuilder(builder, loc, 1).store(scratchOf(i), total, frame.block(), 0);
    });
    return frame.finish(countRows(nest) * deal.parts(), deal.threads());
  }

  /// The second one: a thread for each row.
  GpuLaunch runTotals() {
    int64_t rows = countRows(nest), threads = llvm::alignTo(rows, warpSize);
    isRow = frame.isLess(frame.thread(), frame.index(rows));
    Value row = frame.minimum(frame.thread(), frame.index(rows - 1));
    findRowOf(row);
    for (auto [i, member] : llvm::enumerate(sumsOf(0))) {
      Operation *combiner = findCombiner(member->op);
      LaneBuilder one(builder, loc, 1);
      auto load = [&](Value part) {
        Value number = frame.add(frame.multiply(row, deal.parts()), part);
        return one.load(scratchOf(i), PointEmitter::elementType(*member), number, 0).value;
      };
      Value total = frame.forLoop(frame.index(1), frame.index(deal.parts()), 1, load(frame.index(0)),
                                  [&](Value part, ValueRange sum) -> SmallVector<Value> {
                                    return {one.clone(combiner, {sum[0], load(part)})};
                                  })[0];
      points.rowValues[member->op->getResult(0)] = {points.withInitial(*member, total, rowPoint)};
    }
    frame.ifThen(isRow, [&] { storeRowValues(); });
    return frame.finish(1, threads);
  }

  static int64_t scratchBytes(const LoopNest &nest) {
    return llvm::count_if(nest.members, [](const LoopNest::Member &member) { return member.reduces; }) *
           scratchBytesOfSum(nest);
  }

private:
  /// Teams behind the last row repeat it, for shuffles need every thread of a warp; they store nothing.
  void findRow(int64_t rows, int64_t threads, int64_t blocks) {
    Value team = frame.add(frame.multiply(frame.block(), threads / deal.threads()),
                           frame.divide(frame.thread(), deal.threads()));
    place = frame.modulo(frame.thread(), deal.threads());
    if (rows * deal.threads() != blocks * threads) {
      isRow = frame.isLess(team, frame.index(rows));
      team = frame.minimum(team, frame.index(rows - 1));
    }
    findRowOf(team);
  }

  void findRowOf(Value number) {
    rowPoint.indices = points.split(number, ArrayRef(nest.space).take_front(nest.outer));
    rowPoint.indices.resize(nest.space.size());
  }

  /// Every sum has its place in scratch, large enough for any type.
  static int64_t scratchBytesOfSum(const LoopNest &nest) {
    constexpr int64_t sumBytes = 8, alignment = 16;
    return llvm::alignTo(countRows(nest) * Deal(nest).parts() * sumBytes, alignment);
  }
  Value scratchOf(int64_t sum) {
    Value base = frame.buffers.back();
    return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                               LLVM::GEPArg(int32_t(sum * scratchBytesOfSum(nest))));
  }

  /// The neighbours from element `first` of the row: one point of the group's width, or points of their own where
  /// neighbours aren't so along the last loop.
  SmallVector<Point, 4> pointsAt(Value first) {
    SmallVector<Point, 4> group;
    for (int64_t v = 0; v < (isVector() ? 1 : deal.width); ++v) {
      Point point{rowPoint.indices, isVector() ? deal.group() : 1};
      Value element = v == 0 ? first : frame.add(first, frame.index(v));
      llvm::copy(points.split(element, inner), point.indices.begin() + nest.outer);
      group.push_back(std::move(point));
    }
    return group;
  }

  struct Chunk {
    SmallVector<Point, 4> group;
    Value isIn; ///< Null where every thread has it.
  };

  void emitInRegisters() {
    SmallVector<Chunk, 0> chunks;
    for (int64_t c = 0; c < deal.chunks(); ++c) {
      Value first = frame.multiply(frame.add(place, frame.index(c * deal.threads())), deal.group());
      Chunk chunk;
      if ((c + 1) * deal.team * deal.width > deal.length) {
        chunk.isIn = frame.isLess(first, frame.index(deal.length));
        first = frame.minimum(first, frame.index(deal.length - deal.group()));
      }
      chunk.group = pointsAt(first);
      chunks.push_back(std::move(chunk));
    }
    for (unsigned pass = 0; pass < nest.passes; ++pass)
      emitPass(pass, [&](ArrayRef<const LoopNest::Member *> sums) {
        SmallVector<Value> carried = startSums(sums);
        for (Chunk &chunk : chunks)
          addChunk(chunk, sums, carried);
        return combineSums(sums, carried);
      });
    for (Chunk &chunk : chunks)
      for (Point &point : chunk.group)
        points.computeOutputs(point);
    for (Chunk &chunk : chunks)
      frame.ifThen(frame.both(chunk.isIn, isRow), [&] {
        for (Point &point : chunk.group)
          points.storeOutputs(point);
      });
  }

  void emitInLoops() {
    for (unsigned pass = 0; pass < nest.passes; ++pass)
      emitPass(pass, [&](ArrayRef<const LoopNest::Member *> sums) {
        SmallVector<Value> totals;
        for (int64_t part = 0; part < deal.parts() && !sums.empty(); ++part) {
          int64_t begin = part * deal.partLength, end = std::min(begin + deal.partLength, deal.length);
          SmallVector<Value> more = sumRange(sums, frame.index(begin), frame.index(end), /*storesOutputs=*/false);
          for (auto [i, member] : llvm::enumerate(sums))
            if (part != 0)
              more[i] = LaneBuilder(builder, loc, 1).clone(findCombiner(member->op), {totals[i], more[i]});
          totals = more;
        }
        return totals;
      });
    if (hasOutputs())
      forGroups(frame.index(0), frame.index(deal.length), {},
                [&](Chunk &chunk, SmallVector<Value> &) { storeOutputs(chunk); });
  }

  /// This thread's groups of the elements [begin, end).
  SmallVector<Value> forGroups(Value begin, Value end, ValueRange carried,
                               function_ref<void(Chunk &, SmallVector<Value> &)> body) {
    Value first = frame.add(begin, frame.multiply(place, deal.group()));
    return frame.forLoop(first, end, deal.threads() * deal.group(), carried, [&](Value element, ValueRange inside) {
      Chunk chunk{pointsAt(element), {}};
      SmallVector<Value> next = llvm::to_vector_of<Value>(inside);
      body(chunk, next);
      return next;
    });
  }

  void storeOutputs(Chunk &chunk) {
    for (Point &point : chunk.group)
      points.computeOutputs(point);
    for (Point &point : chunk.group)
      points.storeOutputs(point);
  }

  /// What the elements [begin, end) add up to, in every thread of the team.
  SmallVector<Value> sumRange(ArrayRef<const LoopNest::Member *> sums, Value begin, Value end, bool storesOutputs) {
    SmallVector<Value> carried =
        forGroups(begin, end, startSums(sums), [&](Chunk &chunk, SmallVector<Value> &accumulators) {
          addChunk(chunk, sums, accumulators);
          if (storesOutputs)
            storeOutputs(chunk);
        });
    return combineSums(sums, carried);
  }

  bool hasOutputs() const {
    return llvm::any_of(nest.members, [](const LoopNest::Member &member) {
      return !member.perRow && !member.reduces && !member.outputs.empty();
    });
  }

  SmallVector<const LoopNest::Member *> sumsOf(unsigned pass) const {
    SmallVector<const LoopNest::Member *> sums;
    for (const LoopNest::Member &member : nest.members)
      if (member.pass == pass && member.reduces)
        sums.push_back(&member);
    return sums;
  }

  /// What is per row in this pass, and its sums.
  void emitPass(unsigned pass, function_ref<SmallVector<Value>(ArrayRef<const LoopNest::Member *>)> sumUp) {
    for (const LoopNest::Member &member : nest.members)
      if (member.pass == pass && member.perRow)
        points.computePerRow(member, rowPoint);
    SmallVector<const LoopNest::Member *> sums = sumsOf(pass);
    for (auto [member, total] : llvm::zip(sums, sumUp(sums)))
      points.rowValues[member->op->getResult(0)] = {points.withInitial(*member, total, rowPoint)};
  }

  SmallVector<Value> startSums(ArrayRef<const LoopNest::Member *> sums) {
    SmallVector<Value> carried;
    for (const LoopNest::Member *member : sums)
      carried.append(accumulators(), neutral(*member));
    return carried;
  }

  /// The sums of this thread to those of the team.
  SmallVector<Value> combineSums(ArrayRef<const LoopNest::Member *> sums, ArrayRef<Value> carried) {
    SmallVector<Value> totals;
    for (auto [i, member] : llvm::enumerate(sums)) {
      Operation *combiner = findCombiner(member->op);
      SmallVector<Value> values = combineGroups(combiner, carried.slice(i * accumulators(), accumulators()));
      totals.push_back(frame.combineTeam(combiner, values, deal.team));
    }
    return totals;
  }

  bool isVector() const { return deal.width != 1 && inner.back() % deal.width == 0; }
  size_t accumulators() const { return isVector() ? 1 : deal.width; }

  Value neutral(const LoopNest::Member &member) {
    Type type = PointEmitter::elementType(member);
    LaneBuilder lanes(builder, loc, isVector() ? deal.group() : 1);
    return lanes.spread(arith::ConstantOp::create(builder, loc, neutralElement(findCombiner(member.op), type)));
  }

  void addChunk(Chunk &chunk, ArrayRef<const LoopNest::Member *> sums, SmallVector<Value> &carried) {
    for (auto [i, member] : llvm::enumerate(sums))
      for (auto [v, point] : llvm::enumerate(chunk.group)) {
        Value &accumulator = carried[i * accumulators() + v];
        LaneBuilder lanes(builder, loc, point.width);
        Value next = lanes.spread(points.compute(*member, point, {{accumulator, {}}})[0].value);
        accumulator = chunk.isIn ? Value(arith::SelectOp::create(builder, loc, chunk.isIn, next, accumulator)) : next;
      }
  }

  /// The elements of each group in a vector, or as many scalars, pairwise: a value for each thread of the order.
  SmallVector<Value> combineGroups(Operation *combiner, ArrayRef<Value> parts) {
    LaneBuilder one(builder, loc, 1);
    if (parts.size() == 1) {
      SmallVector<Value> values;
      for (int64_t begin = 0; begin < deal.group(); begin += deal.width) {
        Value group = parts[0];
        if (deal.fold != 1)
          group = vector::ExtractStridedSliceOp::create(builder, loc, group, ArrayRef<int64_t>{begin},
                                                        ArrayRef<int64_t>{deal.width}, ArrayRef<int64_t>{1});
        values.push_back(one.combineLanes(combiner, group));
      }
      return values;
    }
    SmallVector<Value> values(parts);
    while (values.size() > 1) {
      size_t half = values.size() / 2;
      for (size_t i = 0; i < half; ++i)
        values[i] = one.clone(combiner, {values[i], values[i + half]});
      values.resize(half);
    }
    return values;
  }

  /// One thread of the team stores what a row has one of.
  void storePerRow() {
    Value isFirst = deal.threads() == 1 ? Value() : frame.isFirst(place);
    frame.ifThen(frame.both(isFirst, isRow), [&] { storeRowValues(); });
  }

  void storeRowValues() {
    for (const LoopNest::Member &member : nest.members)
      if (member.perRow || member.reduces)
        points.storePerRow(member, rowPoint);
  }

  KernelFrame frame;
  OpBuilder &builder;
  Location loc;
  const LoopNest &nest;
  PointEmitter points;
  ArrayRef<int64_t> inner;
  Deal deal;
  Point rowPoint;
  Value place; ///< The thread's number in its team.
  Value isRow; ///< Null where every team has a row.
};

} // namespace

GpuKernel emitRows(gpu::GPUModuleOp module, Location loc, const LoopNest &nest, StringRef symbol, unsigned parameters) {
  GpuKernel kernel{GpuKernel::Form::Rows, {}, parameters};
  if (!RowEmitter::isInParts(nest)) {
    kernel.launches.push_back(RowEmitter(module, loc, nest, symbol, parameters).run());
    return kernel;
  }
  kernel.parameters += 1;
  kernel.scratchBytes = RowEmitter::scratchBytes(nest);
  kernel.launches.push_back(RowEmitter(module, loc, nest, symbol, kernel.parameters).runParts());
  kernel.launches.push_back(RowEmitter(module, loc, nest, (symbol + "_totals").str(), kernel.parameters).runTotals());
  return kernel;
}

} // namespace remat
