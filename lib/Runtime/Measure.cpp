//===- Measure.cpp - What a run really held --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Observers.h"

#include <algorithm>
#include <cstring>

using namespace remat::runtime;

/// Every float of these bytes is NaN.
static constexpr int poison = 0xFF;

SlotWatch::SlotWatch(const Program &program, char *arena)
    : program(program), arena(arena), inUse(program.slots.size()) {
  measurement.before = readProcessMemory();
  if (program.arenaBytes > 0)
    std::memset(arena, poison, size_t(program.arenaBytes));
}

std::string SlotWatch::spellSlot(uint32_t number) const {
  const Slot &slot = program.slots[number];
  return "slot '" + slot.name + "' at [" + std::to_string(slot.offset) + ", " +
         std::to_string(slot.offset + slot.bytes) + ")";
}

bool SlotWatch::fail(const Step &step, std::string message) {
  failure = Error{std::move(message), "step '" + step.name + "'"};
  return false;
}

bool SlotWatch::takeSlot(const Step &step, uint32_t number) {
  const Slot &slot = program.slots[number];
  if (inUse[number])
    return fail(step, spellSlot(number) + " is taken while it is in use");
  if (slot.bytes > 0) {
    // Slots in use don't overlap each other, so only the two neighbours can overlap this one.
    auto next = byOffset.lower_bound({slot.offset, 0});
    if (next != byOffset.end() && next->first < slot.offset + slot.bytes)
      return fail(step, spellSlot(number) + " is taken while " + spellSlot(next->second) + " is in use");
    if (next != byOffset.begin()) {
      uint32_t before = std::prev(next)->second;
      if (program.slots[before].offset + program.slots[before].bytes > slot.offset)
        return fail(step, spellSlot(number) + " is taken while " + spellSlot(before) + " is in use");
    }
    byOffset.insert({slot.offset, number});
  } else {
    empty.insert(slot.offset);
  }
  inUse[number] = true;
  liveBytes += roundedBytes(slot);
  measurement.events.push_back({step.name, number, true, liveBytes});
  measurement.reachedBytes = std::max(measurement.reachedBytes, slot.offset + roundedBytes(slot));
  return true;
}

bool SlotWatch::release(const Step &step, uint32_t number) {
  const Slot &slot = program.slots[number];
  if (!inUse[number])
    return fail(step, spellSlot(number) + " is released without being in use");
  if (slot.bytes > 0)
    byOffset.erase({slot.offset, number});
  else
    empty.erase(empty.find(slot.offset));
  inUse[number] = false;
  liveBytes -= roundedBytes(slot);
  measurement.events.push_back({step.name, number, false, liveBytes});
  if (slot.bytes > 0)
    std::memset(arena + slot.offset, poison, size_t(slot.bytes));
  return true;
}

bool SlotWatch::isInUse(int64_t offset) const {
  auto next = byOffset.upper_bound({offset, UINT32_MAX});
  if (next != byOffset.begin()) {
    const Slot &slot = program.slots[std::prev(next)->second];
    if (offset < slot.offset + slot.bytes)
      return true;
  }
  return empty.contains(offset);
}

bool SlotWatch::checkBuffers(const Step &step) {
  for (const Buffer &buffer : step.buffers)
    if (buffer.space == Buffer::Space::Arena && !isInUse(buffer.offset))
      return fail(step, "its buffer " + std::to_string(&buffer - step.buffers.data()) + " at " +
                            std::to_string(buffer.offset) + " lies in no slot that is in use");
  return true;
}

bool SlotWatch::begin(const PreparedStep &prepared) {
  const Step &step = *prepared.step;
  for (uint32_t slot : step.taken)
    if (!takeSlot(step, slot))
      return false;
  if (liveBytes > measurement.peakBytes) {
    measurement.peakBytes = liveBytes;
    measurement.peakStep = step.name;
  }
  // A loop's condition may lie in a slot that its body takes.
  return step.kind == Step::Kind::While || checkBuffers(step);
}

bool SlotWatch::reads(const PreparedStep &prepared) { return checkBuffers(*prepared.step); }

bool SlotWatch::end(const PreparedStep &prepared) {
  for (uint32_t slot : prepared.step->released)
    if (!release(*prepared.step, slot))
      return false;
  return true;
}

void SlotWatch::finish() {
  for (size_t i = 0; i < program.results.size(); ++i) {
    const Buffer &buffer = program.resultBuffers[i];
    if (buffer.space == Buffer::Space::Arena && !isInUse(buffer.offset)) {
      failure = Error{"it lies at " + std::to_string(buffer.offset) + ", in no slot that is in use",
                      "result '" + program.results[i].name + "'"};
      return;
    }
  }
  measurement.after = readProcessMemory();
}
