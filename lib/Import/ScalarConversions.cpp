//===- ScalarConversions.cpp - From one type of element to another --------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace remat {

/// Floats to integers as XLA does it: rounded towards zero, NaN is 0, what is too large is the largest, what is too
/// small the smallest. `arith.fptosi` alone leaves these cases undefined.
static Value floatToInteger(const Scalar &s, Type to, bool isUnsigned) {
  Value value = s.in[0];
  unsigned width = to.getIntOrFloatBitWidth();
  Type wide = accumulatorType(s.type()); // Every bound is a number of f32, not of f16.
  value = castScalar(s.builder, s.loc(), value, wide);
  double above = std::ldexp(1.0, isUnsigned ? width : width - 1);
  double lowest = isUnsigned ? 0.0 : -above;
  Value tooLarge = s.compare(CmpFPredicate::OGE, value, s.number(wide, above));
  Value tooSmall = s.compare(CmpFPredicate::OLT, value, s.number(wide, lowest));
  Value isNan = s.compare(CmpFPredicate::UNO, value, value);
  Value outside = s.make<arith::OrIOp>(s.make<arith::OrIOp>(tooLarge, tooSmall), isNan);
  Value safe = s.select(outside, s.number(wide, 0.0), value);
  Value result = isUnsigned ? s.make<arith::FPToUIOp>(to, safe) : s.make<arith::FPToSIOp>(to, safe);
  llvm::APInt max = isUnsigned ? llvm::APInt::getMaxValue(width) : llvm::APInt::getSignedMaxValue(width);
  llvm::APInt min = isUnsigned ? llvm::APInt::getMinValue(width) : llvm::APInt::getSignedMinValue(width);
  result = s.select(tooLarge, s.integer(to, max), result);
  return s.select(tooSmall, s.integer(to, min), result);
}

/// Narrow floats by way of f32, as XLA does it.
static Value integerToFloat(const Scalar &s, Type to) {
  Type wide = accumulatorType(to);
  Value value = s.isUnsigned() ? s.make<arith::UIToFPOp>(wide, s.in[0]) : s.make<arith::SIToFPOp>(wide, s.in[0]);
  return castScalar(s.builder, s.loc(), value, to);
}

static Value floatToFloat(const Scalar &s, Type to) {
  unsigned from = s.type().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  // Types of one width (bf16 and f16) and f64 to narrow ones go by way of f32.
  Value value = s.in[0];
  if (from == width || (from == 64 && width < 32))
    value = castScalar(s.builder, s.loc(), value, accumulatorType(to));
  return castScalar(s.builder, s.loc(), value, to);
}

FailureOr<Value> emitConvert(const Scalar &s) {
  Type to = Importer::convertType(s.to);
  if (s.type() == to)
    return Value(s.in[0]);
  if (s.to.isInteger(1)) {
    if (s.isFloat())
      return s.compare(CmpFPredicate::UNE, s.in[0], s.number(s.type(), 0.0));
    return s.compare(CmpIPredicate::ne, s.in[0], s.integer(s.type(), 0));
  }
  if (s.isFloat())
    return isa<FloatType>(to) ? floatToFloat(s, to) : floatToInteger(s, to, s.to.isUnsignedInteger());
  return isa<FloatType>(to) ? integerToFloat(s, to) : castScalar(s.builder, s.loc(), s.in[0], to, s.isUnsigned());
}

FailureOr<Value> emitBitcast(const Scalar &s) {
  Type to = Importer::convertType(s.to);
  if (to.getIntOrFloatBitWidth() != s.type().getIntOrFloatBitWidth())
    return unsupported(s.op, "another width in a body", "convert outside the body");
  return s.type() == to ? Value(s.in[0]) : s.make<arith::BitcastOp>(to, s.in[0]);
}

//===----------------------------------------------------------------------===//
// reduce_precision
//===----------------------------------------------------------------------===//

/// Rounds the bits of a float to the nearest value of `mantissa` bits, ties to even. A carry runs into the exponent, as
/// it must.
static Value roundMantissa(const Scalar &s, Value bits, unsigned dropped) {
  Type type = bits.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value last = s.make<arith::AndIOp>(s.make<arith::ShRUIOp>(bits, s.integer(type, dropped)), s.integer(type, 1));
  llvm::APInt half = llvm::APInt::getLowBitsSet(width, dropped - 1); // One less than half of the last bit.
  Value rounded = s.make<arith::AddIOp>(bits, s.make<arith::AddIOp>(last, s.integer(type, half)));
  return s.make<arith::AndIOp>(rounded, s.integer(type, llvm::APInt::getHighBitsSet(width, width - dropped)));
}

/// Exponents that fewer bits can't hold: infinity above, zero of the same sign below.
static Value clampExponent(const Scalar &s, Value bits, unsigned mantissa, unsigned oldExponent, unsigned exponent) {
  Type type = bits.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  auto place = [&](uint64_t value) { return s.integer(type, llvm::APInt(width, value).shl(mantissa)); };
  Value sign = s.make<arith::AndIOp>(bits, s.integer(type, llvm::APInt::getSignMask(width)));
  Value allOnes = place((uint64_t(1) << oldExponent) - 1);
  Value found = s.make<arith::AndIOp>(bits, allOnes);
  uint64_t oldBias = (uint64_t(1) << (oldExponent - 1)) - 1, bias = (uint64_t(1) << (exponent - 1)) - 1;
  Value above = s.compare(CmpIPredicate::ugt, found, place(oldBias + bias));
  Value below = s.compare(CmpIPredicate::ule, found, place(oldBias - bias));
  return s.select(above, s.make<arith::OrIOp>(sign, allOnes), s.select(below, sign, bits));
}

FailureOr<Value> emitReducePrecision(const Scalar &s) {
  std::optional<int64_t> exponent = hloInteger(getHloAttr(s.op, "exponent_bits"));
  std::optional<int64_t> mantissa = hloInteger(getHloAttr(s.op, "mantissa_bits"));
  if (!exponent || !mantissa || *exponent < 1 || *mantissa < 0)
    return malformed(s.op, "expected 'exponent_bits' of at least 1 and 'mantissa_bits' of at least 0");
  unsigned oldMantissa = cast<FloatType>(s.type()).getFPMantissaWidth() - 1; // Without the hidden bit.
  unsigned oldExponent = s.type().getIntOrFloatBitWidth() - 1 - oldMantissa;
  Value bits = s.bits(s.in[0]);
  if (*mantissa < oldMantissa)
    bits = roundMantissa(s, bits, oldMantissa - *mantissa);
  if (*exponent < oldExponent)
    bits = clampExponent(s, bits, oldMantissa, oldExponent, *exponent);
  Value isNan = s.compare(CmpFPredicate::UNO, s.in[0], s.in[0]);
  return s.select(isNan, s.in[0], s.make<arith::BitcastOp>(s.type(), bits));
}

} // namespace remat
