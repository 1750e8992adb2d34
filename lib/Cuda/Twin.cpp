//===- Twin.cpp - GPU kernels that run on the CPU -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Cuda/Twin.h"

#include "../CodeGen/CpuTarget.h"
#include "../CodeGen/EmitBody.h"
#include "../CodeGen/Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace remat {

namespace {

/// One kernel as a function of (buffers, begin, end, thread).
class TwinBuilder {
public:
  TwinBuilder(ModuleOp module, gpu::GPUFuncOp kernel)
      : builder(module.getContext()), loc(kernel.getLoc()), kernel(kernel), body(kernel.getBody().front()) {
    builder.setInsertionPointToEnd(module.getBody());
    threads = kernel.getKnownBlockSizeAttr().asArrayRef()[0];
  }

  LogicalResult run() {
    if (failed(cut()))
      return failure();
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), i64 = builder.getI64Type();
    auto function =
        func::FuncOp::create(builder, loc, kernel.getName(), builder.getFunctionType({pointer, i64, i64, i64}, {}));
    Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    loadPointers(entry);
    makeSharedMemory();
    makeArrays();
    Value begin = toIndex(entry->getArgument(1)), end = toIndex(entry->getArgument(2));
    forLoop(begin, end, [&](Value block) {
      for (unsigned part = 0; part <= lastPart; ++part)
        forLoop(index(0), index(threads), [&](Value thread) { emitPart(part, block, thread); });
    });
    func::ReturnOp::create(builder, loc);
    return success();
  }

private:
  static bool isCut(Operation *op) { return isa<gpu::BarrierOp, gpu::ShuffleOp>(op); }

  /// The part of each op; a cut begins a part, and is computed in it.
  LogicalResult cut() {
    for (Operation &op : body.without_terminator()) {
      lastPart += isCut(&op);
      partOf[&op] = lastPart;
      WalkResult inside = op.walk([&](Operation *inner) {
        return inner != &op && isCut(inner) ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (inside.wasInterrupted())
        return op.emitError() << "a thread waits for others within a loop or a branch";
    }
    for (Operation &op : body.without_terminator()) {
      auto use = [&](Value value) {
        Operation *maker = value.getDefiningOp();
        if (!maker || maker->getBlock() != &body || maker->hasTrait<OpTrait::ConstantLike>())
          return;
        // A shuffle reads what other threads have.
        if (partOf[maker] != partOf[&op] || isa<gpu::ShuffleOp>(op))
          kept.insert(value);
      };
      for (Value operand : op.getOperands())
        use(operand);
      SetVector<Value> inside;
      getUsedValuesDefinedAbove(op.getRegions(), inside);
      for (Value value : inside)
        use(value);
    }
    return success();
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value toIndex(Value value) { return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value); }

  void forLoop(Value begin, Value end, function_ref<void(Value)> inside) {
    auto loop = scf::ForOp::create(builder, loc, begin, end, index(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    inside(loop.getInductionVar());
  }

  void loadPointers(Block *entry) {
    Type pointer = entry->getArgument(0).getType();
    for (auto [i, argument] : llvm::enumerate(kernel.getFunctionType().getInputs())) {
      Value place =
          LLVM::GEPOp::create(builder, loc, pointer, pointer, entry->getArgument(0), LLVM::GEPArg(int32_t(i)));
      shared.map(kernel.getArgument(i), LLVM::LoadOp::create(builder, loc, pointer, place));
    }
  }

  /// A block's shared memory serves the next block too.
  void makeSharedMemory() {
    for (BlockArgument memory : kernel.getWorkgroupAttributions()) {
      auto type = cast<MemRefType>(memory.getType());
      auto plain = MemRefType::get(type.getShape(), type.getElementType());
      shared.map(memory, memref::AllocaOp::create(builder, loc, plain));
    }
  }

  static Type storedType(Type type) {
    Type stored = memoryType(getElementTypeOrSelf(type));
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(stored)) : stored;
  }

  void makeArrays() {
    Value count = arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), threads);
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
    for (Value value : kept)
      arrays[value] =
          LLVM::AllocaOp::create(builder, loc, pointer, storedType(value.getType()), count, /*alignment=*/64);
  }

  Value placeOf(Value value, Value thread) {
    Value number = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), thread);
    Value array = arrays[value];
    return LLVM::GEPOp::create(builder, loc, array.getType(), storedType(value.getType()), array, ValueRange(number));
  }

  void keep(Value value, Value now, Value thread) {
    Type type = value.getType(), stored = storedType(type);
    if (getElementTypeOrSelf(type).isIndex())
      now = arith::IndexCastOp::create(builder, loc, stored, now);
    else if (isFloat8(type))
      now = arith::BitcastOp::create(builder, loc, stored, now);
    else if (stored != type)
      now = arith::ExtUIOp::create(builder, loc, stored, now);
    LLVM::StoreOp::create(builder, loc, now, placeOf(value, thread));
  }

  Value recall(Value value, Value thread) {
    Type type = value.getType(), stored = storedType(type);
    Value now = LLVM::LoadOp::create(builder, loc, stored, placeOf(value, thread));
    if (getElementTypeOrSelf(type).isIndex())
      return arith::IndexCastOp::create(builder, loc, type, now);
    if (isFloat8(type))
      return arith::BitcastOp::create(builder, loc, type, now);
    return stored != type ? Value(arith::TruncIOp::create(builder, loc, type, now)) : now;
  }

  /// What thread `thread` does in a part.
  void emitPart(unsigned part, Value block, Value thread) {
    IRMapping mapping = shared;
    auto need = [&](Value value) {
      if (mapping.contains(value))
        return;
      Operation *maker = value.getDefiningOp();
      if (maker && maker->getBlock() == &body && maker->hasTrait<OpTrait::ConstantLike>())
        builder.clone(*maker, mapping);
      else if (arrays.contains(value))
        mapping.map(value, recall(value, thread));
    };
    for (Operation &op : body.without_terminator()) {
      if (partOf[&op] != part || op.hasTrait<OpTrait::ConstantLike>())
        continue;
      for (Value operand : op.getOperands())
        need(operand);
      SetVector<Value> inside;
      getUsedValuesDefinedAbove(op.getRegions(), inside);
      for (Value value : inside)
        need(value);
      emitOp(op, mapping, block, thread);
      for (Value result : op.getResults())
        if (arrays.contains(result))
          keep(result, mapping.lookup(result), thread);
    }
  }

  void emitOp(Operation &op, IRMapping &mapping, Value block, Value thread) {
    if (isa<gpu::BarrierOp>(op))
      return;
    if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
      return mapping.map(id.getResult(), thread);
    if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      return mapping.map(id.getResult(), block);
    if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
      Type i64 = builder.getI64Type();
      Value distance = arith::ExtUIOp::create(builder, loc, i64, mapping.lookup(shuffle.getOffset()));
      Value other =
          arith::XOrIOp::create(builder, loc, arith::IndexCastOp::create(builder, loc, i64, thread), distance);
      mapping.map(shuffle.getShuffleResult(), recall(shuffle.getValue(), toIndex(other)));
      return;
    }
    builder.clone(op, mapping);
  }

  OpBuilder builder;
  Location loc;
  gpu::GPUFuncOp kernel;
  Block &body;
  int64_t threads = 1;
  unsigned lastPart = 0;
  DenseMap<Operation *, unsigned> partOf;
  llvm::SetVector<Value> kept; ///< Values that wait for a later part.
  DenseMap<Value, Value> arrays;
  IRMapping shared; ///< What all threads of all blocks share.
};

} // namespace

