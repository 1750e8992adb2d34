//===- Chain.cpp - All plans of a chain worth having --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dynamic programming over parts of the chain. What a part costs is a step function of the bytes it may take, kept as
// the list of its steps, so that all limits are answered at once and bytes are exact. Where a part is divided, both
// functions are added, each shifted by what is held meanwhile; of all ways to divide it the lower envelope counts. How
// a point came about is not stored: the few divisions that a plan takes are found again by looking values up.
//
//===----------------------------------------------------------------------===//

#include "Chain.h"

#include "ChainProblem.h"
#include "PlanWriter.h"

#include <algorithm>
#include <cassert>
#include <future>
#include <limits>

namespace remat {

namespace {

/// Within so many bytes the part costs so much, from there to the next point.
struct CurvePoint {
  int64_t bytes, cost;
};
/// Bytes rise, costs fall.
using Curve = std::vector<CurvePoint>;

constexpr int64_t impossible = std::numeric_limits<int64_t>::max();

int64_t lookUp(const Curve &curve, int64_t bytes) {
  auto above = std::ranges::upper_bound(curve, bytes, {}, &CurvePoint::bytes);
  return above == curve.begin() ? impossible : std::prev(above)->cost;
}

/// Forward and backward runs of the stages [begin, end), where the input of the first is alive and nothing else of
/// theirs, and the backward ops of all later stages have run.
struct Part {
  size_t begin, end;
  bool inputHeld = false;   ///< Others hold the input all along and count it; else it ends when it is not needed.
  bool outputGiven = false; ///< What the last stage saves, its output, is alive; the part counts it.
};

/// One way to deal with a part: bytes for what it runs itself, and two smaller parts, each with what is held meanwhile.
struct Way {
  enum Kind : uint8_t { Alone, Saving, Shorter, Split, SplitHandingOver };
  Kind kind = Alone;
  size_t split = 0; ///< Where the second stage of a split begins.
  int64_t bytes = 0, cost = 0;
  const Curve *later = nullptr, *earlier = nullptr; ///< In the order they run; null: nothing.
  int64_t heldBytes = 0;                            ///< In `later`.

  int64_t costWithin(int64_t limit) const {
    int64_t laterCost = later ? lookUp(*later, limit - heldBytes) : 0;
    int64_t earlierCost = earlier ? lookUp(*earlier, limit) : 0;
    bool isPossible = bytes <= limit && laterCost != impossible && earlierCost != impossible;
    return isPossible ? cost + laterCost + earlierCost : impossible;
  }
};

/// Adds up the parts of a way. Nothing if another one is at least as good within any bytes, as its least bytes and its
/// least cost tell: most are.
void add(const Way &way, const Curve &best, Curve &sum) {
  static const Curve nothing{{0, 0}};
  const Curve &a = way.later ? *way.later : nothing, &b = way.earlier ? *way.earlier : nothing;
  sum.clear();
  if (a.empty() || b.empty())
    return;
  int64_t bytes = std::max({way.bytes, a.front().bytes + way.heldBytes, b.front().bytes});
  if (lookUp(best, bytes) <= way.cost + a.back().cost + b.back().cost)
    return;
  size_t i = 0, j = 0;
  for (;;) {
    while (i + 1 < a.size() && a[i + 1].bytes + way.heldBytes <= bytes)
      ++i;
    while (j + 1 < b.size() && b[j + 1].bytes <= bytes)
      ++j;
    sum.push_back({bytes, way.cost + a[i].cost + b[j].cost});
    int64_t nextA = i + 1 < a.size() ? a[i + 1].bytes + way.heldBytes : impossible;
    int64_t nextB = j + 1 < b.size() ? b[j + 1].bytes : impossible;
    bytes = std::min(nextA, nextB);
    if (bytes == impossible)
      return;
  }
}

/// The lower envelope of both.
void merge(const Curve &a, const Curve &b, Curve &lower) {
  lower.clear();
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    bool takesA = j == b.size() || (i < a.size() && a[i].bytes <= b[j].bytes);
    const CurvePoint &point = takesA ? a[i++] : b[j++];
    if (!lower.empty() && lower.back().cost <= point.cost)
      continue;
    if (!lower.empty() && lower.back().bytes == point.bytes)
      lower.back() = point;
    else
      lower.push_back(point);
  }
}

} // namespace

class ChainFront::Search {
public:
  Search(ChainProblem given, const ChainOptions &options)
      : problem(std::move(given)), stages(problem.stages), count(stages.size()), options(options),
        curves(4 * count * (count + 1)), baseCost(0) {
    for (const ChainStage &stage : stages)
      baseCost += stage.firstPass.cost;
  }

