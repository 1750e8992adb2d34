//===- Observers.h - What watches a run -------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Prepared.h"

#include <chrono>
#include <set>

namespace remat::runtime {

/// Watches nothing and costs nothing.
struct NoObserver {
  bool begin(const PreparedStep &) { return true; }
  bool reads(const PreparedStep &) { return true; }
  bool end(const PreparedStep &) { return true; }
};

/// Counts the slots in use, and poisons what isn't: `Context::measure`.
class SlotWatch {
public:
  SlotWatch(const Program &program, char *arena);

  bool begin(const PreparedStep &prepared);
  bool reads(const PreparedStep &prepared);
  bool end(const PreparedStep &prepared);
  /// Behind the last step: the results still lie in slots that are in use.
  void finish();

  const std::optional<Error> &error() const { return failure; }
  Measurement take() { return std::move(measurement); }

private:
  bool takeSlot(const Step &step, uint32_t slot);
  bool release(const Step &step, uint32_t slot);
  bool checkBuffers(const Step &step);
  bool isInUse(int64_t offset) const;
  bool fail(const Step &step, std::string message);
  std::string spellSlot(uint32_t slot) const;

  const Program &program;
  char *arena;
  std::vector<bool> inUse;
  std::set<std::pair<int64_t, uint32_t>> byOffset; ///< Slots in use that have bytes.
  std::multiset<int64_t> empty;                    ///< Offsets of slots in use without bytes.
  int64_t liveBytes = 0;
  Measurement measurement;
  std::optional<Error> failure;
};

/// Times every step: `Context::profile`.
class StopWatch {
public:
  explicit StopWatch(const Program &program);

  bool begin(const PreparedStep &prepared);
  bool reads(const PreparedStep &) { return true; }
  bool end(const PreparedStep &prepared);
  Profile take();

private:
  using Clock = std::chrono::steady_clock;
  int64_t now() const { return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count(); }

  const Program &program;
  Clock::time_point start;
  std::vector<int64_t> open; ///< Starts of the steps that are running.
  int64_t liveBytes = 0;
  Profile profile;
};

/// The bytes that a slot counts for.
inline int64_t roundedBytes(const Slot &slot) { return (slot.bytes + 63) / 64 * 64; }

} // namespace remat::runtime
