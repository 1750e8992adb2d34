//===- LoopEmitter.cpp - A cluster as loops for the CPU -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value LoopEmitter::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value LoopEmitter::multiply(Value a, int64_t b) {
  return b == 1 ? a : Value(arith::MulIOp::create(builder, loc, a, index(b)));
}
Value LoopEmitter::subtract(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value LoopEmitter::minimum(Value a, Value b) { return arith::MinUIOp::create(builder, loc, a, b); }

Value LoopEmitter::neutral(const Member &member) {
  return arith::ConstantOp::create(builder, loc, neutralElement(findCombiner(member.op), elementType(member)));
}

SmallVector<Value> LoopEmitter::forLoop(Value begin, Value end, int64_t step, ValueRange carried,
                                        function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  return emitFor(builder, loc, begin, end, step, carried, body);
}

SmallVector<Value> LoopEmitter::split(Value number, ArrayRef<int64_t> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    indices[d] = d == 0 ? number : Value(arith::RemUIOp::create(builder, loc, number, index(sizes[d])));
    if (d != 0)
      number = arith::DivUIOp::create(builder, loc, number, index(sizes[d]));
  }
  return indices;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void LoopEmitter::emitFunction(function_ref<void(Value)> body) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), i64 = builder.getI64Type();
  auto function =
      func::FuncOp::create(builder, loc, result.symbol, builder.getFunctionType({pointer, i64, i64, i64}, {}));
  Block *entry = function.addEntryBlock();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  loadPointers(entry);
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
  };
  Value begin = toIndex(entry->getArgument(1)), end = toIndex(entry->getArgument(2));
  forLoop(begin, end, 1, {}, [&](Value iteration, ValueRange) -> SmallVector<Value> {
    body(iteration);
    return {};
  });
  func::ReturnOp::create(builder, loc);
}

void LoopEmitter::loadPointers(Block *entry) {
  Type pointer = entry->getArgument(0).getType();
  auto load = [&](size_t i) -> Value {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, entry->getArgument(0), LLVM::GEPArg(int32_t(i)));
    return LLVM::LoadOp::create(builder, loc, pointer, place);
  };
  size_t count = kernel.getInputs().size() + kernel.getNumResults();
  for (size_t i = 0; i < count; ++i)
    buffers.push_back(load(i));
  if (result.threadScratchBytes == 0)
    return;
  Value part = arith::MulIOp::create(
      builder, loc, entry->getArgument(3),
      arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), result.threadScratchBytes));
  scratchBase = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), load(count), ValueRange(part));
}

int64_t LoopEmitter::addScratch(const Member &member, int64_t elements) {
  int64_t offset = result.threadScratchBytes;
  int64_t bytes = std::max(1u, elementType(member).getIntOrFloatBitWidth() / 8);
  result.threadScratchBytes += llvm::alignTo(elements * bytes, 64);
  return offset;
}

Value LoopEmitter::scratchPointer(int64_t offset) {
  return LLVM::GEPOp::create(builder, loc, scratchBase.getType(), builder.getI8Type(), scratchBase,
                             LLVM::GEPArg(int32_t(offset)));
}

//===----------------------------------------------------------------------===//
// One point of the space
//===----------------------------------------------------------------------===//

Lanes LoopEmitter::readMember(const Source &source, Point &point) {
  const Member &maker = nest.members[source.member];
  Value value = maker.op->getResult(source.result);
  for (const DenseMap<Value, Lanes> *known : {&point.values, &rowValues})
    if (auto found = known->find(value); found != known->end())
      return found->second;
  return LaneBuilder(builder, loc, point.width)
      .load(scratchPointer(scratch[&maker]), elementType(maker, source.result), scratchPlace, point.width == 1 ? 0 : 1);
}

void LoopEmitter::computeElementwise(const Member &member, Point &point) {
  SmallVector<Lanes> results = computeAlone(member, point);
  for (auto [value, lanes] : llvm::zip(member.op->getResults(), results))
    (member.perRow ? rowValues : point.values)[value] = lanes;
  for (const LoopNest::Output &output : member.outputs)
    stores.push_back({buffers[output.buffer], results[output.result].value, address(denseAccess(member), point)});
  if (member.isScratch)
    stores.push_back({scratchPointer(scratch[&member]), results[0].value, scratchPlace});
}

void LoopEmitter::flushStores(Point &point) {
  LaneBuilder lanes(builder, loc, point.width);
  for (auto &[pointer, value, place] : stores)
    lanes.store(pointer, value, place, point.width == 1 ? 0 : 1);
  stores.clear();
  point.loaded.clear();
}

} // namespace remat
