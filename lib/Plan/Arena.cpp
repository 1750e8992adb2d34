//===- Arena.cpp - Buffers with lifetimes in one arena ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Arena.h"
#include "ArenaParts.h"
#include "Text.h"

#include <algorithm>
#include <numeric>
#include <utility>

using namespace remat;

namespace {

/// Items that are alive in one stretch of time, apart from all others, and the best packing known.
struct Part {
  std::vector<uint32_t> numbers; ///< By item: the buffer.
  std::vector<ArenaItem> items;
  uint32_t sectionCount = 0;
  int64_t livePeak = 0;
  size_t pairs = 0; ///< Of items that are alive together.
  ItemPacking best;
  int64_t bound = 0; ///< No packing is lower.

  int64_t height() const { return best.height; }
};

/// The problem in units and sections, and what is packed of it.
struct Problem {
  int64_t unitBytes = 1;
  std::vector<Part> parts;
  int64_t livePeak = 0;
  int64_t livePeakStep = 0;
  int64_t capacity = INT64_MAX; ///< In units.

  int64_t height() const {
    return highest([](const Part &part) { return part.height(); });
  }
  int64_t bound() const {
    return highest([](const Part &part) { return part.bound; });
  }

private:
  template <typename Get>
  int64_t highest(Get get) const {
    int64_t most = 0;
    for (const Part &part : parts)
      most = std::max(most, get(part));
    return most;
  }
};

std::optional<Error> checkBuffers(std::span<const ArenaBuffer> buffers, int64_t alignment) {
  if (alignment < 1)
    return makeError(formatText("an alignment of {}: it must be at least 1", alignment));
  int64_t total = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    auto [begin, end, bytes] = buffers[i];
    std::string place = formatText("buffer {}", i);
    if (begin > end)
      return makeError(formatText("its lifetime begins at {}, after its end {}", begin, end), place);
    if (bytes < 0)
      return makeError(formatText("its size {} is negative", bytes), place);
    int64_t rounded = bytes;
    if (int64_t rest = bytes % alignment; (rest != 0 && __builtin_add_overflow(bytes, alignment - rest, &rounded)) ||
                                          __builtin_add_overflow(total, rounded, &total))
      return makeError("the sizes up to here add up to more than 2^63-1 bytes", place);
  }
  return std::nullopt;
}

bool takesPlace(const ArenaBuffer &buffer) { return buffer.bytes > 0 && buffer.begin < buffer.end; }

/// Fills in sections, items, live peak and pairs. `numbers` are in order of begin.
void describePart(Part &part, std::span<const ArenaBuffer> buffers, Problem &problem) {
  std::vector<int64_t> begins;
  for (uint32_t number : part.numbers)
    if (begins.empty() || begins.back() != buffers[number].begin)
      begins.push_back(buffers[number].begin);
  auto sectionOf = [&](int64_t step) { return uint32_t(std::ranges::lower_bound(begins, step) - begins.begin()); };
  part.sectionCount = begins.size();
  std::vector<int64_t> addedUnits(begins.size() + 1), endedCount(begins.size() + 1);
  for (uint32_t number : part.numbers) {
    const ArenaBuffer &buffer = buffers[number];
    ArenaItem item{sectionOf(buffer.begin), sectionOf(buffer.end), (buffer.bytes - 1) / problem.unitBytes + 1};
    part.items.push_back(item);
    addedUnits[item.begin] += item.units;
    addedUnits[item.end] -= item.units;
    ++endedCount[item.end];
  }
  size_t aliveCount = 0, next = 0;
  int64_t load = 0;
  for (uint32_t s = 0; s < part.sectionCount; ++s) {
    aliveCount -= endedCount[s];
    for (; next < part.items.size() && part.items[next].begin == s; ++next)
      part.pairs += aliveCount++;
    load += addedUnits[s];
    part.livePeak = std::max(part.livePeak, load);
    if (load > problem.livePeak) {
      problem.livePeak = load;
      problem.livePeakStep = begins[s];
    }
  }
  part.bound = part.livePeak;
}

/// Cuts time where nothing is alive on both sides; what takes no place is left out.
Problem makeProblem(std::span<const ArenaBuffer> buffers, const ArenaOptions &options) {
  Problem problem;
  std::vector<uint32_t> numbers;
  int64_t divisor = 0;
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (takesPlace(buffers[i])) {
      numbers.push_back(i);
      divisor = std::gcd(divisor, (buffers[i].bytes - 1) / options.alignment + 1);
    }
  problem.unitBytes = options.alignment * std::max<int64_t>(1, divisor);
  if (options.capacity)
    problem.capacity = *options.capacity / problem.unitBytes;
  std::ranges::sort(numbers, {}, [&](uint32_t number) { return std::pair(buffers[number].begin, number); });
  int64_t end = 0;
  for (uint32_t number : numbers) {
    if (problem.parts.empty() || buffers[number].begin >= end) {
      problem.parts.emplace_back();
      end = buffers[number].end;
    }
    problem.parts.back().numbers.push_back(number);
    end = std::max(end, buffers[number].end);
  }
  for (Part &part : problem.parts)
    describePart(part, buffers, problem);
  return problem;
}

/// Packs by orders until the height is at most `target` or the effort is used up.
void packByOrders(Part &part, int64_t target, uint64_t seed, int64_t &effort) {
  OrderPacker packer(part.items, part.sectionCount);
  packer.packByKeys(target);
  packer.improve(target, seed, effort);
  if (packer.best.height < part.height())
    part.best = std::move(packer.best);
}

