//===- Inplace.cpp - Whose place a result takes ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A storage may be overwritten by an op if nobody reads it later, through whatever view. Two things ask for it:
// destination-passing style, which bufferization turns into just that, and donated arguments, as XLA uses them.
//
//===----------------------------------------------------------------------===//

#include "Inplace.h"

#include "remat/IR/RematDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace remat {

static constexpr StringLiteral donorAttr = "jax.buffer_donor";
static constexpr StringLiteral aliasAttr = "tf.aliasing_output";

bool isDonated(func::FuncOp function, unsigned argument) {
  if (function.getArgAttr(argument, aliasAttr))
    return true;
  auto donor = dyn_cast_or_null<BoolAttr>(function.getArgAttr(argument, donorAttr));
  return donor && donor.getValue();
}

std::optional<unsigned> donatedResult(func::FuncOp function, unsigned argument) {
  auto alias = function.getArgAttrOfType<IntegerAttr>(argument, aliasAttr);
  return alias && alias.getInt() >= 0 ? std::optional<unsigned>(alias.getInt()) : std::nullopt;
}

namespace {

class InplaceFinder {
public:
  InplaceFinder(func::FuncOp function, ArrayRef<OpModel> models) : function(function), models(models) {
    body = &function.getBody().front();
    isRecorded = function->hasAttr(attr::inplace);
    size_t count = 0;
    for (Operation &op : body->without_terminator()) {
      numbers[&op] = count++;
      note(&op);
    }
    for (Value value : body->getTerminator()->getOperands())
      lastRead[value] = never;
  }

  DenseMap<Value, unsigned> run() {
    if (isRecorded)
      takeRecorded();
    else
      matchDonations();
    for (BlockArgument argument : body->getArguments())
      storageOf[argument] = argument;
    for (Operation &op : body->without_terminator())
      visit(&op);
    return std::move(places);
  }

private:
  static constexpr size_t never = ~size_t(0);

  void note(Operation *op) {
    size_t number = numbers[op];
    for (Value operand : op->getOperands())
      lastRead[operand] = number;
    if (op->getNumRegions() == 0)
      return;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      lastRead[value] = number;
  }

  void takeRecorded() {
    for (Operation &op : body->without_terminator())
      if (auto recorded = op.getAttrOfType<DenseI64ArrayAttr>(attr::inplace))
        for (auto [result, operand] : llvm::zip(op.getResults(), recorded.asArrayRef()))
          if (operand >= 0 && operand < op.getNumOperands())
            places[result] = operand;
  }

  //===--------------------------------------------------------------------===//
  // Donated arguments
  //===--------------------------------------------------------------------===//

