//===- SearchWatch.h - A search that people watch ----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/MemoryLimit.h"

#include <chrono>
#include <memory>

namespace remat {

/// For a tool, while it searches: SIGINT ends the search instead of the process (the second one ends the process), and
/// what has been reached is shown on a terminal, for work over two seconds. One at a time.
class SearchWatch {
public:
  SearchWatch();
  ~SearchWatch();
  SearchWatch(const SearchWatch &) = delete;
  SearchWatch &operator=(const SearchWatch &) = delete;

  const std::atomic<bool> *interrupt() const;
  void show(const SearchProgress &progress);

private:
  struct Handler;
  std::unique_ptr<Handler> old;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now(), shownAt = begin;
  bool isTerminal, isShown = false;
};

} // namespace remat
