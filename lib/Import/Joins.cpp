//===- Joins.cpp - Tensors put together from others -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pad is one loop over its result that asks at each point where in the operand it lies (Places.h). A loop fuses with
// its element-wise neighbours, which a fill and a copy into a part of it don't. A few operands are concatenated the
// same way. Of many each point would ask too many questions: they are a kernel of copies.
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "Tensors.h"

using namespace mlir;

namespace remat {

/// Whether an element of the operand lies in the result.
static bool keepsElements(ArrayRef<int64_t> shape, ArrayRef<int64_t> result, ArrayRef<int64_t> low,
                          ArrayRef<int64_t> interior) {
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t stride = interior[i] + 1;
    int64_t first = low[i] < 0 ? llvm::divideCeil(-low[i], stride) : 0;
    int64_t last = std::min(shape[i] - 1, llvm::divideFloorSigned(result[i] - 1 - low[i], stride));
    if (last < first)
      return false;
  }
  return true;
}

/// `input` padded to `type` (a paddedShape) with the element of the 0-d tensor `padding`.
static Value makePadded(Importer &importer, Location loc, Value input, Value padding, RankedTensorType type,
                        ArrayRef<int64_t> low, ArrayRef<int64_t> interior) {
  OpBuilder &builder = importer.builder;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(input.getType()).getShape();
  int64_t rank = type.getRank();
  AffineMap scalarMap = AffineMap::get(rank, 0, builder.getContext());
  if (!keepsElements(shape, type.getShape(), low, interior))
    return importer.view(loc, type, padding, scalarMap);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  Converted padded =
      importer.generic(loc, padding, importer.empty(loc, type), {scalarMap, builder.getMultiDimIdentityMap(rank)},
                       loops, [&](ValueRange arguments) -> Converted {
                         PlaceBuilder places(builder, loc);
                         Place place;
                         for (int64_t dim = 0; dim < rank; ++dim)
                           places.add(place, linalg::IndexOp::create(builder, loc, dim), type.getDimSize(dim),
                                      shape[dim], low[dim], interior[dim] + 1);
                         return SmallVector<Value>{places.read(input, place, arguments[0])};
                       });
  return padded->front();
}

static Converted convertPad(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 2)))
    return failure();
  auto from = cast<RankedTensorType>(importer.operand(op, 0).getType());
  RankedTensorType to = importer.resultType(op);
  size_t rank = from.getRank();
  FailureOr<Ints> low = requireIntegers(op, "edge_padding_low", rank),
                  high = requireIntegers(op, "edge_padding_high", rank),
                  interior = requireIntegers(op, "interior_padding", rank);
  if (failed(low) || failed(high) || failed(interior))
    return failure();
  if (importer.operand(op, 1).getType() != Type(RankedTensorType::get({}, from.getElementType())))
    return malformed(op, "expected a 0-d tensor of the operand's element type as padding value");
  if (llvm::any_of(*interior, [](int64_t padding) { return padding < 0; }))
    return malformed(op, "'interior_padding' is negative");
  if (paddedShape(from.getShape(), *low, *high, *interior) != Ints(to.getShape()) ||
      from.getElementType() != to.getElementType())
    return malformed(op, "the result's type isn't the padded type of the operand");
  return SmallVector<Value>{
      makePadded(importer, op->getLoc(), importer.operand(op, 0), importer.operand(op, 1), to, *low, *interior)};
}

//===----------------------------------------------------------------------===//
// Concatenate
//===----------------------------------------------------------------------===//

/// One loop over the result that asks at each point which operand it lies in.
static Value joinInLoop(Importer &importer, Location loc, ArrayRef<Value> operands, RankedTensorType type,
                        int64_t dim) {
  OpBuilder &builder = importer.builder;
  int64_t rank = type.getRank();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  Converted joined = importer.generic(
      loc, {}, importer.empty(loc, type), builder.getMultiDimIdentityMap(rank), loops, [&](ValueRange) -> Converted {
        PlaceBuilder places(builder, loc);
        Value element;
        int64_t end = type.getDimSize(dim);
        for (Value operand : llvm::reverse(operands)) {
          ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.getType()).getShape();
          Place place;
          for (int64_t d = 0; d < rank; ++d)
            places.add(place, linalg::IndexOp::create(builder, loc, d), type.getDimSize(d), shape[d],
                       d == dim ? end - shape[d] : 0, 1);
          end -= shape[dim];
          // What isn't in one of the others is in the last.
          if (!element)
            place.isInside = nullptr;
          element = places.read(operand, place, element);
        }
        return SmallVector<Value>{element};
      });
  return joined->front();
}

static Value joinByCopies(Importer &importer, Location loc, ArrayRef<Value> operands, RankedTensorType type,
                          int64_t dim) {
  return importer
      .kernel(loc, type, operands, {},
              [&](ValueRange inputs) -> SmallVector<Value> {
                Value result = importer.empty(loc, type);
                Ints offsets(type.getRank(), 0), ones(type.getRank(), 1);
                for (Value input : inputs) {
                  Ints sizes(cast<RankedTensorType>(input.getType()).getShape());
                  result = insertSlice(importer.builder, loc, input, result, offsets, sizes, ones);
                  offsets[dim] += sizes[dim];
                }
                return {result};
              })
      .front();
}

static Converted convertConcatenate(Importer &importer, Operation *op) {
  std::optional<int64_t> dim = hloInteger(getHloAttr(op, "dimension"));
  if (op->getNumOperands() == 0 || op->getNumResults() != 1)
    return malformed(op, "expected operands and one result");
  RankedTensorType to = importer.resultType(op);
  if (!dim || *dim < 0 || *dim >= to.getRank())
    return malformed(op, "expected a dimension of the result as 'dimension'");
  int64_t total = 0;
  SmallVector<Value> operands;
  for (auto [i, old] : llvm::enumerate(op->getOperands())) {
    Value operand = importer.get(old);
    auto type = cast<RankedTensorType>(operand.getType());
    Ints shape(to.getShape());
    if (type.getRank() == to.getRank())
      shape[*dim] = type.getDimSize(*dim);
    if (type != to.clone(shape))
      return malformed(op, "operand " + Twine(i) + " doesn't fit the result");
    total += type.getDimSize(*dim);
    if (type.getNumElements() != 0)
      operands.push_back(operand);
  }
  if (total != to.getDimSize(*dim))
    return malformed(op, "the operands' sizes add up to " + Twine(total) + ", the result's is " +
                             Twine(to.getDimSize(*dim)));
  constexpr size_t mostInLoop = 4;
  if (operands.empty())
    return SmallVector<Value>{importer.empty(op->getLoc(), to)};
  if (operands.size() == 1)
    return SmallVector<Value>{operands.front()};
  auto join = operands.size() <= mostInLoop ? joinInLoop : joinByCopies;
  return SmallVector<Value>{join(importer, op->getLoc(), operands, to, *dim)};
}

void addJoinConversions(ConversionTable &table) {
  table["stablehlo.pad"] = convertPad;
  table["stablehlo.concatenate"] = convertConcatenate;
}

} // namespace remat
