//===- Phases.cpp - Which ops are forward and which backward --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is given holds, then what the names say, then program order. docs/Phases.md has the rules.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "Marks.h"

#include "remat/IR/OpModel.h"
#include "remat/IR/RematDialect.h"

#include "mlir/IR/Location.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::BitVector;

namespace remat {

//===----------------------------------------------------------------------===//
// The ops and what follows from one phase for others
//===----------------------------------------------------------------------===//

FlatOps::FlatOps(func::FuncOp function) : function(function) {
  for (Operation &op : function.getBody().front())
    if (!isBlockTerminator(&op)) {
      numbers[&op] = ops.size();
      ops.push_back(&op);
    }
  producers.resize(ops.size());
  readers.resize(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    llvm::SetVector<Value> captured;
    if (ops[i]->getNumRegions() > 0)
      getUsedValuesDefinedAbove(ops[i]->getRegions(), captured);
    auto read = [&](Value value) {
      std::optional<size_t> from = producer(value);
      if (from && !llvm::is_contained(producers[i], *from)) {
        producers[i].push_back(*from);
        readers[*from].push_back(i);
      }
    };
    llvm::for_each(ops[i]->getOperands(), read);
    llvm::for_each(captured, read);
  }
}

std::optional<size_t> FlatOps::producer(Value value) const {
  auto it = numbers.find(value.getDefiningOp());
  return it == numbers.end() ? std::nullopt : std::optional<size_t>(it->second);
}

void closePhases(const FlatOps &flat, BitVector &backward) {
  int first = backward.find_first();
  if (first < 0)
    return;
  for (size_t i = first; i < flat.size(); ++i)
    if (llvm::any_of(flat.producers[i], [&](unsigned from) { return backward[from]; }))
      backward.set(i);
  for (size_t i = flat.size(); i-- > static_cast<size_t>(first);)
    if (!flat.readers[i].empty() && llvm::all_of(flat.readers[i], [&](unsigned to) { return backward[to]; }))
      backward.set(i);
}

//===----------------------------------------------------------------------===//
// Given phases
//===----------------------------------------------------------------------===//

static StringRef givenPhase(Operation *op) {
  auto phase = op->getAttrOfType<StringAttr>(attr::phase);
  return phase ? phase.getValue() : StringRef();
}

/// An op that reads nothing may go without: it belongs where it is read.
static bool mayLackPhase(Operation *op) { return op->getNumOperands() == 0 && op->getNumRegions() == 0; }

/// The backward ops, if phases are given. Emits an error if they are given in part or contradict the data flow.
static FailureOr<BitVector> takeGivenPhases(const FlatOps &flat) {
  BitVector backward(flat.size());
  for (size_t i = flat.size(); i-- > 0;) {
    StringRef phase = givenPhase(flat.ops[i]);
    if (phase.empty() && mayLackPhase(flat.ops[i]))
      backward[i] =
          !flat.readers[i].empty() && llvm::all_of(flat.readers[i], [&](unsigned to) { return backward[to]; });
    else
      backward[i] = phase == "backward";
  }
  for (size_t i = 0; i < flat.size(); ++i) {
    if (givenPhase(flat.ops[i]).empty() && !mayLackPhase(flat.ops[i])) {
      InFlightDiagnostic diag = emitError(flat.ops[i]->getLoc())
                                << "op has no 'remat.phase', but other ops of the function have one";
      diag.attachNote() << "give every op remat.phase = \"forward\" or \"backward\", or none of them";
      return diag;
    }
    for (unsigned from : flat.producers[i])
      if (!backward[i] && backward[from]) {
        InFlightDiagnostic diag = emitError(flat.ops[i]->getLoc())
                                  << "op has remat.phase = \"forward\", but reads a value of the backward part";
        diag.attachNote(flat.ops[from]->getLoc()) << "the value is made here";
        return diag;
      }
  }
  return backward;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {

/// What name stacks say. JAX writes `jvp(` around what it differentiates and `transpose(` around the gradient's ops.
struct NameFacts {
  bool differentiated = false; ///< `jvp(` or `transpose(` somewhere.
  bool transposed = false;     ///< `transpose(` somewhere.
  bool outerTransposed =
      false; ///< `transpose(` that isn't inside a `jvp(`: inside one it's a gradient that the loss itself needs.
  bool traced = false; ///< A name that starts with `jit(` or `pjit(`: JAX wrote names.

  void add(const NameFacts &other) {
    differentiated |= other.differentiated;
    transposed |= other.transposed;
    outerTransposed |= other.outerTransposed;
    traced |= other.traced;
  }
};

class NameReader {
public:
  const NameFacts &read(Location location) {
    if (auto it = known.find(location); it != known.end())
      return it->second;
    NameFacts facts;
    if (auto name = dyn_cast<NameLoc>(location)) {
      facts = readName(name.getName());
      facts.add(read(name.getChildLoc()));
    } else if (auto site = dyn_cast<CallSiteLoc>(location)) {
      facts = read(site.getCallee());
      facts.add(read(site.getCaller()));
    } else if (auto fused = dyn_cast<FusedLoc>(location)) {
      for (Location part : fused.getLocations())
        facts.add(read(part));
    }
    return known[location] = facts;
  }

private:
  static NameFacts readName(StringRef text) {
    NameFacts facts;
    facts.traced = text.starts_with("jit(") || text.starts_with("pjit(");
    SmallVector<bool> inJvp; // For every open parenthesis.
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ')' && !inJvp.empty())
        inJvp.pop_back();
      if (text[i] != '(')
        continue;
      bool inside = !inJvp.empty() && inJvp.back();
      bool isJvp = endsWithWord(text.take_front(i), "jvp"), isTranspose = endsWithWord(text.take_front(i), "transpose");
      facts.differentiated |= isJvp || isTranspose;
      facts.transposed |= isTranspose;
      facts.outerTransposed |= isTranspose && !inside;
      inJvp.push_back(inside || isJvp);
    }
    return facts;
  }

  /// `conv_transpose(` is a function of the user.
  static bool endsWithWord(StringRef text, StringRef word) {
    return text.consume_back(word) && (text.empty() || text.back() == '/' || text.back() == '(');
  }

  DenseMap<Location, NameFacts> known;
};

} // namespace

