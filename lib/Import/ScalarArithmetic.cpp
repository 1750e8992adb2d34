//===- ScalarArithmetic.cpp - Element-wise ops of several steps -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What upstream's ops leave undefined (division by zero, wide shifts), StableHLO or XLA defines; the code here picks
// defined operands first and the defined result afterwards.
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace remat {

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Integers in the order of the floats, -NaN first, NaN last: the bits of negative numbers count backwards.
static Value totalOrderKey(const Scalar &s, Value value) {
  Value bits = s.bits(value);
  Type type = bits.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value ifNegative = s.make<arith::ShRSIOp>(bits, s.integer(type, width - 1));
  Value flipped = s.make<arith::AndIOp>(ifNegative, s.integer(type, llvm::APInt::getSignedMaxValue(width)));
  return s.make<arith::XOrIOp>(bits, flipped);
}

FailureOr<Value> emitCompare(const Scalar &s) {
  struct Predicates {
    CmpFPredicate ofFloats;
    CmpIPredicate ofSigned, ofUnsigned;
  };
  static const std::map<std::string, Predicates> directions = {
      {"EQ", {CmpFPredicate::OEQ, CmpIPredicate::eq, CmpIPredicate::eq}},
      {"NE", {CmpFPredicate::UNE, CmpIPredicate::ne, CmpIPredicate::ne}},
      {"LT", {CmpFPredicate::OLT, CmpIPredicate::slt, CmpIPredicate::ult}},
      {"LE", {CmpFPredicate::OLE, CmpIPredicate::sle, CmpIPredicate::ule}},
      {"GT", {CmpFPredicate::OGT, CmpIPredicate::sgt, CmpIPredicate::ugt}},
      {"GE", {CmpFPredicate::OGE, CmpIPredicate::sge, CmpIPredicate::uge}}};
  auto found = directions.find(hloEnum(getHloAttr(s.op, "comparison_direction")));
  if (found == directions.end())
    return malformed(s.op, "expected EQ, NE, LT, LE, GT or GE as 'comparison_direction'");
  const Predicates &predicates = found->second;
  if (!s.isFloat())
    return s.compare(s.isUnsigned() ? predicates.ofUnsigned : predicates.ofSigned, s.in[0], s.in[1]);
  if (hloEnum(getHloAttr(s.op, "compare_type")) == "TOTALORDER")
    return s.compare(predicates.ofSigned, totalOrderKey(s, s.in[0]), totalOrderKey(s, s.in[1]));
  return s.compare(predicates.ofFloats, s.in[0], s.in[1]);
}

//===----------------------------------------------------------------------===//
// Division and powers
//===----------------------------------------------------------------------===//

namespace {
/// A divisor that division is defined for, and whether the old one was zero. Dividing the smallest integer by -1
/// overflows; dividing it by 1 instead gives the wrapped quotient and the remainder 0.
struct SafeDivisor {
  Value divisor, isZero;
};
} // namespace

static SafeDivisor safeDivisor(const Scalar &s) {
  Type type = s.type();
  Value isZero = s.compare(CmpIPredicate::eq, s.in[1], s.integer(type, 0));
  Value isUnsafe = isZero;
  if (!s.isUnsigned()) {
    Value smallest = s.integer(type, llvm::APInt::getSignedMinValue(type.getIntOrFloatBitWidth()));
    Value overflows = s.make<arith::AndIOp>(s.compare(CmpIPredicate::eq, s.in[0], smallest),
                                            s.compare(CmpIPredicate::eq, s.in[1], s.integer(type, -1)));
    isUnsafe = s.make<arith::OrIOp>(isZero, overflows);
  }
  return {s.select(isUnsafe, s.integer(type, 1), s.in[1]), isZero};
}

FailureOr<Value> emitDivide(const Scalar &s) {
  if (s.isFloat())
    return s.make<arith::DivFOp>(s.in[0], s.in[1]);
  auto [divisor, isZero] = safeDivisor(s);
  Value quotient = s.isUnsigned() ? s.make<arith::DivUIOp>(s.in[0], divisor) : s.make<arith::DivSIOp>(s.in[0], divisor);
  return s.select(isZero, s.integer(s.type(), -1), quotient);
}

FailureOr<Value> emitRemainder(const Scalar &s) {
  if (s.isFloat())
    return s.make<arith::RemFOp>(s.in[0], s.in[1]);
  auto [divisor, isZero] = safeDivisor(s);
  Value remainder =
      s.isUnsigned() ? s.make<arith::RemUIOp>(s.in[0], divisor) : s.make<arith::RemSIOp>(s.in[0], divisor);
  return s.select(isZero, s.in[0], remainder);
}

/// By squaring, one bit of the exponent after the other; modulo 2^n, as all integers.
static Value raise(const Scalar &s, Value base, Value exponent, unsigned bits) {
  Type type = s.type();
  Value one = s.integer(type, 1), power = one, square = base;
  for (unsigned bit = 0; bit < bits; ++bit) {
    Value shifted = s.make<arith::ShRUIOp>(exponent, s.integer(type, bit));
    Value isSet = s.compare(CmpIPredicate::eq, s.make<arith::AndIOp>(shifted, one), one);
    power = s.select(isSet, s.make<arith::MulIOp>(power, square), power);
    if (bit + 1 < bits)
      square = s.make<arith::MulIOp>(square, square);
  }
  return power;
}

FailureOr<Value> emitPower(const Scalar &s) {
  if (s.isFloat())
    return s.make<math::PowFOp>(s.in[0], s.in[1]);
  Type type = s.type();
  unsigned bits = type.getIntOrFloatBitWidth();
  Value base = s.in[0], exponent = s.in[1];
  if (s.isUnsigned())
    return raise(s, base, exponent, bits);
  // To a negative power 1 stays 1, -1 changes its sign with the exponent's lowest bit, and all else is 0.
  Value isNegative = s.compare(CmpIPredicate::slt, exponent, s.integer(type, 0));
  Value isUnit = s.make<arith::OrIOp>(s.compare(CmpIPredicate::eq, base, s.integer(type, 1)),
                                      s.compare(CmpIPredicate::eq, base, s.integer(type, -1)));
  Value inverse = s.select(isUnit, raise(s, base, exponent, 1), s.integer(type, 0));
  return s.select(isNegative, inverse, raise(s, base, exponent, bits - 1));
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

static Value isTooWide(const Scalar &s) {
  return s.compare(CmpIPredicate::uge, s.in[1], s.integer(s.type(), s.type().getIntOrFloatBitWidth()));
}

template <typename Op>
static Value shiftOrZero(const Scalar &s) {
  Value zero = s.integer(s.type(), 0), tooWide = isTooWide(s);
  return s.select(tooWide, zero, s.make<Op>(s.in[0], s.select(tooWide, zero, s.in[1])));
}

FailureOr<Value> emitShiftLeft(const Scalar &s) { return shiftOrZero<arith::ShLIOp>(s); }
FailureOr<Value> emitShiftRightLogical(const Scalar &s) { return shiftOrZero<arith::ShRUIOp>(s); }

FailureOr<Value> emitShiftRightArithmetic(const Scalar &s) {
  Value most = s.integer(s.type(), s.type().getIntOrFloatBitWidth() - 1);
  return s.make<arith::ShRSIOp>(s.in[0], s.select(isTooWide(s), most, s.in[1]));
}

//===----------------------------------------------------------------------===//
// Functions of one number
//===----------------------------------------------------------------------===//

FailureOr<Value> emitSign(const Scalar &s) {
  Value value = s.in[0];
  Type type = s.type();
  if (s.isFloat()) {
    // Zeros keep their sign, NaN stays NaN.
    Value sign = s.make<math::CopySignOp>(s.number(type, 1.0), value);
    return s.select(s.compare(CmpFPredicate::UEQ, value, s.number(type, 0.0)), value, sign);
  }
  Value zero = s.integer(type, 0), one = s.integer(type, 1);
  Value isZero = s.compare(CmpIPredicate::eq, value, zero);
  if (s.isUnsigned())
    return s.select(isZero, zero, one);
  Value isNegative = s.compare(CmpIPredicate::slt, value, zero);
  return s.select(isZero, zero, s.select(isNegative, s.integer(type, -1), one));
}

/// Runs `function` on operand 0 in f32 where it is narrower, so that the result is rounded once.
static Value inWideType(const Scalar &s, llvm::function_ref<Value(Value)> function) {
  Value wide = castScalar(s.builder, s.loc(), s.in[0], accumulatorType(s.type()));
  return castScalar(s.builder, s.loc(), function(wide), s.type());
}

FailureOr<Value> emitLogistic(const Scalar &s) {
  return inWideType(s, [&](Value x) {
    Value one = s.number(x.getType(), 1.0);
    Value e = s.make<math::ExpOp>(s.make<arith::NegFOp>(x));
    return s.make<arith::DivFOp>(one, s.make<arith::AddFOp>(one, e));
  });
}

static Value polynomial(const Scalar &s, Value x, ArrayRef<double> coefficients) {
  Value sum = s.number(x.getType(), coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = s.make<arith::AddFOp>(s.make<arith::MulFOp>(sum, x), s.number(x.getType(), coefficient));
  return sum;
}

/// M. Giles, "Approximating the erfinv function" (2010), single precision: two polynomials in w = -log(1 - x²).
FailureOr<Value> emitErfInv(const Scalar &s) {
  if (s.type().isF64())
    return unsupported(s.op, "element type 'f64'", "convert the operand to f32");
  constexpr double small[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                              -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double large[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                              -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  return inWideType(s, [&](Value x) {
    Type type = x.getType();
    Value square = s.make<arith::MulFOp>(x, x);
    Value w = s.make<arith::NegFOp>(s.make<math::Log1pOp>(s.make<arith::NegFOp>(square)));
    Value nearZero = polynomial(s, s.make<arith::SubFOp>(w, s.number(type, 2.5)), small);
    Value nearOne = polynomial(s, s.make<arith::SubFOp>(s.make<math::SqrtOp>(w), s.number(type, 3.0)), large);
    Value isSmall = s.compare(CmpFPredicate::OLT, w, s.number(type, 5.0));
    Value result = s.make<arith::MulFOp>(s.select(isSmall, nearZero, nearOne), x);
    Value isOne = s.compare(CmpFPredicate::OEQ, square, s.number(type, 1.0));
    Value infinity = s.number(type, std::numeric_limits<double>::infinity());
    return s.select(isOne, s.make<arith::MulFOp>(x, infinity), result);
  });
}

} // namespace remat
