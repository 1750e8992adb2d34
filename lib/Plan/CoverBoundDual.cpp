//===- CoverBoundDual.cpp - Prices on overloaded stages -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Lagrangian dual of the covering problem: with a price on each row the gaps of one op can be looked at alone, and
// sums over the rows of a gap are differences of prefix sums. Any prices give a bound.
//
//===----------------------------------------------------------------------===//

#include "CoverBound.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace remat::cover {

Dual::Dual(const Problem &problem)
    : problem(problem), needs(problem), plainSum(problem.numRows() + 1), liftedSum(problem.numRows() + 1),
      gains(problem.numGaps()), dropped(problem.numGaps()), plainSlope(problem.numRows() + 1),
      liftedSlope(problem.numRows() + 1), shareUse(problem.inputs.size()), averageDrop(problem.numGaps()) {
  fix(std::vector<Fix>(problem.numGaps(), Fix::Free));
}

/// In whole bytes, so that nothing depends on rounding.
bool Dual::fix(std::span<const Fix> fixes) {
  size_t rows = problem.numRows();
  fixed.assign(fixes.begin(), fixes.end());
  std::vector<int64_t> slack(rows + 1), taken(rows + 1);
  for (size_t g = 0; g < fixed.size(); ++g)
    if (fixed[g] != Fix::Kept) {
      slack[problem.gaps[g].firstRow] += problem.gaps[g].exactBytes;
      slack[problem.gaps[g].endRow] -= problem.gaps[g].exactBytes;
    }
  for (size_t r = 0; r < rows; ++r)
    slack[r + 1] += slack[r];
  bool coverable = true;
  for (size_t r = 0; r < rows; ++r)
    coverable &= (slack[r] -= problem.exactDeficit[r]) >= 0;
  findForced({slack.data(), rows});
  for (size_t g = 0; g < fixed.size(); ++g)
    if (fixed[g] == Fix::Dropped) {
      taken[problem.gaps[g].firstRow] += problem.gaps[g].exactBytes;
      taken[problem.gaps[g].endRow] -= problem.gaps[g].exactBytes;
    }
  residual.resize(rows);
  for (size_t r = 0; r < rows; ++r) {
    residual[r] = double(std::max<int64_t>(problem.exactDeficit[r] - taken[r], 0)) / problem.bytesPerUnit;
    taken[r + 1] += taken[r];
  }
  findExcess();
  return coverable;
}

/// Fixes gaps that have more bytes than a row's slack. The least slack of all rows of a gap tells.
void Dual::findForced(std::span<const int64_t> slack) {
  constexpr size_t blockRows = 64;
  std::vector<int64_t> leastOfBlock((slack.size() + blockRows - 1) / blockRows, INT64_MAX);
  for (size_t r = 0; r < slack.size(); ++r)
    leastOfBlock[r / blockRows] = std::min(leastOfBlock[r / blockRows], slack[r]);
  mostHeld.assign(fixed.size(), INFINITY);
  int64_t leastOfAll = slack.empty() ? INT64_MAX : *std::ranges::min_element(slack);
  for (size_t g = 0; g < fixed.size(); ++g) {
    const Gap &gap = problem.gaps[g];
    if (fixed[g] == Fix::Kept || gap.exactBytes <= leastOfAll)
      continue;
    int64_t least = INT64_MAX;
    for (size_t r = gap.firstRow; r < gap.endRow;) {
      bool wholeBlock = r % blockRows == 0 && r + blockRows <= gap.endRow;
      least = std::min(least, wholeBlock ? leastOfBlock[r / blockRows] : slack[r]);
      r += wholeBlock ? blockRows : 1;
      ++work;
    }
    if (gap.exactBytes > least) {
      fixed[g] = Fix::Dropped;
      // An input of exactly this size could be held; the factor is above the rounding of either side.
      mostHeld[g] = double(least) / problem.bytesPerUnit * (1 + 1e-12);
    }
  }
}

/// Lists the rows in which a gap has more bytes than the row lacks. Where there are too many of them, a gap counts with
/// all its bytes: a larger coefficient is valid too.
void Dual::findExcess() {
  constexpr size_t blockRows = 64, most = 4'000'000;
  std::vector<double> leastOfBlock((residual.size() + blockRows - 1) / blockRows, INFINITY);
  for (size_t r = 0; r < residual.size(); ++r)
    if (residual[r] > 0)
      leastOfBlock[r / blockRows] = std::min(leastOfBlock[r / blockRows], residual[r]);
  excessBegin.assign(1, 0);
  excessRow.clear();
  size_t blocks = 0;
  for (size_t g = 0; g < fixed.size(); ++g) {
    const Gap &gap = problem.gaps[g];
    for (size_t r = gap.firstRow; r < gap.endRow && fixed[g] == Fix::Free && excessRow.size() + blocks < most;) {
      size_t blockEnd = std::min<size_t>((r / blockRows + 1) * blockRows, gap.endRow);
      if (leastOfBlock[r / blockRows] < gap.bytes)
        for (size_t in = r; in < blockEnd; ++in)
          if (residual[in] > 0 && residual[in] < gap.bytes)
            excessRow.push_back(in);
      r = blockEnd;
      ++blocks;
    }
    excessBegin.push_back(excessRow.size());
  }
  work += blocks + excessRow.size() + fixed.size();
}

