//===- ArenaLimitTest.cpp - A limit on the arena instead of the peak ------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Generate.h"
#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"

#include <gtest/gtest.h>

#include <string>

using namespace remat;

namespace {

class ArenaLimitTest : public testing::Test {
protected:
  int64_t peakOf(const Plan &plan) const { return simulate(graph, plan).peakBytes; }
  double costOf(const Plan &plan) const { return simulate(graph, plan).costNs; }

  /// `arenaOfPeak`: the arena of a plan with this peak.
  Expected<PolicyPlan> planWithin(int64_t limitBytes, std::function<int64_t(int64_t)> arenaOfPeak = {}) const {
    PlanOptions options;
    options.memoryLimit = std::to_string(limitBytes);
    options.effort = 10;
    if (arenaOfPeak)
      options.arenaOf = [=, this](const Plan &plan, int64_t) -> Expected<int64_t> { return arenaOfPeak(peakOf(plan)); };
    return plan(graph, options);
  }

  Graph graph = *generateGraph("transformer:layers=4");
  int64_t peak = peakOf(programOrder(graph));
};

TEST_F(ArenaLimitTest, UsesWhatArenasSaveOverPeaks) {
  // Every arena is a tenth of the step's peak smaller: 70 % of the peak hold what a peak of 80 % needs.
  int64_t limit = peak / 10 * 7, saved = peak / 10;
  auto arenaOf = [&](int64_t bytes) { return bytes - saved; };
  auto planned = planWithin(limit, arenaOf), byPeak = planWithin(limit), larger = planWithin(limit + saved);
  ASSERT_TRUE(planned && byPeak && larger);
  EXPECT_LE(arenaOf(peakOf(planned->plan)), limit);
  EXPECT_LT(costOf(planned->plan), costOf(byPeak->plan));
  EXPECT_LE(costOf(planned->plan), costOf(larger->plan) * 1.01);
  EXPECT_EQ(planned->limit->limitBytes, limit);
  EXPECT_LE(planned->limit->costBound, costOf(planned->plan));
}

TEST_F(ArenaLimitTest, LeavesRoomForWhatDoesNotPack) {
  int64_t limit = peak / 10 * 7;
  auto arenaOf = [](int64_t bytes) { return bytes + bytes / 10; };
  auto planned = planWithin(limit, arenaOf), smaller = planWithin(limit * 10 / 11);
  ASSERT_TRUE(planned && smaller);
  EXPECT_LE(arenaOf(peakOf(planned->plan)), limit);
  EXPECT_LE(costOf(planned->plan), costOf(smaller->plan) * 1.01);
}

TEST_F(ArenaLimitTest, LeavesAStepThatFitsAsItIs) {
  auto planned = planWithin(peak - peak / 10, [&](int64_t bytes) { return bytes - peak / 10; });
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->plan.steps, programOrder(graph).steps);
  EXPECT_EQ(planned->limit->costBound, costOf(planned->plan)) << "nothing costs less than every op once";
}

TEST_F(ArenaLimitTest, FitsArenasIntoLessThanAnyPeak) {
  int64_t floor = boundPeakFreeOrder(graph).bytes, saved = peak / 5, limit = floor - 1;
  ASSERT_FALSE(planWithin(limit));
  auto planned = planWithin(limit, [&](int64_t bytes) { return bytes - saved; });
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_LE(peakOf(planned->plan) - saved, limit);
}

TEST_F(ArenaLimitTest, SaysWhyThereIsNone) {
  std::string notProven = " bytes; it is not proven that there is none";
  auto tooLarge = planWithin(peak / 10 * 7, [&](int64_t) { return peak; });
  ASSERT_FALSE(tooLarge);
  EXPECT_EQ(tooLarge.error().message,
            "found no plan whose arena fits into " + std::to_string(peak / 10 * 7) + notProven);
  // A floor of peaks is none of arenas.
  auto belowFloor = planWithin(1000, [](int64_t bytes) { return bytes; });
  ASSERT_FALSE(belowFloor);
  EXPECT_EQ(belowFloor.error().message, "found no plan whose arena fits into 1000" + notProven);
  EXPECT_TRUE(belowFloor.error().note.starts_with("plans that give every value a place need at least " +
                                                  std::to_string(boundPeakFreeOrder(graph).bytes)))
      << belowFloor.error().note;
  PlanOptions options;
  options.memoryLimit = "70%";
  options.arenaOf = [](const Plan &, int64_t) -> Expected<int64_t> { return makeError("no layout"); };
  EXPECT_EQ(plan(graph, options).error().message, "no layout");
}

TEST_F(ArenaLimitTest, StartsWithWhatTheStepAsItCameSaves) {
  // At the floor of peaks a plan is dear, and within the same bytes an arena has room for a cheap one.
  int64_t saved = peak / 5, limit = boundPeakFreeOrder(graph).bytes * 102 / 100;
  auto planned = planWithin(limit, [&](int64_t bytes) { return bytes - saved; }), byPeak = planWithin(limit + saved);
  ASSERT_TRUE(planned && byPeak);
  EXPECT_LE(costOf(planned->plan), costOf(byPeak->plan) * 1.01);
}

} // namespace
