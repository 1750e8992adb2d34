//===- FuseClones.cpp - Recomputed kernels inside their readers -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan puts a recomputed kernel in front of its first reader and gives its results buffers. Where that reader is the
// only one and can hold the kernel's members, the values stay in registers instead.
//
//===----------------------------------------------------------------------===//

#include "FuseClones.h"

#include "BlockBuilder.h"
#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace remat {

static bool isReshape(Operation *op) { return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op); }

namespace {

class Fuser {
public:
  explicit Fuser(Block &block) : block(block) {
    for (auto [i, op] : llvm::enumerate(block)) {
      places[&op] = i;
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          lastRead[findBase(operand)] = isReshape(&op) ? lastRead.lookup(findBase(operand)) : i;
      });
    }
  }

  void fuse(KernelOp kernel) {
    KernelOp reader = onlyReader(kernel);
    if (!reader || reader.getInplace() || kernel.getInplace() || prolongedBytes(kernel, reader) > storedBytes(kernel))
      return;
    KernelOp joined = join(kernel, reader);
    if (!fits(joined, reader)) {
      joined.erase();
      return;
    }
    places[joined] = places.lookup(reader);
    for (Value input : joined.getInputs())
      lastRead[findBase(input)] = std::max(lastRead.lookup(findBase(input)), places.lookup(reader));
    reader.replaceAllUsesWith(joined.getResults());
    reader.erase();
    for (Operation *reshape : reshapesOf(kernel))
      reshape->erase();
    kernel.erase();
  }

private:
  /// The kernel of this block that reads all results; null if there is another reader.
  KernelOp onlyReader(KernelOp kernel) {
    KernelOp reader;
    SmallVector<Value> values(kernel.getResults());
    for (size_t i = 0; i < values.size(); ++i)
      for (Operation *user : values[i].getUsers()) {
        if (isReshape(user)) {
          values.push_back(user->getResult(0));
          continue;
        }
        auto next = dyn_cast<KernelOp>(user);
        if (!next || next->getBlock() != &block || (reader && next != reader))
          return nullptr;
        reader = next;
      }
    return reader;
  }

  /// Of the results, those that are read first last.
  static SmallVector<Operation *> reshapesOf(KernelOp kernel) {
    SmallVector<Operation *> reshapes;
    SmallVector<Value> values(kernel.getResults());
    for (size_t i = 0; i < values.size(); ++i)
      for (Operation *user : values[i].getUsers()) {
        assert(isReshape(user) && "the reader is gone");
        reshapes.push_back(user);
        values.push_back(user->getResult(0));
      }
    std::reverse(reshapes.begin(), reshapes.end());
    return reshapes;
  }

  /// Bytes that the kernel reads and that could be released before the reader runs; arguments stay anyway.
  int64_t prolongedBytes(KernelOp kernel, KernelOp reader) {
    llvm::SetVector<Value> prolonged;
    for (Value input : kernel.getInputs()) {
      Value base = findBase(input);
      Operation *maker = base.getDefiningOp();
      if (maker && !isa<arith::ConstantOp>(maker) && lastRead.lookup(base) < places.lookup(reader))
        prolonged.insert(base);
    }
    int64_t bytes = 0;
    for (Value value : prolonged)
      bytes += slotBytes(value.getType());
    return bytes;
  }

  /// Bytes of the results, which the fusion saves.
  static int64_t storedBytes(KernelOp kernel) {
    int64_t bytes = 0;
    for (Value result : kernel.getResults())
      bytes += slotBytes(result.getType());
    return bytes;
  }

  /// One kernel of both, in the reader's place; both stay.
  KernelOp join(KernelOp kernel, KernelOp reader) {
    auto isOfKernel = [&](Value value) { return findBase(value).getDefiningOp() == kernel; };
    llvm::SetVector<Value> inputs(kernel.getInputs().begin(), kernel.getInputs().end());
    for (Value input : reader.getInputs())
      if (!isOfKernel(input))
        inputs.insert(input);
    OpBuilder builder(reader);
    auto joined =
        KernelOp::create(builder, reader.getLoc(), reader.getResultTypes(), inputs.getArrayRef(), DenseI64ArrayAttr());
    Block *body = builder.createBlock(&joined.getBody());
    IRMapping mapping, outside;
    for (Value input : inputs)
      outside.map(input, body->addArgument(input.getType(), input.getLoc()));
    copyBody(builder, kernel, mapping, outside);
    auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
    for (auto [result, value] : llvm::zip(kernel.getResults(), yield.getOperands()))
      outside.map(result, mapping.lookup(value));
    for (Value input : reader.getInputs())
      if (isOfKernel(input))
        copyReshapes(builder, input, outside);
    copyBody(builder, reader, mapping, outside);
    auto yielded = cast<YieldOp>(reader.getBody().front().getTerminator());
    YieldOp::create(builder, reader.getLoc(),
                    llvm::map_to_vector(yielded.getOperands(), [&](Value value) { return mapping.lookup(value); }));
    return joined;
  }

  static void copyBody(OpBuilder &builder, KernelOp kernel, IRMapping &mapping, const IRMapping &outside) {
    Block &body = kernel.getBody().front();
    for (auto [argument, input] : llvm::zip(body.getArguments(), kernel.getInputs()))
      mapping.map(argument, outside.lookup(input));
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
  }

  static void copyReshapes(OpBuilder &builder, Value value, IRMapping &outside) {
    if (outside.contains(value))
      return;
    Operation *reshape = value.getDefiningOp();
    copyReshapes(builder, reshape->getOperand(0), outside);
    builder.clone(*reshape, outside);
  }

  static bool fits(KernelOp joined, KernelOp reader) {
    std::optional<LoopNest> nest = analyzeKernel(joined), before = analyzeKernel(reader);
    auto scratch = [](const LoopNest &of) {
      return llvm::count_if(of.members, [](const LoopNest::Member &member) { return member.isScratch; });
    };
    return nest && before && nest->space == before->space && nest->columns == before->columns &&
           scratch(*nest) <= scratch(*before);
  }

  Block &block;
  DenseMap<Operation *, size_t> places;
  DenseMap<Value, size_t> lastRead; ///< By base: the place of the last op that takes time or ends the block.
};

} // namespace

void fuseClones(Block &block, ArrayRef<Operation *> clones) {
  Fuser fuser(block);
  // From behind: a chain of clones ends in its reader as a whole.
  for (Operation *op : llvm::reverse(clones))
    if (auto kernel = dyn_cast<KernelOp>(op))
      fuser.fuse(kernel);
}

void dropUnused(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!op.hasTrait<OpTrait::IsTerminator>() && isOpTriviallyDead(&op))
      op.erase();
  for (unsigned i = body.getNumArguments(); i-- > 0;)
    if (body.getArgument(i).use_empty()) {
      body.eraseArgument(i);
      kernel.getInputsMutable().erase(i);
    }
}

} // namespace remat
