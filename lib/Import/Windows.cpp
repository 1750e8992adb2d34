//===- Windows.cpp - reduce_window ----------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduce_window is a loop nest over the places of the window and, as reductions, over the window. Padding is written
// out first, but only where there is any.
//
// A window that ends at (or begins with) each element and reaches over all that come before (after) it is how JAX
// writes cumsum, cummax and the like. As a loop nest that is n² steps for n elements; here each result continues the
// one before it, which combines the same elements in n steps.
//
//===----------------------------------------------------------------------===//

#include "Windows.h"
#include "Tensors.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

int64_t Window::places(int64_t dim, int64_t size) const {
  int64_t room = paddedSize(dim, size) - ((sizes[dim] - 1) * dilations[dim] + 1);
  return room < 0 ? 0 : room / strides[dim] + 1;
}

FailureOr<Window> readWindow(Operation *op, int64_t rank) {
  FailureOr<Ints> sizes = requireIntegers(op, "window_dimensions", rank);
  FailureOr<Ints> strides = integersOr(op, "window_strides", rank, 1);
  FailureOr<Ints> dilations = integersOr(op, "window_dilations", rank, 1);
  FailureOr<Ints> baseDilations = integersOr(op, "base_dilations", rank, 1);
  FailureOr<Ints> padding = integersOr(op, "padding", 2 * rank, 0);
  if (failed(sizes) || failed(strides) || failed(dilations) || failed(baseDilations) || failed(padding))
    return failure();
  for (const Ints &list : {*sizes, *strides, *dilations, *baseDilations})
    for (int64_t number : list)
      if (number < 1)
        return malformed(op, "expected positive sizes, strides and dilations of the window, found " + Twine(number));
  Window window{*sizes, *strides, *dilations, *baseDilations, {}, {}};
  for (int64_t dim = 0; dim < rank; ++dim) {
    window.low.push_back((*padding)[2 * dim]);
    window.high.push_back((*padding)[2 * dim + 1]);
  }
  return window;
}

LogicalResult checkPlaces(Operation *op, const Window &window, RankedTensorType input, RankedTensorType places) {
  if (input.getRank() != places.getRank())
    return malformed(op, "expected tensors of one rank");
  for (int64_t dim = 0; dim < window.rank(); ++dim)
    if (int64_t expected = window.places(dim, input.getDimSize(dim)); expected != places.getDimSize(dim))
      return malformed(op, "the window has " + Twine(expected) + " places in dimension " + Twine(dim) +
                               ", but there are " + Twine(places.getDimSize(dim)) + " values for them");
  return success();
}

Type sumType(Block &body, Type element) { return isAddition(body) ? accumulatorType(element) : element; }

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

namespace {

/// A reduce_window that keeps StableHLO's rules.
struct WindowReduction {
  Operation *op;
  Window window;
  Block *body;
  SmallVector<Value> inputs, inits;          ///< New values.
  SmallVector<RankedTensorType> types, sums; ///< Of the results, and of what they are accumulated in.
};

} // namespace

static FailureOr<WindowReduction> readReduceWindow(Importer &importer, Operation *op) {
  unsigned count = op->getNumOperands() / 2;
  if (count == 0)
    return malformed(op, "expected inputs and initial values");
  if (failed(expectOperands(op, 2 * count, count)))
    return failure();
  auto first = cast<RankedTensorType>(op->getOperand(0).getType());
  FailureOr<Window> window = readWindow(op, first.getRank());
  FailureOr<Block *> body = requireBody(op, 0, 2 * count);
  if (failed(window) || failed(body))
    return failure();
  WindowReduction reduction{op, *window, *body, {}, {}, {}, {}};
  for (unsigned i = 0; i < count; ++i) {
    auto input = cast<RankedTensorType>(op->getOperand(i).getType());
    auto init = cast<RankedTensorType>(op->getOperand(count + i).getType());
    if (input.getShape() != first.getShape() || init.getRank() != 0)
      return malformed(op, "expected inputs of one shape and initial values that are 0-d");
    auto result = cast<RankedTensorType>(op->getResult(i).getType());
    if (init.getElementType() != input.getElementType() || result.getElementType() != input.getElementType())
      return malformed(op, "expected one type of element of input, initial value and result " + Twine(i));
    if (failed(checkPlaces(op, *window, input, result)))
      return failure();
    reduction.inputs.push_back(importer.operand(op, i));
    reduction.inits.push_back(importer.operand(op, count + i));
    reduction.types.push_back(Importer::resultType(op, i));
    reduction.sums.push_back(reduction.types.back().clone(sumType(**body, reduction.types.back().getElementType())));
  }
  return reduction;
}

