//===- CoverBound.h - Gaps that must be dropped to keep a limit --*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The covering problem behind boundCost, and why it bounds every plan of the given order.
//
// Stage t is the moment at which op t is executed for the first time; stage numOps() is the end. A storage (a value
// with bytes of its own) is touched at the stage of its own op, at those of ops that read it or a view of it, and at
// the end if a result of the function lives in it: at each of these moments some instance of it is alive in every
// plan. A gap is what lies between two consecutive touches (begin, end). If no instance is alive at a stage inside, the
// one alive at the gap's end was born after that stage: its op was executed again between that stage and the gap's end.
// The gaps of one storage do not overlap, so every gap that is dropped at some stage costs an execution of its own; the
// gaps of several results of one op may share one. A row of the problem is an overloaded stage: the bytes of the gaps
// dropped there must be at least what program order is above the limit.
//
// Inputs. When u is absent at stage t of its gap (b, e), it is computed again in (t, e). Let v be an input of u that is
// dead by b: nothing touches any result of v's op q after b. The instance that u then reads is either alive at t, which
// costs its bytes in row t, or made by an execution of q in (t, e), which costs q's execution, and q's own dead inputs
// are asked for the same in the same window. For m = the sum of a row's price over the rows where u is absent,
// need(q, m) = min(bytes x m, cost(q) + sum over q's dead inputs of need(., m)): with prices on rows this is what it
// costs at least, whatever stage q is executed at, since a concave function of m takes its least value at an end of the
// interval. Several readers may share an execution or the bytes of q, so each reader (op) has a share of it, and the
// shares of q's readers add up to at most 1. Windows of one reader do not overlap, and neither does the time before and
// after the reader's own death, so nothing is charged twice; and what q costs lies after q's death, apart from what its
// own gaps cost.
//
// Forced gaps. The slack of a row is what all gaps that may be dropped have there beyond the deficit. A gap with more
// bytes than that is dropped in that row, and an input with more bytes than that is not alive there: it is executed
// again.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include <span>
#include <vector>

namespace remat::cover {

struct Gap {
  ValueId value;
  uint32_t begin, end; ///< Stages of the two touches.
  uint32_t firstRow, endRow;
  int64_t exactBytes;
  double bytes; ///< In the problem's unit.
};

/// The gaps of one op that may be dropped, ordered by their ends.
struct OpGaps {
  OpId op;
  uint32_t firstGap, endGap;
  bool severalStorages;
};

/// A read of one op's results by another, as far as those have bytes.
struct Input {
  uint32_t op;
  double bytes;
};

struct Problem {
  std::vector<double> cost;         ///< By op, infinite if it must run once.
  std::vector<uint32_t> death;      ///< By op: the last stage that touches any result of it.
  std::vector<uint32_t> inputBegin; ///< By op, into `inputs`.
  std::vector<Input> inputs;
  std::vector<uint32_t> rowStage;    ///< The overloaded stages in order.
  std::vector<int64_t> exactDeficit; ///< By row, in bytes, above 0.
  std::vector<double> deficit;       ///< The same in the unit.
  std::vector<Gap> gaps;
  std::vector<OpGaps> ops;
  double bytesPerUnit = 1; ///< The largest deficit.
  size_t inputDepth = 0;

  size_t numRows() const { return deficit.size(); }
  size_t numGaps() const { return gaps.size(); }
};

/// A stage whose load cannot be brought under the limit by dropping all there is.
struct Shortage {
  bool any = false;
  size_t stage = 0;
  std::vector<ValueId> alive;
};

/// Builds the problem. O(n + reads + gaps) but for the sort of reads.
Problem makeProblem(const Graph &graph, std::span<const double> costByOp, int64_t limitBytes, size_t inputDepth,
                    Shortage &shortage);

enum class Fix : uint8_t { Free, Dropped, Kept };

/// Prices: any that are at least 0 give a bound.
struct Duals {
  std::vector<double> plain;  ///< By row, for bytes as they are.
  std::vector<double> lifted; ///< By row, where no gap counts more than the deficit: valid without inputs held.
  std::vector<double> share;  ///< By input; those of one op add up to 1.
};

/// What the dead inputs of an op cost at least when it is computed again: the function `need` above.
class InputNeeds {
public:
  struct Need {
    double value = 0;
    double slope = 0; ///< By price.
  };

