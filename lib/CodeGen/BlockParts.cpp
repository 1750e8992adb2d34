//===- BlockParts.cpp - Loops and branches in a block -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace remat {

using runtime::Buffer;
using runtime::Step;

LogicalResult BlockBuilder::addLoop(scf::WhileOp loop) {
  Block &before = loop.getBefore().front(), &after = loop.getAfter().front();
  auto condition = cast<scf::ConditionOp>(before.getTerminator());
  if (!llvm::equal(condition.getArgs(), before.getArguments()))
    return loop.emitError() << "this loop's condition hands on other values than it gets; no code for that";
  auto predicate = condition.getCondition().getDefiningOp<tensor::ExtractOp>();
  if (!predicate)
    return loop.emitError() << "this loop's condition is no element of a tensor; no code for that";
  SmallVector<unsigned> carried;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop->getRegions(), captured);
  auto isCaptured = [&](Value init) {
    return llvm::any_of(captured, [&](Value value) {
      return isa<RankedTensorType>(value.getType()) && !isShapeOnly(findBase(value)) &&
             storageOf(value) == storageOf(init);
    });
  };
  for (OpResult result : loop.getResults()) {
    unsigned r = result.getResultNumber();
    bool takesPlace = mayOverwrite(result, r) && !isCaptured(loop.getInits()[r]);
    carried.push_back(placeResult(result, takesPlace ? std::optional(r) : std::nullopt));
  }
  for (auto [init, number] : llvm::zip(loop.getInits(), carried))
    if (storageOf(init) != number)
      addCopy(bufferOf(init), storages[number].buffer, storages[number].bytes);
  Buffer flag = addWorkspace(1);

  BlockBuilder test(parts, before, this), body(parts, after, this);
  for (auto [i, number] : llvm::enumerate(carried)) {
    test.placeArgument(before.getArgument(i), storages[number].buffer, false);
    body.placeArgument(after.getArgument(i), storages[number].buffer, true);
    Value next = after.getTerminator()->getOperand(i);
    if (llvm::count(after.getTerminator()->getOperands(), next) == 1)
      body.wantIn(next, after.getArgument(i));
  }
  if (failed(test.addItems()) || failed(body.addItems()))
    return failure();
  test.addCopies({{predicate.getTensor(), flag}});
  SmallVector<std::pair<Value, Buffer>> moves;
  for (auto [value, argument] : llvm::zip(after.getTerminator()->getOperands(), after.getArguments()))
    moves.push_back({value, body.bufferOf(argument)});
  body.addCopies(moves);
  if (failed(test.finish()) || failed(body.finish()))
    return failure();
  addParts(Step::Kind::While, flag, test, body);
  return success();
}

/// A step with two blocks, which run one after the other, or one of them, in the same place.
void BlockBuilder::addParts(Step::Kind kind, Buffer decision, BlockBuilder &first, BlockBuilder &second) {
  uint32_t arena = parts.addSlot(name("arena"), std::max(first.arenaBytes, second.arenaBytes));
  slots.push_back(arena);
  for (BlockBuilder *part : {&first, &second})
    for (uint32_t slot : part->slots)
      if (parts.parents[slot] < 0)
        parts.parents[slot] = arena;
  items[current].innerArena = arena;
  items[current].workspaceBytes += std::max(first.livePeakBytes, second.livePeakBytes);
  Step &step = addStep(kind);
  step.buffers = {decision};
  step.bodies = {std::move(first.steps), std::move(second.steps)};
  for (BlockBuilder *part : {&first, &second})
    llvm::append_range(origins, part->origins);
}

LogicalResult BlockBuilder::addBranch(scf::IfOp branch) {
  Value number = branchNumber(branch);
  if (!number || branch.getElseRegion().empty())
    return branch.emitError() << "this branch's condition is no element of a tensor; no code for that";
  Buffer decision = bufferOf(number);
  SmallVector<Buffer> places;
  for (OpResult result : branch.getResults())
    places.push_back(storages[placeResult(result, std::nullopt)].buffer);
  BlockBuilder then(parts, branch.getThenRegion().front(), this),
      otherwise(parts, branch.getElseRegion().front(), this);
  for (BlockBuilder *part : {&then, &otherwise}) {
    if (failed(part->addItems()))
      return failure();
    SmallVector<std::pair<Value, Buffer>> copies;
    for (auto [value, place] : llvm::zip(part->block.getTerminator()->getOperands(), places))
      copies.push_back({value, place});
    part->addCopies(copies);
    if (failed(part->finish()))
      return failure();
  }
  addParts(Step::Kind::Branch, decision, then, otherwise);
  return success();
}

static bool isSame(const Buffer &a, const Buffer &b) {
  return a.space == b.space && a.index == b.index && a.offset == b.offset;
}

void BlockBuilder::addCopies(ArrayRef<std::pair<Value, Buffer>> copies) {
  items.push_back({nullptr});
  current = items.size() - 1;
  items[current].firstStep = steps.size();
  struct Move {
    Buffer from, to;
    int64_t bytes;
  };
  SmallVector<Move> moves;
  SmallVector<Value> read;
  for (auto &[value, to] : copies) {
    Storage storage = storages[storageOf(value)];
    if (isSame(storage.buffer, to))
      continue;
    // What comes from another carried place may be gone before it is copied: it waits in a workspace.
    if (storage.isCarried) {
      Buffer place = addWorkspace(storage.bytes);
      addCopy(storage.buffer, place, storage.bytes);
      storage.buffer = place;
    }
    moves.push_back({storage.buffer, to, storage.bytes});
    read.push_back(findBase(value));
  }
  for (const Move &move : moves)
    addCopy(move.from, move.to, move.bytes);
  // Nothing of the block outlives it but the places that were copied to.
  for (Storage &storage : storages)
    if (storage.isOwn && storage.lastRead == never)
      storage.lastRead = current;
  if (moves.empty())
    items.pop_back();
  else
    addToGraph({}, read);
}

} // namespace remat
