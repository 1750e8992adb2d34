//===- SelectAndScatter.cpp - select_and_scatter --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a pooling: each place of the window selects one element of the operand, and its source value is
// combined with the result there. Windows are cut to what lies in the operand, so padding can't be selected. Places go
// row by row, and so do the elements of a window; the first of equal elements stays selected if `select` says so.
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"
#include "Windows.h"

using namespace mlir;

namespace remat {

namespace {

/// A select_and_scatter that keeps StableHLO's rules.
struct SelectAndScatter {
  Operation *op;
  Window window;
  Block *select, *scatter;
  RankedTensorType operand, source; ///< New types.
  RankedTensorType sums;            ///< What the result is accumulated in.
};

} // namespace

static FailureOr<SelectAndScatter> readSelectAndScatter(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 3)))
    return failure();
  auto operand = cast<RankedTensorType>(importer.operand(op, 0).getType());
  auto source = cast<RankedTensorType>(importer.operand(op, 1).getType());
  auto init = cast<RankedTensorType>(importer.operand(op, 2).getType());
  FailureOr<Window> window = readWindow(op, operand.getRank());
  FailureOr<Block *> select = requireBody(op, 0, 2), scatter = requireBody(op, 1, 2);
  if (failed(window) || failed(select) || failed(scatter) || failed(checkPlaces(op, *window, operand, source)))
    return failure();
  if (Importer::resultType(op) != operand || init.getRank() != 0 ||
      source.getElementType() != operand.getElementType() || init.getElementType() != operand.getElementType())
    return malformed(op,
                     "expected a result of the operand's type, and a source and a 0-d initial value of its elements");
  RankedTensorType sums = operand.clone(sumType(**scatter, operand.getElementType()));
  return SelectAndScatter{op, *window, *select, *scatter, operand, source, sums};
}

/// The part of the window at a place that lies in the operand, for every dimension.
static SmallVector<LoopRange> windowRanges(const SelectAndScatter &form, const IndexMath &math, ValueRange place) {
  SmallVector<LoopRange> ranges;
  for (int64_t dim = 0; dim < form.window.rank(); ++dim) {
    int64_t size = form.operand.getDimSize(dim), wide = form.window.sizes[dim], low = form.window.low[dim];
    int64_t lastStart = (form.source.getDimSize(dim) - 1) * form.window.strides[dim] - low;
    LoopRange range{math.builder.getIndexAttr(0), math.builder.getIndexAttr(wide)};
    Value start = math.add(math.multiply(place[dim], form.window.strides[dim]), -low);
    if (low > 0)
      range.lower = math.max(math.subtract(math.constant(0), start), math.constant(0));
    if (lastStart + wide > size)
      range.upper = math.min(math.subtract(math.constant(size), start), math.constant(wide));
    ranges.push_back(range);
  }
  return ranges;
}

/// Where in the operand the element `inside` the window at `place` lies.
static SmallVector<Value> elementOf(const SelectAndScatter &form, const IndexMath &math, ValueRange place,
                                    ArrayRef<Value> inside) {
  SmallVector<Value> element;
  for (int64_t dim = 0; dim < form.window.rank(); ++dim)
    element.push_back(
        math.add(math.add(math.multiply(place[dim], form.window.strides[dim]), inside[dim]), -form.window.low[dim]));
  return element;
}

/// The indices of the element that the window at `place` selects. The window isn't empty.
static Converted selectElement(Importer &importer, const SelectAndScatter &form, Value operand, ValueRange place,
                               ArrayRef<LoopRange> ranges) {
  OpBuilder &builder = importer.builder;
  Location loc = form.op->getLoc();
  IndexMath math{builder, loc};
  SmallVector<Value> firstInside = llvm::map_to_vector(
      ranges, [&](LoopRange range) { return getValueOrCreateConstantIndexOp(builder, loc, range.lower); });
  // The carried values are the selected element's indices, then its value. The first element meets itself first, which
  // changes nothing, whatever `select` says.
  SmallVector<Value> first = elementOf(form, math, place, firstInside);
  first.push_back(tensor::ExtractOp::create(builder, loc, operand, ArrayRef<Value>(first)));
  auto body = [&](ValueRange inside, ValueRange selected) -> Converted {
    SmallVector<Value> next = elementOf(form, math, place, SmallVector<Value>(inside));
    next.push_back(tensor::ExtractOp::create(builder, loc, operand, ArrayRef<Value>(next)));
    Converted keep = importer.convertScalarBlock(*form.select, {selected.back(), next.back()});
    if (failed(keep))
      return failure();
    if (keep->size() != 1 || !keep->front().getType().isInteger(1))
      return malformed(form.op, "expected one i1 from the body that selects");
    SmallVector<Value> left;
    for (auto [old, other] : llvm::zip_equal(selected, next))
      left.push_back(math.select(keep->front(), old, other));
    return left;
  };
  Converted selected = buildLoops(importer, loc, ranges, first, body);
  if (succeeded(selected))
    selected->pop_back();
  return selected;
}

