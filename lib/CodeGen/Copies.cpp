//===- Copies.cpp - Kernels that lay tensors side by side -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies.h"

#include "Access.h"
#include "EmitBody.h"
#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// The insertions that make `value`, the first one first; empty if it isn't made of an empty tensor by them alone.
static SmallVector<tensor::InsertSliceOp> insertionsOf(Value value) {
  SmallVector<tensor::InsertSliceOp> insertions;
  while (auto insertion = value.getDefiningOp<tensor::InsertSliceOp>()) {
    insertions.push_back(insertion);
    value = insertion.getDest();
  }
  if (!value.getDefiningOp<tensor::EmptyOp>())
    insertions.clear();
  std::reverse(insertions.begin(), insertions.end());
  return insertions;
}

/// The only dimension that the insertion doesn't cover whole; `dim` where it covers all.
static std::optional<int64_t> findDim(tensor::InsertSliceOp insertion, int64_t dim) {
  std::optional<int64_t> found;
  for (auto [d, size] : llvm::enumerate(insertion.getDestType().getShape())) {
    if (ShapedType::isDynamic(insertion.getStaticOffset(d)) || ShapedType::isDynamic(insertion.getStaticSize(d)) ||
        insertion.getStaticStride(d) != 1)
      return std::nullopt;
    if (insertion.getStaticSize(d) == size)
      continue;
    if (found)
      return std::nullopt;
    found = d;
  }
  return found.value_or(dim);
}

std::optional<Copies> findCopies(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  if (kernel.getNumResults() != 1 || kernel.getInplace())
    return std::nullopt;
  SmallVector<tensor::InsertSliceOp> insertions = insertionsOf(body.getTerminator()->getOperand(0));
  // The empty tensor and the terminator are the other two.
  if (insertions.empty() || body.getOperations().size() != insertions.size() + 2)
    return std::nullopt;
  RankedTensorType type = insertions.front().getDestType();
  std::optional<int64_t> dim = findDim(insertions.front(), 0);
  if (!dim || type.getRank() == 0 || type.getNumElements() == 0)
    return std::nullopt;
  int64_t place = 0, inner = product(type.getShape().drop_front(*dim + 1));
  Copies copies{product(type.getShape().take_front(*dim)), 0, memoryType(type.getElementType()), {}};
  for (tensor::InsertSliceOp insertion : insertions) {
    auto input = dyn_cast<BlockArgument>(insertion.getSource());
    if (!input || findDim(insertion, *dim) != dim || insertion.getStaticOffset(*dim) != place ||
        insertion.getSourceType().getRank() != type.getRank())
      return std::nullopt;
    int64_t size = insertion.getStaticSize(*dim);
    copies.pieces.push_back({input.getArgNumber(), place * inner, size * inner});
    place += size;
  }
  if (place != type.getDimSize(*dim))
    return std::nullopt;
  copies.rowSize = place * inner;
  return copies;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

EmittedKernel emitCopies(ModuleOp module, KernelOp kernel, const Copies &copies, StringRef symbol) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = kernel.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), i64 = builder.getI64Type();
  auto function = func::FuncOp::create(builder, loc, symbol, builder.getFunctionType({pointer, i64, i64, i64}, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  auto bufferAt = [&](unsigned i) -> Value {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, entry->getArgument(0), LLVM::GEPArg(int32_t(i)));
    return LLVM::LoadOp::create(builder, loc, pointer, place);
  };
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
  };
  int64_t elementBytes = copies.element.getIntOrFloatBitWidth() / 8;
  auto element = [&](Value buffer, Value row, int64_t pitch, int64_t first) -> Value {
    auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(builder, loc, i64, value); };
    Value place = arith::MulIOp::create(builder, loc, row, constant(pitch * elementBytes));
    place = arith::AddIOp::create(builder, loc, place, constant(first * elementBytes));
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), buffer, ValueRange(place));
  };
  Value result = bufferAt(kernel.getInputs().size());
  Value begin = toIndex(entry->getArgument(1)), end = toIndex(entry->getArgument(2));
  emitFor(builder, loc, begin, end, 1, {}, [&](Value iteration, ValueRange) -> SmallVector<Value> {
    Value row = arith::IndexCastOp::create(builder, loc, i64, iteration);
    for (const Copies::Piece &piece : copies.pieces)
      LLVM::MemcpyOp::create(builder, loc, element(result, row, copies.rowSize, piece.begin),
                             element(bufferAt(piece.input), row, piece.size, 0),
                             arith::ConstantIntOp::create(builder, loc, i64, piece.size * elementBytes),
                             /*isVolatile=*/false);
    return {};
  });
  func::ReturnOp::create(builder, loc);
  EmittedKernel emitted{.symbol = symbol.str()};
  emitted.iterations = copies.rows;
  emitted.grain = std::max<int64_t>(1, grainElements / copies.rowSize);
  return emitted;
}

} // namespace remat
