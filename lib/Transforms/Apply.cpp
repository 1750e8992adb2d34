//===- Apply.cpp - From a plan to a rewritten function --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of a plan are run symbolically: `current` holds, for every planner value, the SSA value that a read at this
// step finds. First executions move the original op, later ones clone it. At the beginning of a group the values that
// it reads from outside are replaced in `current` by a barrier's results, and put back at its end.
//
//===----------------------------------------------------------------------===//

#include "remat/Transforms/Apply.h"

#include "Groups.h"
#include "Marks.h"

#include "remat/IR/OpModel.h"
#include "remat/IR/RematDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace remat {

namespace {

/// Ops that CSE would merge. Attributes that planning adds don't count.
struct SameExpression : DenseMapInfo<Operation *> {
  static constexpr auto flags = static_cast<OperationEquivalence::Flags>(OperationEquivalence::IgnoreLocations |
                                                                         OperationEquivalence::IgnoreDiscardableAttrs);
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(const_cast<Operation *>(op), OperationEquivalence::directHashValue,
                                             OperationEquivalence::ignoreHashValue, flags);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b)
      return true;
    if (a == getTombstoneKey() || a == getEmptyKey() || b == getTombstoneKey() || b == getEmptyKey())
      return false;
    return OperationEquivalence::isEquivalentTo(const_cast<Operation *>(a), const_cast<Operation *>(b), flags);
  }
};

class Rewriter {
public:
  Rewriter(func::FuncOp function, const ExtractedGraph &extracted, const Plan &plan, ValueId backwardArgument)
      : function(function), extracted(extracted), graph(extracted.graph), plan(plan),
        backwardArgument(backwardArgument), builder(function.getContext()), stableHlo(isStableHlo(function)) {}

  int64_t run();

private:
  void recordReads();
  void setReads(Operation *op, size_t index);
  void beginGroup(const Group &group);
  void endGroup();
  void emitHloBarrier(const Group &group, ArrayRef<ValueId> reads, Location location);
  Operation *createHloBarrier(ArrayRef<Value> operands, int64_t clones, Location location);
  void guardTwin(Operation *clone);
  void emitBarriers(const Group &group, ArrayRef<ValueId> reads, Location location);
  Operation *cloneOf(OpId op);
  void mark(int64_t guardedClones);
  int64_t firstFreeId();

  func::FuncOp function;
  const ExtractedGraph &extracted;
  const Graph &graph;
  const Plan &plan;
  ValueId backwardArgument;
  OpBuilder builder;
  bool stableHlo;
  int64_t nextId = 0;

  SmallVector<Value> current; // by ValueId
  // Operand reads of every op (its own and those of the ops in its regions, in walk order) as planner values, `none`
  // for values made inside; rows by op, the terminator last.
  std::vector<uint32_t> readBegin, reads;
  SmallVector<std::pair<ValueId, std::pair<Value, Value>>> guards; // value: (outside, barrier's result)
  // Within a StableHLO group: what hangs on its barrier, and its members.
  DenseSet<Value> guarded;
  DenseSet<Operation *, SameExpression> members;
  static constexpr uint32_t none = ~uint32_t(0);
};

} // namespace

/// Calls `visit` for every operand of the op and of the ops in its regions.
template <typename Visit>
static void forEachRead(Operation *op, Visit visit) {
  if (op->getNumRegions() == 0) {
    for (OpOperand &operand : op->getOpOperands())
      visit(operand);
    return;
  }
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      visit(operand);
  });
}

void Rewriter::recordReads() {
  DenseMap<Value, uint32_t> idOf;
  idOf.reserve(extracted.values.size());
  for (auto [i, value] : llvm::enumerate(extracted.values))
    idOf[value] = i;
  auto record = [&](Operation *op) {
    readBegin.push_back(reads.size());
    forEachRead(op, [&](OpOperand &operand) {
      auto found = idOf.find(operand.get());
      reads.push_back(found == idOf.end() ? none : found->second);
    });
  };
  for (Operation *op : extracted.ops)
    record(op);
  record(function.front().getTerminator());
}