/// Lowers, compiles and loads.
static FailureOr<LoadedCode> load(ModuleOp module, ArrayRef<EmittedKernel> kernels) {
  if (failed(lowerKernels(module, kernels)))
    return failure();
  FailureOr<std::vector<std::vector<char>>> objects = compileObjects(module);
  if (failed(objects))
    return failure();
  std::vector<std::string> symbols;
  for (const EmittedKernel &kernel : kernels)
    symbols.push_back(kernel.symbol);
  return loadObjects(module.getLoc(), *objects, symbols);
}

static std::vector<runtime::KernelFunction> functionsOf(const LoadedCode &code) {
  std::vector<runtime::KernelFunction> functions;
  for (void *function : code.functions)
    functions.push_back(reinterpret_cast<runtime::KernelFunction>(function));
  return functions;
}

FailureOr<CpuTwins> compileTwins(GpuKernels &kernels) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernels.module->getLoc());
  SmallVector<EmittedKernel, 0> emitted;
  for (gpu::GPUFuncOp kernel : kernels.gpuModule().getOps<gpu::GPUFuncOp>()) {
    if (failed(TwinBuilder(*module, kernel).run()))
      return failure();
    emitted.push_back({kernel.getName().str()});
  }
  FailureOr<LoadedCode> code = load(*module, emitted);
  if (failed(code))
    return failure();
  std::vector<runtime::KernelFunction> functions = functionsOf(*code);
  CpuTwins result;
  size_t next = 0;
  for (const GpuKernel &kernel : kernels.kernels) {
    result.launches.emplace_back(functions.begin() + next, functions.begin() + next + kernel.launches.size());
    next += kernel.launches.size();
  }
  result.code = code->owner;
  return result;
}

FailureOr<CpuOriginals> compileOriginals(GpuKernels &kernels) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernels.module->getLoc());
  CpuTarget target(*module, /*threads=*/1);
  KernelTable table(target);
  SmallVector<unsigned> numbers;
  for (Operation *cluster : kernels.clusters) {
    FailureOr<unsigned> number = table.number(cast<KernelOp>(cluster));
    if (failed(number))
      return failure();
    numbers.push_back(*number);
  }
  FailureOr<LoadedCode> code = load(*module, table.kernels);
  if (failed(code))
    return failure();
  CpuOriginals result;
  std::vector<runtime::KernelFunction> functions = functionsOf(*code);
  for (unsigned number : numbers) {
    const EmittedKernel &kernel = table.kernels[number];
    result.functions.push_back(functions[number]);
    result.iterations.push_back(kernel.iterations);
    result.scratchBytes.push_back(kernel.threadScratchBytes + kernel.scratchBytes);
  }
  result.code = code->owner;
  return result;
}

} // namespace remat
