//===- TwoFunctions.cpp - Forward and backward as two functions -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Transforms/TwoFunctions.h"

#include "remat/IR/RematDialect.h"
#include "remat/Transforms/Extract.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Finding the pair
//===----------------------------------------------------------------------===//

static func::FuncOp findByPhase(ModuleOp module, StringRef phase) {
  for (auto function : module.getOps<func::FuncOp>())
    if (auto given = function->getAttrOfType<StringAttr>(attr::phase); given && given.getValue() == phase)
      return function;
  return {};
}

static func::FuncOp findByName(ModuleOp module, StringRef name) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  return function && !function.isExternal() ? function : func::FuncOp();
}

/// Both null if the module isn't of this form.
static FailureOr<std::pair<func::FuncOp, func::FuncOp>> findPair(ModuleOp module) {
  func::FuncOp forward = findByPhase(module, "forward"), backward = findByPhase(module, "backward");
  if (!forward && !backward) {
    for (auto [first, second] : {std::pair("forward", "backward"), std::pair("fwd", "bwd")})
      if ((forward = findByName(module, first)) && (backward = findByName(module, second)))
        return std::pair(forward, backward);
    return std::pair(func::FuncOp(), func::FuncOp());
  }
  if (!forward || !backward) {
    func::FuncOp found = forward ? forward : backward;
    InFlightDiagnostic diag = emitError(found.getLoc())
                              << "'" << found.getSymName() << "' is the " << (forward ? "forward" : "backward")
                              << " function, but there is none for the other part";
    diag.attachNote() << "mark it with remat.phase = \"" << (forward ? "backward" : "forward") << "\"";
    return diag;
  }
  return std::pair(forward, backward);
}

/// The types say that forward's last `count` results are backward's first arguments, and that a cotangent follows for
/// each of the others.
static bool fits(func::FuncOp forward, func::FuncOp backward, size_t count, bool withCotangents) {
  ArrayRef<Type> results = forward.getResultTypes(), arguments = backward.getArgumentTypes();
  if (count > results.size() || count > arguments.size() || results.take_back(count) != arguments.take_front(count))
    return false;
  return !withCotangents || results.drop_back(count) == arguments.drop_front(count);
}

static FailureOr<int64_t> findResidualCount(func::FuncOp forward, func::FuncOp backward) {
  if (auto given = forward->getAttrOfType<IntegerAttr>(attr::residuals)) {
    if (given.getInt() >= 0 && fits(forward, backward, given.getInt(), /*withCotangents=*/false))
      return given.getInt();
    InFlightDiagnostic diag = emitError(forward.getLoc())
                              << "the last " << given.getInt() << " results of '" << forward.getSymName()
                              << "' are not the first arguments of '" << backward.getSymName() << "'";
    diag.attachNote(backward.getLoc()) << "its arguments are (" << backward.getArgumentTypes() << ")";
    return diag;
  }
  SmallVector<int64_t> counts;
  for (size_t count = 1; count < forward.getNumResults(); ++count)
    if (fits(forward, backward, count, /*withCotangents=*/true))
      counts.push_back(count);
  if (counts.size() == 1)
    return counts[0];
  InFlightDiagnostic diag = emitError(forward.getLoc());
  if (counts.empty())
    diag << "no number of residuals fits: the last results of '" << forward.getSymName()
         << "' must be the first arguments of '" << backward.getSymName()
         << "', and a cotangent must follow for each of the others";
  else
    diag << "the last " << counts[0] << " or the last " << counts[1] << " results of '" << forward.getSymName()
         << "' may be residuals";
  diag.attachNote() << "say how many residuals there are with remat.residuals = N : i64 on '" << forward.getSymName()
                    << "'";
  return diag;
}

