//===- KernelFrame.cpp - The function around a kernel ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace remat {

KernelFrame::KernelFrame(gpu::GPUModuleOp module, Location loc, StringRef symbol, unsigned parameters)
    : builder(module.getContext()), loc(loc) {
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types(parameters, LLVM::LLVMPointerType::get(module.getContext()));
  function = gpu::GPUFuncOp::create(builder, loc, symbol, builder.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  builder.setInsertionPointToStart(&function.getBody().front());
  buffers = llvm::to_vector_of<Value>(function.getArguments());
  threadId = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  blockId = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
}

GpuLaunch KernelFrame::finish(int64_t blocks, int64_t threads) {
  gpu::ReturnOp::create(builder, loc);
  int32_t blockSize[] = {int32_t(threads), 1, 1};
  function.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(blockSize));
  raiseAlignment(function);
  return {function.getName().str(), blocks, threads};
}

Value KernelFrame::thread() { return threadId; }
Value KernelFrame::block() { return blockId; }
Value KernelFrame::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
Value KernelFrame::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value KernelFrame::multiply(Value a, int64_t b) {
  return b == 1 ? a : Value(arith::MulIOp::create(builder, loc, a, index(b)));
}
Value KernelFrame::divide(Value a, int64_t b) {
  return b == 1 ? a : Value(arith::DivUIOp::create(builder, loc, a, index(b)));
}
Value KernelFrame::modulo(Value a, int64_t b) {
  return b == 1 ? index(0) : Value(arith::RemUIOp::create(builder, loc, a, index(b)));
}
Value KernelFrame::isLess(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, a, b);
}
Value KernelFrame::isFirst(Value number) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number, index(0));
}
Value KernelFrame::minimum(Value a, Value b) { return arith::MinUIOp::create(builder, loc, a, b); }

Value KernelFrame::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

void KernelFrame::ifThen(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto op = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  body();
}

SmallVector<Value> KernelFrame::forLoop(Value begin, Value end, int64_t step, ValueRange carried,
                                        function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  return emitFor(builder, loc, begin, end, step, carried, body);
}

Value KernelFrame::sharedMemory(int64_t elements, Type element) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(), gpu::AddressSpace::Workgroup);
  return function.addWorkgroupAttribution(MemRefType::get({elements}, element, MemRefLayoutAttrInterface(), space),
                                          loc);
}

void KernelFrame::barrier() { gpu::BarrierOp::create(builder, loc); }

/// Shuffles move 32 or 64 bits; what is narrower travels in an i32.
Value KernelFrame::shuffle(Value value, int64_t distance, int64_t width) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto exchange = [&](Value moved) -> Value {
    return gpu::ShuffleOp::create(builder, loc, moved, distance, width, gpu::ShuffleMode::XOR).getShuffleResult();
  };
  if (bits >= 32)
    return exchange(value);
  Type narrow = builder.getIntegerType(bits), wide = builder.getI32Type();
  Value plain = isa<FloatType>(type) ? Value(arith::BitcastOp::create(builder, loc, narrow, value)) : value;
  Value moved = exchange(arith::ExtUIOp::create(builder, loc, wide, plain));
  moved = arith::TruncIOp::create(builder, loc, narrow, moved);
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(builder, loc, type, moved)) : moved;
}

Value KernelFrame::combineWarp(Operation *combiner, SmallVector<Value> values, int64_t width) {
  LaneBuilder one(builder, loc, 1);
  int64_t fold = values.size();
  for (int64_t distance = width / 2; distance >= fold; distance /= 2)
    for (Value &value : values)
      value = one.clone(combiner, {value, shuffle(value, distance / fold, warpSize)});
  for (int64_t distance = fold / 2; distance > 0; distance /= 2)
    for (int64_t i = 0; i < distance; ++i)
      values[i] = one.clone(combiner, {values[i], values[i + distance]});
  return values[0];
}

Value KernelFrame::combineTeam(Operation *combiner, ArrayRef<Value> values, int64_t team) {
  int64_t warpThreads = warpSize / int64_t(values.size());
  Value value = combineWarp(combiner, llvm::to_vector(values), std::min(team, warpSize));
  int64_t warps = team / warpSize;
  if (warps <= 1)
    return value;
  Value &shared = teamMemory[value.getType()];
  if (shared)
    barrier(); // What was there has been read.
  else
    shared = sharedMemory(warps, value.getType());
  ifThen(isFirst(modulo(threadId, warpThreads)),
         [&] { memref::StoreOp::create(builder, loc, value, shared, ValueRange(divide(threadId, warpThreads))); });
  barrier();
  // Threads that are more than there are warps repeat them, and a step of fewer lanes than a warp combines each once.
  Value part = memref::LoadOp::create(builder, loc, shared, ValueRange(modulo(threadId, warps)));
  return combineWarp(combiner, {part}, warps);
}

} // namespace remat
