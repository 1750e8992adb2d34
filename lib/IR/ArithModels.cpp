//===- ArithModels.cpp - RematOpInterface for arith and math --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "remat/IR/RematOpInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace remat {

int64_t scalarFlops(Operation *op) {
  StringRef name = op->getName().getStringRef();
  // Index arithmetic steers loops; it isn't the user's computation.
  if (op->getNumResults() == 0 || getElementTypeOrSelf(op->getResult(0).getType()).isIndex())
    return 0;
  if (name.consume_front("arith."))
    return llvm::StringSwitch<int64_t>(name)
        .Case("constant", 0)
        .Cases({"divf", "divsi", "divui", "remf", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"},
               divisionFlops)
        .Default(simpleFlops);
  if (name.consume_front("math."))
    return llvm::StringSwitch<int64_t>(name)
        .Cases({"absf", "absi", "ceil", "copysign", "ctlz", "cttz", "ctpop", "floor", "isfinite", "isinf", "isnan",
                "isnormal", "clampf"},
               simpleFlops)
        .Cases({"round", "roundeven", "trunc"}, simpleFlops)
        .Case("fma", 2)
        .Cases({"sqrt", "rsqrt", "cbrt"}, divisionFlops)
        .Cases({"exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sin", "cos", "sincos", "tan", "tanh", "erf",
                "sinh", "cosh"},
               exponentialFlops)
        .Default(specialFlops);
  return 0;
}

namespace {

template <typename Op>
struct ElementwiseModel : RematOpInterface::ExternalModel<ElementwiseModel<Op>, Op> {
  OpClass getOpClass(Operation *) const { return OpClass::Elementwise; }
  int64_t getFlops(Operation *op) const {
    return multiplyClamped(scalarFlops(op), elementCount(op->getResult(0).getType()));
  }
};

struct ConstantModel : RematOpInterface::ExternalModel<ConstantModel, arith::ConstantOp> {
  OpClass getOpClass(Operation *) const { return OpClass::Constant; }
};

template <typename Op>
void attach(MLIRContext *context) {
  if constexpr (std::is_same_v<Op, arith::ConstantOp>)
    Op::template attachInterface<ConstantModel>(*context);
  else
    Op::template attachInterface<ElementwiseModel<Op>>(*context);
}

template <typename... Ops>
void attachAll(MLIRContext *context) {
  (attach<Ops>(context), ...);
}

} // namespace

void registerArithModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachAll<
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachAll<
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
        >(context);
  });
}

} // namespace remat