void Dual::sumPrices(const Duals &duals) {
  // Differences of these sums are taken: they must not err by more than the rounding of the larger one.
  long double plain = 0, lifted = 0;
  for (size_t r = 0; r < residual.size(); ++r) {
    plainSum[r + 1] = double(plain += duals.plain[r]);
    liftedSum[r + 1] = double(lifted += residual[r] > 0 ? duals.lifted[r] : 0);
  }
}

/// What dropping a gap earns. A gap may also be dropped for lifted rows alone, without a stage of a plain row; so may
/// one that is forced, but for the row where it is, at any price of that row.
Dual::Gain Dual::gainOf(uint32_t g, double part, const OpGaps &op, const Duals &duals) {
  const Gap &gap = problem.gaps[g];
  double price = plainSum[gap.endRow] - plainSum[gap.firstRow], ofLifted = 0;
  if (fixed[g] == Fix::Free) {
    ofLifted = gap.bytes * (liftedSum[gap.endRow] - liftedSum[gap.firstRow]);
    for (uint32_t e = excessBegin[g]; e < excessBegin[g + 1]; ++e)
      ofLifted -= duals.lifted[excessRow[e]] * (gap.bytes - residual[excessRow[e]]);
    work += excessBegin[g + 1] - excessBegin[g];
  }
  bool forced = std::isfinite(mostHeld[g]);
  double without = 0;
  if (forced)
    without = -part * needs.find(op.op.index(), 0, gap.begin, mostHeld[g], duals.share).value;
  InputNeeds::Need inputs;
  if (price > 0 || forced)
    inputs = needs.find(op.op.index(), price, gap.begin, mostHeld[g], duals.share);
  double ofPlain = gap.bytes * price - part * inputs.value;
  constexpr double roundingOfSums = 1e-2; // In units of 1e-13, see `evaluate`.
  absoluteSum += gap.bytes * (price + roundingOfSums * (plainSum.back() + liftedSum.back())) + std::abs(ofLifted);
  ++work;
  if (ofPlain > without)
    return {ofPlain + ofLifted, gap.bytes - part * inputs.slope, true};
  return {without + ofLifted, 0, false};
}

double Dual::solveOne(const OpGaps &op, const Duals &duals) {
  double sum = 0, cost = problem.cost[op.op.index()];
  for (uint32_t g = op.firstGap; g < op.endGap; ++g) {
    dropped[g] = false;
    if (fixed[g] == Fix::Kept)
      continue;
    gains[g] = gainOf(g, 1, op, duals);
    dropped[g] = fixed[g] == Fix::Dropped || gains[g].gain > cost;
    if (dropped[g])
      sum += cost - gains[g].gain;
  }
  return sum;
}

/// Gaps of several results share executions: the best set of stages at which to execute the op again, each at the end
/// of a gap; a gap earns if a stage in (begin, end] is chosen. Dynamic programming over the last stage chosen.
double Dual::solveSeveral(const OpGaps &op, const Duals &duals) {
  uint32_t first = op.firstGap, count = op.endGap - first;
  std::vector<ValueId> storages;
  std::vector<uint32_t> ends;
  for (uint32_t g = first; g < op.endGap; ++g) {
    if (std::ranges::find(storages, problem.gaps[g].value) == storages.end())
      storages.push_back(problem.gaps[g].value);
    if (ends.empty() || ends.back() != problem.gaps[g].end)
      ends.push_back(problem.gaps[g].end);
  }
  for (uint32_t g = first; g < op.endGap; ++g) {
    dropped[g] = false;
    gains[g] = fixed[g] == Fix::Kept ? Gain{0, 0, false} : gainOf(g, 1.0 / storages.size(), op, duals);
  }
  double cost = problem.cost[op.op.index()];
  // Choice 0 is none; choice i is ends[i - 1]. best[j]: the most that choices up to j can earn if j is the last.
  size_t choices = ends.size() + 1;
  std::vector<double> best(choices + 1, -INFINITY);
  std::vector<size_t> previous(choices + 1);
  best[0] = 0;
  for (size_t j = 1; j <= choices; ++j) // Choice `choices` is the end of it all.
    for (size_t i = 0; i < j; ++i) {
      double earned = best[i] - (j < choices ? cost : 0);
      for (uint32_t g = first; g < op.endGap; ++g) {
        const Gap &gap = problem.gaps[g];
        bool afterLast = i == 0 || gap.begin >= ends[i - 1];
        if (j < choices && afterLast && gap.begin < ends[j - 1] && gap.end >= ends[j - 1])
          earned += gains[g].gain;
        else if (fixed[g] == Fix::Dropped && afterLast && (j == choices || gap.end < ends[j - 1]))
          earned = -INFINITY;
      }
      if (earned > best[j]) {
        best[j] = earned;
        previous[j] = i;
      }
    }
  work += choices * choices * count / 2;
  for (size_t j = previous[choices]; j > 0; j = previous[j])
    for (uint32_t g = first; g < op.endGap; ++g)
      if (problem.gaps[g].begin < ends[j - 1] && problem.gaps[g].end >= ends[j - 1] && fixed[g] != Fix::Kept)
        dropped[g] = true;
  return -best[choices];
}

