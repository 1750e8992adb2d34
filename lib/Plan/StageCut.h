//===- StageCut.h - What to hold in one stage ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fix a stage s. For every value made before it, let a say that it can be read behind s, and for every op let r say
// that it runs again behind s. A value with a = 1 and r = 0 must be alive in s. A plan that fits satisfies: a = 1 for
// what ops behind s read; r <= a; r <= a of everything the op reads; and the bytes of a - r, with what the op of s
// itself needs, fit into the limit. All but the last are implications between two variables, so with a price p for the
// bytes the cheapest choice is a minimum cut (Picard, 1976). The best of all prices is a bound on what any plan costs,
// and what the choices run again is nearly a plan.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "GapProblem.h"

namespace remat {

class MaxFlow;

/// By place: the last stage that reads it, or -1.
std::vector<int32_t> findLastReads(const GapProblem &problem);

/// The stages where most is alive if nothing runs again, the highest first, apart from each other by a sixteenth of the
/// order; only those above the limit, at most `most`.
std::vector<int32_t> findHighestStages(const GapProblem &problem, std::span<const int32_t> lastReads,
                                       int64_t limitBytes, int most);

class StageCut {
public:
  /// What the cheapest choice at one price is.
  struct Choice {
    double value = 0;           ///< Not above the least of cost + price * bytes.
    double cost = 0, bytes = 0; ///< Of what runs again, of what is held in the stage.
    std::vector<bool> repeats;  ///< By op before the stage: it runs again behind it.
  };

  /// `repeatable` says by op which may run again, `costs` what that costs.
  StageCut(const GapProblem &problem, int32_t stage, std::span<const int32_t> lastReads,
           const std::vector<bool> &repeatable, std::span<const double> costs);

  Choice solve(double price) const;
  /// Bytes of what the op of the stage reads and makes, and its workspace: they are alive whatever is chosen.
  double fixedBytes() const { return bytesOfStage; }
  /// Of all ops before the stage.
  double totalCost() const { return costOfAll; }

private:
  Choice read(MaxFlow &flow, double scale, int64_t offset, uint32_t source, uint32_t sink) const;
  void here(GapProblem::Place place);

  const GapProblem &problem;
  int32_t stage;
  std::span<const int32_t> lastReads;
  const std::vector<bool> &repeatable;
  std::span<const double> costs;
  std::vector<bool> isHere; ///< By place: the op of the stage reads or makes it.
  double bytesOfStage = 0, costOfAll = 0, bytesOfAll = 0;
};

/// The best choices within a limit that prices lead to: `above` needs more than there is room for, `within` does not.
/// Between them lies no choice that is best at any price, as far as the search for it went.
struct StageChoices {
  double bound = 0; ///< On what any choice within the limit costs.
  StageCut::Choice above, within;
  bool isAboveEmpty = false;  ///< Even the bytes that cost nothing fit: `above` is not set.
  bool isWithinEmpty = false; ///< Not even the least bytes fit: `within` is not set.
};

/// `enough`: a bound of this much will do.
StageChoices searchPrices(const StageCut &cut, int64_t limitBytes, double enough);

} // namespace remat