/// Makes the op read what is current; `index` is the original's row.
void Rewriter::setReads(Operation *op, size_t index) {
  size_t position = readBegin[index];
  forEachRead(op, [&](OpOperand &operand) {
    if (uint32_t value = reads[position++]; value != none)
      operand.set(current[value]);
  });
}

/// The original's location under a name of its own; the colon says that the name is no name stack (describeLocation). A
/// clone of a clone doesn't nest.
static Location recomputeLocation(Location original) {
  if (auto named = dyn_cast<NameLoc>(original); named && named.getName() == "remat.recompute:")
    return original;
  return NameLoc::get(StringAttr::get(original.getContext(), "remat.recompute:"), original);
}

Operation *Rewriter::cloneOf(OpId op) {
  Operation *original = extracted.ops[op.index()];
  Operation *clone = original->clone();
  clone->setLoc(recomputeLocation(original->getLoc()));
  if (!stableHlo && !original->hasAttr(attr::clone)) {
    std::string_view name = graph.op(op).name;
    clone->setAttr(attr::clone, builder.getStringAttr(StringRef(name.data(), name.size())));
  }
  return clone;
}

int64_t Rewriter::firstFreeId() {
  int64_t id = 0;
  for (Operation &op : function.front()) {
    if (auto barrier = dyn_cast<BarrierOp>(op))
      id = std::max<int64_t>(id, barrier.getId() + 1);
    else if (isBarrier(&op))
      id = std::max(id, frontendNumber(&op, mark::id).value_or(-1) + 1);
  }
  return id;
}

Operation *Rewriter::createHloBarrier(ArrayRef<Value> operands, int64_t clones, Location location) {
  OperationState state(location, "stablehlo.optimization_barrier");
  state.addOperands(operands);
  state.addTypes(ValueRange(operands).getTypes());
  state.addAttribute(attr::phase, builder.getStringAttr("backward"));
  Operation *barrier = builder.create(state);
  setFrontendNumber(barrier, mark::id, nextId++);
  setFrontendNumber(barrier, mark::clones, clones);
  setFrontendNumber(barrier, mark::operands, operands.size());
  guarded.insert_range(barrier->getResults());
  return barrier;
}

/// Where the user's graph computes the same expression twice and both are recomputed in one group, CSE would merge the
/// clones. The plan counts on two (it frees the first before it makes the second), so the second gets a barrier of its
/// own.
void Rewriter::guardTwin(Operation *clone) {
  Value read;
  forEachRead(clone, [&](OpOperand &operand) {
    if (!read && guarded.contains(operand.get()))
      read = operand.get();
  });
  if (!read)
    return; // Made of constants alone.
  guarded.insert_range(clone->getResults());
  if (members.insert(clone).second)
    return;
  builder.setInsertionPoint(clone);
  Value own = createHloBarrier(read, 0, clone->getLoc())->getResult(0);
  builder.setInsertionPoint(function.front().getTerminator());
  forEachRead(clone, [&](OpOperand &operand) {
    if (operand.get() == read)
      operand.set(own);
  });
}

void Rewriter::emitHloBarrier(const Group &group, ArrayRef<ValueId> reads, Location location) {
  SmallVector<Value> operands;
  for (ValueId value : reads)
    operands.push_back(current[value.index()]);
  for (ValueId value : group.after)
    if (!llvm::is_contained(operands, current[value.index()]))
      operands.push_back(current[value.index()]);
  Operation *barrier = createHloBarrier(operands, group.clones, location);
  for (auto [i, value] : llvm::enumerate(reads))
    guards.push_back({value, {current[value.index()], barrier->getResult(i)}});
}

