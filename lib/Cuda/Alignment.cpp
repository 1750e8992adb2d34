//===- Alignment.cpp - What is known of vector accesses -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four neighbours move at once only if they lie aligned. Buffers are, so it is a question of the factor that the number
// of the first element is known to have.
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace remat {

constexpr int64_t mostFactor = 16;

/// The largest power of two up to `mostFactor` that surely divides an integer.
static int64_t knownFactor(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isZero() ? mostFactor
                             : std::min<int64_t>(mostFactor, int64_t(1) << std::min(4u, constant.countr_zero()));
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || value != loop.getInductionVar())
      return 1;
    return std::min(knownFactor(loop.getLowerBound()), knownFactor(loop.getStep()));
  }
  Operation *op = value.getDefiningOp();
  auto least = [](ValueRange values) {
    int64_t factor = mostFactor;
    for (Value each : values)
      factor = std::min(factor, knownFactor(each));
    return factor;
  };
  return TypeSwitch<Operation *, int64_t>(op)
      .Case<arith::MulIOp>(
          [&](auto mul) { return std::min(mostFactor, knownFactor(mul.getLhs()) * knownFactor(mul.getRhs())); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MinUIOp, arith::MaxUIOp, arith::RemUIOp>(
          [&](Operation *same) { return least(same->getOperands()); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>([&](Operation *cast) { return least(cast->getOperands()); })
      .Case<arith::SelectOp>([&](auto select) { return least({select.getTrueValue(), select.getFalseValue()}); })
      .Default(int64_t(1));
}

/// The alignment in bytes of an access of `type` at `pointer`, or nothing if it is no vector in a buffer.
static std::optional<int64_t> findAlignment(Type type, Value pointer) {
  auto vector = dyn_cast<VectorType>(type);
  auto address = pointer.getDefiningOp<LLVM::GEPOp>();
  if (!vector || !address || address.getElemType() != vector.getElementType() ||
      !isa<BlockArgument>(address.getBase()) || address.getDynamicIndices().size() != 1)
    return std::nullopt;
  int64_t bytes = vector.getElementTypeBitWidth() / 8, count = vector.getNumElements();
  return std::min({count, knownFactor(address.getDynamicIndices()[0])}) * bytes;
}

int64_t widestBytes(const LoopNest &nest) {
  int64_t bytes = 1;
  auto see = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    bytes = std::max<int64_t>(bytes, element.isIndex() ? 8 : element.getIntOrFloatBitWidth() / 8);
  };
  for (const LoopNest::Member &member : nest.members) {
    if (member.perRow)
      continue;
    for (auto [i, source] : llvm::enumerate(member.inputs))
      if (source.kind == LoopNest::Source::Kind::Buffer && source.access.strides.back() == 1)
        see(member.op.getDpsInputOperand(i)->get().getType());
    for (const LoopNest::Output &output : member.outputs)
      if (!member.reduces)
        see(member.op->getResult(output.result).getType());
  }
  return bytes;
}

void raiseAlignment(gpu::GPUFuncOp function) {
  auto raise = [](auto access, Type type) {
    if (std::optional<int64_t> alignment = findAlignment(type, access.getAddr()))
      access.setAlignment(*alignment);
  };
  function.walk([&](LLVM::LoadOp load) { raise(load, load.getType()); });
  function.walk([&](LLVM::StoreOp store) { raise(store, store.getValue().getType()); });
}

} // namespace remat