static LogicalResult checkNotCalled(ModuleOp module, func::FuncOp forward, func::FuncOp backward) {
  LogicalResult result = success();
  module.walk([&](func::CallOp call) {
    if (call.getCallee() != forward.getSymName() && call.getCallee() != backward.getSymName())
      return WalkResult::advance();
    result = emitError(call.getLoc()) << "'" << call.getCallee()
                                      << "' gets a new list of residuals, so it must not be called in the module";
    return WalkResult::interrupt();
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// Clones the body's ops behind what `builder` has built and gives them a phase.
static void cloneWithPhase(OpBuilder &builder, Block &body, IRMapping &mapping, StringRef phase) {
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping)->setAttr(attr::phase, builder.getStringAttr(phase));
}

static func::FuncOp buildJoined(func::FuncOp forward, func::FuncOp backward, size_t residualCount) {
  OpBuilder builder(forward.getContext());
  SmallVector<Type> arguments(forward.getArgumentTypes()), results(forward.getResultTypes().drop_back(residualCount));
  llvm::append_range(arguments, backward.getArgumentTypes().drop_front(residualCount));
  llvm::append_range(results, backward.getResultTypes());
  std::string name = (forward.getSymName() + "_and_" + backward.getSymName()).str();
  auto joined = func::FuncOp::create(forward.getLoc(), name, builder.getFunctionType(arguments, results));
  joined.setPrivate();
  if (Attribute regions = forward->getAttr(attr::regions))
    joined->setAttr(attr::regions, regions);

  Block &from = forward.getBody().front(), &to = backward.getBody().front();
  Block *body = joined.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  auto take = [&](ArrayRef<BlockArgument> old, func::FuncOp owner, size_t begin) {
    for (auto [i, argument] : llvm::enumerate(old)) {
      body->getArgument(begin + i).setLoc(argument.getLoc());
      joined.setArgAttrs(begin + i, owner.getArgAttrDict(argument.getArgNumber())
                                        ? owner.getArgAttrDict(argument.getArgNumber())
                                        : builder.getDictionaryAttr({}));
      mapping.map(argument, body->getArgument(begin + i));
    }
  };
  take(from.getArguments(), forward, 0);
  take(to.getArguments().drop_front(residualCount), backward, from.getNumArguments());
  cloneWithPhase(builder, from, mapping, "forward");
  OperandRange returned = from.getTerminator()->getOperands();
  for (size_t i = 0; i < residualCount; ++i)
    mapping.map(to.getArgument(i), mapping.lookup(returned[returned.size() - residualCount + i]));
  cloneWithPhase(builder, to, mapping, "backward");

  SmallVector<Value> all;
  for (Value value : returned.drop_back(residualCount))
    all.push_back(mapping.lookup(value));
  for (Value value : to.getTerminator()->getOperands())
    all.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, forward.getLoc(), all);
  return joined;
}

FailureOr<std::optional<JoinedFunctions>> joinFunctions(ModuleOp module) {
  auto pair = findPair(module);
  if (failed(pair))
    return failure();
  auto [forward, backward] = *pair;
  if (!forward)
    return std::optional<JoinedFunctions>();
  if (failed(checkNotCalled(module, forward, backward)))
    return failure();
  FailureOr<int64_t> count = findResidualCount(forward, backward);
  if (failed(count) || failed(flattenFunction(forward)) || failed(flattenFunction(backward)))
    return failure();
  JoinedFunctions result{.forward = forward, .backward = backward, .joined = buildJoined(forward, backward, *count)};
  result.residualCount = *count;
  SymbolTable(module).insert(result.joined); // Makes the name unique.
  return std::optional(result);
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

namespace {

class Splitter {
public:
  explicit Splitter(JoinedFunctions &functions)
      : functions(functions), body(functions.joined.getBody().front()),
        argumentCount(functions.forward.getNumArguments()) {}

  LogicalResult run() {
    if (failed(chooseForward()))
      return failure();
    collectResiduals();
    rewriteForward();
    rewriteBackward();
    functions.newResidualCount = residuals.size();
    functions.joined.erase();
    return success();
  }

private:
  static bool startsBackward(Operation *op) {
    auto phase = op->getAttrOfType<StringAttr>(attr::phase);
    return !phase || phase.getValue() != "forward" || op->hasAttr(attr::clone) || isa<BarrierOp>(op);
  }

  static void readValues(Operation *op, llvm::SetVector<Value> &read) {
    read.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
  }

  /// What comes before the first backward op, and what the results need.
  LogicalResult chooseForward() {
    for (Operation &op : body.without_terminator()) {
      if (startsBackward(&op))
        break;
      inForward.insert(&op);
    }
    size_t resultCount = functions.forward.getNumResults() - functions.residualCount;
    SmallVector<Value> needed(body.getTerminator()->getOperands().take_front(resultCount));
    while (!needed.empty()) {
      Value value = needed.pop_back_val();
      auto argument = dyn_cast<BlockArgument>(value);
      if (argument && argument.getArgNumber() >= argumentCount)
        return emitError(functions.forward.getLoc())
               << "a result of '" << functions.forward.getSymName() << "' needs a cotangent";
      Operation *op = value.getDefiningOp();
      if (!op || !inForward.insert(op).second)
        continue;
      llvm::SetVector<Value> read;
      readValues(op, read);
      needed.append(read.begin(), read.end());
    }
    return success();
  }

  /// Constants are rebuilt on the other side.
  static bool isRebuilt(Operation *op) { return op && op->getNumOperands() == 0 && op->getNumRegions() == 0; }

  bool isOfForward(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? argument.getArgNumber() < argumentCount : inForward.contains(value.getDefiningOp());
  }

  void collectResiduals() {
    llvm::SetVector<Value> read;
    for (Operation &op : body.without_terminator())
      if (!inForward.contains(&op))
        readValues(&op, read);
    size_t resultCount = functions.forward.getNumResults() - functions.residualCount;
    for (Value value : body.getTerminator()->getOperands().drop_front(resultCount))
      read.insert(value);
    for (BlockArgument argument : body.getArguments())
      if (isOfForward(argument) && read.contains(argument))
        residuals.push_back(argument);
    for (Operation &op : body.without_terminator())
      if (inForward.contains(&op))
        for (Value value : op.getResults())
          if (read.contains(value))
            (isRebuilt(&op) ? rebuilt : residuals).push_back(value);
  }

  /// Gives `function` an empty block with the arguments and the return of `types`.
  static Block *clear(func::FuncOp function, FunctionType type) {
    function.getBody().getBlocks().clear();
    function.setFunctionType(type);
    return function.addEntryBlock();
  }

  void rewriteForward() {
    func::FuncOp function = functions.forward;
    OpBuilder builder(function.getContext());
    size_t resultCount = function.getNumResults() - functions.residualCount;
    SmallVector<Type> results(function.getResultTypes().take_front(resultCount));
    for (Value value : residuals)
      results.push_back(value.getType());
    setResultAttrs(function, resultCount, results.size());
    Block *block = clear(function, builder.getFunctionType(function.getArgumentTypes(), results));
    IRMapping mapping;
    mapArguments(body.getArguments().take_front(argumentCount), block->getArguments(), mapping);
    cloneOps(builder, block, mapping, [&](Operation *op) { return inForward.contains(op); });
    SmallVector<Value> returned;
    for (Value value : body.getTerminator()->getOperands().take_front(resultCount))
      returned.push_back(mapping.lookup(value));
    for (Value value : residuals)
      returned.push_back(mapping.lookup(value));
    func::ReturnOp::create(builder, function.getLoc(), returned);
    function->setAttr(attr::residuals, builder.getI64IntegerAttr(residuals.size()));
    // Regions of both parts were listed together.
    if (Attribute regions = functions.joined->getAttr(attr::regions))
      function->setAttr(attr::regions, regions);
  }

  /// Attributes of residuals go with the residuals.
  static void setResultAttrs(func::FuncOp function, size_t keptCount, size_t newCount) {
    ArrayAttr given = function.getResAttrsAttr();
    if (!given)
      return;
    SmallVector<Attribute> attributes(given.getValue().take_front(keptCount));
    attributes.resize(newCount, DictionaryAttr::get(function.getContext()));
    function.setResAttrsAttr(ArrayAttr::get(function.getContext(), attributes));
  }

  void rewriteBackward() {
    func::FuncOp function = functions.backward;
    OpBuilder builder(function.getContext());
    size_t oldCount = functions.residualCount;
    SmallVector<Type> arguments;
    for (Value value : residuals)
      arguments.push_back(value.getType());
    llvm::append_range(arguments, function.getArgumentTypes().drop_front(oldCount));
    if (ArrayAttr given = function.getArgAttrsAttr()) {
      SmallVector<Attribute> attributes(residuals.size(), DictionaryAttr::get(function.getContext()));
      llvm::append_range(attributes, given.getValue().drop_front(oldCount));
      function.setArgAttrsAttr(ArrayAttr::get(function.getContext(), attributes));
    }
    Block *block = clear(function, builder.getFunctionType(arguments, function.getResultTypes()));
    IRMapping mapping;
    for (auto [value, argument] : llvm::zip(residuals, block->getArguments())) {
      mapping.map(value, argument);
      argument.setLoc(value.getLoc());
    }
    mapArguments(body.getArguments().drop_front(argumentCount), block->getArguments().drop_front(residuals.size()),
                 mapping);
    llvm::DenseSet<Operation *> constants;
    for (Value value : rebuilt)
      constants.insert(value.getDefiningOp());
    cloneOps(builder, block, mapping, [&](Operation *op) { return !inForward.contains(op) || constants.contains(op); });
    SmallVector<Value> returned;
    for (Value value : body.getTerminator()->getOperands().take_back(function.getNumResults()))
      returned.push_back(mapping.lookup(value));
    func::ReturnOp::create(builder, function.getLoc(), returned);
  }

  static void mapArguments(ArrayRef<BlockArgument> from, ArrayRef<BlockArgument> to, IRMapping &mapping) {
    for (auto [old, argument] : llvm::zip(from, to)) {
      mapping.map(old, argument);
      BlockArgument(argument).setLoc(old.getLoc());
    }
  }

  /// Constants that nobody reads on this side are left out.
  void cloneOps(OpBuilder &builder, Block *block, IRMapping &mapping, llvm::function_ref<bool(Operation *)> isWanted) {
    auto isRead = [&](Operation *op) {
      return llvm::any_of(op->getUsers(), [&](Operation *user) {
        Operation *reader = body.findAncestorOpInBlock(*user);
        return reader == body.getTerminator() || isWanted(reader);
      });
    };
    builder.setInsertionPointToEnd(block);
    for (Operation &op : body.without_terminator())
      if (isWanted(&op) && (!isRebuilt(&op) || isRead(&op)))
        builder.clone(op, mapping);
  }

  JoinedFunctions &functions;
  Block &body;
  size_t argumentCount; ///< Of forward.
  llvm::DenseSet<Operation *> inForward;
  SmallVector<Value> residuals, rebuilt;
};

} // namespace

LogicalResult splitFunctions(JoinedFunctions &functions) { return Splitter(functions).run(); }

} // namespace remat
