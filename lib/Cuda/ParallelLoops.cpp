//===- ParallelLoops.cpp - Loops whose iterations are independent ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread that owns one iteration of a loop owns a slice of every buffer that is written, and does to it what the
// program does, in its order: a scatter that adds to the same row many times stays deterministic without atomics.
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace remat {

Value findBuffer(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    // The views of scratch are buffers of their own: they don't overlap.
    if (isa<memref::ViewOp>(view))
      break;
    memref = view.getViewSource();
  }
  return memref;
}

namespace {

struct MemoryAccess {
  Operation *op;
  Value memref;
  OperandRange subscripts;
};

/// A subscript factor × index + offset.
struct LinearSubscript {
  int64_t factor = 1, offset = 0;
  bool operator==(const LinearSubscript &) const = default;
};

} // namespace

/// Whether `value` is `index` on every way to it: where a loop looks for the largest element of a window, the
/// coordinates outside the window go through it unchanged. `assumed`: loop-carried values of which that is being shown.
static bool isAlways(Value value, Value index, SmallVector<Value> &assumed) {
  if (value == index || llvm::is_contained(assumed, value))
    return true;
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return isAlways(select.getTrueValue(), index, assumed) && isAlways(select.getFalseValue(), index, assumed);
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *owner = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  auto loop = dyn_cast_if_present<scf::ForOp>(owner);
  if (!loop || value == loop.getInductionVar())
    return false;
  unsigned number = argument ? argument.getArgNumber() - 1 : cast<OpResult>(value).getResultNumber();
  assumed.push_back(loop.getRegionIterArg(number));
  return isAlways(loop.getInitArgs()[number], index, assumed) &&
         isAlways(loop.getYieldedValues()[number], index, assumed);
}

static std::optional<LinearSubscript> findLinear(Value subscript, Value index) {
  SmallVector<Value> assumed;
  if (isAlways(subscript, index, assumed))
    return LinearSubscript();
  Operation *op = subscript.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    std::optional<int64_t> constant = getConstantIntValue(op->getOperand(1 - i));
    std::optional<LinearSubscript> inner = constant ? findLinear(op->getOperand(i), index) : std::nullopt;
    if (!inner)
      continue;
    if (isa<arith::AddIOp>(op))
      inner->offset += *constant;
    else if (*constant != 0)
      inner = LinearSubscript{inner->factor * *constant, inner->offset * *constant};
    else
      return std::nullopt;
    return inner;
  }
  return std::nullopt;
}

/// Whether no two subscripts of the memref name the same element.
static bool isInjective(MemRefType type) {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)))
    return false;
  SmallVector<std::pair<int64_t, int64_t>> dims; // Stride, size.
  for (auto [stride, size] : llvm::zip(strides, type.getShape()))
    if (size != 1)
      dims.push_back({stride, size});
  llvm::sort(dims);
  int64_t reach = 0; // Of the dimensions with smaller strides.
  for (auto [stride, size] : dims) {
    if (ShapedType::isDynamic(stride) || stride <= reach)
      return false;
    reach += stride * (size - 1);
  }
  return true;
}

/// Whether in all accesses one and the same subscript is the same function of the loop's index.
static bool isOwner(scf::ForOp loop, ArrayRef<MemoryAccess> accesses) {
  const MemoryAccess &first = accesses.front();
  for (const MemoryAccess &access : accesses)
    if (access.memref != first.memref || !loop->isProperAncestor(access.op))
      return false;
  for (unsigned position = 0; position < first.subscripts.size(); ++position) {
    std::optional<LinearSubscript> wanted = findLinear(first.subscripts[position], loop.getInductionVar());
    if (wanted && llvm::all_of(accesses, [&](const MemoryAccess &access) {
          return findLinear(access.subscripts[position], loop.getInductionVar()) == wanted;
        }))
      return true;
  }
  return false;
}

SmallVector<scf::ForOp> findParallelLoops(Operation *nest) {
  llvm::MapVector<Value, SmallVector<MemoryAccess>> accesses;
  llvm::SetVector<Value> written;
  bool isKnown = true;
  SmallVector<scf::ForOp> loops;
  nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      accesses[findBuffer(load.getMemref())].push_back({op, load.getMemref(), load.getIndices()});
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      accesses[findBuffer(store.getMemref())].push_back({op, store.getMemref(), store.getIndices()});
      written.insert(findBuffer(store.getMemref()));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (loop.getNumRegionIterArgs() == 0 && getConstantIntValue(loop.getLowerBound()) &&
          getConstantIntValue(loop.getUpperBound()) && getConstantIntValue(loop.getStep()))
        loops.push_back(loop);
    } else if (op->getNumRegions() == 0 && !isMemoryEffectFree(op)) {
      isKnown = false;
    }
  });
  if (!isKnown)
    return {};
  for (Value buffer : written) {
    Value memref = accesses[buffer].front().memref;
    // What is made anew in each iteration isn't one view.
    bool isInside = memref.getDefiningOp() && nest->isAncestor(memref.getDefiningOp());
    if (isInside || !isInjective(cast<MemRefType>(memref.getType())))
      return {};
    llvm::erase_if(loops, [&](scf::ForOp loop) { return !isOwner(loop, accesses[buffer]); });
  }
  return loops;
}

} // namespace remat