double Dual::evaluate(const Duals &duals, bool gradient) {
  sumPrices(duals);
  long double sum = 0;
  absoluteSum = 0;
  for (const OpGaps &op : problem.ops)
    sum += op.severalStorages ? solveSeveral(op, duals) : solveOne(op, duals);
  for (size_t r = 0; r < residual.size(); ++r) {
    double price = duals.plain[r] * problem.deficit[r] + duals.lifted[r] * residual[r];
    sum += price;
    absoluteSum += price;
  }
  work += residual.size();
  if (gradient)
    collectGradient(duals);
  if (!std::isfinite(sum))
    return INFINITY;
  // More than what the products and differences of doubles above err by.
  return double(sum) - 1e-13 * (absoluteSum + std::abs(double(sum)));
}

void Dual::collectGradient(const Duals &duals) {
  std::ranges::fill(plainSlope, 0.0);
  std::ranges::fill(liftedSlope, 0.0);
  std::ranges::fill(shareUse, 0.0);
  for (const OpGaps &op : problem.ops)
    for (uint32_t g = op.firstGap; g < op.endGap; ++g) {
      if (!dropped[g])
        continue;
      const Gap &gap = problem.gaps[g];
      if (gains[g].usesPlain) {
        plainSlope[gap.firstRow] -= gains[g].bytes;
        plainSlope[gap.endRow] += gains[g].bytes;
      }
      if (gains[g].usesPlain || std::isfinite(mostHeld[g])) {
        double price = gains[g].usesPlain ? plainSum[gap.endRow] - plainSum[gap.firstRow] : 0;
        needs.find(op.op.index(), price, gap.begin, mostHeld[g], duals.share);
        needs.charge(shareUse);
      }
      if (fixed[g] == Fix::Free) {
        liftedSlope[gap.firstRow] -= gap.bytes;
        liftedSlope[gap.endRow] += gap.bytes;
      }
    }
  for (size_t r = 0; r < residual.size(); ++r) {
    plainSlope[r + 1] += plainSlope[r];
    liftedSlope[r + 1] += liftedSlope[r];
  }
  for (size_t g = 0; g < dropped.size(); ++g)
    for (uint32_t e = excessBegin[g]; dropped[g] && e < excessBegin[g + 1]; ++e)
      liftedSlope[excessRow[e]] += problem.gaps[g].bytes - residual[excessRow[e]];
  for (size_t r = 0; r < residual.size(); ++r) {
    plainSlope[r] += problem.deficit[r];
    liftedSlope[r] = residual[r] > 0 ? liftedSlope[r] + residual[r] : 0;
  }
}

/// Gives larger shares to readers that earn more with them (exponentiated gradient).
void Dual::moveShares(Duals &duals, std::span<const double> use) const {
  constexpr double strength = 0.3, least = 1e-4;
  std::vector<double> most(problem.cost.size()), sum(problem.cost.size());
  for (size_t i = 0; i < use.size(); ++i)
    most[problem.inputs[i].op] = std::max(most[problem.inputs[i].op], use[i]);
  for (size_t i = 0; i < use.size(); ++i) {
    uint32_t op = problem.inputs[i].op;
    if (most[op] > 0)
      duals.share[i] = std::max(least, duals.share[i] * std::exp(strength * (use[i] / most[op] - 1)));
    sum[op] += duals.share[i];
  }
  for (size_t i = 0; i < use.size(); ++i)
    duals.share[i] /= sum[problem.inputs[i].op] * (1 + 1e-12);
}

