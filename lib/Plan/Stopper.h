//===- Stopper.h - A flag for when the time is over ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace remat {

/// Sets a flag when the time is over, or when the other flag is set.
class Stopper {
public:
  explicit Stopper(double seconds, const std::atomic<bool> *other = nullptr)
      : watcher([this, seconds, other] { watch(seconds, other); }) {}
  ~Stopper() {
    {
      std::lock_guard lock(mutex);
      isOver = true;
    }
    wake.notify_all();
    watcher.join();
  }
  const std::atomic<bool> *flag() const { return &stopped; }

private:
  void watch(double seconds, const std::atomic<bool> *other) {
    using namespace std::chrono;
    auto end = steady_clock::now() + duration<double>(seconds);
    std::unique_lock lock(mutex);
    while (!isOver) {
      wake.wait_for(lock, milliseconds(10));
      if (steady_clock::now() >= end || (other && other->load(std::memory_order_relaxed)))
        stopped.store(true, std::memory_order_relaxed);
    }
  }

  std::atomic<bool> stopped = false;
  std::mutex mutex;
  std::condition_variable wake;
  bool isOver = false;
  std::thread watcher;
};

} // namespace remat
