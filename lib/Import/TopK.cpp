//===- TopK.cpp - top_k ---------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The k largest elements of each row, largest first, and where they stand. Of equal ones the first comes first. Floats
// are in XLA's total order: -NaN < -inf < … < -0 < +0 < … < +inf < +NaN.
//
// For a small k they are kept in a sorted list, which most elements only meet the end of; for a large one the row is
// sorted.
//
//===----------------------------------------------------------------------===//

#include "RowSorter.h"

using namespace mlir;

namespace remat {

/// The longest sorted list.
constexpr int64_t longestList = 64;

namespace {

/// A top_k that keeps its rules.
struct TopK {
  Operation *op;
  int64_t k;
  bool smallest;                             ///< The k smallest instead.
  Type element;                              ///< With signedness.
  RankedTensorType operand, values, numbers; ///< New types.

  int64_t length() const { return operand.getDimSize(operand.getRank() - 1); }
  /// The sizes of the dimensions before the last.
  Ints rows() const { return Ints(operand.getShape().drop_back()); }
};

} // namespace

/// `place` in the dimensions before the last, `index` in the last.
static SmallVector<Value> at(ValueRange place, Value index) {
  SmallVector<Value> indices(place);
  indices.push_back(index);
  return indices;
}

static FailureOr<TopK> readTopK(Operation *op, std::optional<int64_t> k, bool smallest) {
  if (failed(expectOperands(op, 1, 2)))
    return failure();
  auto old = cast<RankedTensorType>(op->getOperand(0).getType());
  auto operand = cast<RankedTensorType>(Importer::convertType(old));
  if (operand.getRank() == 0 || !k || *k < 0 || *k > operand.getShape().back())
    return malformed(op, "expected a 'k' that isn't larger than the operand's last dimension");
  TopK form{op, *k, smallest, old.getElementType(), operand, Importer::resultType(op, 0), Importer::resultType(op, 1)};
  SmallVector<int64_t> shape(operand.getShape());
  shape.back() = *k;
  if (form.values != operand.clone(shape) || form.numbers.getShape() != ArrayRef<int64_t>(shape) ||
      !isa<IntegerType>(form.numbers.getElementType()))
    return malformed(op, "expected results of the operand's shape with 'k' as last dimension: values and integers");
  return form;
}

/// An integer whose order is that of the elements.
static Value orderKey(OpBuilder &builder, Location loc, Value element) {
  if (!isa<FloatType>(element.getType()))
    return element;
  unsigned width = element.getType().getIntOrFloatBitWidth();
  Type type = builder.getIntegerType(width);
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  // Of negative numbers a larger pattern is a smaller number: flip all bits but the sign.
  Value bits = arith::BitcastOp::create(builder, loc, type, element);
  Value sign = arith::ShRSIOp::create(builder, loc, bits, constant(width - 1));
  return arith::XOrIOp::create(builder, loc, bits, arith::ShRUIOp::create(builder, loc, sign, constant(1)));
}

/// Whether element `a` must stand before `b` where `b` came first.
static Value isBetter(OpBuilder &builder, Location loc, const TopK &form, Value a, Value b) {
  bool isUnsigned = form.element.isUnsignedInteger() || form.element.isInteger(1);
  arith::CmpIPredicate larger = isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  Value left = orderKey(builder, loc, a), right = orderKey(builder, loc, b);
  return form.smallest ? arith::CmpIOp::create(builder, loc, larger, right, left)
                       : arith::CmpIOp::create(builder, loc, larger, left, right);
}

//===----------------------------------------------------------------------===//
// A sorted list
//===----------------------------------------------------------------------===//

/// The list in `carried` (values, then numbers) with an element put in its place; `from` is the first place it may take
/// from the list's end.
static Converted putIn(Importer &importer, const TopK &form, ValueRange place, Value element, Value number, Value from,
                       ValueRange carried) {
  OpBuilder &builder = importer.builder;
  Location loc = form.op->getLoc();
  IndexMath math{builder, loc};
  Value zero = math.constant(0), one = math.constant(1);
  SmallVector<Value> start{from, carried[0], carried[1]};
  SmallVector<Type> types(ValueRange(start).getTypes());
  SmallVector<Location> locations(3, loc);
  auto loop = scf::WhileOp::create(builder, loc, types, start);
  OpBuilder::InsertionGuard guard(builder);
  Block *test = builder.createBlock(&loop.getBefore(), {}, types, locations);
  Value index = test->getArgument(0);
  // At the list's begin the comparison is made with its first element; it doesn't count.
  Value previous = tensor::ExtractOp::create(builder, loc, test->getArgument(1),
                                             at(place, math.max(math.subtract(index, one), zero)));
  Value more =
      math.both(math.compare(arith::CmpIPredicate::sgt, index, zero), isBetter(builder, loc, form, element, previous));
  scf::ConditionOp::create(builder, loc, more, test->getArguments());
  Block *shift = builder.createBlock(&loop.getAfter(), {}, types, locations);
  SmallVector<Value> next{math.subtract(shift->getArgument(0), one)};
  for (Value tensor : shift->getArguments().drop_front()) {
    Value moved = tensor::ExtractOp::create(builder, loc, tensor, at(place, next[0]));
    next.push_back(tensor::InsertOp::create(builder, loc, moved, tensor, at(place, shift->getArgument(0))));
  }
  scf::YieldOp::create(builder, loc, next);
  builder.setInsertionPointAfter(loop);
  SmallVector<Value> free = at(place, loop.getResult(0));
  return SmallVector<Value>{tensor::InsertOp::create(builder, loc, element, loop.getResult(1), free),
                            tensor::InsertOp::create(builder, loc, number, loop.getResult(2), free)};
}

/// The results' rows at `place`, made by going over the operand's row once.
static Converted listRow(Importer &importer, const TopK &form, Value operand, ValueRange place, ValueRange carried) {
  if (form.k == 0)
    return llvm::to_vector(carried);
  OpBuilder &builder = importer.builder;
  Location loc = form.op->getLoc();
  auto step = [&](Value index, Value from, ValueRange carried, bool isFull) -> Converted {
    IndexMath math{builder, loc};
    Value element = tensor::ExtractOp::create(builder, loc, operand, at(place, index));
    auto put = [&] {
      Value number = arith::IndexCastOp::create(builder, loc, form.numbers.getElementType(), index);
      return putIn(importer, form, place, element, number, from, carried);
    };
    if (!isFull)
      return put();
    Value worst = tensor::ExtractOp::create(builder, loc, carried[0], at(place, math.constant(form.k - 1)));
    return buildIf(importer, loc, isBetter(builder, loc, form, element, worst), carried, put);
  };
  // The first k fill the list; then each that comes in pushes the last one out.
  Converted filled =
      buildLoops(importer, loc, ArrayRef<int64_t>{form.k}, carried,
                 [&](ValueRange index, ValueRange carried) { return step(index[0], index[0], carried, false); });
  if (failed(filled))
    return failure();
  LoopRange rest{builder.getIndexAttr(form.k), builder.getIndexAttr(form.length())};
  return buildLoops(importer, loc, rest, *filled, [&](ValueRange index, ValueRange carried) {
    Value last = arith::ConstantIndexOp::create(builder, loc, form.k - 1);
    return step(index[0], last, carried, true);
  });
}

//===----------------------------------------------------------------------===//
// A sorted row
//===----------------------------------------------------------------------===//

/// The results' rows at `place` (carried after the sorter's rows), made by sorting the operand's row.
static Converted sortRow(Importer &importer, const TopK &form, RowSorter &sorter, Value operand, ValueRange place,
                         ValueRange carried) {
  OpBuilder &builder = importer.builder;
  Location loc = form.op->getLoc();
  auto element = [&](Value number) { return tensor::ExtractOp::create(builder, loc, operand, at(place, number)); };
  Converted order = sorter.sort(carried.drop_back(2), [&](Value a, Value b) -> FailureOr<Value> {
    return isBetter(builder, loc, form, element(a), element(b));
  });
  auto copy = [&](ValueRange index, ValueRange results) -> Converted {
    Value number = tensor::ExtractOp::create(builder, loc, order->front(), index);
    Value cast = arith::IndexCastOp::create(builder, loc, form.numbers.getElementType(), number);
    return SmallVector<Value>{tensor::InsertOp::create(builder, loc, element(number), results[0], at(place, index[0])),
                              tensor::InsertOp::create(builder, loc, cast, results[1], at(place, index[0]))};
  };
  Converted results = buildLoops(importer, loc, ArrayRef<int64_t>{form.k}, carried.take_back(2), copy);
  llvm::append_range(*order, *results);
  return order;
}

//===----------------------------------------------------------------------===//
// The conversions
//===----------------------------------------------------------------------===//

static Converted convert(Importer &importer, const TopK &form) {
  Location loc = form.op->getLoc();
  Value input = importer.operand(form.op, 0);
  return buildKernel(importer, loc, {form.values, form.numbers}, input, {}, [&](ValueRange arguments) -> Converted {
    RowSorter sorter(importer, loc, form.length());
    bool list = form.k <= longestList;
    SmallVector<Value> carried;
    if (!list)
      carried = sorter.makeRows();
    carried.append({importer.empty(loc, form.values), importer.empty(loc, form.numbers)});
    Converted left = buildLoops(importer, loc, form.rows(), carried, [&](ValueRange place, ValueRange carried) {
      return list ? listRow(importer, form, arguments[0], place, carried)
                  : sortRow(importer, form, sorter, arguments[0], place, carried);
    });
    if (failed(left))
      return failure();
    return SmallVector<Value>(ArrayRef<Value>(*left).take_back(2));
  });
}

static Converted convertTopK(Importer &importer, Operation *op) {
  FailureOr<TopK> form = readTopK(op, hloInteger(getHloAttr(op, "k")), /*smallest=*/false);
  return failed(form) ? Converted() : convert(importer, *form);
}

/// `custom_call @mhlo.topk`, as which top_k leaves programs that may hold no CHLO.
static Converted convertCustomCall(Importer &importer, Operation *op) {
  auto target = dyn_cast_or_null<StringAttr>(getHloAttr(op, "call_target_name"));
  if (!target || target.getValue() != "mhlo.topk")
    return unsupported(op, "'" + (target ? target.getValue() : StringRef("?")) + "'",
                       "of custom calls only 'mhlo.topk' is known; export the step for a platform that has no library "
                       "of its own for this, such as CPU, or write it with StableHLO's ops");
  auto attributes = dyn_cast_or_null<DictionaryAttr>(getHloAttr(op, "mhlo.attributes"));
  if (!attributes)
    return malformed(op, "missing attribute 'mhlo.attributes'");
  auto largest = dyn_cast_or_null<BoolAttr>(attributes.get("largest"));
  FailureOr<TopK> form = readTopK(op, hloInteger(attributes.get("k")), largest && !largest.getValue());
  return failed(form) ? Converted() : convert(importer, *form);
}

void addTopKConversions(ConversionTable &table) {
  table["chlo.top_k"] = convertTopK;
  table["stablehlo.custom_call"] = convertCustomCall;
}

} // namespace remat
