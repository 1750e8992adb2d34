//===- EmitLoops.cpp - A cluster as vector code ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last loop of the space runs in lanes: first as many full vectors as there are, then the rest one by one. Every
// lane computes what a scalar would, so where a vector ends changes no bit.
//
//===----------------------------------------------------------------------===//

#include "EmitBody.h"
#include "Kernels.h"
#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace remat {

namespace {

constexpr int64_t mostLanes = 16;
/// Elements of a block of a space with one loop, and of a block of columns.
constexpr int64_t blockElements = 2048, columnBlock = 512;
/// Work that is worth a thread.
constexpr int64_t grainElements = 16384;

using Source = LoopNest::Source;

class Emitter {
public:
  Emitter(ModuleOp module, KernelOp kernel, LoopNest nest, StringRef symbol)
      : builder(module.getContext()), loc(kernel.getLoc()), kernel(kernel), nest(std::move(nest)) {
    builder.setInsertionPointToEnd(module.getBody());
    result.symbol = symbol.str();
  }

  EmittedKernel run() {
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Type i64 = builder.getI64Type();
    function = func::FuncOp::create(builder, loc, result.symbol, builder.getFunctionType({pointer, i64, i64, i64}, {}));
    Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    chooseLoops();
    loadPointers(entry);
    Value begin = toIndex(entry->getArgument(1)), end = toIndex(entry->getArgument(2));
    forLoop(begin, end, 1, {}, [&](Value row, ValueRange) -> SmallVector<Value> {
      nest.columns ? emitColumns(row) : emitRow(row);
      return {};
    });
    func::ReturnOp::create(builder, loc);
    return result;
  }

private:
  //===--------------------------------------------------------------------===//
  // Shape of the loops
  //===--------------------------------------------------------------------===//

  void chooseLoops() {
    unsigned rank = nest.space.size();
    if (nest.columns)
      return chooseColumns();
    if (!nest.byRows && rank == 1) {
      isBlocked = nest.space[0] > blockElements;
      result.iterations = isBlocked ? llvm::divideCeil(nest.space[0], blockElements) : 1;
      result.grain = std::max<int64_t>(1, grainElements / blockElements);
      return;
    }
    constexpr int64_t leastInner = 512;
    if (!nest.byRows)
      while (nest.outer + 1 < rank && product(ArrayRef(nest.space).drop_front(nest.outer + 1)) >= leastInner)
        ++nest.outer;
    // Better short inner loops than one thread.
    if (nest.outer == 0 && !nest.byRows && rank > 1 && product(nest.space) > 4 * grainElements)
      nest.outer = 1;
    result.iterations = product(ArrayRef(nest.space).take_front(nest.outer));
    int64_t inner = product(ArrayRef(nest.space).drop_front(nest.outer));
    result.grain = std::max<int64_t>(1, grainElements / std::max<int64_t>(inner * nest.passes, 1));
    for (LoopNest::Member &member : nest.members)
      if (member.isScratch)
        addScratch(member, inner);
  }

  void chooseColumns() {
    int64_t width = nest.space.back();
    columnsPerBlock =
        std::min(columnBlock, std::max<int64_t>(mostLanes, llvm::alignTo(llvm::divideCeil(width, 4), mostLanes)));
    result.iterations = llvm::divideCeil(width, columnsPerBlock);
    for (unsigned d = 0; d + 1 < nest.space.size(); ++d)
      if (d < nest.columns->first || d >= nest.columns->second)
        result.iterations *= nest.space[d];
    result.grain = std::max<int64_t>(1, grainElements / std::max<int64_t>(1, columnsPerBlock * reducedCount()));
    for (LoopNest::Member &member : nest.members)
      if (member.reduces) {
        addScratch(member, columnsPerBlock); // Total.
        totals[&member] = scratch[&member];
        addScratch(member, columnsPerBlock); // Of a block of rows.
      }
  }

  int64_t reducedCount() {
    return product(ArrayRef(nest.space).slice(nest.columns->first, nest.columns->second - nest.columns->first));
  }

