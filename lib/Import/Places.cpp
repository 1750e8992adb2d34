//===- Places.cpp - Where in an operand a point of a loop lies ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"

using namespace mlir;

namespace remat {

Value PlaceBuilder::constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

void PlaceBuilder::require(Place &place, Value condition) {
  place.isInside = place.isInside ? Value(arith::AndIOp::create(builder, loc, place.isInside, condition)) : condition;
}

/// Compared without sign, what lies before the operand lies far behind it.
void PlaceBuilder::add(Place &place, Value index, int64_t extent, int64_t size, int64_t low, int64_t stride) {
  if (low != 0)
    index = arith::AddIOp::create(builder, loc, index, constant(-low));
  if (stride != 1) {
    Value quotient = arith::DivUIOp::create(builder, loc, index, constant(stride));
    Value back = arith::MulIOp::create(builder, loc, quotient, constant(stride));
    require(place, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, back, index));
    index = quotient;
  }
  bool isAlwaysInside = low <= 0 && (extent - 1 - low) / stride < size;
  if (!isAlwaysInside) {
    require(place, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, constant(size)));
    index = arith::MinUIOp::create(builder, loc, index, constant(size - 1));
  }
  place.indices.push_back(index);
}

Value PlaceBuilder::read(Value operand, const Place &place, Value otherwise) {
  Value element = tensor::ExtractOp::create(builder, loc, operand, place.indices);
  return place.isInside ? Value(arith::SelectOp::create(builder, loc, place.isInside, element, otherwise)) : element;
}

} // namespace remat