/// Selects in the window at `place` and combines its source value with `result` there.
static Converted scatterOne(Importer &importer, const SelectAndScatter &form, Value operand, Value source,
                            ValueRange place, ArrayRef<LoopRange> ranges, Value result) {
  OpBuilder &builder = importer.builder;
  Location loc = form.op->getLoc();
  Converted selected = selectElement(importer, form, operand, place, ranges);
  if (failed(selected))
    return failure();
  Value value = tensor::ExtractOp::create(builder, loc, source, place);
  Value before = tensor::ExtractOp::create(builder, loc, result, *selected);
  Converted after;
  if (form.sums != form.operand)
    after = SmallVector<Value>{
        arith::AddFOp::create(builder, loc, before, castScalar(builder, loc, value, form.sums.getElementType()))};
  else
    after = importer.convertScalarBlock(*form.scatter, {before, value});
  if (failed(after))
    return failure();
  if (after->size() != 1)
    return malformed(form.op, "expected one value from the body that scatters");
  return SmallVector<Value>{tensor::InsertOp::create(builder, loc, after->front(), result, *selected)};
}

/// Whether the window at `place` has an element in the operand; null where every window has.
static Value anyInside(const SelectAndScatter &form, const IndexMath &math, ArrayRef<LoopRange> ranges) {
  Value any;
  for (auto [dim, range] : llvm::enumerate(ranges)) {
    int64_t size = form.operand.getDimSize(dim), stride = form.window.strides[dim], low = form.window.low[dim];
    int64_t lastStart = (form.source.getDimSize(dim) - 1) * stride - low;
    // The first window ends in the operand and the last begins there, and so do all in between.
    if (form.window.sizes[dim] > low && lastStart < size)
      continue;
    Value here =
        math.compare(arith::CmpIPredicate::slt, getValueOrCreateConstantIndexOp(math.builder, math.loc, range.lower),
                     getValueOrCreateConstantIndexOp(math.builder, math.loc, range.upper));
    any = any ? math.both(any, here) : here;
  }
  return any;
}

static Converted convertSelectAndScatter(Importer &importer, Operation *op) {
  FailureOr<SelectAndScatter> form = readSelectAndScatter(importer, op);
  if (failed(form))
    return failure();
  Location loc = op->getLoc();
  SmallVector<Value> inputs = llvm::map_to_vector(op->getOperands(), [&](Value old) { return importer.get(old); });
  return buildKernel(importer, loc, form->operand, inputs, {}, [&](ValueRange arguments) -> Converted {
    IndexMath math{importer.builder, loc};
    Value init = castScalar(importer.builder, loc, importer.scalar(loc, arguments[2]), form->sums.getElementType());
    Value start = importer.fill(loc, form->sums, init);
    auto body = [&](ValueRange place, ValueRange carried) -> Converted {
      SmallVector<LoopRange> ranges = windowRanges(*form, math, place);
      auto one = [&] {
        return scatterOne(importer, *form, arguments[0], arguments[1], place, ranges, carried.front());
      };
      Value any = anyInside(*form, math, ranges);
      return any ? buildIf(importer, loc, any, carried, one) : one();
    };
    Converted result = buildLoops(importer, loc, Ints(form->source.getShape()), start, body);
    if (failed(result))
      return failure();
    return SmallVector<Value>{castTensor(importer.builder, loc, result->front(), form->operand)};
  });
}

void addSelectAndScatterConversions(ConversionTable &table) {
  table["stablehlo.select_and_scatter"] = convertSelectAndScatter;
}

} // namespace remat
