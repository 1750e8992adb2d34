//===- Scalars.cpp - The table of element-wise ops ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row for each op: how many operands it has, what their types must be, and what makes its scalar form. Both the
// bodies of loop nests and the bodies of reduce, scatter and sort are made of it.
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Shorthands
//===----------------------------------------------------------------------===//

Value Scalar::number(Type type, double value) const {
  return make<arith::ConstantOp>(builder.getFloatAttr(type, value));
}

Value Scalar::integer(Type type, const llvm::APInt &value) const {
  return make<arith::ConstantOp>(builder.getIntegerAttr(type, value));
}

Value Scalar::integer(Type type, int64_t value) const {
  return integer(type, llvm::APInt(type.getIntOrFloatBitWidth(), value, /*isSigned=*/true, /*implicitTrunc=*/true));
}

Value Scalar::select(Value condition, Value yes, Value no) const { return make<arith::SelectOp>(condition, yes, no); }

Value Scalar::compare(arith::CmpFPredicate predicate, Value lhs, Value rhs) const {
  return make<arith::CmpFOp>(predicate, lhs, rhs);
}

Value Scalar::compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) const {
  return make<arith::CmpIOp>(predicate, lhs, rhs);
}

Value Scalar::bits(Value value) const {
  return make<arith::BitcastOp>(builder.getIntegerType(value.getType().getIntOrFloatBitWidth()), value);
}

//===----------------------------------------------------------------------===//
// Emitters of one op
//===----------------------------------------------------------------------===//

template <typename Op>
static FailureOr<Value> unary(const Scalar &s) {
  return s.make<Op>(s.in[0]);
}

template <typename Op>
static FailureOr<Value> binary(const Scalar &s) {
  return s.make<Op>(s.in[0], s.in[1]);
}

/// One op for each kind of number.
template <typename FloatOp, typename SignedOp, typename UnsignedOp, typename BoolOp>
static FailureOr<Value> binaryByKind(const Scalar &s) {
  if (s.isFloat())
    return binary<FloatOp>(s);
  if (s.isBool())
    return binary<BoolOp>(s);
  return s.isUnsigned() ? binary<UnsignedOp>(s) : binary<SignedOp>(s);
}

static FailureOr<Value> emitNegate(const Scalar &s) {
  return s.isFloat() ? s.make<arith::NegFOp>(s.in[0]) : s.make<arith::SubIOp>(s.integer(s.type(), 0), s.in[0]);
}

static FailureOr<Value> emitAbs(const Scalar &s) {
  if (s.isUnsigned())
    return Value(s.in[0]);
  return s.isFloat() ? s.make<math::AbsFOp>(s.in[0]) : s.make<math::AbsIOp>(s.in[0]);
}

static FailureOr<Value> emitNot(const Scalar &s) { return s.make<arith::XOrIOp>(s.in[0], s.integer(s.type(), -1)); }

static FailureOr<Value> emitIsFinite(const Scalar &s) {
  Value infinity = s.number(s.type(), std::numeric_limits<double>::infinity());
  return s.compare(arith::CmpFPredicate::OLT, s.make<math::AbsFOp>(s.in[0]), infinity);
}

static FailureOr<Value> emitSelect(const Scalar &s) { return s.select(s.in[0], s.in[1], s.in[2]); }

static FailureOr<Value> emitClamp(const Scalar &s) {
  Value low = s.in[0], value = s.in[1], high = s.in[2];
  if (s.isFloat())
    return s.make<arith::MinimumFOp>(s.make<arith::MaximumFOp>(value, low), high);
  if (s.isUnsigned())
    return s.make<arith::MinUIOp>(s.make<arith::MaxUIOp>(value, low), high);
  return s.make<arith::MinSIOp>(s.make<arith::MaxSIOp>(value, low), high);
}

static FailureOr<Value> emitSquare(const Scalar &s) {
  return s.isFloat() ? s.make<arith::MulFOp>(s.in[0], s.in[0]) : s.make<arith::MulIOp>(s.in[0], s.in[0]);
}

static FailureOr<Value> emitConstant(const Scalar &s) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(getHloAttr(s.op, "value"));
  if (!elements || !elements.isSplat() || elements.getElementType() != s.to)
    return malformed(s.op, "expected one element of the result's type as 'value'");
  if (auto number = elements.getSplatValue<Attribute>(); auto value = dyn_cast<FloatAttr>(number))
    return s.make<arith::ConstantOp>(value);
  return s.integer(Importer::convertType(s.to), elements.getSplatValue<llvm::APInt>());
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

