//===- Team.cpp - Threads that share a step --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Steps follow each other by microseconds, so helpers look for the next one for a while before they sleep: waking a
// thread takes longer than many steps. Parts are claimed by a counter that carries the number of the job, so that a
// helper that comes late finds another number and claims nothing.
//
//===----------------------------------------------------------------------===//

#include "Team.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

using namespace remat::runtime;

namespace {

using Clock = std::chrono::steady_clock;

/// How long a thread looks for work, or for the others' end, before it sleeps.
constexpr auto patience = std::chrono::microseconds(100);

void pauseProcessor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks for `happened()` for as long as a thread is patient.
template <typename Condition>
bool spinUntil(Condition happened) {
  Clock::time_point end = Clock::now() + patience;
  do
    for (int i = 0; i < 32; ++i) {
      if (happened())
        return true;
      pauseProcessor();
    }
  while (Clock::now() < end);
  return false;
}

class Team {
public:
  ~Team() {
    stopping = true;
    publish(0);
    for (std::thread &helper : helpers)
      helper.join();
  }

  void run(int parts, void (*body)(void *data, int part), void *data) {
    while (helpers.size() + 1 < size_t(parts) && startHelper()) {
    }
    job = {body, data, uint32_t(parts)};
    done.store(0, std::memory_order_relaxed);
    publish(uint32_t(parts));
    while (runPart(number)) {
    }
    auto allDone = [&] { return done.load(std::memory_order_acquire) == uint32_t(parts); };
    if (!spinUntil(allDone))
      for (uint32_t seen; (seen = done.load(std::memory_order_acquire)) != uint32_t(parts);)
        done.wait(seen, std::memory_order_acquire);
  }

private:
  struct Job {
    void (*body)(void *data, int part);
    void *data;
    uint32_t parts;
  };

  /// Where the system gives no thread, those that there are do all parts.
  bool startHelper() {
    try {
      helpers.reserve(helpers.size() + 1);
      helpers.emplace_back([this, seen = number] { help(seen); });
      return true;
    } catch (const std::system_error &) {
      return false;
    }
  }

  void publish(uint32_t parts) {
    ++number;
    unclaimed.store(uint64_t(number) << 32 | parts, std::memory_order_release);
    announced.store(number, std::memory_order_release);
    announced.notify_all();
  }

  /// Runs the first part of job `wanted` that nobody has claimed; false if there is none. `job` stays as it is while a
  /// claimed part isn't done.
  bool runPart(uint32_t wanted) {
    uint64_t left = unclaimed.load(std::memory_order_acquire);
    do
      if (left >> 32 != wanted || uint32_t(left) == 0)
        return false;
    while (!unclaimed.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel));
    uint32_t parts = job.parts;
    job.body(job.data, int(parts - uint32_t(left)));
    if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == parts)
      done.notify_one();
    return true;
  }

  void help(uint32_t seen) {
    while (true) {
      auto isNew = [&] { return announced.load(std::memory_order_acquire) != seen; };
      if (!spinUntil(isNew))
        announced.wait(seen, std::memory_order_acquire);
      seen = announced.load(std::memory_order_acquire);
      if (stopping)
        return;
      while (runPart(seen)) {
      }
    }
  }

  uint32_t number = 0; ///< Of the last job.
  Job job = {};
  std::atomic<bool> stopping = false;
  std::vector<std::thread> helpers;
  // Each on a cache line of its own: helpers look at them all the time.
  alignas(64) std::atomic<uint64_t> unclaimed = 0; ///< The job's number, and how many of its parts are unclaimed.
  alignas(64) std::atomic<uint32_t> announced = 0; ///< The job's number, to sleep on.
  alignas(64) std::atomic<uint32_t> done = 0;      ///< Parts of the job.
};

} // namespace

void remat::runtime::runOnTeam(int parts, void (*body)(void *data, int part), void *data) {
  if (parts == 1)
    return body(data, 0);
  thread_local Team team;
  team.run(parts, body, data);
}