  /// Pairs every donated argument with its result, or with the first free result of its type, as XLA does.
  void matchDonations() {
    OperandRange results = body->getTerminator()->getOperands();
    SmallVector<bool> taken(results.size());
    SmallVector<unsigned> open;
    for (BlockArgument argument : body->getArguments()) {
      auto alias = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), aliasAttr);
      if (alias && alias.getInt() >= 0 && alias.getInt() < static_cast<int64_t>(results.size())) {
        taken[alias.getInt()] = true;
        donate(argument, results[alias.getInt()]);
      } else if (isDonated(function, argument.getArgNumber())) {
        open.push_back(argument.getArgNumber());
      }
    }
    for (unsigned number : open) {
      BlockArgument argument = body->getArgument(number);
      for (auto [i, result] : llvm::enumerate(results))
        if (!taken[i] && result.getType() == argument.getType()) {
          taken[i] = true;
          donate(argument, result);
          break;
        }
    }
  }

  void donate(BlockArgument argument, Value result) {
    // A result that is returned twice, or that is an argument, has no place to give up.
    SmallVector<std::pair<Value, unsigned>> chain;
    if (result.getDefiningOp() && result.getType() == argument.getType() && findChain(argument, result, chain, 8)) {
      for (auto [value, operand] : chain)
        places.try_emplace(value, operand);
      return;
    }
    remark::missed(function.getLoc(), remark::RemarkOpts::name("DonationUnused").category("remat"))
        << "argument " + std::to_string(argument.getArgNumber()) +
               " is donated, but no result takes its place: it is read after the result is made, or isn't overwritten "
               "element by element";
  }

  /// The ops that make `value` out of `argument` element by element, each the last reader of what it overwrites.
  bool findChain(Value argument, Value value, SmallVectorImpl<std::pair<Value, unsigned>> &chain, unsigned depth) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 || depth == 0 || op->getBlock() != body)
      return false;
    size_t number = numbers[op];
    for (unsigned i : models[number].inplaceOperands) {
      Value operand = op->getOperand(i);
      if (operand.getType() != argument.getType() || lastRead.lookup(operand) != number || hasViews(operand) ||
          llvm::count(op->getOperands(), operand) != 1)
        continue;
      chain.emplace_back(value, i);
      if (operand == argument || findChain(argument, operand, chain, depth - 1))
        return true;
      chain.pop_back();
    }
    return false;
  }

  /// A view's readers would have to be known, too; views of parameters are rare.
  bool hasViews(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      auto it = numbers.find(user);
      return it != numbers.end() &&
             llvm::is_contained(models[it->second].viewOf, std::optional<unsigned>(operandNumber(user, value)));
    });
  }

  static unsigned operandNumber(Operation *op, Value value) {
    return std::distance(op->operand_begin(), llvm::find(op->getOperands(), value));
  }

  //===--------------------------------------------------------------------===//
  // Destination-passing style
  //===--------------------------------------------------------------------===//

  void visit(Operation *op) {
    const OpModel &model = models[numbers[op]];
    for (OpResult result : op->getResults()) {
      unsigned i = result.getResultNumber();
      if (i < model.viewOf.size() && model.viewOf[i]) {
        join(result, op->getOperand(*model.viewOf[i]));
      } else if (auto place = places.find(result); place != places.end()) {
        join(result, op->getOperand(place->second));
      } else if (i < model.destinationOf.size() && model.destinationOf[i] && !isRecorded &&
                 mayOverwrite(op, op->getOperand(*model.destinationOf[i]), result)) {
        places[result] = *model.destinationOf[i];
        join(result, op->getOperand(*model.destinationOf[i]));
      } else {
        storageOf[result] = result;
        storageRead[result] = lastRead.lookup(result);
      }
    }
  }

  void join(Value value, Value with) {
    Value storage = storageOf.lookup(with);
    storageOf[value] = storage;
    size_t &read = storageRead[storage];
    read = std::max(read, lastRead.lookup(value));
  }

  bool mayOverwrite(Operation *op, Value destination, Value result) {
    Value storage = storageOf.lookup(destination);
    Operation *maker = storage ? storage.getDefiningOp() : nullptr;
    return maker && !isStorageOfConstant(maker) && models[numbers[maker]].opClass != OpClass::Constant &&
           destination.getType() == result.getType() && storage.getType() == result.getType() &&
           storageRead[storage] == numbers[op] && llvm::count(op->getOperands(), destination) == 1;
  }

  func::FuncOp function;
  ArrayRef<OpModel> models;
  Block *body;
  bool isRecorded; ///< The places are written down (recordInplace).
  DenseMap<Operation *, size_t> numbers;
  DenseMap<Value, size_t> lastRead;    ///< Number of the last op that reads the value itself; `never` ends for results.
  DenseMap<Value, Value> storageOf;    ///< The value that a value shares its storage with.
  DenseMap<Value, size_t> storageRead; ///< By storage: its last reader so far known.
  DenseMap<Value, unsigned> places;
};

} // namespace

DenseMap<Value, unsigned> findInplace(func::FuncOp function, ArrayRef<OpModel> models) {
  return InplaceFinder(function, models).run();
}

} // namespace remat
