//===- RowSorter.cpp - A stable sort as loops -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowSorter.h"

using namespace mlir;

namespace remat {

/// Rows up to this length are sorted by insertion alone, longer ones by merging sorted blocks.
constexpr int64_t longestInsertion = 64;
constexpr int64_t insertionBlock = 16;

Converted RowSorter::insertOne(Value begin, Value at, Value row, Before before) {
  OpBuilder &builder = importer.builder;
  Value number = read(row, at), one = math.constant(1);
  auto loop = scf::WhileOp::create(builder, loc, TypeRange{builder.getIndexType(), row.getType()}, ValueRange{at, row});
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations(2, loc);
  Block *test = builder.createBlock(&loop.getBefore(), {}, loop.getOperandTypes(), locations);
  Value index = test->getArgument(0);
  // At the row's begin the comparison is made with any element that is there; it doesn't count.
  Value previous = read(test->getArgument(1), math.max(math.subtract(index, one), math.constant(0)));
  FailureOr<Value> earlier = before(number, previous);
  if (failed(earlier))
    return failure();
  Value more = math.both(math.compare(arith::CmpIPredicate::sgt, index, begin), *earlier);
  scf::ConditionOp::create(builder, loc, more, test->getArguments());
  Block *shift = builder.createBlock(&loop.getAfter(), {}, loop.getResultTypes(), locations);
  Value lower = math.subtract(shift->getArgument(0), one);
  Value shifted = write(read(shift->getArgument(1), lower), shift->getArgument(1), shift->getArgument(0));
  scf::YieldOp::create(builder, loc, ValueRange{lower, shifted});
  builder.setInsertionPointAfter(loop);
  return SmallVector<Value>{write(number, loop.getResult(1), loop.getResult(0))};
}

Converted RowSorter::insertAll(Value begin, Value end, Value row, Before before) {
  return buildLoops(importer, loc, LoopRange{math.add(begin, 1), end}, row,
                    [&](ValueRange at, ValueRange carried) { return insertOne(begin, at[0], carried[0], before); });
}

Converted RowSorter::mergeTwo(Value from, Value into, Value begin, Value width, Before before) {
  Value end = math.constant(length), last = math.constant(length - 1), one = math.constant(1);
  Value middle = math.min(math.add(begin, width), end), until = math.min(math.add(middle, width), end);
  auto step = [&](ValueRange at, ValueRange carried) -> Converted {
    Value left = carried[0], right = carried[1];
    // Where a side is used up, its read is moved to an element that is there; it doesn't count.
    Value leftNumber = read(from, math.min(left, last)), rightNumber = read(from, math.min(right, last));
    FailureOr<Value> earlier = before(rightNumber, leftNumber);
    if (failed(earlier))
      return failure();
    Value leftUsedUp = math.compare(arith::CmpIPredicate::sge, left, middle);
    Value rightLeft = math.compare(arith::CmpIPredicate::slt, right, until);
    Value takeRight = math.either(leftUsedUp, math.both(rightLeft, *earlier));
    Value next = write(math.select(takeRight, rightNumber, leftNumber), carried[2], at[0]);
    return SmallVector<Value>{math.select(takeRight, left, math.add(left, one)),
                              math.select(takeRight, math.add(right, one), right), next};
  };
  Converted merged = buildLoops(importer, loc, LoopRange{begin, until}, ValueRange{begin, middle, into}, step);
  if (failed(merged))
    return failure();
  return SmallVector<Value>{merged->back()};
}

Converted RowSorter::mergeAll(Value from, Value into, Value width, Before before) {
  OpBuilder &builder = importer.builder;
  Value two = math.add(width, width);
  auto loop = scf::ForOp::create(builder, loc, math.constant(0), math.constant(length), two, into);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Converted merged = mergeTwo(from, loop.getRegionIterArg(0), loop.getInductionVar(), width, before);
  if (failed(merged))
    return failure();
  scf::YieldOp::create(builder, loc, *merged);
  return SmallVector<Value>{loop.getResult(0)};
}

Converted RowSorter::mergeRounds(ValueRange rows, Before before) {
  // Each round merges to the second row and back, which makes the sorted blocks four times as long. The number of
  // rounds is a function of the length; a merge of one block is a copy.
  int64_t rounds = 0;
  for (int64_t width = insertionBlock; width < length; width *= 4)
    ++rounds;
  SmallVector<Value> carried{math.constant(insertionBlock), rows[0], rows[1]};
  auto round = [&](ValueRange, ValueRange carried) -> Converted {
    Value doubled = math.add(carried[0], carried[0]);
    Converted there = mergeAll(carried[1], carried[2], carried[0], before);
    if (failed(there))
      return failure();
    Converted back = mergeAll(there->front(), carried[1], doubled, before);
    if (failed(back))
      return failure();
    return SmallVector<Value>{math.add(doubled, doubled), back->front(), there->front()};
  };
  Converted merged = buildLoops(importer, loc, ArrayRef<int64_t>{rounds}, carried, round);
  if (failed(merged))
    return failure();
  return SmallVector<Value>(ArrayRef<Value>(*merged).drop_front());
}

SmallVector<Value> RowSorter::makeRows() {
  auto type = RankedTensorType::get(length, importer.builder.getIndexType());
  SmallVector<Value> rows;
  for (int64_t i = 0; i < (length <= longestInsertion ? 1 : 2); ++i)
    rows.push_back(importer.empty(loc, type));
  return rows;
}

Converted RowSorter::sort(ValueRange rows, Before before) {
  OpBuilder &builder = importer.builder;
  auto number = [&](ValueRange at, ValueRange carried) -> Converted {
    return SmallVector<Value>{write(at[0], carried[0], at[0])};
  };
  Converted numbered = buildLoops(importer, loc, ArrayRef<int64_t>{length}, rows[0], number);
  Value zero = math.constant(0), end = math.constant(length);
  if (length <= longestInsertion)
    return insertAll(zero, end, numbered->front(), before);
  auto blocks = scf::ForOp::create(builder, loc, zero, end, math.constant(insertionBlock), numbered->front());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(blocks.getBody());
    Value begin = blocks.getInductionVar();
    Converted sorted =
        insertAll(begin, math.min(math.add(begin, insertionBlock), end), blocks.getRegionIterArg(0), before);
    if (failed(sorted))
      return failure();
    scf::YieldOp::create(builder, loc, *sorted);
  }
  return mergeRounds({blocks.getResult(0), rows[1]}, before);
}

} // namespace remat