/// The body's results from what has been combined so far and the next elements. Sums are made in their own type.
static Converted combine(Importer &importer, const WindowReduction &reduction, ValueRange before, ValueRange after) {
  Location loc = reduction.op->getLoc();
  if (reduction.sums != reduction.types) {
    Type type = reduction.sums[0].getElementType();
    return SmallVector<Value>{arith::AddFOp::create(importer.builder, loc,
                                                    castScalar(importer.builder, loc, before[0], type),
                                                    castScalar(importer.builder, loc, after[0], type))};
  }
  SmallVector<Value> arguments(before);
  llvm::append_range(arguments, after);
  Converted values = importer.convertScalarBlock(*reduction.body, arguments);
  if (succeeded(values) && values->size() != before.size())
    return malformed(reduction.op, "expected " + Twine(before.size()) + " values from its body");
  return values;
}

/// The input spread by the base dilations and padded with the initial value, or cut where padding is negative.
static Converted padInput(Importer &importer, Location loc, const Window &window, Value input, Value init) {
  auto type = cast<RankedTensorType>(input.getType());
  Ints shape, interior;
  for (int64_t dim = 0; dim < window.rank(); ++dim) {
    shape.push_back(std::max<int64_t>(0, window.paddedSize(dim, type.getDimSize(dim))));
    interior.push_back(window.baseDilations[dim] - 1);
  }
  RankedTensorType padded = type.clone(shape);
  return buildKernel(importer, loc, padded, {input, init}, {}, [&](ValueRange arguments) -> Converted {
    Value padding = importer.scalar(loc, arguments[1]);
    return SmallVector<Value>{pad(importer.builder, loc, arguments[0], padding, padded, window.low, interior)};
  });
}

static bool isPadded(const Window &window) {
  return llvm::any_of(window.low, [](int64_t n) { return n != 0; }) ||
         llvm::any_of(window.high, [](int64_t n) { return n != 0; }) ||
         llvm::any_of(window.baseDilations, [](int64_t n) { return n != 1; });
}

/// The maps of the loop nest, over the places and then over the window where it is more than one element wide: inputs,
/// window, results.
static SmallVector<AffineMap> windowMaps(OpBuilder &builder, const Window &window, unsigned inputs, unsigned results) {
  SmallVector<AffineExpr> places, elements, inside;
  int64_t loops = window.rank();
  for (int64_t dim = 0; dim < window.rank(); ++dim) {
    places.push_back(builder.getAffineDimExpr(dim));
    elements.push_back(places.back() * window.strides[dim]);
    if (window.sizes[dim] == 1)
      continue;
    inside.push_back(builder.getAffineDimExpr(loops++));
    elements.back() = elements.back() + inside.back() * window.dilations[dim];
  }
  SmallVector<AffineMap> maps(inputs, AffineMap::get(loops, 0, elements, builder.getContext()));
  if (!inside.empty())
    maps.push_back(AffineMap::get(loops, 0, inside, builder.getContext()));
  maps.append(results, AffineMap::get(loops, 0, places, builder.getContext()));
  return maps;
}

static Converted reduceWindow(Importer &importer, const WindowReduction &reduction) {
  const Window &window = reduction.window;
  Location loc = reduction.op->getLoc();
  unsigned count = reduction.inputs.size();
  SmallVector<Value> inputs(reduction.inputs), inits;
  for (unsigned i = 0; i < count && isPadded(window); ++i) {
    Converted padded = padInput(importer, loc, window, inputs[i], reduction.inits[i]);
    if (failed(padded))
      return failure();
    inputs[i] = padded->front();
  }
  for (unsigned i = 0; i < count; ++i) {
    Type sum = reduction.sums[i].getElementType();
    Value init = castScalar(importer.builder, loc, importer.scalar(loc, reduction.inits[i]), sum);
    inits.push_back(importer.fill(loc, reduction.sums[i], init));
  }
  SmallVector<int64_t> wide = llvm::to_vector(llvm::make_filter_range(window.sizes, [](int64_t n) { return n != 1; }));
  SmallVector<utils::IteratorType> loops(window.rank(), utils::IteratorType::parallel);
  loops.append(wide.size(), utils::IteratorType::reduction);
  SmallVector<AffineMap> maps = windowMaps(importer.builder, window, count, count);
  if (!wide.empty()) // Nobody reads it: it says how far the loops over the window go.
    inputs.push_back(importer.empty(loc, RankedTensorType::get(wide, reduction.types[0].getElementType())));
  bool ok = true;
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) {
    Converted values = combine(importer, reduction, arguments.take_back(count), arguments.take_front(count));
    ok = succeeded(values);
    linalg::YieldOp::create(inner, loc, ok ? *values : SmallVector<Value>());
  };
  SmallVector<Type> types(reduction.sums.begin(), reduction.sums.end());
  auto generic = linalg::GenericOp::create(importer.builder, loc, types, inputs, inits, maps, loops, body);
  if (!ok)
    return failure();
  SmallVector<Value> results;
  for (auto [result, type] : llvm::zip_equal(generic.getResults(), reduction.types))
    results.push_back(castTensor(importer.builder, loc, result, type));
  return results;
}

