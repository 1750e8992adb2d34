//===- BlockLayout.cpp - What lives when in a block, and where -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"

#include "remat/Plan/Arena.h"
#include "remat/Plan/Simulator.h"

using namespace mlir;

namespace remat {

ValueId BlockBuilder::graphValue(Value value) {
  auto found = graphValues.find(value);
  assert(found != graphValues.end() && "a value is read before its op");
  return found->second;
}

void BlockBuilder::addToGraph(ValueRange results, ArrayRef<Value> read) {
  OpInfo info;
  std::string opName = name();
  info.name = opName;
  info.kind = items[current].op ? std::string_view(items[current].op->getName().getStringRef()) : "copy";
  info.opClass = OpClass::Elementwise;
  info.workspaceBytes = items[current].workspaceBytes;
  SmallVector<ValueId> operands;
  for (Value value : read)
    operands.push_back(graphValue(value));
  SmallVector<std::string> names;
  for (size_t i = 0; i < results.size(); ++i)
    names.push_back(opName + "#" + std::to_string(i));
  SmallVector<ValueInfo> infos;
  for (auto [i, result] : llvm::enumerate(results)) {
    ValueInfo value{.name = names[i]};
    Value over = overwritten.lookup(result);
    if (!over)
      value.bytes = slotBytes(result.getType());
    else if (llvm::is_contained(operands, graphValue(findBase(over))))
      value.viewOf = value.inplaceOf = graphValue(findBase(over));
    infos.push_back(value);
  }
  auto id = graphBuilder.addOp(info, {operands.data(), operands.size()}, {infos.data(), infos.size()});
  assert(id && "the graph is made of what was placed");
  (void)id;
  for (Value result : results)
    graphValues[result] = ValueId(graphValueCount++);
}

LogicalResult BlockBuilder::finish() {
  if (!outer)
    for (Value value : block.getTerminator()->getOperands())
      if (auto found = graphValues.find(findBase(value)); found != graphValues.end())
        graphBuilder.addResult(found->second);
  graph = graphBuilder.finish();
  livePeakBytes = simulate(graph, programOrder(graph)).peakBytes;

  std::vector<ArenaBuffer> buffers;
  std::vector<uint32_t> packed;
  auto add = [&](uint32_t slot, size_t begin, size_t last) {
    int64_t end = last == never ? int64_t(items.size()) : int64_t(last) + 1;
    buffers.push_back({int64_t(begin), end, int64_t(llvm::alignTo(parts.program.slots[slot].bytes, slotAlignment))});
    packed.push_back(slot);
  };
  for (const Storage &storage : storages)
    if (storage.isOwn)
      add(storage.buffer.index, storage.firstItem, storage.lastRead);
  for (auto [i, item] : llvm::enumerate(items)) {
    for (uint32_t slot : item.workspaces)
      add(slot, i, i);
    if (item.innerArena)
      add(*item.innerArena, i, i);
  }
  // The arenas of loops and branches lie in that of the step.
  Expected<ArenaPlan> plan = packArena(buffers, {.enoughBytes = outer ? 0 : parts.enoughBytes});
  if (!plan)
    return emitError(block.getParentOp()->getLoc()) << plan.error().message;
  for (auto [slot, offset] : llvm::zip(packed, plan->offsets))
    parts.program.slots[slot].offset = offset;
  arenaBytes = plan->bytes;
  parts.provenPacking &= plan->provenOptimal;
  noteEvents();
  return success();
}

void BlockBuilder::noteEvents() {
  // An item without steps (a loop always has one) takes and releases with its neighbours.
  if (steps.empty())
    return;
  auto firstStep = [&](size_t item) { return std::min(items[item].firstStep, steps.size() - 1); };
  auto lastStep = [&](size_t item) {
    size_t end = item + 1 < items.size() ? items[item + 1].firstStep : steps.size();
    return end == 0 ? 0 : end - 1;
  };
  for (const Storage &storage : storages)
    if (storage.isOwn) {
      steps[firstStep(storage.firstItem)].taken.push_back(storage.buffer.index);
      if (storage.lastRead != never)
        steps[lastStep(storage.lastRead)].released.push_back(storage.buffer.index);
    }
  for (auto [i, item] : llvm::enumerate(items))
    for (uint32_t slot : item.workspaces) {
      steps[firstStep(i)].taken.push_back(slot);
      steps[lastStep(i)].released.push_back(slot);
    }
}

} // namespace remat
