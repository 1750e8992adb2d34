//===- Loops.cpp - Trips, cost and inner peak of loops --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "remat/IR/RematOpInterface.h"
#include "remat/IR/StableHloAttributes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Trip count
//===----------------------------------------------------------------------===//

/// The integer that a value always has, looking through a few views and conversions; the first element of a splat.
static std::optional<int64_t> constantInteger(Value value) {
  for (int depth = 0; depth < 4; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    StringRef name = hloName(op);
    if (name == "constant")
      return hloInteger(getHloAttr(op, "value"));
    unsigned result = cast<OpResult>(value).getResultNumber();
    auto described = dyn_cast<RematOpInterface>(op);
    std::optional<unsigned> viewed;
    if (described)
      viewed = described.getViewedOperand(result);
    else if (name == "convert" || lookUpHloClass(op) == OpClass::View)
      viewed = result;
    if (!viewed || *viewed >= op->getNumOperands())
      return std::nullopt;
    value = op->getOperand(*viewed);
  }
  return std::nullopt;
}

/// The number of the block's argument that `value` is.
static std::optional<unsigned> carried(Value value, Block &block) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &block ? std::optional(argument.getArgNumber()) : std::nullopt;
}

static Block *onlyBlock(Region &region) {
  return region.hasOneBlock() && !region.front().empty() && isBlockTerminator(&region.front().back()) ? &region.front()
                                                                                                      : nullptr;
}

std::optional<int64_t> tripCount(Operation *op) {
  if (hloName(op) != "while" || op->getNumRegions() != 2)
    return std::nullopt;
  Block *condition = onlyBlock(op->getRegion(0)), *body = onlyBlock(op->getRegion(1));
  if (!condition || !body || condition->back().getNumOperands() != 1 ||
      body->back().getNumOperands() != op->getNumOperands() || condition->getNumArguments() != op->getNumOperands() ||
      body->getNumArguments() != op->getNumOperands())
    return std::nullopt;
  Operation *compare = condition->back().getOperand(0).getDefiningOp();
  if (!compare || hloName(compare) != "compare" || compare->getNumOperands() != 2)
    return std::nullopt;

  // The limit is a constant, or a carried value that the body passes on unchanged.
  auto limitOf = [&](Value value) -> std::optional<int64_t> {
    if (std::optional<int64_t> constant = constantInteger(value))
      return constant;
    std::optional<unsigned> number = carried(value, *condition);
    if (number && carried(body->back().getOperand(*number), *body) == number)
      return constantInteger(op->getOperand(*number));
    return std::nullopt;
  };
  std::optional<unsigned> counter = carried(compare->getOperand(0), *condition);
  std::optional<int64_t> limit = limitOf(compare->getOperand(1));
  if (!counter || !limit)
    return std::nullopt;
  std::optional<int64_t> start = constantInteger(op->getOperand(*counter));
  Operation *add = body->back().getOperand(*counter).getDefiningOp();
  if (!start || !add || hloName(add) != "add" || add->getNumOperands() != 2)
    return std::nullopt;
  unsigned counterAt = carried(add->getOperand(0), *body) == counter ? 0 : 1;
  std::optional<int64_t> step = constantInteger(add->getOperand(1 - counterAt));
  if (carried(add->getOperand(counterAt), *body) != counter || !step || *step <= 0)
    return std::nullopt;

  std::string direction = hloEnum(getHloAttr(compare, "comparison_direction"));
  if (direction != "LT" && direction != "LE")
    return std::nullopt;
  int64_t distance;
  if (llvm::SubOverflow(*limit, *start, distance) ||
      (direction == "LE" && llvm::AddOverflow(distance, int64_t(1), distance)))
    return std::nullopt;
  return distance <= 0 ? 0 : (distance - 1) / *step + 1;
}

//===----------------------------------------------------------------------===//
// Inner peak
//===----------------------------------------------------------------------===//

namespace {

/// The ops of a block, terminator left out, with their models.
struct BlockModel {
  std::vector<Operation *> ops;
  std::vector<OpModel> models;
};

/// Replays a block in program order. Storages are the tensors that own bytes; several values may live in one.
class BlockReplay {
public:
  BlockReplay(Block &block, const BlockModel &model) : block(block), model(model) {}

  int64_t peak() {
    findLastReads();
    for (size_t time = 0; time < model.ops.size(); ++time)
      place(model.ops[time], model.models[time], time);
    return sweep();
  }

private:
  /// Bytes alive in steps [born, last].
  struct Storage {
    int64_t bytes;
    size_t born, last;
  };