  /// False if it takes more than it may.
  bool run() {
    for (size_t length = 1; length <= count; ++length) {
      size_t parts = count - length + 1;
      auto fillEverySecond = [&](size_t first) {
        for (size_t begin = first; begin < parts && !isStopped; begin += 2)
          fill(begin, begin + length);
      };
      if (length < 8 || parts < 2) {
        fillEverySecond(0);
        fillEverySecond(1);
      } else {
        auto other = std::async(std::launch::async, fillEverySecond, 1);
        fillEverySecond(0);
        other.get();
      }
      if (isStopped || points > options.points || work > options.work)
        return false;
    }
    return true;
  }

  const Curve &whole() const { return curveOf({0, count}); }
  double costOf(int64_t cost) const { return double(cost - baseCost) * problem.costUnit; }

  Plan plan(int64_t bytes) const {
    PlanWriter writer(*problem.graph);
    write({0, count}, bytes, writer);
    return writer.finish();
  }

private:
  const Curve &curveOf(Part part) const {
    return curves[4 * (part.begin * (count + 1) + part.end) + 2 * part.inputHeld + part.outputGiven];
  }
  Curve &curveOf(Part part) { return const_cast<Curve &>(std::as_const(*this).curveOf(part)); }

  /// All stages of the part run for the first time.
  bool isFirst(Part part) const { return part.end == count; }

  const ChainRun &runOf(Part part, Way::Kind kind) const {
    const ChainStage &stage = stages[part.begin];
    if (kind == Way::Saving)
      return isFirst(part) ? stage.firstSave : stage.againSave;
    return isFirst(part) ? stage.firstSave : stage.lastSave;
  }

  /// Whether a way to deal with the first stage of the part alone runs forward ops.
  bool runsForward(Part part) const {
    return !part.outputGiven && (isFirst(part) || stages[part.begin].savedBytes > 0);
  }

  /// What is alive while forward ops of the part run, besides what it makes there.
  int64_t bytesAround(Part part) const {
    const ChainStage &last = stages[part.end - 1];
    return last.gradientBytes + (part.outputGiven ? last.outputBytes : 0);
  }

  template <typename Visit>
  void forWays(Part part, Visit visit) const {
    const ChainStage &stage = stages[part.begin], &last = stages[part.end - 1];
    bool keepsInput = part.inputHeld || stage.readsInput;
    int64_t inputBytes = part.inputHeld ? 0 : stage.inputBytes;
    bool isAlone = part.begin + 1 == part.end;
    Way way{.kind = isAlone ? Way::Alone : Way::Saving, .bytes = stage.backward.peak(part.inputHeld)};
    bool isPossible = true;
    if (!isAlone || runsForward(part)) {
      const ChainRun &run = runOf(part, way.kind);
      int64_t bytes = keepsInput ? run.peakHeld + inputBytes : run.peakOwn;
      way.bytes = std::max(way.bytes, bytes + bytesAround(part));
      way.cost = run.cost;
      isPossible = run.isPossible;
    }
    if (!isAlone) {
      way.later = &curveOf({part.begin + 1, part.end, stage.savesOutput, part.outputGiven});
      way.heldBytes = stage.savedBytes + (stage.readsInput ? inputBytes : 0);
    }
    if (isPossible)
      visit(way);
    if (!isAlone && !isFirst(part) && !last.needsForward())
      visit({.kind = Way::Shorter, .later = &curveOf({part.begin, part.end - 1, part.inputHeld, false})});
    forSplits(part, visit);
  }

  /// Runs on to the stage `split`, deals with it and those behind it, and then with the rest.
  template <typename Visit>
  void forSplits(Part part, Visit visit) const {
    int64_t inputBytes = part.inputHeld ? 0 : stages[part.begin].inputBytes;
    int64_t peak = 0, cost = 0;
    for (size_t split = part.begin + 1; split < part.end; ++split) {
      const ChainStage &passed = stages[split - 1];
      const ChainRun &run = isFirst(part) ? passed.firstPass : passed.againPass;
      if (!run.isPossible)
        return;
      peak = std::max(peak, run.peak(split == part.begin + 1));
      cost += run.cost;
      Way way{.kind = Way::Split,
              .split = split,
              .bytes = peak + inputBytes + bytesAround(part),
              .cost = cost,
              .later = &curveOf({split, part.end, false, part.outputGiven}),
              .earlier = &curveOf({part.begin, split, part.inputHeld, false}),
              .heldBytes = inputBytes};
      visit(way);
      if (!passed.savesOutputOnly)
        continue;
      way.kind = Way::SplitHandingOver;
      way.later = &curveOf({split, part.end, true, part.outputGiven});
      way.earlier = &curveOf({part.begin, split, part.inputHeld, true});
      way.heldBytes += passed.outputBytes;
      visit(way);
    }
  }

