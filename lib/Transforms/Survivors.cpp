//===- Survivors.cpp - Recomputation that later passes left ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where `remat.clone` marks the clones, those that still read through a barrier are counted. Clones in StableHLO graphs
// carry no mark: they are found as what they are, the second computation of an expression. Ops are numbered by value
// with barriers looked through; an op whose number an earlier op has, and that reads through a barrier of ours, is a
// clone. It is lost as a means to save memory if the barrier lost operands (it may then move up), or if something reads
// the original after the clone.
//
//===----------------------------------------------------------------------===//

#include "Marks.h"

#include "remat/IR/OpModel.h"
#include "remat/IR/RematDialect.h"
#include "remat/Transforms/Apply.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace remat {

namespace {

/// Calls `visit` for everything the op reads from outside itself.
template <typename Visit>
void forEachOutsideRead(Operation *op, Visit visit) {
  if (op->getNumRegions() == 0) {
    for (Value operand : op->getOperands())
      visit(operand);
    return;
  }
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == op->getBlock())
        visit(operand);
  });
}

class Counter {
public:
  explicit Counter(func::FuncOp function) : function(function), stableHlo(isStableHlo(function)) {}
  SurvivalCount run();

private:
  bool isIntact(Operation *barrier);
  void visitBarrier(Operation *barrier);
  bool visit(Operation *op, size_t position);
  bool isSecondComputation(Operation *op, size_t position);
  Value leader(Value value) const {
    auto found = leaders.find(value);
    return found == leaders.end() ? value : found->second;
  }

  func::FuncOp function;
  bool stableHlo;
  DenseMap<Value, Value> leaders;           // the first value that is the same expression
  DenseSet<Value> guarded;                  // results of our barriers and of clones that read them
  DenseMap<Operation *, size_t> lastReader; // position in the block
  std::unordered_map<size_t, SmallVector<Operation *, 1>> byHash;
  // Clones by the barriers' own account: of all barriers, of those that are intact.
  int64_t marked = 0, markedIntact = 0;
};

} // namespace

/// A barrier of ours that still names what it comes after.
bool Counter::isIntact(Operation *barrier) {
  if (auto ours = dyn_cast<BarrierOp>(barrier))
    return llvm::any_of(ours.getAfter(), [](Value value) { return value.getDefiningOp(); });
  std::optional<int64_t> operands = frontendNumber(barrier, mark::operands);
  if (!frontendNumber(barrier, mark::id) || !operands)
    return false;
  int64_t clones = frontendNumber(barrier, mark::clones).value_or(0);
  bool intact = barrier->getNumOperands() >= *operands &&
                llvm::any_of(barrier->getOperands(), [](Value value) { return value.getDefiningOp(); });
  marked += clones;
  markedIntact += intact ? clones : 0;
  return intact;
}

void Counter::visitBarrier(Operation *barrier) {
  bool intact = isIntact(barrier);
  for (auto [i, result] : llvm::enumerate(barrier->getResults())) {
    if (i < barrier->getNumOperands())
      leaders[result] = leader(barrier->getOperand(i));
    if (intact)
      guarded.insert(result);
  }
}

/// Numbers the op. True if an earlier op computes the same and nothing reads that one's results from here on.
bool Counter::isSecondComputation(Operation *op, size_t position) {
  auto hashOperand = [&](Value value) { return DenseMapInfo<Value>::getHashValue(leader(value)); };
  size_t hash = OperationEquivalence::computeHash(op, hashOperand, OperationEquivalence::ignoreHashValue,
                                                  OperationEquivalence::IgnoreLocations);
  auto sameValue = [&](Value a, Value b) { return success(leader(a) == leader(b)); };
  bool second = false;
  SmallVector<Operation *, 1> &candidates = byHash[hash];
  Operation *first = nullptr;
  for (Operation *candidate : candidates) {
    // Results of ops inside regions become equal while the regions are compared.
    DenseMap<Value, Value> inner;
    auto equivalent = [&](Value a, Value b) {
      auto found = inner.find(b);
      return success(found != inner.end() ? found->second == a : succeeded(sameValue(a, b)));
    };
    auto mark = [&](Value a, Value b) { inner[b] = a; };
    if (!OperationEquivalence::isEquivalentTo(candidate, op, equivalent, mark, OperationEquivalence::IgnoreLocations))
      continue;
    if (!first)
      first = candidate;
    second |= lastReader.lookup(candidate) < position;
  }
  candidates.push_back(op);
  if (first)
    for (auto [mine, theirs] : llvm::zip(op->getResults(), first->getResults()))
      leaders[mine] = leader(theirs);
  return second;
}

/// True if the op is a guarded clone that counts.
bool Counter::visit(Operation *op, size_t position) {
  bool readsGuarded = false;
  forEachOutsideRead(op, [&](Value value) { readsGuarded |= guarded.contains(value); });
  bool clone = stableHlo ? isSecondComputation(op, position) : op->hasAttr(attr::clone);
  if (!clone || !readsGuarded)
    return false;
  guarded.insert_range(op->getResults());
  OpClass opClass = describeOp(op).opClass;
  return opClass != OpClass::View && opClass != OpClass::Constant;
}

SurvivalCount Counter::run() {
  SurvivalCount count;
  Block &block = function.front();
  for (auto [position, op] : llvm::enumerate(block.without_terminator()))
    forEachOutsideRead(&op, [&, position = position](Value value) {
      if (Operation *producer = value.getDefiningOp())
        lastReader[producer] = position;
    });
  for (auto [position, op] : llvm::enumerate(block.without_terminator())) {
    if (isBarrier(&op))
      visitBarrier(&op);
    else
      count.survived += visit(&op, position);
  }
  // A backward function by itself holds clones without their originals, and no number of its own: nothing there can be
  // merged.
  if (!isRewritten(function))
    return {marked, markedIntact};
  if (std::optional<int64_t> number = frontendNumber(function, attr::recomputations))
    count.planned = *number;
  else if (auto attribute = function->getAttrOfType<IntegerAttr>(attr::recomputations))
    count.planned = attribute.getInt();
  count.survived = std::min(count.survived, count.planned);
  return count;
}

SurvivalCount countSurvivors(func::FuncOp function) {
  if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
    return {};
  return Counter(function).run();
}

} // namespace remat
