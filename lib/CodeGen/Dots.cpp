//===- Dots.cpp - Contractions as matrix products -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every loop of a contraction is a batch (in all three tensors), a row (m), a column (n) or summed (k). Neighbouring
// loops of a kind are joined where they lie evenly in their tensors. Rows and columns that don't are batches over which
// the other factor doesn't change.
//
//===----------------------------------------------------------------------===//

#include "Dots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace remat {

std::optional<runtime::ElementType> toElementType(Type type) {
  using runtime::ElementType;
  if (type.isF64())
    return ElementType::F64;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (isa<Float8E5M2Type>(type))
    return ElementType::F8E5M2;
  if (isa<Float8E4M3FNType>(type))
    return ElementType::F8E4M3FN;
  if (type.isInteger(64) || type.isIndex())
    return ElementType::I64;
  if (type.isInteger(32))
    return ElementType::I32;
  if (type.isInteger(16))
    return ElementType::I16;
  if (type.isInteger(8))
    return ElementType::I8;
  if (type.isInteger(1))
    return ElementType::I1;
  return std::nullopt;
}

/// The block argument that `value` is, through a conversion to a wider type.
static BlockArgument factor(Value value) {
  if (Operation *op = value.getDefiningOp(); op && isa<arith::ExtFOp, arith::ExtSIOp>(op))
    value = op->getOperand(0);
  return dyn_cast<BlockArgument>(value);
}

/// True for a body `c + a × b`.
static bool multipliesAndAdds(linalg::GenericOp op) {
  Block *body = op.getBody();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return false;
  bool accumulatorFirst = add->getOperand(0) == body->getArgument(2);
  if (!accumulatorFirst && add->getOperand(1) != body->getArgument(2))
    return false;
  Operation *multiply = add->getOperand(accumulatorFirst ? 1 : 0).getDefiningOp();
  if (!multiply || !isa<arith::MulFOp, arith::MulIOp>(multiply))
    return false;
  BlockArgument a = factor(multiply->getOperand(0)), b = factor(multiply->getOperand(1));
  return a && b && a != b && a != body->getArgument(2) && b != body->getArgument(2);
}

namespace {

struct Loop {
  int64_t size = 1, a = 0, b = 0, c = 0; ///< Strides in the three tensors.

  /// Joins a loop that runs inside this one, if both together lie evenly.
  bool join(const Loop &inner) {
    if (a != inner.a * inner.size || b != inner.b * inner.size || c != inner.c * inner.size)
      return false;
    *this = {size * inner.size, inner.a, inner.b, inner.c};
    return true;
  }
};

/// Puts the loops that move farthest outside and joins those that lie evenly.
void joinLoops(SmallVectorImpl<Loop> &loops) {
  llvm::stable_sort(loops,
                    [](const Loop &x, const Loop &y) { return std::tuple(x.a, x.b, x.c) > std::tuple(y.a, y.b, y.c); });
  SmallVector<Loop> joined;
  for (const Loop &loop : loops)
    if (joined.empty() || !joined.back().join(loop))
      joined.push_back(loop);
  loops = std::move(joined);
}

} // namespace

/// Takes the longest loop out as the matrix's dimension; the others become batches.
static Loop takeLongest(SmallVectorImpl<Loop> &loops, SmallVectorImpl<Loop> &batches) {
  Loop longest;
  auto found = llvm::max_element(loops, [](const Loop &x, const Loop &y) { return x.size < y.size; });
  if (found != loops.end()) {
    longest = *found;
    loops.erase(found);
  }
  llvm::append_range(batches, loops);
  return longest;
}

std::optional<runtime::MatmulSpec> findMatmul(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() || !multipliesAndAdds(op))
    return std::nullopt;
  SmallVector<Access> accesses;
  SmallVector<runtime::ElementType> types;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Access> access = findAccess(op, operand);
    auto type = toElementType(getElementTypeOrSelf(operand.get().getType()));
    if (!access || access->offset != 0 || !type)
      return std::nullopt;
    accesses.push_back(*access);
    types.push_back(*type);
  }
  SmallVector<Loop> batches, rows, columns, sums;
  for (unsigned i : realLoops(op)) {
    Loop loop{op.getStaticLoopRanges()[i], accesses[0].strides[i], accesses[1].strides[i], accesses[2].strides[i]};
    if (loop.a < 0 || loop.b < 0 || loop.c < 0)
      return std::nullopt;
    if (loop.c == 0)
      sums.push_back(loop);
    else if (loop.b == 0)
      rows.push_back(loop);
    else if (loop.a == 0)
      columns.push_back(loop);
    else
      batches.push_back(loop);
  }
  for (SmallVector<Loop> *loops : {&batches, &rows, &columns, &sums})
    joinLoops(*loops);
  if (sums.size() > 1)
    return std::nullopt;
  Loop m = takeLongest(rows, batches), n = takeLongest(columns, batches), k = sums.empty() ? Loop() : sums.front();
  runtime::MatmulSpec spec;
  spec.a = types[0], spec.b = types[1], spec.c = types[2];
  spec.m = m.size, spec.n = n.size, spec.k = k.size;
  spec.aRowStride = m.a, spec.cRowStride = m.c;
  spec.bColumnStride = n.b, spec.cColumnStride = n.c;
  spec.aColumnStride = k.a, spec.bRowStride = k.b;
  for (const Loop &batch : batches) {
    spec.batch.push_back(batch.size);
    spec.aBatchStrides.push_back(batch.a);
    spec.bBatchStrides.push_back(batch.b);
    spec.cBatchStrides.push_back(batch.c);
  }
  return spec;
}

} // namespace remat
