//===- CheckpointRegions.cpp - What jax.checkpoint recomputes -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An exported step that was made with `jax.checkpoint` holds every checkpointed region twice: in the forward part, with
// nothing to tell it from the rest, and in the backward part, behind an `optimization_barrier` of the region's inputs.
// An op of the backward part that is the same as a forward op, once barriers are looked through, computes it again:
// value numbering finds them all.
//
//===----------------------------------------------------------------------===//

#include "remat/IR/OpModel.h"
#include "remat/IR/RematDialect.h"
#include "remat/Transforms/Extract.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <vector>

using namespace mlir;

namespace remat {

namespace {

/// What an op computes: its name, attributes, operands and result types, and the same of the ops inside.
using Key = std::vector<const void *>;

class CheckpointFinder {
public:
  explicit CheckpointFinder(func::FuncOp function) : body(function.getBody().front()) {}

  int64_t run() {
    for (Operation &op : body)
      if (!isBlockTerminator(&op))
        visit(&op);
    return mark();
  }

private:
  bool isBackward(Operation *op) const {
    auto phase = op->getAttrOfType<StringAttr>(attr::phase);
    return phase && phase.getValue() == "backward";
  }

  static bool isBarrier(Operation *op) {
    StringRef name = op->getName().getStringRef();
    return name == "stablehlo.optimization_barrier" || name == "mhlo.optimization_barrier";
  }

  /// The first value that is the same as `value`.
  Value original(Value value) const {
    auto it = originals.find(value);
    return it == originals.end() ? value : it->second;
  }

  void visit(Operation *op) {
    bool backward = isBackward(op);
    if (isBarrier(op) && op->getNumOperands() == op->getNumResults()) {
      for (auto [result, operand] : llvm::zip(op->getResults(), op->getOperands()))
        originals[result] = original(operand);
      if (backward)
        barrierOf[op] = barriers.size(), barriers.push_back(op);
      return;
    }
    auto [first, isNew] = firsts.try_emplace(keyOf(op), op);
    if (isNew)
      return;
    for (auto [result, same] : llvm::zip(op->getResults(), first->second->getResults()))
      originals[result] = same;
    std::optional<size_t> barrier = backward ? barrierBehind(op) : std::nullopt;
    if (!barrier)
      return;
    barrierOf[op] = *barrier;
    if (!isBackward(first->second))
      repeats.emplace_back(first->second, *barrier);
  }

  Key keyOf(Operation *op) const {
    Key key;
    DenseMap<Value, unsigned> inner;
    appendKey(op, key, inner);
    return key;
  }

  /// `inner` numbers the values inside the op whose key it is; ops of regions are compared as they stand.
  void appendKey(Operation *op, Key &key, DenseMap<Value, unsigned> &inner) const {
    NamedAttrList attributes(op->getAttrDictionary());
    for (StringRef name : {attr::phase, attr::region, attr::checkpointName, attr::clone})
      attributes.erase(name);
    key.push_back(op->getName().getAsOpaquePointer());
    key.push_back(attributes.getDictionary(op->getContext()).getAsOpaquePointer());
    for (Value operand : op->getOperands()) {
      auto it = inner.find(operand);
      key.push_back(it == inner.end() ? original(operand).getAsOpaquePointer()
                                      : reinterpret_cast<const void *>(2 * size_t(it->second) + 1));
    }
    for (Type type : op->getResultTypes())
      key.push_back(type.getAsOpaquePointer());
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        for (Value argument : block.getArguments()) {
          inner.try_emplace(argument, inner.size());
          key.push_back(argument.getType().getAsOpaquePointer());
        }
        for (Operation &innerOp : block) {
          appendKey(&innerOp, key, inner);
          for (Value result : innerOp.getResults())
            inner.try_emplace(result, inner.size());
        }
      }
  }

  /// The barrier that a repeating op hangs on, by way of other repeating ops.
  std::optional<size_t> barrierBehind(Operation *op) const {
    for (Value operand : op->getOperands())
      if (auto it = barrierOf.find(operand.getDefiningOp()); it != barrierOf.end())
        return it->second;
    return std::nullopt;
  }

  int64_t mark() {
    // In the order of the forward part: the first repeated op of each barrier says its place.
    std::vector<std::pair<Operation *, size_t>> ordered(repeats);
    llvm::sort(ordered, [](auto &a, auto &b) {
      return a.first == b.first ? a.second < b.second : a.first->isBeforeInBlock(b.first);
    });
    DenseMap<size_t, int64_t> numbers;
    for (auto &[op, barrier] : ordered) {
      int64_t number = numbers.try_emplace(barrier, numbers.size()).first->second;
      std::string path = "checkpoint" + std::to_string(number);
      if (auto given = op->getAttrOfType<StringAttr>(attr::region)) {
        if (given.getValue().starts_with("checkpoint"))
          continue;
        path += "/" + given.getValue().str();
      }
      op->setAttr(attr::region, StringAttr::get(op->getContext(), path));
    }
    return numbers.size();
  }

  Block &body;
  DenseMap<Value, Value> originals;
  std::map<Key, Operation *> firsts;
  std::vector<Operation *> barriers;
  DenseMap<Operation *, size_t> barrierOf;             ///< Of barriers and of ops that repeat behind them.
  std::vector<std::pair<Operation *, size_t>> repeats; ///< Forward op, and the barrier behind which it is repeated.
};

} // namespace

int64_t markCheckpoints(func::FuncOp function) {
  auto isBarrier = [](Operation &op) { return op.getName().getStringRef().ends_with(".optimization_barrier"); };
  if (llvm::none_of(function.getBody().front(), isBarrier))
    return 0;
  return CheckpointFinder(function).run();
}

} // namespace remat
