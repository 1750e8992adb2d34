//===- ArenaSearch.cpp - Complete search for a packing within a capacity ------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs upwards. Every item that is not placed has a least offset, and the floor of a section is the least of those
// alive in it. In a valley of floors (a flat stretch between higher ones) the first section is alive only in items that
// begin there, so few can come next: one of them is placed at the floor, or all of them are postponed, each to above
// something else. Sliding an item down until it rests on something never breaks a packing, so these branches miss
// none. The valley with the fewest branches comes first.
//
// Least offsets rise by reasoning on one section at a time, where items are jobs on one machine: what would leave too
// little room for the others if it came first must lie above one of them. Sections that no item joins are
// searched apart, and what spans a flat stretch of such sections goes to its bottom.
//
// Skyline order, search by section and splitting in time are in Moffitt, "MiniMalloc: A Lightweight Memory Allocator
// for Hardware-Accelerated Machine Learning" (ASPLOS 2023), which enumerates items by offset. Branching at the ends of
// valleys instead makes two or three branches of dozens. Restarts with other orders among the candidates get over
// early mistakes.
//
//===----------------------------------------------------------------------===//

#include "ArenaParts.h"

#include "Random.h"

#include <algorithm>
#include <limits>
#include <utility>

using namespace remat;

namespace {

constexpr int64_t never = std::numeric_limits<int64_t>::max();

/// The two least of some numbers, and who has the least.
struct TwoLeast {
  int64_t first = never, second = never;
  uint32_t owner = 0;

  void add(int64_t value, uint32_t who) {
    if (value < first) {
      second = first;
      first = value;
      owner = who;
    } else {
      second = std::min(second, value);
    }
  }
  int64_t ofOthers(uint32_t who) const { return who == owner ? second : first; }
};

struct Section {
  std::vector<uint32_t> alive; ///< The items; the first `left` of them are not placed yet.
  int64_t left = 0;
  int64_t leftUnits = 0; ///< Their sum.
  int64_t floor = 0;     ///< The least of their least offsets; `never` where none is left.
  int64_t joins = 0;     ///< How many of them are alive in the section before, too.
};

/// What can come next at the floor of a section at the end of a valley.
struct Branches {
  std::vector<uint32_t> candidates;
  std::vector<int64_t> postponed; ///< By candidate: its least offset if none of them comes next.
  bool canPostpone = false;
  std::pair<size_t, int64_t> rank = {~size_t(0), never}; ///< How many branches, and the floor.
};

class Search {
public:
  Search(std::span<const ArenaItem> items, uint32_t sectionCount, int64_t capacity, int64_t &effort);

  SearchOutcome run(uint64_t seed, std::vector<int64_t> &offsets);

private:
  void set(int64_t &place, int64_t value);
  void undo(size_t mark);
  void touch(uint32_t item);
  void raise(uint32_t item, int64_t offset);
  int64_t topOf(uint32_t item) const { return least[item] + items[item].units; }

  bool propagate();
  bool checkSection(uint32_t s, bool mayRaise);
  bool isImplied(uint32_t s) const;
  bool fitsAsJobs(int64_t start, int64_t lastStart);
  bool raiseWhatCannotComeFirst(const Section &section);
  void remove(uint32_t item);
  bool place(uint32_t item);
  bool postpone(const Branches &branches);

  void setPriorities(uint32_t run, uint64_t seed);
  SearchOutcome solve(uint32_t low, uint32_t high);
  SearchOutcome solveStretch(uint32_t low, uint32_t high);
  SearchOutcome follow(Branches &branches, uint32_t low, uint32_t high);
  bool isTwinOfEarlier(std::span<const uint32_t> candidates, size_t index) const;
  Branches pick(uint32_t low, uint32_t high);
  void consider(uint32_t s, Branches &best);
  void boundPostponed(uint32_t s, Branches &branches);

