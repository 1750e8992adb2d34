//===- LargeSearchState.h - Kept and dropped gaps of a large graph ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same plans as GapState's, for graphs of up to millions of ops: lists in pools instead of a vector for each op, a
// tree over the stages instead of loops over them, and decisions by prices instead of at random.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "GapBytes.h"
#include "GapProblem.h"
#include "LargeSearchLists.h"
#include "TimelineTree.h"

namespace remat {

class LargeState {
public:
  struct Touch {
    int32_t stage;
    uint32_t readers : 31; ///< Ops that run in the stage and read it.
    uint32_t repeats : 1;  ///< The gap in front is dropped: the op runs again in the stage.
    bool operator==(const Touch &) const = default;
  };

  explicit LargeState(const GapProblem &problem);

  const GapProblem &problem() const { return *instance; }
  /// Cost of what runs again.
  double cost() const { return extraCost; }
  size_t numRepeats() const { return repeatCount; }
  std::span<const Touch> touches(int32_t node) const { return touchLists[node]; }
  /// Ops that run again in the stage, ascending.
  std::span<const int32_t> repeats(int32_t stage) const { return repeatLists[stage]; }
  /// The touch of the op in the stage, or -1.
  int32_t findTouch(int32_t node, int32_t stage) const;
  bool mayRepeat(int32_t node) const { return instance->node(node).mayRepeat; }
  bool mayRepeatIn(int32_t node, int32_t stage) const {
    return instance->node(node).mayRepeat && stage <= instance->node(node).lastRepeat;
  }

  /// The same, but not where so much runs again that each change there takes long.
  bool mayAddIn(int32_t node, int32_t stage) const {
    constexpr size_t most = 1024;
    return mayRepeatIn(node, stage) && repeats(stage).size() < most;
  }

  int64_t peak() const { return tree.maximum(0, instance->numNodes() + 1); }
  /// The most bytes alive in the stages [begin, end).
  int64_t highest(int32_t begin, int32_t end) const { return tree.maximum(begin, end); }
  /// Bytes alive by stage, at its worst step. O(stages).
  std::vector<int64_t> levels() const;

  /// Says what a byte costs by stage, numNodes() + 1 numbers; by that it is decided whether what is needed is held or
  /// computed again.
  void setPrices(std::span<const double> weights, double priceOfWeight);
  void setPrice(double priceOfWeight) { price = priceOfWeight; }
  /// The weights of stages [begin, end).
  double weight(int32_t begin, int32_t end) const { return end > begin ? weightBefore[end] - weightBefore[begin] : 0; }

  /// What it takes to run an op again.
  struct Estimate {
    double cost;
    double held; ///< Bytes of inputs that are held for it, times the stages' weights.
    double at(double bytePrice) const { return cost + bytePrice * held; }
  };
  /// Inputs that are dead are followed so far; each is held or computed again, whichever costs less.
  Estimate estimate(int32_t node, int32_t stage, int depth, double bytePrice) const;

  /// Touch `i` > 0 of the op is kept and may be dropped (`mayRepeatIn`): the op runs again there.
  void drop(int32_t node, int32_t i);
  /// Touch `i` > 0 of the op runs it again: its value is held instead.
  void keep(int32_t node, int32_t i);
  /// Brings the bytes up to date; to be called behind changes, in front of questions.
  void settle();
  /// The most bytes in the stages where the last `settle` changed anything.
  int64_t highestChanged() const;
  /// Ops whose touches changed since the last commit.
  std::span<const int32_t> changedNodes() const { return edited; }
  void commit();
  /// Takes back what changed since the last commit. It must be settled.
  void rollback();

  Plan plan() const;
  /// Takes over what the plan runs again, as far as it may. Its first executions stand in any order.
  void load(const Plan &plan);

private:
  void edit(int32_t node);
  void editStage(int32_t stage);
  bool hasParts(int32_t node) const { return instance->sizes(node).size() > 1; }

  void addRepeat(int32_t node, int32_t stage);
  void removeRepeat(int32_t node, int32_t stage);
  void changeReaders();
  void addReader(int32_t node, int32_t stage);
  void removeReader(int32_t node, int32_t stage);

  void noteChange(size_t edit);
  void addBytes(int32_t first, int32_t last, int64_t bytes);
  void setInner(int32_t stage, int64_t bytes);
  void markDirty(int32_t stage);
  void makeTouches();
  void rebuild();
  void eraseUnread(int32_t stage);

  const GapProblem *instance;
  ListPool<Touch> touchLists;
  ListPool<int32_t> repeatLists;
  std::vector<int64_t> inner;  ///< By stage: what of its worst step does not live through all of it.
  std::vector<int64_t> change; ///< By stage: what lives through it, less that of the stage before.
  TimelineTree tree;
  double extraCost = 0;
  size_t repeatCount = 0;
  std::vector<double> weightBefore; ///< By stage: the sum of the weights of all earlier ones.
  double price = 0;

  struct ReaderChange {
    int32_t node, stage;
    bool adds;
  };
  std::vector<ReaderChange> readerChanges; ///< To be made.

  // Since the last commit: what there was before.
  std::vector<int32_t> edited, editedStages;
  std::vector<Touch> savedTouches;
  std::vector<LifeSpan> savedSpans;
  std::vector<int32_t> savedRepeats;
  std::vector<uint32_t> touchesEnd, spansEnd, repeatsEnd; ///< By edit, into these.
  std::vector<LifeSpan> added;
  std::vector<std::pair<int32_t, int64_t>> savedInner;
  std::vector<uint32_t> nodeStamp, stageStamp;
  uint32_t stamp = 1;
  double savedCost = 0;
  size_t savedRepeatCount = 0;

  // Scratch of settle.
  std::vector<LifeSpan> newSpans;
  std::vector<int32_t> dirtyStages;
  std::vector<uint32_t> dirtyStamp;
  uint32_t settleStamp = 0;
  GapBytes bytes;
};

} // namespace remat