enum Kinds : unsigned { Float = 1, Integer = 2, Bool = 4, Number = Float | Integer, Bits = Integer | Bool, Any = 7 };

enum class Rule {
  Same,     ///< Operands and result have one type.
  Compare,  ///< Operands have one type, the result is i1.
  Select,   ///< An i1, then operands of the result's type.
  Convert,  ///< Any type into any other.
  Constant, ///< No operands.
};

struct Row {
  unsigned arity;
  Kinds kinds; ///< Of operand 0 (of operand 1 for Select).
  Rule rule;
  ScalarEmitter emit;
};

} // namespace

// clang-format off
static const std::map<StringRef, Row> &rows() {
  static const std::map<StringRef, Row> table = {
      {"chlo.acos", {1, Float, Rule::Same, unary<math::AcosOp>}},
      {"chlo.acosh", {1, Float, Rule::Same, unary<math::AcoshOp>}},
      {"chlo.asin", {1, Float, Rule::Same, unary<math::AsinOp>}},
      {"chlo.asinh", {1, Float, Rule::Same, unary<math::AsinhOp>}},
      {"chlo.atan", {1, Float, Rule::Same, unary<math::AtanOp>}},
      {"chlo.atanh", {1, Float, Rule::Same, unary<math::AtanhOp>}},
      {"chlo.cosh", {1, Float, Rule::Same, unary<math::CoshOp>}},
      {"chlo.erf", {1, Float, Rule::Same, unary<math::ErfOp>}},
      {"chlo.erf_inv", {1, Float, Rule::Same, emitErfInv}},
      {"chlo.erfc", {1, Float, Rule::Same, unary<math::ErfcOp>}},
      {"chlo.sinh", {1, Float, Rule::Same, unary<math::SinhOp>}},
      {"chlo.square", {1, Number, Rule::Same, emitSquare}},
      {"chlo.tan", {1, Float, Rule::Same, unary<math::TanOp>}},
      {"stablehlo.abs", {1, Number, Rule::Same, emitAbs}},
      {"stablehlo.add", {2, Any, Rule::Same, binaryByKind<arith::AddFOp, arith::AddIOp, arith::AddIOp, arith::OrIOp>}},
      {"stablehlo.and", {2, Bits, Rule::Same, binary<arith::AndIOp>}},
      {"stablehlo.atan2", {2, Float, Rule::Same, binary<math::Atan2Op>}},
      {"stablehlo.bitcast_convert", {1, Any, Rule::Convert, emitBitcast}},
      {"stablehlo.cbrt", {1, Float, Rule::Same, unary<math::CbrtOp>}},
      {"stablehlo.ceil", {1, Float, Rule::Same, unary<math::CeilOp>}},
      {"stablehlo.clamp", {3, Any, Rule::Same, emitClamp}},
      {"stablehlo.compare", {2, Any, Rule::Compare, emitCompare}},
      {"stablehlo.constant", {0, Any, Rule::Constant, emitConstant}},
      {"stablehlo.convert", {1, Any, Rule::Convert, emitConvert}},
      {"stablehlo.cosine", {1, Float, Rule::Same, unary<math::CosOp>}},
      {"stablehlo.count_leading_zeros", {1, Integer, Rule::Same, unary<math::CountLeadingZerosOp>}},
      {"stablehlo.divide", {2, Number, Rule::Same, emitDivide}},
      {"stablehlo.exponential", {1, Float, Rule::Same, unary<math::ExpOp>}},
      {"stablehlo.exponential_minus_one", {1, Float, Rule::Same, unary<math::ExpM1Op>}},
      {"stablehlo.floor", {1, Float, Rule::Same, unary<math::FloorOp>}},
      {"stablehlo.is_finite", {1, Float, Rule::Compare, emitIsFinite}},
      {"stablehlo.log", {1, Float, Rule::Same, unary<math::LogOp>}},
      {"stablehlo.log_plus_one", {1, Float, Rule::Same, unary<math::Log1pOp>}},
      {"stablehlo.logistic", {1, Float, Rule::Same, emitLogistic}},
      {"stablehlo.maximum", {2, Any, Rule::Same, binaryByKind<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::OrIOp>}},
      {"stablehlo.minimum", {2, Any, Rule::Same, binaryByKind<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp, arith::AndIOp>}},
      {"stablehlo.multiply", {2, Any, Rule::Same, binaryByKind<arith::MulFOp, arith::MulIOp, arith::MulIOp, arith::AndIOp>}},
      {"stablehlo.negate", {1, Number, Rule::Same, emitNegate}},
      {"stablehlo.not", {1, Bits, Rule::Same, emitNot}},
      {"stablehlo.or", {2, Bits, Rule::Same, binary<arith::OrIOp>}},
      {"stablehlo.popcnt", {1, Integer, Rule::Same, unary<math::CtPopOp>}},
      {"stablehlo.power", {2, Number, Rule::Same, emitPower}},
      {"stablehlo.reduce_precision", {1, Float, Rule::Same, emitReducePrecision}},
      {"stablehlo.remainder", {2, Number, Rule::Same, emitRemainder}},
      {"stablehlo.round_nearest_afz", {1, Float, Rule::Same, unary<math::RoundOp>}},
      {"stablehlo.round_nearest_even", {1, Float, Rule::Same, unary<math::RoundEvenOp>}},
      {"stablehlo.rsqrt", {1, Float, Rule::Same, unary<math::RsqrtOp>}},
      {"stablehlo.select", {3, Any, Rule::Select, emitSelect}},
      {"stablehlo.shift_left", {2, Integer, Rule::Same, emitShiftLeft}},
      {"stablehlo.shift_right_arithmetic", {2, Integer, Rule::Same, emitShiftRightArithmetic}},
      {"stablehlo.shift_right_logical", {2, Integer, Rule::Same, emitShiftRightLogical}},
      {"stablehlo.sign", {1, Number, Rule::Same, emitSign}},
      {"stablehlo.sine", {1, Float, Rule::Same, unary<math::SinOp>}},
      {"stablehlo.sqrt", {1, Float, Rule::Same, unary<math::SqrtOp>}},
      {"stablehlo.subtract", {2, Number, Rule::Same, binaryByKind<arith::SubFOp, arith::SubIOp, arith::SubIOp, arith::SubIOp>}},
      {"stablehlo.tan", {1, Float, Rule::Same, unary<math::TanOp>}},
      {"stablehlo.tanh", {1, Float, Rule::Same, unary<math::TanhOp>}},
      {"stablehlo.xor", {2, Bits, Rule::Same, binary<arith::XOrIOp>}},
  };
  return table;
}
// clang-format on