  std::span<const ArenaItem> items;
  int64_t capacity;
  int64_t &effort;
  std::vector<Section> sections;
  std::vector<std::vector<uint32_t>> positions; ///< By item: where it stands in `alive` of each of its sections.
  std::vector<std::vector<uint32_t>> overlaps;  ///< By item: those that are alive together with it.
  std::vector<int64_t> least;                   ///< By item: its least offset; once it is placed, its offset.
  std::vector<int64_t> isPlaced;
  std::vector<double> priority;                     ///< By item: which of several candidates is tried first.
  std::vector<std::pair<int64_t *, int64_t>> trail; ///< Old values, the newest last.
  std::vector<uint32_t> dirty;                      ///< Sections to be checked.
  std::vector<char> isDirty;
  std::vector<std::pair<int64_t, int64_t>> jobs; ///< Of the section that is checked: least offsets and units.
  size_t failureCount = 0, lastFailure = 0;      ///< Of all runs; where this run ends.
  size_t depth = 0;
};

Search::Search(std::span<const ArenaItem> items, uint32_t sectionCount, int64_t capacity, int64_t &effort)
    : items(items), capacity(capacity), effort(effort), sections(sectionCount), positions(items.size()),
      overlaps(items.size()), least(items.size()), isPlaced(items.size()), priority(items.size()),
      isDirty(sectionCount) {
  for (uint32_t i = 0; i < items.size(); ++i)
    for (uint32_t s = items[i].begin; s < items[i].end; ++s) {
      Section &section = sections[s];
      for (uint32_t other : section.alive)
        if (std::max(items[i].begin, items[other].begin) == s) {
          overlaps[i].push_back(other);
          overlaps[other].push_back(i);
        }
      positions[i].push_back(section.alive.size());
      section.alive.push_back(i);
      ++section.left;
      section.leftUnits += items[i].units;
      section.joins += s > items[i].begin;
    }
}

void Search::set(int64_t &place, int64_t value) {
  trail.push_back({&place, place});
  place = value;
}

void Search::undo(size_t mark) {
  for (; trail.size() > mark; trail.pop_back())
    *trail.back().first = trail.back().second;
}

void Search::touch(uint32_t item) {
  effort -= (items[item].end - items[item].begin) / 8;
  for (uint32_t s = items[item].begin; s < items[item].end; ++s)
    if (!isDirty[s]) {
      isDirty[s] = true;
      dirty.push_back(s);
    }
}

void Search::raise(uint32_t item, int64_t offset) {
  set(least[item], offset);
  touch(item);
}

/// Checks what was touched until nothing rises any more, or for a while: items can lift each other by the least of
/// their sizes at a time. False: there is no packing.
bool Search::propagate() {
  size_t lastToRaise = 16 * sections.size();
  bool isPossible = true;
  for (size_t i = 0; i < dirty.size(); ++i) {
    isDirty[dirty[i]] = false;
    isPossible = isPossible && checkSection(dirty[i], i < lastToRaise);
  }
  dirty.clear();
  return isPossible;
}

/// True if a neighbour has all items of a section (and it is not the neighbour that is implied by this one).
bool Search::isImplied(uint32_t s) const {
  bool hasNext = s + 1 < sections.size();
  return (hasNext && sections[s + 1].joins == sections[s].left) ||
         (s > 0 && sections[s].joins == sections[s].left && sections[s - 1].left > sections[s].left);
}

bool Search::checkSection(uint32_t s, bool mayRaise) {
  Section &section = sections[s];
  effort -= section.left + 1;
  int64_t low = never, high = 0;
  jobs.resize(section.left);
  for (int64_t i = 0; i < section.left; ++i) {
    uint32_t item = section.alive[i];
    jobs[i] = {least[item], items[item].units};
    low = std::min(low, least[item]);
    high = std::max(high, least[item]);
  }
  if (section.floor != low)
    set(section.floor, low);
  if (!mayRaise || section.left == 0 || high + section.leftUnits <= capacity || isImplied(s))
    return true;
  return low + section.leftUnits <= capacity && fitsAsJobs(low, capacity - section.leftUnits) &&
         raiseWhatCannotComeFirst(section);
}

/// In the order of their least offsets, items leave the least room unused. `start` is where all of them would begin
/// without any: it rises by the room that no item can use.
bool Search::fitsAsJobs(int64_t start, int64_t lastStart) {
  int64_t top = start;
  while (start <= lastStart) {
    int64_t filled = 0, next = never;
    for (auto [offset, units] : jobs) {
      filled += offset <= top ? units : 0;
      next = offset > top ? std::min(next, offset) : next;
    }
    if (next == never)
      return true;
    top = start + filled;
    if (top < next) {
      start += next - top;
      top = next;
    }
  }
  return false;
}

bool Search::raiseWhatCannotComeFirst(const Section &section) {
  TwoLeast tops;
  for (int64_t i = 0; i < section.left; ++i)
    tops.add(topOf(section.alive[i]), section.alive[i]);
  for (int64_t i = 0; i < section.left; ++i) {
    uint32_t item = section.alive[i];
    int64_t above = tops.ofOthers(item);
    if (least[item] + section.leftUnits <= capacity || above <= least[item])
      continue;
    if (above > capacity - items[item].units)
      return false;
    raise(item, above);
  }
  return true;
}

/// Takes an item off the unplaced ones of its sections. It ends up just behind them, so that undoing the counts
/// brings it back.
void Search::remove(uint32_t item) {
  effort -= items[item].end - items[item].begin;
  for (uint32_t s = items[item].begin; s < items[item].end; ++s) {
    Section &section = sections[s];
    uint32_t &at = positions[item][s - items[item].begin];
    uint32_t last = section.left - 1, moved = section.alive[last];
    std::swap(section.alive[at], section.alive[last]);
    positions[moved][s - items[moved].begin] = at;
    at = last;
    set(section.left, last);
    set(section.leftUnits, section.leftUnits - items[item].units);
    if (s > items[item].begin)
      set(section.joins, section.joins - 1);
  }
}

/// Places an item at its least offset; all others that are alive with it go above.
bool Search::place(uint32_t item) {
  set(isPlaced[item], true);
  remove(item);
  touch(item);
  effort -= int64_t(overlaps[item].size());
  for (uint32_t other : overlaps[item])
    if (!isPlaced[other] && least[other] < topOf(item))
      raise(other, topOf(item));
  return propagate();
}

bool Search::postpone(const Branches &branches) {
  for (size_t i = 0; i < branches.candidates.size(); ++i)
    if (branches.postponed[i] > capacity - items[branches.candidates[i]].units)
      return false;
  for (size_t i = 0; i < branches.candidates.size(); ++i)
    raise(branches.candidates[i], branches.postponed[i]);
  return propagate();
}

/// Of the candidates that don't come next, the lowest rests on something that isn't one, and any other on that or on a
/// candidate.
void Search::boundPostponed(uint32_t s, Branches &branches) {
  TwoLeast tops;
  branches.postponed.clear();
  for (uint32_t item : branches.candidates) {
    int64_t bound = never;
    for (uint32_t other : overlaps[item])
      if (!isPlaced[other] && (least[other] != least[item] || items[other].begin > s || items[other].end <= s))
        bound = std::min(bound, topOf(other));
    branches.postponed.push_back(bound);
    tops.add(bound == never ? never : bound + items[item].units, item);
    effort -= int64_t(overlaps[item].size() / 4);
  }
  for (size_t i = 0; i < branches.candidates.size(); ++i)
    branches.postponed[i] = std::min(branches.postponed[i], tops.ofOthers(branches.candidates[i]));
}

/// Looks at the branches at a section and keeps them if they are fewer than the best, or as few and lower.
void Search::consider(uint32_t s, Branches &best) {
  const Section &section = sections[s];
  Branches branches;
  int64_t next = never;
  for (int64_t i = 0; i < section.left; ++i) {
    uint32_t item = section.alive[i];
    if (least[item] == section.floor)
      branches.candidates.push_back(item);
    else
      next = std::min(next, least[item]);
  }
  if (branches.candidates.size() > best.rank.first)
    return;
  boundPostponed(s, branches);
  for (int64_t bound : branches.postponed)
    next = std::min(next, bound);
  branches.canPostpone = next <= capacity - section.leftUnits;
  branches.rank = {branches.candidates.size() + branches.canPostpone, section.floor};
  if (branches.rank < best.rank)
    best = std::move(branches);
}

/// The best ends of valleys in a stretch where something is left in every section.
Branches Search::pick(uint32_t low, uint32_t high) {
  Branches best;
  effort -= high - low;
  for (uint32_t begin = low; begin < high;) {
    uint32_t end = begin + 1;
    int64_t floor = sections[begin].floor;
    while (end < high && sections[end].floor == floor)
      ++end;
    bool hasWalls = (begin == low || sections[begin - 1].floor > floor) && (end == high || sections[end].floor > floor);
    if (hasWalls)
      consider(begin, best);
    if (hasWalls && end - begin > 1)
      consider(end - 1, best);
    begin = end;
  }
  return best;
}

/// Equal items lead to equal packings; least offsets of candidates are equal.
bool Search::isTwinOfEarlier(std::span<const uint32_t> candidates, size_t index) const {
  return std::ranges::any_of(candidates.first(index),
                             [&](uint32_t other) { return items[other] == items[candidates[index]]; });
}

SearchOutcome Search::follow(Branches &branches, uint32_t low, uint32_t high) {
  std::vector<uint32_t> order = branches.candidates;
  std::ranges::sort(
      order, [&](uint32_t a, uint32_t b) { return priority[a] != priority[b] ? priority[a] > priority[b] : a < b; });
  // Whatever lies below an item that spans a flat stretch can be lifted above it.
  auto spanning =
      std::ranges::find_if(order, [&](uint32_t item) { return items[item].begin == low && items[item].end == high; });
  if (spanning != order.end()) {
    order = {*spanning};
    branches.canPostpone = false;
  }
  size_t mark = trail.size();
  for (size_t i = 0; i < order.size(); ++i) {
    if (isTwinOfEarlier(order, i) || topOf(order[i]) > capacity)
      continue;
    SearchOutcome outcome = place(order[i]) ? solve(low, high) : SearchOutcome::Impossible;
    if (outcome != SearchOutcome::Impossible)
      return outcome;
    undo(mark);
    ++failureCount;
  }
  if (!branches.canPostpone)
    return SearchOutcome::Impossible;
  SearchOutcome outcome = postpone(branches) ? solve(low, high) : SearchOutcome::Impossible;
  if (outcome == SearchOutcome::Impossible) {
    undo(mark);
    ++failureCount;
  }
  return outcome;
}

/// A stretch that items join from end to end.
SearchOutcome Search::solveStretch(uint32_t low, uint32_t high) {
  constexpr size_t mostDepth = 2 * maxSearchItems; // Bounds the call stack.
  if (effort <= 0 || failureCount > lastFailure || depth > mostDepth)
    return SearchOutcome::OutOfEffort;
  ++depth;
  Branches branches = pick(low, high);
  SearchOutcome outcome = follow(branches, low, high);
  --depth;
  return outcome;
}

/// Splits the sections into stretches that no item joins, each of which has a packing or has none by itself.
SearchOutcome Search::solve(uint32_t low, uint32_t high) {
  for (uint32_t begin = low; begin < high;) {
    uint32_t end = begin + 1;
    while (end < high && sections[end].joins > 0)
      ++end;
    if (sections[begin].left > 0)
      if (SearchOutcome outcome = solveStretch(begin, end); outcome != SearchOutcome::Found)
        return outcome;
    begin = end;
  }
  return SearchOutcome::Found;
}

/// Longest first, and in every fourth run largest area first; off by up to a quarter at random.
void Search::setPriorities(uint32_t run, uint64_t seed) {
  Random random(seed + run);
  for (size_t i = 0; i < items.size(); ++i) {
    double lifetime = items[i].end - items[i].begin, units = double(items[i].units);
    priority[i] = (run % 4 == 2 ? lifetime * units : lifetime) * double(768 + random.remainder(512));
  }
}

SearchOutcome Search::run(uint64_t seed, std::vector<int64_t> &offsets) {
  for (uint32_t run = 0;; ++run) {
    for (uint32_t i = 0; i < items.size(); ++i)
      touch(i);
    if (!propagate())
      return SearchOutcome::Impossible;
    setPriorities(run, seed);
    // Short runs find packings; the doubling keeps proofs, which take one long run, from being begun too often.
    lastFailure = failureCount + (items.size() * (1 + run / 4) / 2 << std::min(run / 16, 30u));
    depth = 0;
    SearchOutcome outcome = solve(0, uint32_t(sections.size()));
    if (outcome == SearchOutcome::Found)
      offsets = least;
    if (outcome != SearchOutcome::OutOfEffort || effort <= 0)
      return outcome;
    undo(0);
  }
}

} // namespace

SearchOutcome remat::searchArena(std::span<const ArenaItem> items, uint32_t sectionCount, int64_t capacity,
                                 uint64_t seed, int64_t &effort, std::vector<int64_t> &offsets) {
  return Search(items, sectionCount, capacity, effort).run(seed, offsets);
}