/// A loop that holds backward ops, but isn't one itself, holds the whole step.
static LogicalResult checkLoop(Operation *op, NameReader &names) {
  if (op->getNumRegions() == 0 || names.read(op->getLoc()).transposed)
    return success();
  Operation *transposed = nullptr;
  op->walk([&](Operation *inner) {
    if (!names.read(inner->getLoc()).outerTransposed)
      return WalkResult::advance();
    transposed = inner;
    return WalkResult::interrupt();
  });
  if (!transposed)
    return success();
  InFlightDiagnostic diag = emitError(op->getLoc())
                            << "the loss is made inside a loop: the op's body holds forward and backward ops";
  diag.attachNote() << "'" << transposed->getName() << "' inside is a backward op ("
                    << describeLocation(transposed->getLoc())
                    << "); plan the body as a function of its own, or give every op remat.phase";
  return diag;
}

//===----------------------------------------------------------------------===//
// All three
//===----------------------------------------------------------------------===//

/// Whether a backward op reads a value of the forward part; constants are nobody's.
static bool readsForward(const FlatOps &flat, const BitVector &backward) {
  return llvm::any_of(backward.set_bits(), [&](unsigned i) {
    return llvm::any_of(flat.producers[i],
                        [&](unsigned from) { return !backward[from] && flat.ops[from]->getNumOperands() > 0; });
  });
}

static void noteUnusedLoss(const FlatOps &flat, const PhaseOptions &options, StringRef teller) {
  func::FuncOp function = flat.function;
  if (options.lossResult >= 0)
    emitRemark(function.getLoc()) << teller << " says what is backward; --loss-result=" << options.lossResult
                                  << " changes nothing";
}

/// Whether there is anything to tell apart: an op that reads what another one computes, and a result that may be a loss
/// or a gradient.
static bool mayHaveResiduals(const FlatOps &flat) {
  func::FuncOp function = flat.function;
  auto isComputed = [&](unsigned op) { return !mayLackPhase(flat.ops[op]); };
  return function.getNumResults() > 0 && llvm::any_of(flat.producers, [&](ArrayRef<unsigned> producers) {
           return llvm::any_of(producers, isComputed);
         });
}

/// The backward ops by names, else by order.
static FailureOr<BitVector> derivePhases(const FlatOps &flat, const PhaseOptions &options) {
  NameReader names;
  NameFacts all;
  for (Operation *op : flat.ops) {
    if (failed(checkLoop(op, names)))
      return failure();
    all.add(names.read(op->getLoc()));
  }
  BitVector backward(flat.size());
  if (!all.transposed) {
    // Names without `transpose(`: JAX took no gradient. The user may have written one by hand, behind a scalar loss.
    bool hasLoss = findLoss(flat, options).has_value();
    bool isPlain = options.lossResult < 0 && all.traced && (all.differentiated || !hasLoss);
    return isPlain || (!hasLoss && !mayHaveResiduals(flat)) ? backward : findPhasesByOrder(flat, options);
  }
  noteUnusedLoss(flat, options, "the name stack");
  for (size_t i = 0; i < flat.size(); ++i) {
    const NameFacts &facts = names.read(flat.ops[i]->getLoc());
    backward[i] = all.outerTransposed ? facts.outerTransposed : facts.transposed;
  }
  closePhases(flat, backward);
  return backward;
}

FailureOr<bool> findPhases(func::FuncOp function, const PhaseOptions &options) {
  if (options.lossResult < -1 || options.lossResult >= int64_t(function.getNumResults())) {
    InFlightDiagnostic diag = emitError(function.getLoc()) << "no result has the number " << options.lossResult;
    if (function.getNumResults() > 0)
      diag.attachNote() << "say --loss-result=N with N from 0 to " << function.getNumResults() - 1;
    else
      diag.attachNote() << "'" << function.getSymName() << "' has no results; leave --loss-result out";
    return diag;
  }
  FlatOps flat(function);
  bool given = llvm::any_of(flat.ops, [](Operation *op) { return !givenPhase(op).empty(); });
  if (given)
    noteUnusedLoss(flat, options, "remat.phase");
  FailureOr<BitVector> backward = given ? takeGivenPhases(flat) : derivePhases(flat, options);
  if (failed(backward))
    return failure();
  // A plan that saves nothing leaves nothing to save.
  if (backward->any() && !isRewritten(function) && !readsForward(flat, *backward)) {
    InFlightDiagnostic diag =
        emitError(function.getLoc())
        << "no op of the backward part reads a value of the forward part: there is nothing to save";
    diag.attachNote() << "if another result is the loss, say --loss-result=N; or give every op remat.phase = "
                         "\"forward\" or \"backward\"";
    return diag;
  }
  Builder builder(function.getContext());
  auto forwardAttr = builder.getStringAttr("forward"), backwardAttr = builder.getStringAttr("backward");
  for (size_t i = 0; i < flat.size(); ++i)
    flat.ops[i]->setAttr(attr::phase, (*backward)[i] ? backwardAttr : forwardAttr);
  if (backward->none()) {
    emitRemark(function.getLoc()) << "function '" << function.getSymName()
                                  << "' has no backward part: there is nothing to plan";
    return false;
  }
  markCheckpoints(function);
  return true;
}

} // namespace remat
