//===- Measure.h - What a run really held -----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Memory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace remat::runtime {

/// A slot that came into use or went out of it.
struct SlotEvent {
  std::string step; ///< The step that was about to run, or had run.
  uint32_t slot = 0;
  bool taken = false;
  int64_t liveBytes = 0; ///< Of all slots in use behind the event, each rounded up to 64.
};

/// What was counted while a step ran: nothing here is taken from the plan's offsets.
struct Measurement {
  int64_t peakBytes = 0;    ///< The most bytes of slots (rounded up to 64) that were in use together.
  std::string peakStep;     ///< The step that ran then.
  int64_t reachedBytes = 0; ///< End of the highest slot that was in use: what the arena had to be.
  std::vector<SlotEvent> events;
  ProcessMemory before, after;
};

} // namespace remat::runtime
