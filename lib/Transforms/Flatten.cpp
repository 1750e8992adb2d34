//===- Flatten.cpp - One block of leaf ops --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's inliner asks a dialect whether its ops may be inlined and takes no for an answer from ops that have no
// dialect, which is how StableHLO arrives here. All functions here are single blocks, so inlining is cloning.
//
//===----------------------------------------------------------------------===//

#include "Regions.h"

#include "remat/IR/OpModel.h"
#include "remat/IR/RematDialect.h"
#include "remat/IR/StableHloAttributes.h"
#include "remat/Transforms/Extract.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace remat {

/// The symbol that a call or a composite runs; empty for other ops.
static StringRef calledSymbol(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return call.getCallee();
  StringRef name = op->getName().getStringRef();
  if (name != "stablehlo.composite" && name != "chlo.composite" && name != "mhlo.composite")
    return {};
  auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(getHloAttr(op, "decomposition"));
  return symbol ? symbol.getValue() : StringRef();
}

namespace {

class CallInliner {
public:
  explicit CallInliner(func::FuncOp root) : active{root} {
    if (auto module = root->getParentOfType<ModuleOp>())
      for (auto function : module.getOps<func::FuncOp>())
        functions[function.getSymName()] = function;
  }

  LogicalResult visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(visit(&op)))
        return failure();
    return success();
  }

  llvm::SetVector<Operation *> inlined; ///< Functions that were called.

private:
  LogicalResult visit(Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(visit(block)))
          return failure();
    StringRef symbol = calledSymbol(op);
    func::FuncOp callee = symbol.empty() ? func::FuncOp() : functions.lookup(symbol);
    if (!callee || callee.isExternal())
      return success();
    if (failed(check(op, callee)))
      return failure();
    active.push_back(callee);
    LogicalResult result = inlineCall(op, callee);
    active.pop_back();
    return result;
  }

  LogicalResult check(Operation *call, func::FuncOp callee) {
    if (llvm::is_contained(active, callee)) {
      InFlightDiagnostic diag = emitError(call->getLoc()) << "recursive call of '" << callee.getSymName() << "'";
      diag.attachNote(callee.getLoc())
          << "a training graph must not depend on its data; unroll the recursion or make it a loop";
      return diag;
    }
    if (!callee.getBody().hasOneBlock()) {
      InFlightDiagnostic diag = emitError(call->getLoc())
                                << "call of '" << callee.getSymName() << "', which has several blocks";
      diag.attachNote(callee.getLoc())
          << "write its control flow with scf or stablehlo ops (mlir-opt --lift-cf-to-scf)";
      return diag;
    }
    if (call->getOperandTypes() != TypeRange(callee.getArgumentTypes()) ||
        call->getResultTypes() != TypeRange(callee.getResultTypes()))
      return emitError(call->getLoc()) << "types of operands and results differ from those of '" << callee.getSymName()
                                       << "'";
    return success();
  }

  LogicalResult inlineCall(Operation *call, func::FuncOp callee) {
    inlined.insert(callee);
    Block &body = callee.getBody().front();
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(body.getArguments(), call->getOperands());
    SmallVector<Operation *> clones;
    for (Operation &op : body.without_terminator())
      clones.push_back(builder.clone(op, mapping));
    relocate(clones, call->getLoc());
    SmallVector<Value> results;
    for (Value value : body.getTerminator()->getOperands())
      results.push_back(mapping.lookup(value));
    call->replaceAllUsesWith(results);
    call->erase();
    for (Operation *op : clones)
      if (failed(visit(op)))
        return failure();
    return success();
  }

  static void relocate(ArrayRef<Operation *> ops, Location caller) {
    if (isa<UnknownLoc>(caller))
      return;
    DenseMap<Location, Location> siteOf;
    for (Operation *op : ops)
      op->walk([&](Operation *inner) {
        Location callee = inner->getLoc();
        auto [it, isNew] = siteOf.try_emplace(callee, callee);
        if (isNew)
          it->second = CallSiteLoc::get(callee, caller);
        inner->setLoc(it->second);
      });
  }

  llvm::StringMap<func::FuncOp> functions;
  SmallVector<func::FuncOp> active; ///< The functions being inlined, outermost first.
};

} // namespace

/// Adds the functions of `functions` that `op` or an op inside refers to.
static void collectReferences(Operation *op, const llvm::StringMap<Operation *> &functions,
                              llvm::SetVector<Operation *> &referred) {
  op->walk([&](Operation *inner) {
    inner->getAttrDictionary().walk([&](FlatSymbolRefAttr symbol) {
      if (Operation *function = functions.lookup(symbol.getValue()))
        referred.insert(function);
    });
  });
}

/// Erases the private functions among `candidates` that can't be reached any more.
static void eraseUnreachable(ModuleOp module, const llvm::SetVector<Operation *> &candidates) {
  auto isCandidate = [&](Operation *op) {
    return candidates.contains(op) && SymbolTable::getSymbolVisibility(op) == SymbolTable::Visibility::Private;
  };
  if (llvm::none_of(candidates, isCandidate))
    return;
  llvm::StringMap<Operation *> functions;
  llvm::SetVector<Operation *> reached;
  for (auto function : module.getOps<func::FuncOp>())
    functions[function.getSymName()] = function;
  for (Operation &op : *module.getBody())
    if (!isCandidate(&op))
      collectReferences(&op, functions, reached);
  for (size_t i = 0; i < reached.size(); ++i)
    if (isCandidate(reached[i]))
      collectReferences(reached[i], functions, reached);
  for (Operation *function : candidates)
    if (isCandidate(function) && !reached.contains(function))
      function->erase();
}

/// Whether a symbol that is used in the op's regions is looked up in the op itself: it could be a symbol table.
static bool hidesSymbols(Operation *op) { return !op->isRegistered() && op->getNumRegions() == 1; }

LogicalResult inlineHiddenCalls(ModuleOp module) {
  SmallVector<std::pair<func::FuncOp, Operation *>> hiding;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!hidesSymbols(op))
        return WalkResult::advance();
      if (op->walk([](func::CallOp) { return WalkResult::interrupt(); }).wasInterrupted())
        hiding.push_back({function, op});
      return WalkResult::skip();
    });
  // Nobody has checked the module yet.
  for (auto function : module.getOps<func::FuncOp>())
    if (!hiding.empty() && !function.isExternal() &&
        (function.getBody().front().empty() || !isa<func::ReturnOp>(function.getBody().front().back())))
      return success();
  llvm::SetVector<Operation *> inlined;
  for (auto [function, op] : hiding) {
    CallInliner inliner(function);
    for (Block &block : op->getRegion(0))
      if (failed(inliner.visit(block)))
        return failure();
    inlined.insert_range(inliner.inlined);
  }
  eraseUnreachable(module, inlined);
  return success();
}

LogicalResult flattenFunction(func::FuncOp function) {
  if (function.isExternal())
    return emitError(function.getLoc()) << "function '" << function.getSymName() << "' has no body";
  if (!function.getBody().hasOneBlock()) {
    InFlightDiagnostic diag = emitError(function.getLoc())
                              << "function '" << function.getSymName() << "' has several blocks";
    diag.attachNote() << "write its control flow with scf or stablehlo ops (mlir-opt --lift-cf-to-scf)";
    return diag;
  }
  CallInliner inliner(function);
  if (failed(inliner.visit(function.getBody().front())))
    return failure();
  if (auto module = function->getParentOfType<ModuleOp>())
    eraseUnreachable(module, inliner.inlined);
  dissolveRegions(function);
  dissolveNames(function);
  return success();
}

} // namespace remat
