//===- DynamicDims.cpp - Bounds of dynamic dimensions ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes and costs ask for static shapes in many places. Rather than hand the bounds to all of them, the values get
// static types for as long as somebody asks.
//
//===----------------------------------------------------------------------===//

#include "remat/Transforms/DynamicDims.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <set>

using namespace mlir;

namespace remat {

static bool isDynamic(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() && !shaped.hasStaticShape();
}

struct BoundedTypes::Finder {
  Finder(BoundedTypes &owner, func::FuncOp function, const llvm::StringMap<int64_t> &bounds)
      : owner(owner), function(function), bounds(bounds) {
    std::set<int64_t> distinct;
    for (auto &entry : bounds)
      distinct.insert(entry.second);
    if (auto all = bounds.find("*"); all != bounds.end())
      fallback = all->second;
    else if (distinct.size() == 1)
      fallback = *distinct.begin();
  }

  std::optional<int64_t> given(ArrayRef<std::string> names, int64_t dim) {
    for (const std::string &name : names)
      if (auto it = bounds.find(name + "." + std::to_string(dim)); it != bounds.end()) {
        used.insert(it->first());
        return it->second;
      }
    return std::nullopt;
  }

  /// A dimension of a result usually is the same dimension of the operand that looks like it.
  static std::optional<int64_t> inherited(Operation *op, Type type, int64_t dim, const DenseMap<Value, Type> &before) {
    if (!op)
      return std::nullopt;
    for (Value operand : op->getOperands())
      if (auto it = before.find(operand);
          it != before.end() && cast<ShapedType>(it->second).getShape() == cast<ShapedType>(type).getShape())
        return cast<ShapedType>(operand.getType()).getDimSize(dim);
    return std::nullopt;
  }

  /// Gives `value` a static type. `what` names it in messages; `names` are its names in bounds, the first one the best.
  LogicalResult bound(Value value, ArrayRef<std::string> names, llvm::function_ref<std::string()> what) {
    if (!isDynamic(value.getType()))
      return success();
    auto type = cast<ShapedType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dim, size] : llvm::enumerate(shape)) {
      if (!ShapedType::isDynamic(size))
        continue;
      std::optional<int64_t> found = given(names, dim);
      if (!found)
        found = inherited(value.getDefiningOp(), type, dim, before);
      if (!found)
        found = fallback;
      if (!found)
        return unknown(value, dim, names, what());
      size = *found;
    }
    owner.original.emplace_back(value, type);
    before[value] = type;
    value.setType(type.clone(shape));
    return success();
  }

  LogicalResult unknown(Value value, int64_t dim, ArrayRef<std::string> names, const std::string &what) {
    Location location = value.getDefiningOp() ? value.getDefiningOp()->getLoc() : function.getLoc();
    InFlightDiagnostic diag = emitError(location) << "size of dimension " << dim << " of " << what << " is not known";
    diag.attachNote() << "give a bound with "
                      << (names.empty() ? "" : "--dim=" + names[0] + "." + std::to_string(dim) + "=N or ")
                      << "--dim=*=N";
    return diag;
  }

  LogicalResult run(ArrayRef<std::string> argumentNames, ArrayRef<std::string> opNames) {
    Block &body = function.getBody().front();
    for (BlockArgument argument : body.getArguments()) {
      unsigned i = argument.getArgNumber();
      if (failed(bound(argument, {argumentNames[i], "arg" + std::to_string(i)},
                       [&] { return "argument " + std::to_string(i) + " ('" + argumentNames[i] + "')"; })))
        return failure();
    }
    for (auto [i, op] : llvm::enumerate(body.without_terminator()))
      if (failed(boundOp(&op, opNames[i])))
        return failure();
    return success();
  }

  /// Every bound must be of a dynamic dimension, or it is a mistake that would silently change nothing, or everything.
  LogicalResult checkUsed() {
    std::set<StringRef> unused;
    for (auto &entry : bounds)
      if (entry.first() != "*" && !used.contains(entry.first()))
        unused.insert(entry.first());
    if (unused.empty())
      return success();
    InFlightDiagnostic diag = emitError(function.getLoc())
                              << "--dim=" << *unused.begin() << ": no dynamic dimension has this name";
    diag.attachNote() << "name one as argI.D (argument I, dimension D), or give all a bound with --dim=*=N";
    return diag;
  }

  LogicalResult boundOp(Operation *op, const std::string &name) {
    for (OpResult result : op->getResults()) {
      std::string own = op->getNumResults() == 1 ? name : name + "#" + std::to_string(result.getResultNumber());
      if (failed(bound(result, {own}, [&] { return "the result of '" + own + "'"; })))
        return failure();
    }
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        for (BlockArgument argument : block.getArguments())
          if (failed(bound(argument, {}, [&] { return "a value inside '" + name + "'"; })))
            return failure();
        for (Operation &inner : block)
          if (failed(boundOp(&inner, name)))
            return failure();
      }
    return success();
  }

  BoundedTypes &owner;
  func::FuncOp function;
  const llvm::StringMap<int64_t> &bounds;
  std::optional<int64_t> fallback;
  std::set<StringRef> used;
  DenseMap<Value, Type> before;
};

BoundedTypes::BoundedTypes(func::FuncOp function, const llvm::StringMap<int64_t> &bounds,
                           ArrayRef<std::string> argumentNames, ArrayRef<std::string> opNames, bool allMustMatch) {
  Finder finder(*this, function, bounds);
  unknownLeft = failed(finder.run(argumentNames, opNames)) || (allMustMatch && failed(finder.checkUsed()));
}

BoundedTypes::~BoundedTypes() {
  for (auto [value, type] : original)
    value.setType(type);
}

} // namespace remat