  void addScratch(LoopNest::Member &member, int64_t elements) {
    scratch[&member] = result.threadScratchBytes;
    int64_t bytes = std::max(1u, elementType(member).getIntOrFloatBitWidth() / 8);
    result.threadScratchBytes += llvm::alignTo(elements * bytes, 64);
  }

  static Type elementType(const LoopNest::Member &member, unsigned result = 0) {
    return getElementTypeOrSelf(member.op->getResult(result).getType());
  }

  //===--------------------------------------------------------------------===//
  // Small things
  //===--------------------------------------------------------------------===//

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value toIndex(Value value) { return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value multiply(Value a, int64_t b) { return b == 1 ? a : arith::MulIOp::create(builder, loc, a, index(b)); }

  /// `body` gives what the next iteration carries.
  SmallVector<Value> forLoop(Value begin, Value end, int64_t step, ValueRange carried,
                             function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    return emitFor(builder, loc, begin, end, step, carried, body);
  }

  void loadPointers(Block *entry) {
    Type pointer = entry->getArgument(0).getType();
    auto load = [&](size_t i) -> Value {
      Value place =
          LLVM::GEPOp::create(builder, loc, pointer, pointer, entry->getArgument(0), LLVM::GEPArg(int32_t(i)));
      return LLVM::LoadOp::create(builder, loc, pointer, place);
    };
    size_t count = kernel.getInputs().size() + kernel.getNumResults();
    for (size_t i = 0; i < count; ++i)
      buffers.push_back(load(i));
    if (result.threadScratchBytes == 0)
      return;
    Value part = arith::MulIOp::create(
        builder, loc, entry->getArgument(3),
        arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), result.threadScratchBytes));
    scratchBase = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), load(count), ValueRange(part));
  }

  Value scratchPointer(int64_t offset) {
    return LLVM::GEPOp::create(builder, loc, scratchBase.getType(), builder.getI8Type(), scratchBase,
                               LLVM::GEPArg(int32_t(offset)));
  }

  //===--------------------------------------------------------------------===//
  // One point of the space, in lanes
  //===--------------------------------------------------------------------===//

  struct Point {
    SmallVector<Value> indices; ///< By dimension of the space; that of lane 0.
    int laneDim = -1;           ///< The dimension that runs over the lanes.
    Value inner;                ///< Row-major number within the row, for scratch; that of lane 0.
  };

  Value address(const Access &access, const Point &point) {
    Value sum = index(access.offset);
    for (auto [d, stride] : llvm::enumerate(access.strides))
      if (stride != 0 && point.indices[d])
        sum = add(sum, multiply(point.indices[d], stride));
    return sum;
  }

  /// The values that members have at the current point, and per row.
  using Values = DenseMap<Value, Lanes>;

  Lanes readBuffer(LaneBuilder &lanes, const Source &source, Type element, const Point &point) {
    for (auto &[access, buffer, value] : loaded)
      if (buffer == source.buffer && access == source.access)
        return value;
    int64_t laneStride = point.laneDim < 0 ? 0 : source.access.strides[point.laneDim];
    Lanes value = lanes.load(buffers[source.buffer], element, address(source.access, point), laneStride);
    loaded.push_back({source.access, source.buffer, value});
    return value;
  }

  Lanes readMember(LaneBuilder &lanes, const Source &source, const Point &point) {
    LoopNest::Member &maker = nest.members[source.member];
    Value value = maker.op->getResult(source.result);
    if (auto found = values.find(value); found != values.end())
      return found->second;
    return lanes.load(scratchPointer(scratch[&maker]), elementType(maker, source.result), point.inner,
                      point.laneDim < 0 ? 0 : 1);
  }

  Lanes scalar(Value value) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return {arith::ConstantOp::create(builder, loc, splat.getSplatValue<TypedAttr>())};
    return {arith::ConstantOp::create(builder, loc, constant.getValue())};
  }

  Lanes loopIndex(LaneBuilder &lanes, int dim, const Point &point) {
    if (dim < 0)
      return {index(0), {}};
    return dim == point.laneDim ? lanes.countUp(point.indices[dim]) : Lanes{point.indices[dim], {}};
  }

  /// The value of an op without operands where `reader` reads it.
  Lanes rebuild(LaneBuilder &lanes, const LoopNest::Member &reader, unsigned input, const Point &point) {
    auto maker = reader.inputs[input].value.getDefiningOp<linalg::GenericOp>();
    AffineMap map = reader.op.getMatchingIndexingMap(reader.op.getDpsInputOperand(input));
    AffineMap written = maker.getMatchingIndexingMap(maker.getDpsInitOperand(0));
    BodyInputs inputs;
    inputs.arguments.resize(maker.getBody()->getNumArguments());
    auto indexOf = [&](unsigned loop) -> Lanes {
      for (auto [position, expression] : llvm::enumerate(written.getResults()))
        if (cast<AffineDimExpr>(expression).getPosition() == loop)
          return evaluate(lanes, map.getResult(position), reader, point);
      return Lanes{index(0), {}};
    };
    inputs.index = indexOf;
    return emitBody(lanes, maker, inputs)[0];
  }

  Lanes evaluate(LaneBuilder &lanes, AffineExpr expression, const LoopNest::Member &reader, const Point &point) {
    if (auto dim = dyn_cast<AffineDimExpr>(expression))
      return loopIndex(lanes, reader.dims[dim.getPosition()], point);
    if (auto constant = dyn_cast<AffineConstantExpr>(expression))
      return {index(constant.getValue()), {}};
    auto binary = cast<AffineBinaryOpExpr>(expression);
    if (expression.getKind() == AffineExprKind::Mod) // It never wraps (Access.cpp).
      return evaluate(lanes, binary.getLHS(), reader, point);
    Lanes a = evaluate(lanes, binary.getLHS(), reader, point), b = evaluate(lanes, binary.getRHS(), reader, point);
    bool isVector = lanes.varies(a.value) || lanes.varies(b.value);
    Value x = isVector ? lanes.spread(a.value) : a.value, y = isVector ? lanes.spread(b.value) : b.value;
    if (expression.getKind() == AffineExprKind::Mul)
      return {arith::MulIOp::create(builder, loc, x, y), {}};
    Value first = a.first && !lanes.varies(b.value) ? add(a.first, b.value) : Value();
    return {add(x, y), first};
  }

  Lanes readInput(LaneBuilder &lanes, const LoopNest::Member &member, unsigned input, const Point &point) {
    const Source &source = member.inputs[input];
    switch (source.kind) {
    case Source::Kind::Buffer:
      return readBuffer(lanes, source, getElementTypeOrSelf(member.op.getDpsInputOperand(input)->get().getType()),
                        point);
    case Source::Kind::Member:
      return readMember(lanes, source, point);
    case Source::Kind::Constant:
      return scalar(source.value);
    case Source::Kind::Rebuilt:
      return rebuild(lanes, member, input, point);
    }
    llvm_unreachable("every source has a kind");
  }

  /// The scalar that a reduction starts with.
  Value initialValue(const LoopNest::Member &member, unsigned number, const Point &point) {
    LaneBuilder one(builder, loc, 1);
    const Source &source = member.inits[number];
    if (source.kind == Source::Kind::Constant)
      return scalar(source.value).value;
    if (source.kind == Source::Kind::Member)
      return readMember(one, source, point).value;
    return one.load(buffers[source.buffer], elementType(member, number), address(source.access, point), 0).value;
  }

  SmallVector<Lanes> compute(LaneBuilder &lanes, const LoopNest::Member &member, const Point &point,
                             ArrayRef<Lanes> accumulators) {
    BodyInputs inputs;
    for (unsigned i = 0; i < member.inputs.size(); ++i)
      inputs.arguments.push_back(readInput(lanes, member, i, point));
    llvm::append_range(inputs.arguments, accumulators);
    inputs.arguments.resize(member.op.getBody()->getNumArguments());
    auto indexOf = [&](unsigned loop) { return loopIndex(lanes, member.dims[loop], point); };
    auto bufferOf = [&](Value tensor) { return buffers[cast<BlockArgument>(findBase(tensor)).getArgNumber()]; };
    inputs.index = indexOf;
    inputs.buffer = bufferOf;
    return emitBody(lanes, member.op, inputs);
  }

  /// Element-wise: computes, and notes what is to be stored once everything has been read.
  void computeElementwise(LaneBuilder &lanes, LoopNest::Member &member, const Point &point) {
    SmallVector<Lanes> initial;
    for (unsigned i = 0; i < member.inits.size(); ++i)
      initial.push_back({initialValue(member, i, point), {}});
    SmallVector<Lanes> results = compute(lanes, member, point, initial);
    for (auto [value, lane] : llvm::zip(member.op->getResults(), results))
      values[value] = lane;
    for (const LoopNest::Output &output : member.outputs)
      stores.push_back({buffers[output.buffer], results[output.result].value, denseAddress(member, point)});
    if (member.isScratch)
      stores.push_back({scratchPointer(scratch[&member]), results[0].value, point.inner});
  }

  /// Results lie row by row.
  Value denseAddress(const LoopNest::Member &member, const Point &point) {
    ArrayRef<int64_t> space = nest.space;
    Access access;
    access.strides = rowMajorStrides(member.perRow ? space.take_front(nest.outer) : space);
    access.strides.resize(space.size());
    return address(access, point);
  }

  void flushStores(LaneBuilder &lanes, bool isVector) {
    for (auto &[pointer, value, place] : stores)
      lanes.store(pointer, value, place, isVector ? 1 : 0);
    stores.clear();
    loaded.clear();
  }

  void forgetPoint() {
    for (LoopNest::Member &member : nest.members)
      if (!member.perRow && !member.reduces)
        for (Value value : member.op->getResults())
          values.erase(value);
  }

  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  /// The indices of the first `count` dimensions of an iteration.
  SmallVector<Value> splitIteration(Value row, ArrayRef<int64_t> sizes) {
    SmallVector<Value> indices(sizes.size());
    for (size_t d = sizes.size(); d-- > 0;) {
      indices[d] = d == 0 ? row : Value(arith::RemUIOp::create(builder, loc, row, index(sizes[d])));
      if (d != 0)
        row = arith::DivUIOp::create(builder, loc, row, index(sizes[d]));
    }
    return indices;
  }

  void emitRow(Value row) {
    Point point;
    point.indices.resize(nest.space.size());
    if (!isBlocked)
      llvm::copy(splitIteration(row, ArrayRef(nest.space).take_front(nest.outer)), point.indices.begin());
    for (unsigned pass = 0; pass < nest.passes; ++pass) {
      for (LoopNest::Member &member : nest.members)
        if (member.perRow && member.pass == pass) {
          LaneBuilder one(builder, loc, 1);
          computeElementwise(one, member, point);
          flushStores(one, false);
        }
      SmallVector<LoopNest::Member *> members;
      for (LoopNest::Member &member : nest.members)
        if (!member.perRow && member.pass == pass)
          members.push_back(&member);
      if (!members.empty())
        emitPass(members, point, isBlocked ? row : Value());
    }
    values.clear();
  }

  /// The accumulators of one member: a vector for the full vectors, a scalar for the rest.
  struct Sums {
    LoopNest::Member *member;
    Operation *combiner;
    Value vector, rest;
  };

  SmallVector<Sums> startSums(ArrayRef<LoopNest::Member *> members, int64_t lanes) {
    SmallVector<Sums> sums;
    for (LoopNest::Member *member : members)
      if (member->reduces) {
        Operation *combiner = findCombiner(member->op);
        Value neutral = arith::ConstantOp::create(builder, loc, neutralElement(combiner, elementType(*member)));
        LaneBuilder wide(builder, loc, lanes);
        sums.push_back({member, combiner, wide.spread(neutral), neutral});
      }
    return sums;
  }

  void emitPass(ArrayRef<LoopNest::Member *> members, Point &point, Value block) {
    unsigned rank = nest.space.size();
    if (rank == nest.outer) { // A row is one element.
      LaneBuilder one(builder, loc, 1);
      point.inner = index(0);
      for (LoopNest::Member *member : members)
        computeElementwise(one, *member, point);
      flushStores(one, false);
      return;
    }
    int64_t length = nest.space.back();
    int64_t lanes = std::min<int64_t>(mostLanes, llvm::bit_floor(uint64_t(std::max<int64_t>(length, 1))));
    SmallVector<Sums> sums = startSums(members, lanes);
    SmallVector<Value> carried;
    for (Sums &sum : sums)
      llvm::append_values(carried, sum.vector, sum.rest);
    carried = emitInnerLoops(nest.outer, members, point, carried, lanes, block, Value());
    for (auto [i, sum] : llvm::enumerate(sums)) {
      LaneBuilder one(builder, loc, 1);
      LaneBuilder wide(builder, loc, lanes);
      Value total = wide.combineLanes(sum.combiner, carried[2 * i]);
      total = one.clone(sum.combiner, {total, carried[2 * i + 1]});
      total = one.clone(sum.combiner, {initialValue(*sum.member, 0, point), total});
      values[sum.member->op->getResult(0)] = {total, {}};
      for (const LoopNest::Output &output : sum.member->outputs) {
        Access access;
        access.strides = rowMajorStrides(ArrayRef(nest.space).take_front(nest.outer));
        access.strides.resize(rank);
        one.store(buffers[output.buffer], total, address(access, point), 0);
      }
    }
    loaded.clear();
  }

  /// Loops over the dimensions from `dim` on; gives the carried sums.
  SmallVector<Value> emitInnerLoops(unsigned dim, ArrayRef<LoopNest::Member *> members, Point &point,
                                    SmallVector<Value> carried, int64_t lanes, Value block, Value innerBase) {
    if (dim + 1 == nest.space.size())
      return emitLastLoop(members, point, carried, lanes, block, innerBase);
    return forLoop(index(0), index(nest.space[dim]), 1, carried, [&](Value i, ValueRange inside) {
      point.indices[dim] = i;
      Value base = innerBase ? add(multiply(innerBase, nest.space[dim]), i) : i;
      return emitInnerLoops(dim + 1, members, point, llvm::to_vector_of<Value>(inside), lanes, block, base);
    });
  }

  SmallVector<Value> emitLastLoop(ArrayRef<LoopNest::Member *> members, Point &point, SmallVector<Value> carried,
                                  int64_t lanes, Value block, Value innerBase) {
    int64_t length = nest.space.back();
    Value begin = index(0), end = index(length), middle = index(length - length % lanes);
    if (block) {
      begin = multiply(block, blockElements);
      end = arith::MinUIOp::create(builder, loc, add(begin, index(blockElements)), end);
      middle = arith::MinUIOp::create(builder, loc, end, middle);
    }
    Value base = innerBase ? multiply(innerBase, length) : index(0);
    auto loop = [&](Value from, Value to, int64_t width, unsigned which) {
      carried = forLoop(from, to, width, carried, [&](Value i, ValueRange inside) {
        LaneBuilder builderOfLanes(builder, loc, width);
        point.indices.back() = i;
        point.laneDim = width == 1 ? -1 : int(nest.space.size()) - 1;
        point.inner = add(base, i);
        SmallVector<Value> next = llvm::to_vector_of<Value>(inside);
        unsigned sum = 0;
        for (LoopNest::Member *member : members) {
          if (!member->reduces) {
            computeElementwise(builderOfLanes, *member, point);
            continue;
          }
          Value &accumulator = next[2 * sum++ + which];
          accumulator = builderOfLanes.spread(compute(builderOfLanes, *member, point, {{accumulator, {}}})[0].value);
        }
        flushStores(builderOfLanes, width != 1);
        forgetPoint();
        return next;
      });
      point.laneDim = -1;
    };
    if (lanes > 1)
      loop(begin, middle, lanes, 0);
    if (lanes == 1 || length % lanes != 0)
      loop(lanes == 1 ? begin : middle, end, 1, 1);
    return carried;
  }

  //===--------------------------------------------------------------------===//
  // Columns
  //===--------------------------------------------------------------------===//

  void emitColumns(Value iteration) {
    auto [first, last] = *nest.columns;
    unsigned rank = nest.space.size();
    Point point;
    point.indices.resize(rank);
    // Iterations run over the kept dimensions, the last one in blocks.
    Sizes sizes;
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d + 1 < rank; ++d)
      if (d < first || d >= last) {
        sizes.push_back(nest.space[d]);
        dims.push_back(d);
      }
    sizes.push_back(llvm::divideCeil(nest.space.back(), columnsPerBlock));
    SmallVector<Value> indices = splitIteration(iteration, sizes);
    for (auto [i, d] : llvm::enumerate(dims))
      point.indices[d] = indices[i];
    Value begin = multiply(indices.back(), columnsPerBlock);
    Value end = arith::MinUIOp::create(builder, loc, add(begin, index(columnsPerBlock)), index(nest.space.back()));
    SmallVector<LoopNest::Member *> sums;
    for (LoopNest::Member &member : nest.members)
      if (member.reduces)
        sums.push_back(&member);
    forColumns(begin, end, [&](LaneBuilder &lanes, Value column) {
      for (LoopNest::Member *sum : sums)
        lanes.store(scratchPointer(totals[sum]), neutral(*sum), arith::SubIOp::create(builder, loc, column, begin),
                    lanes.width == 1 ? 0 : 1);
    });
    emitRowBlocks(point, begin, end, sums);
    forColumns(begin, end, [&](LaneBuilder &lanes, Value column) {
      point.indices.back() = column;
      for (LoopNest::Member *sum : sums)
        storeColumns(lanes, *sum, point, arith::SubIOp::create(builder, loc, column, begin));
    });
    values.clear();
  }

  Value neutral(LoopNest::Member &member) {
    return arith::ConstantOp::create(builder, loc, neutralElement(findCombiner(member.op), elementType(member)));
  }

  /// Full vectors of columns, then the rest one by one.
  void forColumns(Value begin, Value end, function_ref<void(LaneBuilder &, Value)> body) {
    int64_t width = nest.space.back();
    int64_t lanes = std::min<int64_t>(mostLanes, llvm::bit_floor(uint64_t(width)));
    Value middle = arith::MinUIOp::create(builder, loc, end, index(width - width % lanes));
    auto loop = [&](Value from, Value to, int64_t step) {
      forLoop(from, to, step, {}, [&](Value column, ValueRange) -> SmallVector<Value> {
        LaneBuilder builderOfLanes(builder, loc, step);
        body(builderOfLanes, column);
        return {};
      });
    };
    if (lanes > 1)
      loop(begin, middle, lanes);
    if (lanes == 1 || width % lanes != 0)
      loop(lanes == 1 ? begin : Value(arith::MaxUIOp::create(builder, loc, begin, middle)), end, 1);
  }

  /// Sums blocks of rows, and the blocks' sums: no chain is longer than a block, or than there are blocks.
  void emitRowBlocks(Point &point, Value begin, Value end, ArrayRef<LoopNest::Member *> sums) {
    auto [first, last] = *nest.columns;
    int64_t rows = nest.space[first], block = 1;
    while (block * block < rows)
      block *= 2;
    forLoop(index(0), index(rows), block, {},
            [&, first = first, last = last](Value from, ValueRange) -> SmallVector<Value> {
              forColumns(begin, end, [&](LaneBuilder &lanes, Value column) {
                for (LoopNest::Member *sum : sums)
                  lanes.store(scratchPointer(scratch[sum]), neutral(*sum),
                              arith::SubIOp::create(builder, loc, column, begin), lanes.width == 1 ? 0 : 1);
              });
              Value to = arith::MinUIOp::create(builder, loc, add(from, index(block)), index(rows));
              forLoop(from, to, 1, {}, [&](Value row, ValueRange) -> SmallVector<Value> {
                point.indices[first] = row;
                emitReducedLoops(first + 1, last, point, begin, end);
                return {};
              });
              forColumns(begin, end, [&](LaneBuilder &lanes, Value column) {
                Value place = arith::SubIOp::create(builder, loc, column, begin);
                for (LoopNest::Member *sum : sums) {
                  Value total = loadColumns(lanes, *sum, totals[sum], place),
                        part = loadColumns(lanes, *sum, scratch[sum], place);
                  lanes.store(scratchPointer(totals[sum]), lanes.clone(findCombiner(sum->op), {total, part}), place,
                              lanes.width == 1 ? 0 : 1);
                }
              });
              return {};
            });
  }

  Value loadColumns(LaneBuilder &lanes, LoopNest::Member &member, int64_t offset, Value place) {
    return lanes.load(scratchPointer(offset), elementType(member), place, lanes.width == 1 ? 0 : 1).value;
  }

  void emitReducedLoops(unsigned dim, unsigned last, Point &point, Value begin, Value end) {
    if (dim < last) {
      forLoop(index(0), index(nest.space[dim]), 1, {}, [&](Value i, ValueRange) -> SmallVector<Value> {
        point.indices[dim] = i;
        emitReducedLoops(dim + 1, last, point, begin, end);
        return {};
      });
      return;
    }
    forColumns(begin, end, [&](LaneBuilder &lanes, Value column) {
      point.indices.back() = column;
      point.laneDim = lanes.width == 1 ? -1 : int(nest.space.size()) - 1;
      Value place = arith::SubIOp::create(builder, loc, column, begin);
      for (LoopNest::Member &member : nest.members) {
        if (!member.reduces) {
          computeElementwise(lanes, member, point);
          continue;
        }
        Lanes accumulator{loadColumns(lanes, member, scratch[&member], place), {}};
        stores.push_back(
            {scratchPointer(scratch[&member]), compute(lanes, member, point, accumulator)[0].value, place});
      }
      flushStores(lanes, lanes.width != 1);
      forgetPoint();
    });
    point.laneDim = -1;
  }

  void storeColumns(LaneBuilder &lanes, LoopNest::Member &member, Point &point, Value place) {
    Value total = loadColumns(lanes, member, totals[&member], place);
    total = lanes.clone(findCombiner(member.op), {initialValue(member, 0, point), total});
    auto [first, last] = *nest.columns;
    Sizes kept(nest.space);
    for (unsigned d = first; d < last; ++d)
      kept[d] = 1;
    Access access;
    access.strides = rowMajorStrides(kept);
    for (unsigned d = first; d < last; ++d)
      access.strides[d] = 0;
    for (const LoopNest::Output &output : member.outputs)
      lanes.store(buffers[output.buffer], total, address(access, point), lanes.width == 1 ? 0 : 1);
  }

  struct Store {
    Value pointer, value, place;
  };
  struct Loaded {
    Access access;
    unsigned buffer;
    Lanes value;
  };

  OpBuilder builder;
  Location loc;
  KernelOp kernel;
  LoopNest nest;
  EmittedKernel result;
  func::FuncOp function;
  bool isBlocked = false; ///< A space of one loop, cut into blocks.
  int64_t columnsPerBlock = 0;
  SmallVector<Value> buffers;
  Value scratchBase;
  DenseMap<const LoopNest::Member *, int64_t> scratch, totals; ///< Offsets in a thread's part.
  Values values;
  SmallVector<Store> stores;
  SmallVector<Loaded, 0> loaded; ///< At the current point.
};

} // namespace

std::optional<EmittedKernel> emitLoops(ModuleOp module, KernelOp kernel, StringRef symbol) {
  std::optional<LoopNest> nest = analyzeKernel(kernel);
  if (!nest)
    return std::nullopt;
  return Emitter(module, kernel, std::move(*nest), symbol).run();
}

} // namespace remat