bool isSearchable(const Part &part) { return part.items.size() <= maxSearchItems && part.pairs <= maxSearchPairs; }

/// Lowers the part to `height` if the search finds it. Returns whether it found out.
bool searchAt(Part &part, int64_t height, uint64_t seed, int64_t &effort) {
  std::vector<int64_t> offsets;
  SearchOutcome outcome = searchArena(part.items, part.sectionCount, height, seed, effort, offsets);
  if (outcome == SearchOutcome::Found)
    part.best = makePacking(part.items, std::move(offsets));
  else if (outcome == SearchOutcome::Impossible)
    part.bound = std::max(part.bound, height + 1);
  return outcome != SearchOutcome::OutOfEffort;
}

/// Searches at `low`, then by bisection. A height at which the search was cut short counts as too low, but is no bound.
void bisect(Part &part, int64_t low, uint64_t seed, int64_t &effort) {
  constexpr int64_t shares = 4, leastShare = 100'000;
  int64_t height = low;
  while (part.height() > low && effort > 0) {
    int64_t share = std::max(effort / shares, std::min(effort, leastShare));
    effort -= share;
    bool hasAnswer = searchAt(part, height, seed, share);
    effort += share;
    if (part.height() > height || !hasAnswer)
      low = height + 1;
    height = low + (part.height() - 1 - low) / 2;
  }
}

/// Lowers a part to `target`, or as far as the effort goes.
void lower(Part &part, int64_t target, bool isEnough, uint64_t seed, int64_t &effort) {
  // The last thousandth is worth a tenth of the effort.
  int64_t budget = part.height() - target <= target / 1000 && !isEnough ? effort / 10 : effort;
  effort -= budget;
  // What the search finds it mostly finds at once; orders get nearer where it finds nothing.
  constexpr int64_t trialShare = 8;
  int64_t rest = budget - budget / trialShare, trial = budget / trialShare;
  bool hasAnswer = isSearchable(part) && searchAt(part, target, seed, trial);
  budget = rest + trial;
  if (part.height() > target && !(hasAnswer && isEnough)) {
    int64_t orders = isSearchable(part) ? budget / 2 : budget;
    budget -= orders;
    packByOrders(part, hasAnswer ? target + 1 : target, seed, orders);
    budget += orders;
    if (isEnough && isSearchable(part) && part.height() > target)
      searchAt(part, target, seed, budget);
    else if (isSearchable(part))
      bisect(part, std::max(target, part.bound), seed, budget);
  }
  effort += budget;
}

Error tooSmall(const Problem &problem, const ArenaOptions &options) {
  int64_t least = problem.livePeak * problem.unitBytes;
  return makeError(formatText("a capacity of {} bytes is too small: {} bytes are alive together at step {}",
                              *options.capacity, least, problem.livePeakStep),
                   {}, formatText("no packing takes less than the live peak: a capacity of {} or more", least));
}

Error notWithin(const Problem &problem, const ArenaOptions &options) {
  int64_t found = problem.height() * problem.unitBytes, bound = problem.bound() * problem.unitBytes;
  if (problem.bound() > problem.capacity)
    return makeError(
        formatText("a capacity of {} bytes is too small: an exhaustive search shows that no packing fits",
                   *options.capacity),
        {}, formatText("a capacity of {} bytes is enough, {} is the least possible by what is proven", found, bound));
  return makeError(
      formatText("found no packing within {} bytes; it is not proven that there is none", *options.capacity), {},
      formatText("a capacity of {} bytes is enough, below {} nothing fits; more effort may find or refute the rest",
                 found, bound));
}

/// Three orders for all parts, then more where that is not enough: down to the capacity if there is one, else as low as
/// the highest part allows.
void packParts(Problem &problem, const ArenaOptions &options) {
  std::vector<Part *> parts;
  int64_t effort = options.effort, none = 0;
  for (Part &part : problem.parts) {
    // The live peak of the whole is the height that every part may have.
    packByOrders(part, std::max(problem.livePeak, options.enoughBytes / problem.unitBytes), options.seed, none);
    parts.push_back(&part);
  }
  std::ranges::sort(parts, {}, [](const Part *part) { return std::pair(-part->height(), part->numbers.front()); });
  bool hasCapacity = options.capacity.has_value();
  int64_t target = hasCapacity ? problem.capacity : std::max(problem.bound(), options.enoughBytes / problem.unitBytes);
  for (Part *part : parts) {
    if (part->height() > target)
      lower(*part, target, hasCapacity, options.seed, effort);
    target = std::max(target, part->height());
  }
}

} // namespace

Expected<ArenaPlan> remat::packArena(std::span<const ArenaBuffer> buffers, const ArenaOptions &options) {
  if (auto error = checkBuffers(buffers, options.alignment))
    return std::move(*error);
  Problem problem = makeProblem(buffers, options);
  if (options.capacity && *options.capacity < problem.livePeak * problem.unitBytes)
    return tooSmall(problem, options);
  packParts(problem, options);
  if (problem.height() > problem.capacity)
    return notWithin(problem, options);
  ArenaPlan plan;
  plan.offsets.resize(buffers.size());
  for (const Part &part : problem.parts)
    for (size_t i = 0; i < part.numbers.size(); ++i)
      plan.offsets[part.numbers[i]] = part.best.offsets[i] * problem.unitBytes;
  plan.bytes = problem.height() * problem.unitBytes;
  plan.livePeakBytes = problem.livePeak * problem.unitBytes;
  plan.provenOptimal = problem.height() == problem.bound();
  return plan;
}