  explicit InputNeeds(const Problem &problem);

  /// For all inputs of `op` that are dead by stage `begin`, at `price` for a byte.
  /// Those with more than `mostHeld` bytes cannot be held.
  Need find(uint32_t op, double price, uint32_t begin, double mostHeld, std::span<const double> share);

  /// Adds to `use`, by input, what its share earned in the last `find`.
  void charge(std::span<double> use);

  size_t workDone() const { return work; }

private:
  Need ofInputs(uint32_t op, size_t depth);

  const Problem &problem;
  double held(const Input &input) const;

  double price = 0, mostHeld = 0;
  uint32_t begin = 0;
  std::span<const double> share;
  uint32_t root = 0, round = 0;
  std::vector<uint32_t> roundOf; ///< By op: when `known` was found.
  std::vector<Need> known;       ///< By op, its own execution not counted.
  std::vector<uint32_t> visited; ///< Ops that are known in this round.
  std::vector<double> part;      ///< By op, for `charge`.
  size_t work = 0;
};

/// The dual function and what it needs again and again, for one choice of fixed gaps.
class Dual {
public:
  explicit Dual(const Problem &problem);

  /// Fixes gaps, and those that are then forced; sets the residual deficits. False if what is still free cannot cover a
  /// row.
  bool fix(std::span<const Fix> fixes);

  /// The bound at these prices, and whether each gap is dropped at the minimum; if `gradient`, the slopes as well.
  double evaluate(const Duals &duals, bool gradient);

  /// Ascends from `duals` and leaves the best prices there. Returns their bound. Ends early at `enough` and after so
  /// many reads.
  double ascend(Duals &duals, size_t rounds, double enough, size_t mostWork = ~size_t(0) >> 1);

  /// Neither fixed nor forced.
  bool isFree(uint32_t gap) const { return fixed[gap] == Fix::Free; }

  /// What it costs to drop a free gap of `op` at the prices of the last `evaluate`; below 0 it is dropped. For ops with
  /// one storage.
  double reducedCost(const OpGaps &op, uint32_t gap) const { return problem.cost[op.op.index()] - gains[gap].gain; }

  /// Prices to begin with.
  Duals start();

  /// By gap: how often it was dropped in the rounds of the last ascent, from 0 to 1, late rounds counting more.
  const std::vector<double> &droppedShare() const { return averageDrop; }
  /// Reads of gaps, inputs and rows so far.
  size_t workDone() const { return work + needs.workDone(); }

private:
  struct Gain {
    double gain, bytes; ///< What dropping earns without the op's cost; the bytes it frees net of inputs held.
    bool usesPlain;
  };
  Gain gainOf(uint32_t gap, double part, const OpGaps &op, const Duals &duals);
  void sumPrices(const Duals &duals);
  void findExcess();
  void findForced(std::span<const int64_t> slack);
  double solveOne(const OpGaps &op, const Duals &duals);
  double solveSeveral(const OpGaps &op, const Duals &duals);
  void collectGradient(const Duals &duals);
  void moveShares(Duals &duals, std::span<const double> use) const;

  const Problem &problem;
  InputNeeds needs;
  std::vector<Fix> fixed;
  std::vector<double> residual;                 ///< By row, for lifted coefficients; at most 0 where a row is covered.
  std::vector<uint32_t> excessBegin, excessRow; ///< By gap: the rows in which it has more bytes than the deficit.
  std::vector<double> plainSum, liftedSum;      ///< Sums of prices before each row.
  std::vector<double> mostHeld;                 ///< By gap: infinite unless it is forced.
  std::vector<Gain> gains;
  std::vector<bool> dropped;
  std::vector<double> plainSlope, liftedSlope, shareUse, averageDrop;
  double absoluteSum = 0; ///< Sum of magnitudes, for the rounding error.
  size_t work = 0;
};

/// Tightens a bound by fixing gaps, best bound first, until the work is done. Returns the least bound of what is open.
double branchAndBound(const Problem &problem, Duals &root, double rootBound, size_t work, double enough);

} // namespace remat::cover
