//===- Float8.cpp - Numbers of eight bits ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f8E5M2 and f8E4M3FN are types of storage: what is computed with them is computed in f32. The conversions are written
// with integers, for few processors have them, and so that all devices give equal bits: rounded to nearest, ties to
// even; beyond the largest number lies infinity or, in f8E4M3FN, which has none, NaN.
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace remat {

namespace {

/// One of the two types. The magnitude is exponent and mantissa, without the sign.
struct Format {
  unsigned mantissaBits;
  int bias;
  uint32_t largest; ///< The magnitude of what lies beyond the largest number.
  uint32_t nan;

  static std::optional<Format> of(Type type) {
    Type element = getElementTypeOrSelf(type);
    if (isa<Float8E5M2Type>(element))
      return Format{2, 15, 0x7c, 0x7e};
    if (isa<Float8E4M3FNType>(element))
      return Format{3, 7, 0x7f, 0x7f};
    return std::nullopt;
  }
  unsigned dropped() const { return 23 - mantissaBits; }
  /// What makes an exponent of this format one of f32, in the place of an f32's exponent.
  uint32_t rebias() const { return uint32_t(127 - bias) << 23; }
};

/// Builds ops of one shape: scalars or vectors.
class ShapedBuilder {
public:
  ShapedBuilder(PatternRewriter &rewriter, Location loc, Type like) : rewriter(rewriter), loc(loc), like(like) {}

  Type shaped(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Type i32() const { return shaped(rewriter.getI32Type()); }
  Type f32() const { return shaped(rewriter.getF32Type()); }

  Value constant(uint32_t value) {
    IntegerAttr attribute = rewriter.getI32IntegerAttr(int32_t(value));
    if (auto type = dyn_cast<VectorType>(i32()))
      return arith::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(type, attribute));
    return arith::ConstantOp::create(rewriter, loc, attribute);
  }
  template <typename Op, typename... Operands>
  Value make(Operands &&...operands) {
    return Op::create(rewriter, loc, std::forward<Operands>(operands)...);
  }
  Value isLess(Value a, Value b) { return make<arith::CmpIOp>(arith::CmpIPredicate::ult, a, b); }
  Value bits(Value x) { return make<arith::BitcastOp>(i32(), x); }
  Value number(Value bits) { return make<arith::BitcastOp>(f32(), bits); }

  /// To another type of floats, by way of what both hold.
  Value convert(Value x, Type to) {
    unsigned from = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth(),
             width = getElementTypeOrSelf(to).getIntOrFloatBitWidth();
    if (x.getType() == to)
      return x;
    return from < width ? make<arith::ExtFOp>(to, x) : make<arith::TruncFOp>(to, x);
  }

private:
  PatternRewriter &rewriter;
  Location loc;
  Type like;
};

struct WidenFloat8 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    std::optional<Format> format = Format::of(op.getIn().getType());
    if (!format)
      return failure();
    ShapedBuilder build(rewriter, op.getLoc(), op.getType());
    Value narrow = build.make<arith::BitcastOp>(build.shaped(rewriter.getI8Type()), op.getIn());
    Value code = build.make<arith::ExtUIOp>(build.i32(), narrow);
    Value magnitude = build.make<arith::AndIOp>(code, build.constant(0x7f));
    // The product rebiases the exponent, and makes subnormals normal.
    Value small = build.make<arith::ShLIOp>(magnitude, build.constant(format->dropped()));
    Value scale = build.number(build.constant(uint32_t(254 - format->bias) << 23));
    Value finite = build.bits(build.make<arith::MulFOp>(build.number(small), scale));
    constexpr uint32_t infinity = 0x7f800000, quiet = 0x7fc00000;
    Value isNan = build.isLess(build.constant(format->nan - 1), magnitude);
    Value wide = finite;
    if (format->largest != format->nan) {
      isNan = build.isLess(build.constant(format->largest), magnitude);
      Value isFinite = build.isLess(magnitude, build.constant(format->largest));
      wide = build.make<arith::SelectOp>(isFinite, finite, build.constant(infinity));
    }
    wide = build.make<arith::SelectOp>(isNan, build.constant(quiet), wide);
    Value sign = build.make<arith::ShLIOp>(build.make<arith::AndIOp>(code, build.constant(0x80)), build.constant(24));
    Value result = build.number(build.make<arith::OrIOp>(wide, sign));
    rewriter.replaceOp(op, build.convert(result, op.getType()));
    return success();
  }
};

