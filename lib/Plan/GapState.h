//===- GapState.h - A plan as kept and dropped gaps --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op is touched in the stage that runs it first and in every stage that reads it. Between two touches lies a gap: it
// is kept, or dropped, and then the stage at its end runs the op again, whose inputs that touches there. This is the
// plan of Checkmate (Jain et al., 2020), stored by touches instead of by pairs of op and stage; what it costs and where
// the limit is exceeded is kept up to date under small changes, which can be taken back.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "GapBytes.h"
#include "GapProblem.h"
#include "Random.h"

namespace remat {

class GapState {
public:
  struct Touch {
    int32_t stage;
    int32_t readers; ///< Ops that run in the stage and read it.
    bool repeats;    ///< The gap in front of the touch is dropped: the op runs again in `stage`.
    bool pinned;     ///< It runs again here although nobody in the stage reads it: its inputs are alive here.
    bool operator==(const Touch &) const = default;
  };
  using Touches = std::vector<Touch>;

  GapState(const GapProblem &problem, int64_t limitBytes);

  const GapProblem &problem() const { return *instance; }
  /// Cost of what runs again.
  double cost() const { return extraCost; }
  /// Sum over the stages of what lies above the limit, bytes.
  double excess() const { return excessBytes; }
  double level(int32_t stage) const { return levels[stage]; }
  double peak() const;
  double limit() const { return limitBytes; }
  void setLimit(int64_t bytes);
  std::span<const Touch> touches(int32_t node) const { return touchList[node]; }
  std::span<const int32_t> repeats(int32_t stage) const { return repeatList[stage]; }
  size_t numRepeats() const { return repeatCount; }
  /// A measure of the time that changes took so far.
  uint64_t workDone() const { return bytes.workDone(); }

  /// Says what a byte costs by stage, numNodes() + 1 numbers: what to do with values that changes come to need is
  /// decided by them. Without, bytes are free.
  void setPrices(std::span<const double> prices);

  /// Values that changes come to need are mostly held from where they are alive, whatever that costs: deep chains of
  /// ops that run again are rarely worth it, and prices know nothing of what is still to be changed.
  void setHoldsMostly(bool mostly) { holdsMostly = mostly; }

  /// About what `drop` costs, less what its bytes cost now.
  double estimateDrop(int32_t node, int32_t i) const {
    const Touches &touches = touchList[node];
    return costAgain(node, touches[i].stage, 1) - holdingCost(node, touches[i - 1].stage, touches[i].stage);
  }

  /// Touch `i` > 0 of the op is kept: the op runs again there instead. False, and nothing happens, if it must not.
  bool drop(int32_t node, int32_t i, Random &random);
  /// Touch `i` > 0 of the op runs it again: its value is kept instead.
  void keep(int32_t node, int32_t i, Random &random);
  /// The op runs again in touch `i`: it does so in the earlier `stage`, behind touch `i - 1`, and is kept from there
  /// on.
  bool runEarlier(int32_t node, int32_t i, int32_t stage, Random &random);
  /// Brings the numbers up to date; to be called behind changes, in front of questions.
  void settle();
  /// Makes the changes since the last commit final.
  void commit();
  /// Takes back the changes since the last commit.
  void rollback();

  /// The state in short: enough to come back to it.
  struct Snapshot {
    std::vector<Touches> touches;
    double cost = 0;
  };
  Snapshot snapshot() const { return {touchList, extraCost}; }
  void restore(const Snapshot &snapshot);

  Plan plan() const;

private:
  struct SavedTouches {
    int32_t node;
    Touches touches;
    std::vector<LifeSpan> spans;
  };
  struct SavedStage {
    int32_t stage;
    std::vector<int32_t> repeats;
  };

  Touches &edit(int32_t node);
  void editStage(int32_t stage);
  bool mayRepeatIn(int32_t node, int32_t stage) const {
    return instance->node(node).mayRepeat && stage <= instance->node(node).lastRepeat;
  }
  bool hasParts(int32_t node) const { return instance->sizes(node).size() > 1; }

  double holdingCost(int32_t node, int32_t from, int32_t to) const;
  double costAgain(int32_t node, int32_t stage, int depth) const;
  void addRepeat(int32_t node, int32_t stage, Random &random);
  void removeRepeat(int32_t node, int32_t stage, Random &random);
  void addReader(int32_t node, int32_t stage, Random &random);
  void removeReader(int32_t node, int32_t stage, Random &random);
  void eraseTouch(int32_t node, int32_t i, Random &random);
  void eraseUselessPin(int32_t node, int32_t i, Random &random);

  void noteChange(SavedTouches &saved);
  void addBytes(int32_t first, int32_t last, int64_t addedBytes);
  void markDirty(int32_t stage);
  void rebuild();

  const GapProblem *instance;
  double limitBytes;
  std::vector<Touches> touchList;
  std::vector<std::vector<int32_t>> repeatList; ///< By stage, ascending.
  std::vector<double> levels, inner;            ///< By stage: all that lives at its worst step; its own part of that.
  std::vector<std::vector<LifeSpan>> partSpans; ///< By op; of ops with several results only.
  double extraCost = 0, excessBytes = 0;
  size_t repeatCount = 0;
  bool holdsMostly = false;
  std::vector<double> priceBefore; ///< By stage: the sum of the prices of all earlier ones.

  // Since the last commit.
  std::vector<SavedTouches> savedTouches;
  std::vector<SavedStage> savedStages;
  size_t touchesInUse = 0, stagesInUse = 0;
  std::vector<LifeSpan> addedSpans;
  std::vector<std::pair<int32_t, double>> savedInner;
  std::vector<uint32_t> touchStamp, stageStamp;
  uint32_t stamp = 1;
  double savedCost = 0, savedExcess = 0;
  size_t savedRepeatCount = 0;

  // Scratch of settle.
  std::vector<LifeSpan> oldSpans, newSpans;
  std::vector<int32_t> dirtyStages;
  std::vector<uint32_t> dirtyStamp;
  uint32_t settleStamp = 0;
  GapBytes bytes;
};

} // namespace remat