SmallVector<StringRef> scalarOpNames() {
  SmallVector<StringRef> names;
  for (auto &[name, row] : rows())
    if (row.arity > 0)
      names.push_back(name);
  return names;
}

static std::string quoted(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "'" << type << "'";
  return text;
}

/// The element types of the old operands and result keep the row's rule.
static LogicalResult checkTypes(Operation *op, const Row &row) {
  Type result = oldElementType(op->getResult(0));
  SmallVector<Type> operands = llvm::map_to_vector(op->getOperands(), oldElementType);
  auto expect = [&](Type found, Type expected) -> LogicalResult {
    return found == expected
               ? success()
               : malformed(op, "expected elements of type " + quoted(expected) + ", found " + quoted(found));
  };
  Type i1 = IntegerType::get(op->getContext(), 1);
  if (row.rule == Rule::Select && failed(expect(operands.front(), i1)))
    return failure();
  if (row.rule == Rule::Compare && failed(expect(result, i1)))
    return failure();
  if (row.rule == Rule::Same || row.rule == Rule::Select)
    for (Type type : ArrayRef(operands).drop_front(row.rule == Rule::Select))
      if (failed(expect(type, result)))
        return failure();
  if (row.rule == Rule::Compare)
    for (Type type : operands)
      if (failed(expect(type, operands.front())))
        return failure();
  Type decisive = row.rule == Rule::Constant ? result : operands[row.rule == Rule::Select ? 1 : 0];
  unsigned kind = isa<FloatType>(decisive) ? Float : decisive.isInteger(1) ? Bool : Integer;
  if (!(row.kinds & kind))
    return unsupported(op, "element type " + quoted(decisive),
                       row.kinds & Float ? "convert the operands to a float type first"
                                         : "convert the operands to an integer type first");
  return success();
}

FailureOr<Value> emitScalar(OpBuilder &builder, Operation *op, ValueRange operands) {
  auto found = rows().find(op->getName().getStringRef());
  if (found == rows().end())
    return Value();
  const Row &row = found->second;
  if (failed(expectOperands(op, row.arity)) || failed(checkTypes(op, row)))
    return failure();
  Type to = oldElementType(op->getResult(0));
  return row.emit(Scalar{builder, op, operands, row.arity ? oldElementType(op->getOperand(0)) : to, to});
}

} // namespace remat
