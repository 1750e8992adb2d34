//===- Repeats.cpp - Repetitions in a sequence --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repeats.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace remat {

/// The distances at which equal elements follow each other, the most frequent first.
static std::vector<size_t> likelyPeriods(const std::vector<uint64_t> &tokens, const std::vector<uint64_t> &heads) {
  constexpr size_t tried = 32;
  std::map<size_t, size_t> votes;
  auto vote = [&](const std::vector<uint64_t> &sequence) {
    std::unordered_map<uint64_t, size_t> lastSeen;
    for (size_t i = 0; i < sequence.size(); ++i) {
      auto [seen, isNew] = lastSeen.emplace(sequence[i], i);
      if (!isNew)
        ++votes[i - seen->second];
      seen->second = i;
    }
  };
  vote(tokens);
  vote(heads);
  std::vector<size_t> periods;
  for (auto [period, count] : votes)
    periods.push_back(period);
  std::ranges::sort(periods, [&](size_t a, size_t b) { return std::pair(votes[b], a) < std::pair(votes[a], b); });
  if (periods.size() > tried)
    periods.resize(tried);
  return periods;
}

namespace {

/// Orders repetitions by what whole periods of them cover, then the shorter period, then the earlier place.
struct CoversLess {
  static auto key(const Repeat &repeat) {
    size_t covered = repeat.length - repeat.length % repeat.period;
    return std::tuple(covered, ~repeat.period, ~repeat.begin);
  }
  bool operator()(const Repeat &a, const Repeat &b) const { return key(a) < key(b); }
};

} // namespace

static std::vector<Repeat> repeatsOfPeriod(const std::vector<uint64_t> &tokens, const std::vector<uint64_t> &heads,
                                           size_t period) {
  std::vector<Repeat> found;
  for (size_t i = 0; i + period < tokens.size();) {
    size_t begin = i;
    while (i + period < tokens.size() && tokens[i] == tokens[i + period])
      ++i;
    size_t end = i + period;
    if (end < tokens.size() && heads[i] == heads[end])
      ++end;
    if (end - begin >= 2 * period)
      found.push_back({begin, end - begin, period});
    ++i;
  }
  return found;
}

std::vector<Repeat> findRepeats(const std::vector<uint64_t> &tokens, const std::vector<uint64_t> &heads) {
  std::priority_queue<Repeat, std::vector<Repeat>, CoversLess> queue;
  for (size_t period : likelyPeriods(tokens, heads))
    for (const Repeat &repeat : repeatsOfPeriod(tokens, heads, period))
      queue.push(repeat);
  std::map<size_t, Repeat> chosen; // By begin.
  while (!queue.empty()) {
    Repeat repeat = queue.top();
    queue.pop();
    // What lies in a chosen repetition is cut off. One that it splits in two keeps its first half.
    size_t begin = repeat.begin, end = repeat.begin + repeat.length;
    auto next = chosen.upper_bound(begin);
    if (next != chosen.begin())
      begin = std::max(begin, std::prev(next)->second.begin + std::prev(next)->second.length);
    next = chosen.lower_bound(begin);
    if (next != chosen.end())
      end = std::min(end, next->first);
    if (begin >= end || end - begin < 2 * repeat.period)
      continue;
    bool isWhole = end - begin == repeat.length;
    repeat = {begin, end - begin, repeat.period};
    if (isWhole)
      chosen.emplace(begin, repeat);
    else
      queue.push(repeat);
  }
  std::vector<Repeat> result;
  for (const auto &[begin, repeat] : chosen)
    result.push_back(repeat);
  return result;
}

} // namespace remat
