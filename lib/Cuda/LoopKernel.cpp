//===- LoopKernel.cpp - Kernels that are no cluster -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel becomes loops over memrefs as it does for the CPU (EmitUpstream), and every nest of loops a launch: a
// thread takes one iteration of each loop that may run in parallel (ParallelLoops.cpp). What stands between the nests,
// such as reading the start of a slice, is done again by every thread. A kernel that can't be taken apart that way is
// run by one thread.
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"

#include "../CodeGen/Kernels.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace remat {

/// The memref of `type` that starts where `pointer` points.
static Value viewAs(OpBuilder &builder, Location loc, MemRefType type, Value pointer) {
  LLVMTypeConverter converter(builder.getContext());
  Value descriptor = MemRefDescriptor::fromStaticShape(builder, loc, converter, type, pointer);
  return UnrealizedConversionCastOp::create(builder, loc, TypeRange(type), ValueRange(descriptor)).getResult(0);
}

/// Copies of whole buffers become loops, which can be shared out.
static void expandCopies(func::FuncOp function) {
  function.walk([](memref::CopyOp copy) {
    OpBuilder builder(copy);
    Location loc = copy.getLoc();
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
    SmallVector<Value> indices;
    Value zero = constant(0), one = constant(1);
    for (int64_t size : cast<MemRefType>(copy.getTarget().getType()).getShape()) {
      auto loop = scf::ForOp::create(builder, loc, zero, constant(size), one);
      indices.push_back(loop.getInductionVar());
      builder.setInsertionPointToStart(loop.getBody());
    }
    Value element = memref::LoadOp::create(builder, loc, copy.getSource(), indices);
    memref::StoreOp::create(builder, loc, element, copy.getTarget(), indices);
    copy.erase();
  });
}

namespace {

/// A function on memrefs as launches.
class LaunchMaker {
public:
  LaunchMaker(gpu::GPUModuleOp module, func::FuncOp function, StringRef symbol)
      : module(module), function(function), symbol(symbol) {}

  SmallVector<GpuLaunch, 1> run() {
    SmallVector<GpuLaunch, 1> launches;
    if (!findNests()) {
      launches.push_back(emit(nullptr));
      return launches;
    }
    for (Operation *nest : nests)
      launches.push_back(emit(nest));
    return launches;
  }

private:
  /// The ops of the function that write; false if others need what they make.
  bool findNests() {
    llvm::SetVector<Value> written;
    function.walk([&](memref::StoreOp store) { written.insert(findBuffer(store.getMemref())); });
    for (Operation &op : function.front().without_terminator()) {
      bool writes = false, readsWritten = false;
      op.walk([&](Operation *inner) {
        writes |= isa<memref::StoreOp>(inner);
        if (auto load = dyn_cast<memref::LoadOp>(inner))
          readsWritten |= written.contains(findBuffer(load.getMemref()));
      });
      if (writes && op.getNumResults() != 0)
        return false;
      if (!writes && readsWritten)
        return false;
      if (writes)
        nests.push_back(&op);
    }
    return !nests.empty();
  }

  /// A launch for one nest, or for all by one thread.
  GpuLaunch emit(Operation *nest) {
    std::string name = nest && nest != nests.front() ? symbol.str() + "_" + std::to_string(++count) : symbol.str();
    KernelFrame frame(module, function.getLoc(), name, function.getNumArguments());
    IRMapping mapping;
    for (auto [argument, buffer] : llvm::zip(function.getArguments(), frame.buffers))
      mapping.map(argument, viewAs(frame.builder, frame.loc, cast<MemRefType>(argument.getType()), buffer));
    SmallVector<scf::ForOp> parallel;
    if (nest)
      parallel = findParallelLoops(nest);
    Sizes trips;
    for (scf::ForOp loop : parallel)
      trips.push_back(loop.getStaticTripCount()->getSExtValue());
    constexpr int64_t blockThreads = 256;
    int64_t needed = product(trips), some = std::max<int64_t>(needed, 1); // A launch of an empty loop has a block too.
    int64_t threads = some == 1 ? 1 : std::min<int64_t>(blockThreads, llvm::alignTo(some, warpSize));
    int64_t blocks = llvm::divideCeil(some, threads);
    Value number = frame.add(frame.multiply(frame.block(), threads), frame.thread());
    auto body = [&] { emitBody(frame, mapping, nest, parallel, trips, number); };
    needed == blocks *threads ? body() : frame.ifThen(frame.isLess(number, frame.index(needed)), body);
    return frame.finish(blocks, threads);
  }

  void emitBody(KernelFrame &frame, IRMapping &mapping, Operation *nest, ArrayRef<scf::ForOp> parallel,
                ArrayRef<int64_t> trips, Value number) {
    LoopNest none;
    PointEmitter points(frame.builder, frame.loc, none, {});
    SmallVector<Value> own = points.split(number, trips);
    DenseMap<Operation *, Value> iterations;
    for (auto [i, iteration] : llvm::enumerate(own)) {
      scf::ForOp loop = parallel[i];
      Value first = frame.index(*getConstantIntValue(loop.getLowerBound()));
      iterations[loop] = frame.add(first, frame.multiply(iteration, *getConstantIntValue(loop.getStep())));
    }
    for (Operation &op : function.front().without_terminator())
      if (!nest || &op == nest || !llvm::is_contained(nests, &op))
        cloneWithout(frame.builder, op, iterations, mapping);
  }

  /// A copy of `op` in which the loops of `iterations` are replaced by one iteration each.
  static void cloneWithout(OpBuilder &builder, Operation &op, const DenseMap<Operation *, Value> &iterations,
                           IRMapping &mapping) {
    if (Value iteration = iterations.lookup(&op)) {
      auto loop = cast<scf::ForOp>(op);
      mapping.map(loop.getInductionVar(), iteration);
      for (Operation &inner : loop.getBody()->without_terminator())
        cloneWithout(builder, inner, iterations, mapping);
      return;
    }
    Operation *copy = builder.cloneWithoutRegions(op, mapping);
    for (auto [from, to] : llvm::zip(op.getRegions(), copy->getRegions()))
      for (Block &block : from) {
        OpBuilder::InsertionGuard guard(builder);
        Block *made = builder.createBlock(&to, to.end());
        for (BlockArgument argument : block.getArguments())
          mapping.map(argument, made->addArgument(argument.getType(), argument.getLoc()));
        builder.setInsertionPointToEnd(made);
        for (Operation &inner : block)
          cloneWithout(builder, inner, iterations, mapping);
      }
  }

  gpu::GPUModuleOp module;
  func::FuncOp function;
  StringRef symbol;
  SmallVector<Operation *> nests;
  unsigned count = 0;
};

} // namespace

std::optional<GpuKernel> emitAnyLoops(gpu::GPUModuleOp module, KernelOp kernel, StringRef symbol) {
  OwningOpRef<ModuleOp> own = ModuleOp::create(kernel.getLoc());
  FailureOr<EmittedKernel> loops = emitUpstream(*own, kernel, symbol);
  if (failed(loops))
    return std::nullopt;
  auto function = *own->getOps<func::FuncOp>().begin();
  expandCopies(function);
  GpuKernel result;
  result.form = GpuKernel::Form::Loops;
  result.launches = LaunchMaker(module, function, symbol).run();
  result.parameters = function.getNumArguments();
  result.scratchBytes = loops->scratchBytes;
  return result;
}

} // namespace remat