struct NarrowToFloat8 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    std::optional<Format> format = Format::of(op.getType());
    if (!format)
      return failure();
    ShapedBuilder build(rewriter, op.getLoc(), op.getType());
    Value bits = build.bits(build.convert(op.getIn(), build.f32()));
    Value magnitude = build.make<arith::AndIOp>(bits, build.constant(0x7fffffff));
    Value code = encode(build, *format, magnitude);
    code = build.make<arith::MinUIOp>(code, build.constant(format->largest));
    Value isNan = build.isLess(build.constant(0x7f800000), magnitude);
    code = build.make<arith::SelectOp>(isNan, build.constant(format->nan), code);
    Value sign = build.make<arith::AndIOp>(build.make<arith::ShRUIOp>(bits, build.constant(24)), build.constant(0x80));
    Value narrow =
        build.make<arith::TruncIOp>(build.shaped(rewriter.getI8Type()), build.make<arith::OrIOp>(code, sign));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), narrow);
    return success();
  }

private:
  /// The rounded magnitude; a carry out of the mantissa raises the exponent, and so it may be too large.
  static Value encode(ShapedBuilder &build, const Format &format, Value magnitude) {
    uint32_t dropped = format.dropped(), half = (1u << (dropped - 1)) - 1;
    Value last =
        build.make<arith::AndIOp>(build.make<arith::ShRUIOp>(magnitude, build.constant(dropped)), build.constant(1));
    Value rounded = build.make<arith::AddIOp>(magnitude, build.constant(half - format.rebias()));
    Value normal = build.make<arith::ShRUIOp>(build.make<arith::AddIOp>(rounded, last), build.constant(dropped));
    // The unit in the last place of this number is that of subnormals, so the sum rounds to it.
    uint32_t anchor = uint32_t(127 + 1 - format.bias - int(format.mantissaBits) + 23) << 23;
    Value sum = build.make<arith::AddFOp>(build.number(magnitude), build.number(build.constant(anchor)));
    Value subnormal = build.make<arith::SubIOp>(build.bits(sum), build.constant(anchor));
    Value isSubnormal = build.isLess(magnitude, build.constant(format.rebias() + (1u << 23)));
    return build.make<arith::SelectOp>(isSubnormal, subnormal, normal);
  }
};

/// An op on such numbers becomes one on f32, rounded at once. Bodies of clusters come without them (EmitBody.cpp).
struct ComputeInF32 : RewritePattern {
  explicit ComputeInF32(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto isFloat8 = [](Type type) { return Format::of(type).has_value(); };
    bool computes = llvm::isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
                    !isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::SelectOp, arith::TruncFOp>(op);
    if (!computes || op->getNumResults() != 1 ||
        !(llvm::any_of(op->getOperandTypes(), isFloat8) || isFloat8(op->getResult(0).getType())))
      return failure();
    auto widen = [&](Type type) {
      auto vector = dyn_cast<VectorType>(type);
      return vector ? Type(vector.clone(rewriter.getF32Type())) : Type(rewriter.getF32Type());
    };
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(isFloat8(operand.getType())
                            ? Value(arith::ExtFOp::create(rewriter, op->getLoc(), widen(operand.getType()), operand))
                            : operand);
    Type result = op->getResult(0).getType();
    state.addTypes(isFloat8(result) ? widen(result) : result);
    state.propertiesAttr = op->getPropertiesAsAttribute();
    state.addAttributes(op->getDiscardableAttrDictionary().getValue());
    Value wide = rewriter.create(state)->getResult(0);
    rewriter.replaceOp(op,
                       isFloat8(result) ? Value(arith::TruncFOp::create(rewriter, op->getLoc(), result, wide)) : wide);
    return success();
  }
};

} // namespace

void populateFloat8Patterns(RewritePatternSet &patterns) {
  patterns.add<WidenFloat8, NarrowToFloat8, ComputeInF32>(patterns.getContext());
}

} // namespace remat
