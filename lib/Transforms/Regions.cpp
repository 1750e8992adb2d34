//===- Regions.cpp - The user's regions and names -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region is where the user says what may be recomputed together. Planning sees ops in one block, so the region
// becomes a path on each of them.
//
//===----------------------------------------------------------------------===//

#include "Regions.h"

#include "remat/IR/OpModel.h"
#include "remat/IR/RematDialect.h"
#include "remat/Transforms/Extract.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace remat {

namespace {

struct RegionDissolver {
  explicit RegionDissolver(func::FuncOp function) : builder(function.getContext()) {}

  /// Dissolves the regions of a block; `path` is that of the regions around it.
  void visit(Block &block, StringRef path) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto region = dyn_cast<RegionOp>(op);
      if (!region) {
        mark(&op, path);
        for (Region &inner : op.getRegions())
          for (Block &innerBlock : inner)
            visit(innerBlock, "");
        continue;
      }
      std::string own = uniquePath(path.empty() ? region.getName().str() : (path + "/" + region.getName()).str());
      if (auto policy = region.getPolicyAttr())
        policies.emplace_back(builder.getStringAttr(own), policy);
      Block &body = region.getBody().front();
      visit(body, own);
      Operation *yield = body.getTerminator();
      region->replaceAllUsesWith(yield->getOperands());
      yield->erase();
      block.getOperations().splice(Block::iterator(region), body.getOperations());
      region->erase();
    }
  }

  SmallVector<NamedAttribute> policies;

private:
  /// A layer that is written once and called often is one region for every call.
  std::string uniquePath(std::string path) {
    unsigned &count = uses[path];
    std::string unique = count == 0 ? path : path + "#" + std::to_string(count);
    ++count;
    return unique;
  }

  void mark(Operation *op, StringRef path) {
    if (path.empty() || isBlockTerminator(op))
      return;
    auto given = op->getAttrOfType<StringAttr>(attr::region);
    op->setAttr(attr::region, builder.getStringAttr(given ? (path + "/" + given.getValue()).str() : path.str()));
  }

  Builder builder;
  llvm::StringMap<unsigned> uses;
};

} // namespace

void dissolveRegions(func::FuncOp function) {
  RegionDissolver dissolver(function);
  dissolver.visit(function.getBody().front(), "");
  if (dissolver.policies.empty())
    return;
  if (auto given = function->getAttrOfType<DictionaryAttr>(attr::regions))
    llvm::append_range(dissolver.policies, given.getValue());
  llvm::sort(dissolver.policies);
  function->setAttr(attr::regions, DictionaryAttr::get(function.getContext(), dissolver.policies));
}

/// The op that makes the storage of `value`, looking through views; null for an argument.
static Operation *storageProducer(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto viewed = describeOp(op).viewOf[cast<OpResult>(value).getResultNumber()];
    if (!viewed)
      return op;
    value = op->getOperand(*viewed);
  }
  return nullptr;
}

void dissolveNames(func::FuncOp function) {
  SmallVector<NameOp> names;
  function.walk([&](NameOp op) { names.push_back(op); });
  for (NameOp name : names) {
    Operation *producer = storageProducer(name.getInput());
    if (!producer) {
      emitWarning(name.getLoc()) << "checkpoint name '" << name.getName()
                                 << "' has no effect: it names an argument, which is kept anyway";
    } else if (auto other = producer->getAttrOfType<StringAttr>(attr::checkpointName);
               other && other != name.getNameAttr()) {
      emitWarning(name.getLoc()) << "checkpoint name '" << name.getName()
                                 << "' has no effect: the value already has the name '" << other.getValue() << "'";
    } else {
      producer->setAttr(attr::checkpointName, name.getNameAttr());
    }
    name.getResult().replaceAllUsesWith(name.getInput());
    name.erase();
  }
}

} // namespace remat