void Rewriter::emitBarriers(const Group &group, ArrayRef<ValueId> reads, Location location) {
  SmallVector<Value> after;
  for (ValueId value : group.after)
    after.push_back(current[value.index()]);
  for (ValueId value : reads) {
    Value input = current[value.index()];
    std::string_view name = graph.op(plan.steps[group.begin]).name;
    auto barrier = BarrierOp::create(builder, location, input.getType(), input, after, nextId++,
                                     builder.getStringAttr(StringRef(name.data(), name.size())));
    barrier->setAttr(attr::phase, builder.getStringAttr("backward"));
    guards.push_back({value, {input, barrier.getResult()}});
  }
}

void Rewriter::beginGroup(const Group &group) {
  SmallVector<ValueId> reads(group.reads.begin(), group.reads.end());
  if (!stableHlo)
    reads.append(group.constantReads.begin(), group.constantReads.end());
  if (reads.empty())
    return;
  Operation *next =
      group.end < plan.steps.size() ? extracted.ops[plan.steps[group.end].index()] : function.front().getTerminator();
  auto location = NameLoc::get(builder.getStringAttr("remat.barrier:"), next->getLoc());
  if (stableHlo)
    emitHloBarrier(group, reads, location);
  else
    emitBarriers(group, reads, location);
  for (auto &[value, pair] : guards)
    current[value.index()] = pair.second;
}

/// What the group itself executed again stays as it is.
void Rewriter::endGroup() {
  for (auto &[value, pair] : guards)
    if (current[value.index()] == pair.second)
      current[value.index()] = pair.first;
  guards.clear();
  guarded.clear();
  members.clear();
}

void Rewriter::mark(int64_t guardedClones) {
  if (stableHlo) {
    setFrontendNumber(function, attr::recomputations,
                      frontendNumber(function, attr::recomputations).value_or(0) + guardedClones);
    return;
  }
  auto before = function->getAttrOfType<IntegerAttr>(attr::recomputations);
  function->setAttr(attr::recomputations, builder.getI64IntegerAttr((before ? before.getInt() : 0) + guardedClones));
}

int64_t Rewriter::run() {
  recordReads();
  nextId = firstFreeId();
  current.assign(extracted.values.begin(), extracted.values.end());
  std::vector<Group> groups = findGroups(graph, plan, backwardArgument);
  std::vector<bool> executed(graph.numOps());
  Operation *terminator = function.front().getTerminator();
  builder.setInsertionPoint(terminator);
  StringAttr backward = builder.getStringAttr("backward");
  int64_t guardedClones = 0;
  auto group = groups.begin();
  for (size_t t = 0; t < plan.steps.size(); ++t) {
    bool inGroup = group != groups.end() && t >= group->begin;
    if (inGroup && t == group->begin) {
      beginGroup(*group);
      guardedClones += group->clones + (stableHlo ? 0 : group->constantClones);
    }
    OpId id = plan.steps[t];
    Operation *op = extracted.ops[id.index()];
    if (executed[id.index()]) {
      Operation *clone = cloneOf(id);
      builder.insert(clone);
      op = clone;
    } else {
      op->moveBefore(terminator);
    }
    setReads(op, id.index());
    if (inGroup) {
      op->setAttr(attr::phase, backward);
      if (stableHlo)
        guardTwin(op);
    }
    for (size_t r = 0; r < graph.numResults(id); ++r)
      current[graph.result(id, r).index()] = op->getResult(r);
    executed[id.index()] = true;
    if (inGroup && t + 1 == group->end) {
      endGroup();
      ++group;
    }
  }
  setReads(terminator, graph.numOps());
  mark(guardedClones);
  return guardedClones;
}

FailureOr<int64_t> applyPlan(func::FuncOp function, const ExtractedGraph &extracted, const Plan &plan,
                             std::optional<unsigned> backwardArgument) {
  if (plan.steps == programOrder(extracted.graph).steps)
    return 0;
  recordInplace(function, extracted);
  return Rewriter(function, extracted, plan, backwardArgument ? ValueId(*backwardArgument) : ValueId()).run();
}

} // namespace remat