//===----------------------------------------------------------------------===//
// Running reductions
//===----------------------------------------------------------------------===//

namespace {

/// The dimension that a running reduction goes along, and which way.
struct Running {
  int64_t dim;
  bool backward;
};

} // namespace

/// Whether every window is all that comes before its element (or all that comes after), itself included.
static std::optional<Running> asRunning(const Window &window, RankedTensorType input) {
  if (llvm::any_of(window.strides, [](int64_t n) { return n != 1; }) ||
      llvm::any_of(window.baseDilations, [](int64_t n) { return n != 1; }))
    return std::nullopt;
  std::optional<Running> running;
  for (int64_t dim = 0; dim < window.rank(); ++dim) {
    int64_t before = window.sizes[dim] - 1, low = window.low[dim], high = window.high[dim];
    if (before == 0 && low == 0 && high == 0)
      continue;
    bool forward = low == before && high == 0, backward = low == 0 && high == before;
    if (running || window.dilations[dim] != 1 || window.sizes[dim] < input.getDimSize(dim) || !(forward || backward))
      return std::nullopt;
    running = Running{dim, backward};
  }
  return running;
}

/// One step: what has been combined with the elements at `point`, and the results with it there. `carried` are what has
/// been combined so far and the results.
static Converted runStep(Importer &importer, const WindowReduction &reduction, Running running, ValueRange inputs,
                         ArrayRef<Value> point, ValueRange carried) {
  OpBuilder &builder = importer.builder;
  Location loc = reduction.op->getLoc();
  SmallVector<Value> elements;
  for (Value input : inputs)
    elements.push_back(tensor::ExtractOp::create(builder, loc, input, point));
  ValueRange soFar = carried.take_front(inputs.size()), results = carried.drop_front(inputs.size());
  // Going backward, the next element comes before what has been combined.
  Converted next =
      running.backward ? combine(importer, reduction, elements, soFar) : combine(importer, reduction, soFar, elements);
  if (failed(next))
    return failure();
  SmallVector<Value> left(*next);
  for (auto [value, result, type] : llvm::zip_equal(*next, results, reduction.types)) {
    Value rounded = castScalar(builder, loc, value, type.getElementType());
    left.push_back(tensor::InsertOp::create(builder, loc, rounded, result, point));
  }
  return left;
}

static Converted runReduction(Importer &importer, const WindowReduction &reduction, Running running) {
  OpBuilder &builder = importer.builder;
  Location loc = reduction.op->getLoc();
  unsigned count = reduction.inputs.size();
  SmallVector<Value> inputs(reduction.inputs);
  llvm::append_range(inputs, reduction.inits);
  SmallVector<Type> types(reduction.types.begin(), reduction.types.end());
  Ints outer(reduction.types[0].getShape());
  int64_t length = std::exchange(outer[running.dim], 1);
  return buildKernel(importer, loc, types, inputs, {}, [&](ValueRange arguments) -> Converted {
    IndexMath math{builder, loc};
    SmallVector<Value> inits, results;
    for (unsigned i = 0; i < count; ++i) {
      Value init = importer.scalar(loc, arguments[count + i]);
      inits.push_back(castScalar(builder, loc, init, reduction.sums[i].getElementType()));
      results.push_back(importer.empty(loc, reduction.types[i]));
    }
    return buildLoops(importer, loc, outer, results, [&](ValueRange place, ValueRange results) -> Converted {
      SmallVector<Value> carried(inits);
      llvm::append_range(carried, results);
      auto body = [&](ValueRange index, ValueRange carried) {
        SmallVector<Value> point(place);
        point[running.dim] = running.backward ? math.subtract(math.constant(length - 1), index[0]) : index[0];
        return runStep(importer, reduction, running, arguments.take_front(count), point, carried);
      };
      Converted left = buildLoops(importer, loc, ArrayRef<int64_t>{length}, carried, body);
      if (failed(left))
        return failure();
      return SmallVector<Value>(ArrayRef<Value>(*left).drop_front(count));
    });
  });
}

static Converted convertReduceWindow(Importer &importer, Operation *op) {
  FailureOr<WindowReduction> reduction = readReduceWindow(importer, op);
  if (failed(reduction))
    return failure();
  if (std::optional<Running> running = asRunning(reduction->window, reduction->types[0]))
    return runReduction(importer, *reduction, *running);
  return reduceWindow(importer, *reduction);
}

void addWindowConversions(ConversionTable &table) {
  table["stablehlo.reduce_window"] = convertReduceWindow;
  addSelectAndScatterConversions(table);
}

} // namespace remat