Duals Dual::start() {
  size_t rows = problem.numRows();
  Duals duals{std::vector<double>(rows), std::vector<double>(rows), std::vector<double>(problem.inputs.size())};
  std::vector<double> readers(problem.cost.size());
  for (const Input &input : problem.inputs)
    ++readers[input.op];
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    duals.share[i] = 1 / (readers[problem.inputs[i].op] * (1 + 1e-12));
  // The best of prices that are alike in all rows, by powers of 2 from that of the cheapest bytes.
  double least = INFINITY;
  for (const OpGaps &op : problem.ops)
    for (uint32_t g = op.firstGap; g < op.endGap; ++g)
      if (double price = problem.cost[op.op.index()] / (problem.gaps[g].bytes * rows); price > 0)
        least = std::min(least, price);
  Duals best = duals;
  double bestBound = 0;
  for (double plainPart : {0.5, 0.0, 1.0})
    for (double price = least; std::isfinite(price) && price < least * 1e18; price *= 2) {
      std::ranges::fill(duals.plain, price * plainPart);
      std::ranges::fill(duals.lifted, price * (1 - plainPart));
      double bound = evaluate(duals, false);
      if (bound > bestBound) {
        bestBound = bound;
        best = duals;
      } else if (bestBound > 0 && bound < 0)
        break;
    }
  return best;
}

namespace {

/// Slopes averaged over rounds, by row; late rounds count more.
struct Averages {
  std::vector<double> plain, lifted, shareUse;

  static void mixIn(std::vector<double> &average, const std::vector<double> &latest, double mix) {
    for (size_t i = 0; i < average.size(); ++i)
      average[i] += mix * (latest[i] - average[i]);
  }
};

/// How far to go along the slopes: shorter after failures, longer while the slopes do not turn.
struct Steps {
  double length = 0.5, mix = 0.2;
  size_t failures = 0;

  void succeed(bool straightOn) {
    failures = 0;
    if (straightOn)
      length = std::min(2.0, length * 1.1);
  }
  void fail() {
    constexpr size_t patience = 8;
    if (++failures < patience)
      return;
    failures = 0;
    length *= 0.7;
    mix = std::max(0.02, mix * 0.95);
  }
};

} // namespace

/// The square of the length of the slopes, those that would lead below a price of 0 left out.
static double squareOf(const std::vector<double> &slopes, const std::vector<double> &prices) {
  double sum = 0;
  for (size_t r = 0; r < prices.size(); ++r)
    sum += prices[r] > 0 || slopes[r] > 0 ? slopes[r] * slopes[r] : 0;
  return sum;
}

static void moveAlong(std::vector<double> &to, const std::vector<double> &from, const std::vector<double> &slopes,
                      double length) {
  for (size_t r = 0; r < from.size(); ++r)
    to[r] = std::max(0.0, from[r] + length * slopes[r]);
}

static double product(const std::vector<double> &a, const std::vector<double> &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The volume algorithm (F. Barahona, R. Anbil, The volume algorithm, 2000): steps from the best prices along averaged
/// slopes; the target of the step length rises with the bound. Every tenth round moves the shares.
double Dual::ascend(Duals &best, size_t rounds, double enough, size_t mostWork) {
  double bound = evaluate(best, true), bestBound = bound, target = std::max(bound, 0.0) * 1.1 + 1e-12;
  Duals center = best, next = best;
  Averages averages{plainSlope, liftedSlope, shareUse};
  averageDrop.assign(dropped.begin(), dropped.end());
  Steps steps;
  size_t allowed = workDone() + mostWork;
  auto accept = [&] {
    if (bound > bestBound) {
      bestBound = bound;
      best = center;
    }
  };
  for (size_t round = 0; round < rounds && bestBound < enough && workDone() < allowed; ++round) {
    double square = squareOf(averages.plain, center.plain) + squareOf(averages.lifted, center.lifted);
    if (square == 0 || steps.length < 1e-7)
      break;
    if (bound > target * 0.97)
      target = std::max(bound, target) * 1.03;
    double length = steps.length * (target - bound) / square;
    moveAlong(next.plain, center.plain, averages.plain, length);
    moveAlong(next.lifted, center.lifted, averages.lifted, length);
    double nextBound = evaluate(next, true);
    bool straightOn = product(plainSlope, averages.plain) + product(liftedSlope, averages.lifted) > 0;
    Averages::mixIn(averages.plain, plainSlope, steps.mix);
    Averages::mixIn(averages.lifted, liftedSlope, steps.mix);
    Averages::mixIn(averages.shareUse, shareUse, steps.mix);
    for (size_t g = 0; g < dropped.size(); ++g)
      averageDrop[g] += steps.mix * (dropped[g] - averageDrop[g]);
    if (nextBound > bound) {
      bound = nextBound;
      std::swap(center.plain, next.plain);
      std::swap(center.lifted, next.lifted);
      steps.succeed(straightOn);
    } else {
      steps.fail();
    }
    accept();
    if (problem.inputDepth > 0 && round % 10 == 9) {
      moveShares(center, averages.shareUse);
      next.share = center.share;
      bound = evaluate(center, false);
      accept();
    }
  }
  return bestBound;
}

} // namespace remat::cover
