//===- ScfModels.cpp - RematOpInterface for scf ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "remat/IR/RematOpInterface.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

namespace remat {

/// Product over the dimensions of a loop nest with constant bounds.
static std::optional<int64_t> nestTrips(ArrayRef<OpFoldResult> lower, ArrayRef<OpFoldResult> upper,
                                        ArrayRef<OpFoldResult> step) {
  SmallVector<int64_t> trips;
  for (auto [from, to, by] : llvm::zip_equal(lower, upper, step)) {
    std::optional<int64_t> first = getConstantIntValue(from), end = getConstantIntValue(to),
                           stride = getConstantIntValue(by);
    int64_t distance;
    if (!first || !end || !stride || *stride <= 0 || llvm::SubOverflow(*end, *first, distance))
      return std::nullopt;
    trips.push_back(distance <= 0 ? 0 : (distance - 1) / *stride + 1);
  }
  return productClamped(trips);
}

static std::optional<int64_t> trips(scf::ForOp op) {
  if (op.getUnsignedCmp())
    return std::nullopt;
  return nestTrips({OpFoldResult(op.getLowerBound())}, {OpFoldResult(op.getUpperBound())},
                   {OpFoldResult(op.getStep())});
}
static std::optional<int64_t> trips(scf::ForallOp op) {
  return nestTrips(op.getMixedLowerBound(), op.getMixedUpperBound(), op.getMixedStep());
}
static std::optional<int64_t> trips(scf::ParallelOp op) {
  return nestTrips(getAsOpFoldResult(op.getLowerBound()), getAsOpFoldResult(op.getUpperBound()),
                   getAsOpFoldResult(op.getStep()));
}
static std::optional<int64_t> trips(scf::WhileOp) { return std::nullopt; }
// Branches: as in StableHLO's `if` and `case`, every region counts once.
static std::optional<int64_t> trips(scf::IfOp) { return 1; }
static std::optional<int64_t> trips(scf::IndexSwitchOp) { return 1; }
static std::optional<int64_t> trips(scf::ExecuteRegionOp) { return 1; }

namespace {

template <typename Op>
struct LoopModel : RematOpInterface::ExternalModel<LoopModel<Op>, Op> {
  OpClass getOpClass(Operation *) const { return OpClass::Loop; }
  std::optional<int64_t> getTripCount(Operation *op) const { return trips(cast<Op>(op)); }
  std::optional<unsigned> getDestinationOperand(Operation *op, unsigned result) const {
    if constexpr (std::is_same_v<Op, scf::ForallOp>)
      return cast<scf::ForallOp>(op).getTiedOpOperand(op->getResult(result))->getOperandNumber();
    return std::nullopt;
  }
};

template <typename... Ops>
void attach(MLIRContext *context) {
  (Ops::template attachInterface<LoopModel<Ops>>(*context), ...);
}

} // namespace

void registerScfModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    attach<scf::ExecuteRegionOp, scf::ForOp, scf::ForallOp, scf::IfOp, scf::IndexSwitchOp, scf::ParallelOp,
           scf::WhileOp>(context);
  });
}

} // namespace remat