  void fill(size_t begin, size_t end) {
    for (bool held : {false, true})
      for (bool given : {false, true}) {
        bool isOfUse = (!held || (begin > 0 && stages[begin - 1].savesOutput)) &&
                       (!given || (end < count && stages[end - 1].savesOutputOnly));
        if (isOfUse)
          fill(Part{begin, end, held, given});
      }
    if (work > options.work || (options.interrupt && options.interrupt->load(std::memory_order_relaxed)))
      isStopped = true;
  }

  void fill(Part part) {
    Curve best, sum, both;
    uint64_t looked = 0;
    forWays(part, [&](const Way &way) {
      add(way, best, sum);
      if (sum.empty())
        return;
      looked += sum.size() + best.size();
      merge(best, sum, both);
      std::swap(best, both);
    });
    best.shrink_to_fit();
    points += best.size();
    work += looked;
    curveOf(part) = std::move(best);
  }

  /// Writes down the plan of the part that the curve promises within the bytes.
  void write(Part part, int64_t bytes, PlanWriter &writer) const {
    int64_t cost = lookUp(curveOf(part), bytes);
    std::optional<Way> chosen;
    forWays(part, [&](const Way &way) {
      if (!chosen && way.costWithin(bytes) == cost)
        chosen = way;
    });
    assert(chosen && "a point of the curve comes from somewhere");
    if (chosen)
      write(part, *chosen, bytes, writer);
  }

  void write(Part part, const Way &way, int64_t bytes, PlanWriter &writer) const {
    auto execute = [&](const ChainRun &run) {
      for (OpId op : run.ops)
        writer.execute(op);
    };
    int64_t rest = bytes - way.heldBytes;
    switch (way.kind) {
    case Way::Alone:
      if (runsForward(part))
        execute(runOf(part, way.kind));
      return execute(stages[part.begin].backward);
    case Way::Saving:
      execute(runOf(part, way.kind));
      write({part.begin + 1, part.end, stages[part.begin].savesOutput, part.outputGiven}, rest, writer);
      return execute(stages[part.begin].backward);
    case Way::Shorter:
      return write({part.begin, part.end - 1, part.inputHeld, false}, bytes, writer);
    case Way::Split:
    case Way::SplitHandingOver:
      for (size_t i = part.begin; i < way.split; ++i)
        execute(isFirst(part) ? stages[i].firstPass : stages[i].againPass);
      bool handsOver = way.kind == Way::SplitHandingOver;
      write({way.split, part.end, handsOver, part.outputGiven}, rest, writer);
      return write({part.begin, way.split, part.inputHeld, handsOver}, bytes, writer);
    }
  }

  ChainProblem problem;
  const std::vector<ChainStage> &stages;
  size_t count;
  ChainOptions options;
  std::vector<Curve> curves; ///< By begin, end, inputHeld and outputGiven.
  int64_t baseCost;          ///< Of all forward ops once.
  std::atomic<uint64_t> work = 0, points = 0;
  std::atomic<bool> isStopped = false;
};

std::optional<size_t> ChainFront::find(int64_t limitBytes) const {
  auto found = std::ranges::find_if(list, [&](const Point &point) { return point.peakBytes <= limitBytes; });
  return found == list.end() ? std::nullopt : std::optional(size_t(found - list.begin()));
}

Plan ChainFront::plan(size_t point) const { return search->plan(list[point].peakBytes); }

bool isChain(const Graph &graph) {
  return ChainProblem::recognize(graph, std::vector<double>(graph.numOps())).has_value();
}

std::optional<ChainFront> findChainFront(const Graph &graph, std::span<const double> costs,
                                         const ChainOptions &options) {
  std::optional<ChainProblem> problem = ChainProblem::recognize(graph, costs, options.mayRepeat);
  if (!problem || problem->stages.size() > options.stages)
    return std::nullopt;
  auto search = std::make_shared<ChainFront::Search>(std::move(*problem), options);
  if (!search->run())
    return std::nullopt;
  ChainFront front;
  for (size_t i = search->whole().size(); i-- > 0;)
    front.list.push_back({search->whole()[i].bytes, search->costOf(search->whole()[i].cost)});
  front.search = std::move(search);
  return front;
}

} // namespace remat
