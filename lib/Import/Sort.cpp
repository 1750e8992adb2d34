//===- Sort.cpp - sort ----------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The comparison reads the operands through the permutation that is sorted; they are copied once, at the end.
//
//===----------------------------------------------------------------------===//

#include "RowSorter.h"

using namespace mlir;

namespace remat {

namespace {

/// A sort that keeps StableHLO's rules.
struct Sort {
  Operation *op;
  int64_t dim;
  Block *comparator;
  SmallVector<RankedTensorType> types; ///< New ones; all of one shape.

  /// `place` in the dimensions that aren't sorted, with `number` in the one that is.
  SmallVector<Value> at(ValueRange place, Value number) const {
    SmallVector<Value> indices(place);
    indices[dim] = number;
    return indices;
  }
};

} // namespace

static FailureOr<Sort> readSort(Operation *op) {
  unsigned count = op->getNumOperands();
  if (count == 0)
    return malformed(op, "expected tensors to sort");
  FailureOr<Block *> comparator = requireBody(op, 0, 2 * count);
  if (failed(expectOperands(op, count, count)) || failed(comparator))
    return failure();
  Sort sort{op, 0, *comparator, {}};
  for (unsigned i = 0; i < count; ++i) {
    auto type = cast<RankedTensorType>(op->getOperand(i).getType());
    if (type != op->getResult(i).getType() || (i > 0 && type.getShape() != sort.types[0].getShape()))
      return malformed(op, "expected operands of one shape, and results of the operands' types");
    sort.types.push_back(Importer::resultType(op, i));
  }
  // Left out, the dimension is the last one; negative, it counts from the end.
  int64_t rank = sort.types[0].getRank(), dim = hloInteger(getHloAttr(op, "dimension")).value_or(-1);
  sort.dim = dim < 0 ? dim + rank : dim;
  if (sort.dim < 0 || sort.dim >= rank)
    return malformed(op, "expected a dimension in [" + Twine(-rank) + ", " + Twine(rank) + "), found " + Twine(dim));
  return sort;
}

/// The comparator's verdict about two elements of the row at `place`.
static FailureOr<Value> compareElements(Importer &importer, const Sort &sort, ValueRange inputs, ValueRange place,
                                        Value left, Value right) {
  SmallVector<Value> arguments;
  for (Value input : inputs)
    for (Value number : {left, right})
      arguments.push_back(
          tensor::ExtractOp::create(importer.builder, sort.op->getLoc(), input, sort.at(place, number)));
  Converted verdict = importer.convertScalarBlock(*sort.comparator, arguments);
  if (failed(verdict))
    return failure();
  if (verdict->size() != 1 || !verdict->front().getType().isInteger(1))
    return malformed(sort.op, "expected one i1 from its body");
  return verdict->front();
}

/// Sorts the row at `place`. `carried` are the sorter's rows and the results.
static Converted sortRow(Importer &importer, const Sort &sort, RowSorter &sorter, ValueRange inputs, ValueRange place,
                         ValueRange carried) {
  OpBuilder &builder = importer.builder;
  Location loc = sort.op->getLoc();
  auto before = [&](Value a, Value b) { return compareElements(importer, sort, inputs, place, a, b); };
  Converted order = sorter.sort(carried.drop_back(inputs.size()), before);
  if (failed(order))
    return failure();
  auto copy = [&](ValueRange at, ValueRange results) -> Converted {
    Value number = tensor::ExtractOp::create(builder, loc, order->front(), at);
    SmallVector<Value> next;
    for (auto [input, result] : llvm::zip_equal(inputs, results)) {
      Value element = tensor::ExtractOp::create(builder, loc, input, sort.at(place, number));
      next.push_back(tensor::InsertOp::create(builder, loc, element, result, sort.at(place, at[0])));
    }
    return next;
  };
  ArrayRef<int64_t> length = sort.types[0].getShape().slice(sort.dim, 1);
  Converted results = buildLoops(importer, loc, length, carried.take_back(inputs.size()), copy);
  llvm::append_range(*order, *results);
  return order;
}

static Converted convertSort(Importer &importer, Operation *op) {
  FailureOr<Sort> sort = readSort(op);
  if (failed(sort))
    return failure();
  Location loc = op->getLoc();
  SmallVector<Value> inputs = llvm::map_to_vector(op->getOperands(), [&](Value old) { return importer.get(old); });
  SmallVector<Type> types(sort->types.begin(), sort->types.end());
  if (sort->types[0].getNumElements() == 0)
    return inputs;
  Ints rows(sort->types[0].getShape());
  int64_t length = std::exchange(rows[sort->dim], 1);
  return buildKernel(importer, loc, types, inputs, {}, [&](ValueRange arguments) -> Converted {
    // The sorter's rows are carried too, so that all rows of the tensors share them.
    RowSorter sorter(importer, loc, length);
    SmallVector<Value> carried = sorter.makeRows();
    for (RankedTensorType type : sort->types)
      carried.push_back(importer.empty(loc, type));
    Converted left = buildLoops(importer, loc, rows, carried, [&](ValueRange place, ValueRange carried) {
      return sortRow(importer, *sort, sorter, arguments, place, carried);
    });
    if (failed(left))
      return failure();
    return SmallVector<Value>(ArrayRef<Value>(*left).take_back(types.size()));
  });
}

void addSortConversions(ConversionTable &table) {
  table["stablehlo.sort"] = convertSort;
  addTopKConversions(table);
}

} // namespace remat
