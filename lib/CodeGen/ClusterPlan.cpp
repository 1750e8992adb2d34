//===- ClusterPlan.cpp - A block of clusters runs a plan ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of the plan are run symbolically: `current` holds for every value what a read at this step finds. What
// takes no time (reshapes, conditions) is copied to every reader, so that it never keeps an older instance alive.
//
//===----------------------------------------------------------------------===//

#include "ClusterPlan.h"

#include "BlockBuilder.h"
#include "FuseClones.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace remat {

namespace {

class BlockRewriter {
public:
  BlockRewriter(Block &block, ArrayRef<Operation *> ops) : block(block), ops(ops), builder(block.getTerminator()) {
    Operation *first = block.empty() ? nullptr : &block.front();
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (isa<arith::ConstantOp>(op))
        op.moveBefore(first);
      else if (takesNoTime(&op))
        free.push_back(&op);
    for (Operation *op : ops) {
      reads.push_back(readsOf(op));
      for (Value value : op->getResults())
        current[value] = value;
    }
    reads.push_back(readsOf(block.getTerminator()));
  }

  /// The ops that are clones, in order.
  SmallVector<Operation *> run(const Plan &plan) {
    SmallVector<Operation *> clones;
    std::vector<bool> executed(ops.size());
    for (OpId step : plan.steps) {
      Operation *original = ops[step.index()], *op = original;
      if (executed[step.index()]) {
        op = builder.insert(original->clone());
        clones.push_back(op);
      } else {
        op->moveBefore(block.getTerminator());
      }
      builder.setInsertionPoint(op);
      setReads(op, step.index());
      builder.setInsertionPoint(block.getTerminator());
      for (auto [value, instance] : llvm::zip(original->getResults(), op->getResults()))
        current[value] = instance;
      executed[step.index()] = true;
    }
    setReads(block.getTerminator(), ops.size());
    for (Operation *op : llvm::reverse(free))
      op->erase();
    return clones;
  }

private:
  template <typename Visit>
  static void forEachOperand(Operation *op, Visit visit) {
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        visit(operand);
    });
  }

  static SmallVector<Value> readsOf(Operation *op) {
    SmallVector<Value> values;
    forEachOperand(op, [&](OpOperand &operand) { values.push_back(operand.get()); });
    return values;
  }

  /// Makes the op read what is current; `index` is the original's.
  void setReads(Operation *op, size_t index) {
    size_t position = 0;
    forEachOperand(op, [&](OpOperand &operand) {
      Value value = reads[index][position++];
      if (value.getParentBlock() == &block)
        operand.set(resolve(value));
    });
  }

  Value resolve(Value value) {
    if (auto found = current.find(value); found != current.end())
      return found->second;
    Operation *maker = value.getDefiningOp();
    if (!maker || isa<arith::ConstantOp>(maker))
      return value;
    IRMapping mapping;
    for (Value operand : maker->getOperands())
      mapping.map(operand, resolve(operand));
    return builder.clone(*maker, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  }

  Block &block;
  ArrayRef<Operation *> ops; ///< By OpId.
  OpBuilder builder;
  SmallVector<Operation *> free;
  SmallVector<SmallVector<Value>, 0> reads; ///< By op, as the step came; the terminator last.
  DenseMap<Value, Value> current;           ///< By result of the ops as they came.
};

} // namespace

/// Removes what a kernel hands out and nobody reads, and what only that needed. Returns the kernel that is left.
static KernelOp dropUnreadResults(KernelOp kernel) {
  bool allRead = llvm::none_of(kernel.getResults(), [](OpResult result) { return result.use_empty(); });
  // A kernel that writes in place names an input for each result; it is no cluster, and computes its results together.
  if (allRead || kernel.getInplace() || kernel.use_empty())
    return kernel;
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  SmallVector<Value> yielded;
  SmallVector<OpResult> kept;
  for (OpResult result : kernel.getResults())
    if (!result.use_empty()) {
      kept.push_back(result);
      yielded.push_back(yield.getOperand(result.getResultNumber()));
    }
  OpBuilder builder(kernel);
  auto smaller = KernelOp::create(builder, kernel.getLoc(), ValueRange(yielded).getTypes(), kernel.getInputs(),
                                  DenseI64ArrayAttr());
  smaller->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  smaller.getBody().takeBody(kernel.getBody());
  yield->setOperands(yielded);
  for (auto [old, result] : llvm::zip(kept, smaller.getResults()))
    old.replaceAllUsesWith(result);
  kernel.erase();
  dropUnused(smaller);
  return smaller;
}

void applyClusterPlan(func::FuncOp function, ArrayRef<Operation *> ops, const Plan &plan) {
  Block &block = function.front();
  SmallVector<Operation *> clones = BlockRewriter(block, ops).run(plan);
  for (Operation *&op : clones)
    if (auto kernel = dyn_cast<KernelOp>(op))
      op = dropUnreadResults(kernel);
  for (Operation &op : llvm::make_early_inc_range(block))
    if (auto kernel = dyn_cast<KernelOp>(op))
      dropUnreadResults(kernel);
  fuseClones(block, clones);
}

} // namespace remat
