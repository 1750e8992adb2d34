//===- SearchWatch.cpp - A search that people watch --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/SearchWatch.h"

#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace remat {

struct SearchWatch::Handler {
  struct sigaction action = {};
  bool isSet = false;
};

static std::atomic<bool> interrupted = false;
static struct sigaction previous;

static void interruptSearch(int) {
  // The second one does what the first would have done.
  if (interrupted.exchange(true)) {
    ::sigaction(SIGINT, &previous, nullptr);
    ::raise(SIGINT);
  }
}

SearchWatch::SearchWatch() : old(std::make_unique<Handler>()), isTerminal(::isatty(STDERR_FILENO)) {
  interrupted = false;
  if (::sigaction(SIGINT, nullptr, &old->action) != 0 || old->action.sa_handler == SIG_IGN)
    return;
  previous = old->action;
  struct sigaction action = {};
  action.sa_handler = interruptSearch;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  old->isSet = ::sigaction(SIGINT, &action, nullptr) == 0;
}

SearchWatch::~SearchWatch() {
  if (old->isSet)
    ::sigaction(SIGINT, &old->action, nullptr);
  if (isShown)
    std::fputs("\r\033[K", stderr);
}

const std::atomic<bool> *SearchWatch::interrupt() const { return &interrupted; }

void SearchWatch::show(const SearchProgress &progress) {
  using namespace std::chrono;
  auto now = steady_clock::now();
  if (!isTerminal || now - begin < seconds(2) || now - shownAt < milliseconds(200))
    return;
  shownAt = now;
  isShown = true;
  double gib = double(progress.limitBytes) / (1 << 30);
  if (progress.bestCost)
    std::fprintf(stderr,
                 "\r\033[Ksearching below %.3f GiB; cheapest plan within the limit: +%.4g of cost (^C takes it)", gib,
                 *progress.bestCost);
  else
    std::fprintf(stderr, "\r\033[Ksearching below %.3f GiB", gib);
  std::fflush(stderr);
}

} // namespace remat