  Block &block;
  const BlockModel &model;
  std::vector<Storage> storages;
  DenseMap<Value, size_t> storageOf; ///< Values not in it own nothing here: arguments, captured values, views of those.
  DenseMap<Value, Value> baseOf;     ///< The value that a view ends at.
  DenseMap<Value, size_t> lastReadOfBase; ///< Last step that reads the base or one of its views.

  Value base(Value value) const {
    auto found = baseOf.find(value);
    return found == baseOf.end() ? value : found->second;
  }

  /// Calls `read` for every value that an op reads, in its regions too.
  template <typename Read>
  static void forEachRead(Operation *op, Read read) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        read(operand);
    });
  }

  void findLastReads() {
    for (size_t time = 0; time < model.ops.size(); ++time) {
      Operation *op = model.ops[time];
      forEachRead(op, [&](Value value) { lastReadOfBase[base(value)] = time; });
      for (auto [i, view] : llvm::enumerate(model.models[time].viewOf))
        if (view)
          baseOf[op->getResult(i)] = base(op->getOperand(*view));
    }
    for (Value value : returned())
      lastReadOfBase[base(value)] = model.ops.size();
  }

  OperandRange returned() const {
    Operation *terminator = &block.back();
    return terminator->getOperands();
  }

  /// Gives the results of an op their storage, and extends the life of what it reads.
  void place(Operation *op, const OpModel &described, size_t time) {
    forEachRead(op, [&](Value value) {
      if (auto found = storageOf.find(value); found != storageOf.end())
        storages[found->second].last = time;
    });
    for (OpResult result : op->getResults()) {
      unsigned number = result.getResultNumber();
      if (std::optional<unsigned> view = described.viewOf[number]) {
        share(result, op->getOperand(*view));
      } else if (std::optional<unsigned> destination = overwritten(op, described, number, time)) {
        share(result, op->getOperand(*destination));
      } else {
        storageOf[result] = storages.size();
        int64_t bytes = described.opClass == OpClass::Constant ? 0 : bytesOrZero(result.getType());
        storages.push_back({bytes, time, time});
      }
    }
  }

  void share(Value value, Value with) {
    if (auto found = storageOf.find(with); found != storageOf.end())
      storageOf[value] = found->second;
  }

  /// The destination that the result takes the place of: bufferization writes in place where nobody reads the old value
  /// later. A captured value is read again in the next trip, and `tensor.empty` has no place to give.
  std::optional<unsigned> overwritten(Operation *op, const OpModel &described, unsigned result, size_t time) const {
    std::optional<unsigned> destination = described.destinationOf[result];
    if (!destination)
      return std::nullopt;
    Value old = base(op->getOperand(*destination));
    if (old.getParentBlock() != &block || lastReadOfBase.lookup(old) > time)
      return std::nullopt;
    if (Operation *maker = old.getDefiningOp(); maker && isStorageOfConstant(maker))
      return std::nullopt;
    return destination;
  }

  int64_t sweep() {
    size_t steps = model.ops.size();
    for (Value value : returned())
      if (auto found = storageOf.find(value); found != storageOf.end() && steps)
        storages[found->second].last = steps - 1;
    std::vector<int64_t> change(steps + 1);
    for (const Storage &storage : storages) {
      change[storage.born] = addClamped(change[storage.born], storage.bytes);
      change[storage.last + 1] = addClamped(change[storage.last + 1], -storage.bytes);
    }
    int64_t live = 0, peak = 0;
    for (size_t time = 0; time < steps; ++time) {
      live = addClamped(live, change[time]);
      peak = std::max(peak, addClamped(live, model.models[time].workspaceBytes));
    }
    return peak;
  }
};

} // namespace

static BlockModel describeBlock(Block &block) {
  BlockModel model;
  for (Operation &op : block)
    if (!isBlockTerminator(&op)) {
      model.ops.push_back(&op);
      model.models.push_back(describeOp(&op));
    }
  return model;
}

int64_t blockPeakBytes(Block &block) { return block.empty() ? 0 : BlockReplay(block, describeBlock(block)).peak(); }

void describeLoop(Operation *op, OpModel &model) {
  int64_t trips = model.tripCount.value_or(1);
  model.recomputable &= model.tripCount.has_value();
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (block.empty())
        continue;
      BlockModel inner = describeBlock(block);
      model.workspaceBytes = std::max(model.workspaceBytes, BlockReplay(block, inner).peak());
      for (OpModel &each : inner.models) {
        model.flops = addClamped(model.flops, multiplyClamped(trips, each.flops));
        model.convFlopsValid = addClamped(model.convFlopsValid, multiplyClamped(trips, each.convFlopsValid));
        model.bytesMoved = addClamped(model.bytesMoved, multiplyClamped(trips, each.bytesMoved));
        model.recomputable &= each.recomputable;
        model.body.push_back(std::move(each));
      }
    }
}

} // namespace remat
