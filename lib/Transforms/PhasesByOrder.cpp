//===- PhasesByOrder.cpp - Backward ops without names ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without names the loss alone tells the phases apart: what it needs is forward. Of the rest, backward is what leads to
// a gradient, a result with the type of an argument, behind the place where the loss is done. That place isn't always
// the op that makes the loss: a step may divide it by the number of microbatches when all gradients are there. A dot
// that the loss doesn't need and that leads to a gradient can only be backward, so the place is the last op in front of
// the first such dot that the loss needs.
//
// Statistics and counters that are updated behind the loss also have the type of an argument. They don't touch the
// gradients, and hold no dots: candidates that are connected are taken together, and a part without a dot is forward if
// any part has one.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"

#include "remat/IR/OpModel.h"
#include "remat/IR/RematDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using llvm::BitVector;

namespace remat {

static bool isScalarFloat(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.hasStaticShape() && shaped.getNumElements() == 1 && isa<FloatType>(shaped.getElementType());
  return isa<FloatType>(type);
}

std::optional<unsigned> findLoss(const FlatOps &flat, const PhaseOptions &options) {
  func::FuncOp function = flat.function;
  if (options.lossResult >= 0)
    return options.lossResult;
  if (auto number = function->getAttrOfType<IntegerAttr>(attr::loss))
    return number.getInt();
  ValueRange results = function.getBody().front().getTerminator()->getOperands();
  for (auto [i, value] : llvm::enumerate(results))
    if (function.getResultAttr(i, attr::loss) || (value.getDefiningOp() && value.getDefiningOp()->hasAttr(attr::loss)))
      return i;
  if (!results.empty() && isScalarFloat(results[0].getType()))
    return 0;
  return std::nullopt;
}

static LogicalResult noLoss(func::FuncOp function) {
  InFlightDiagnostic diag = emitError(function.getLoc())
                            << "can't tell the forward part from the backward part of '" << function.getSymName()
                            << "': result 0, of type " << function.getResultTypes()[0]
                            << ", is no loss (a scalar float)";
  diag.attachNote() << "say which result is the loss with --loss-result=N; or give every op remat.phase = \"forward\" "
                       "or \"backward\"; or export the "
                       "graph with locations, whose names JAX marks with transpose( where they are backward";
  return diag;
}

static LogicalResult lossInLoop(func::FuncOp function, Operation *loop) {
  InFlightDiagnostic diag = emitError(function.getLoc())
                            << "the loss is made inside a loop, so program order doesn't tell the phases";
  diag.attachNote(loop->getLoc()) << "this loop makes it; give every op remat.phase = \"forward\" or \"backward\", or "
                                     "plan the loop's body as a function";
  return diag;
}

/// The loop that `loss` comes out of, by way of scalars alone (a mean of what a loop summed up, say).
static Operation *findLossLoop(Value loss) {
  while (Operation *op = loss.getDefiningOp()) {
    if (describeOp(op).opClass == OpClass::Loop)
      return op;
    auto isScalarResult = [](Value value) {
      return value.getDefiningOp() && value.getDefiningOp()->getNumOperands() > 0 && isScalarFloat(value.getType());
    };
    auto next = llvm::find_if(op->getOperands(), isScalarResult);
    if (next == op->operand_end())
      return nullptr;
    loss = *next;
  }
  return nullptr;
}

namespace {

class OrderFinder {
public:
  OrderFinder(const FlatOps &flat, unsigned loss)
      : flat(flat), loss(loss), neededByLoss(flat.size()), leadsToGradient(flat.size()), isDot(flat.size()) {
    func::FuncOp function = flat.function;
    results = ValueRange(function.getBody().front().getTerminator()->getOperands());
  }

  BitVector find() {
    for (size_t i = 0; i < flat.size(); ++i) {
      OpClass opClass = describeOp(flat.ops[i]).opClass;
      isDot[i] = opClass == OpClass::Dot || opClass == OpClass::Convolution || opClass == OpClass::Loop;
    }
    if (auto lossOp = flat.producer(results[loss]))
      neededByLoss.set(*lossOp);
    markAncestors(neededByLoss);
    markGradients(/*scalars=*/false);
    markAncestors(leadsToGradient);
    if (candidates(0).none()) {
      markGradients(/*scalars=*/true);
      markAncestors(leadsToGradient);
    }
    BitVector backward = mainParts(candidates(findEndOfForward()));
    closePhases(flat, backward);
    return backward;
  }

private:
  void markAncestors(BitVector &marked) const {
    for (size_t i = flat.size(); i-- > 0;)
      if (marked[i])
        for (unsigned from : flat.producers[i])
          marked.set(from);
  }

  /// Results that may be gradients or updated parameters: floats with the type of an argument. Losses and metrics are
  /// scalars, as are learning rates, so scalars count only where nothing else does.
  void markGradients(bool scalars) {
    llvm::SmallPtrSet<Type, 16> argumentTypes;
    func::FuncOp function = flat.function;
    for (Type type : function.getArgumentTypes())
      argumentTypes.insert(type);
    for (auto [i, value] : llvm::enumerate(results)) {
      auto producer = flat.producer(value);
      bool isFloat = isa<FloatType>(getElementTypeOrSelf(value.getType()));
      if (i != loss && producer && isFloat && argumentTypes.contains(value.getType()) &&
          (scalars || !isScalarFloat(value.getType())))
        leadsToGradient.set(*producer);
    }
  }

  bool isCandidate(size_t i) const { return leadsToGradient[i] && !neededByLoss[i]; }

  BitVector candidates(size_t begin) const {
    BitVector set(flat.size());
    for (size_t i = begin; i < flat.size(); ++i)
      set[i] = isCandidate(i);
    return set;
  }

  /// The number behind the last op that the loss needs and that stands in front of the first dot that is surely
  /// backward.
  size_t findEndOfForward() const {
    size_t end = 0;
    for (size_t i = 0; i < flat.size() && !(isDot[i] && isCandidate(i)); ++i)
      if (neededByLoss[i])
        end = i + 1;
    return end;
  }

  /// Leaves out the parts of `set` that are connected with nothing backward, and constants, which the closures find.
  BitVector mainParts(const BitVector &set) const {
    auto isMember = [&](unsigned i) { return set[i] && flat.ops[i]->getNumOperands() > 0; };
    llvm::EquivalenceClasses<unsigned> parts;
    for (unsigned i : set.set_bits())
      if (isMember(i)) {
        parts.insert(i);
        for (unsigned from : flat.producers[i])
          if (isMember(from))
            parts.unionSets(i, from);
      }
    BitVector hasDot(flat.size()); // By leader of a part.
    for (unsigned i : set.set_bits())
      if (isMember(i) && isDot[i])
        hasDot.set(parts.getLeaderValue(i));
    bool anyDot = hasDot.any();
    BitVector chosen(flat.size());
    for (unsigned i : set.set_bits())
      if (isMember(i))
        chosen[i] = !anyDot || hasDot[parts.getLeaderValue(i)];
    return chosen;
  }

  const FlatOps &flat;
  unsigned loss;
  SmallVector<Value> results;
  BitVector neededByLoss, leadsToGradient, isDot;
};

} // namespace

FailureOr<BitVector> findPhasesByOrder(const FlatOps &flat, const PhaseOptions &options) {
  func::FuncOp function = flat.function;
  std::optional<unsigned> loss = findLoss(flat, options);
  if (!loss)
    return noLoss(function);
  if (*loss >= function.getNumResults())
    return emitError(function.getLoc()) << "the loss is said to be result " << *loss << ", but '"
                                        << function.getSymName() << "' has " << function.getNumResults() << " results";
  Value value = function.getBody().front().getTerminator()->getOperand(*loss);
  if (function.getNumResults() > 1)
    if (Operation *loop = findLossLoop(value))
      return lossInLoop(function, loop);
  return OrderFinder(flat, *loss).find();
}

} // namespace remat
