//===- ArenaTest.cpp - Packing buffers with lifetimes ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace remat;

namespace {

using Buffers = std::vector<ArenaBuffer>;

/// The least arena for some buffers: places them in every order of rising offsets, each on what lies below it. The
/// best packing, once everything in it has slid down, is one of these.
struct BruteForce {
  const Buffers &buffers;
  std::vector<int64_t> offsets = std::vector<int64_t>(buffers.size(), -1);
  int64_t least = INT64_MAX;

  void place(size_t placedCount, int64_t lastOffset, int64_t height) {
    if (height >= least)
      return;
    if (placedCount == buffers.size())
      least = height;
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (offsets[i] >= 0)
        continue;
      int64_t offset = restingOffset(buffers[i]);
      if (offset < lastOffset)
        continue;
      offsets[i] = offset;
      place(placedCount + 1, offset, std::max(height, offset + buffers[i].bytes));
      offsets[i] = -1;
    }
  }

  int64_t restingOffset(const ArenaBuffer &buffer) const {
    int64_t offset = 0;
    for (size_t j = 0; j < buffers.size(); ++j)
      if (const ArenaBuffer &below = buffers[j];
          offsets[j] >= 0 && below.begin < buffer.end && buffer.begin < below.end)
        offset = std::max(offset, offsets[j] + below.bytes);
    return offset;
  }
};

int64_t leastByBruteForce(const Buffers &buffers) {
  BruteForce search{buffers};
  search.place(0, 0, 0);
  return search.least;
}

Buffers randomBuffers(std::mt19937 &random, size_t count, int64_t steps, int64_t mostBytes) {
  Buffers buffers;
  for (size_t i = 0; i < count; ++i) {
    int64_t begin = random() % steps;
    buffers.push_back({begin, begin + 1 + int64_t(random() % (steps - begin)), int64_t(1 + random() % mostBytes)});
  }
  return buffers;
}

/// Buffers that take exactly `height` bytes at every step: what ends is replaced by buffers of the same sum.
Buffers tightBuffers(std::mt19937 &random, int64_t steps, int64_t height) {
  Buffers done, alive;
  int64_t room = height;
  for (int64_t step = 0; step < steps; ++step) {
    for (size_t i = alive.size(); i-- > 0;)
      if (step > 0 && random() % 3 == 0) {
        alive[i].end = step;
        room += alive[i].bytes;
        done.push_back(alive[i]);
        alive.erase(alive.begin() + i);
      }
    for (; room > 0; room -= alive.back().bytes)
      alive.push_back({step, steps, 1 + int64_t(random() % room)});
  }
  done.insert(done.end(), alive.begin(), alive.end());
  return done;
}

int64_t livePeak(const Buffers &buffers, int64_t steps) {
  int64_t peak = 0;
  for (int64_t step = 0; step < steps; ++step) {
    int64_t alive = 0;
    for (const ArenaBuffer &buffer : buffers)
      alive += buffer.begin <= step && step < buffer.end ? buffer.bytes : 0;
    peak = std::max(peak, alive);
  }
  return peak;
}

TEST(ArenaTest, BuffersThatAreNotAliveTogetherShareBytes) {
  // a [0,2) 128, b [1,3) 64, c [2,3) 128: live peak 128 + 64 = 192; c takes a's place.
  Buffers buffers = {{0, 2, 128}, {1, 3, 64}, {2, 3, 128}};
  auto plan = packArena(buffers);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->bytes, 192);
  EXPECT_EQ(plan->livePeakBytes, 192);
  EXPECT_TRUE(plan->provenOptimal);
  EXPECT_EQ(plan->offsets[0], plan->offsets[2]);
  EXPECT_FALSE(verifyArena(buffers, plan->offsets, 64, 192));
}

TEST(ArenaTest, SizesAreRoundedUpToTheAlignment) {
  // 1 -> 64, 65 -> 128, 64 -> 64: 256 bytes alive together.
  Buffers buffers = {{0, 1, 1}, {0, 1, 65}, {0, 1, 64}};
  auto plan = packArena(buffers);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->livePeakBytes, 256);
  EXPECT_EQ(plan->bytes, 256);
  EXPECT_FALSE(verifyArena(buffers, plan->offsets, 64));
}

TEST(ArenaTest, EmptyBuffersAndLifetimesTakeNoPlace) {
  auto plan = packArena(Buffers{{0, 5, 0}, {3, 3, 1000}, {0, 5, 64}, {-4, -4, 0}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->bytes, 64);
  EXPECT_EQ(plan->offsets, (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_FALSE(verifyArena(Buffers{{3, 3, 1000}, {0, 5, 64}}, std::vector<int64_t>{0, 0}, 64, 64));
  auto nothing = packArena(Buffers{});
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->bytes, 0);
  EXPECT_TRUE(nothing->provenOptimal);
}

TEST(ArenaTest, EightBuffersMayNeedMoreThanTheirLivePeak) {
  // Alive at every step are 6 bytes: 3+3, 3+1+2, 2+1+1+2, 1+2+3, 3+3. No order of these leaves no hole.
  Buffers buffers = {{0, 1, 3}, {0, 2, 3}, {2, 3, 2}, {1, 3, 1}, {2, 4, 1}, {1, 4, 2}, {3, 5, 3}, {4, 5, 3}};
  EXPECT_EQ(livePeak(buffers, 5), 6);
  EXPECT_EQ(leastByBruteForce(buffers), 7);
  auto plan = packArena(buffers, {.alignment = 1});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->bytes, 7);
  EXPECT_TRUE(plan->provenOptimal);
}

TEST(ArenaTest, ProofsAboveTheLivePeakAgreeWithBruteForce) {
  std::mt19937 random(7);
  size_t aboveLivePeak = 0;
  for (int round = 0; round < 100'000; ++round) {
    Buffers buffers = tightBuffers(random, 5, 6);
    if (buffers.size() > 10)
      continue; // Brute force would take too long.
    auto plan = packArena(buffers, {.alignment = 1});
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->provenOptimal);
    EXPECT_FALSE(verifyArena(buffers, plan->offsets, 1, plan->bytes));
    if (plan->bytes == 6)
      continue; // The live peak, which is a proof by itself.
    ++aboveLivePeak;
    EXPECT_EQ(plan->bytes, leastByBruteForce(buffers));
  }
  EXPECT_GT(aboveLivePeak, 5u);
}

TEST(ArenaTest, AgreesWithBruteForceAtAndBelowTheOptimum) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    size_t count = 1 + random() % 7;
    Buffers buffers = randomBuffers(random, count, 6, 20);
    int64_t least = leastByBruteForce(buffers), peak = livePeak(buffers, 6);
    ASSERT_GE(least, peak);
    auto plan = packArena(buffers, {.alignment = 1, .capacity = least});
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->livePeakBytes, peak);
    EXPECT_LE(plan->bytes, least);
    auto wrong = verifyArena(buffers, plan->offsets, 1, least);
    EXPECT_FALSE(wrong) << wrong->message;
    auto below = packArena(buffers, {.alignment = 1, .capacity = least - 1});
    ASSERT_FALSE(below);
    EXPECT_NE(below.error().message.find("too small"), std::string::npos) << below.error().message;
  }
}

TEST(ArenaTest, LargerInstancesAreLegalAndRepeatable) {
  std::mt19937 random(3);
  for (size_t count : {30, 100, 300, 1000}) {
    Buffers buffers = randomBuffers(random, count, int64_t(count), 5000);
    ArenaOptions options{.effort = 1'000'000};
    auto plan = packArena(buffers, options), again = packArena(buffers, options);
    ASSERT_TRUE(plan);
    auto wrong = verifyArena(buffers, plan->offsets, 64, plan->bytes);
    EXPECT_FALSE(wrong) << wrong->message;
    EXPECT_GE(plan->bytes, plan->livePeakBytes);
    EXPECT_EQ(plan->offsets, again->offsets);
  }
}

/// Saved values of a chain of `layers`: made in the forward part, read in mirrored order in the backward part, with two
/// short-lived values at every step.
Buffers trainingStep(int64_t layers) {
  std::mt19937 random(5);
  Buffers buffers;
  for (int64_t layer = 0; layer < layers; ++layer) {
    buffers.push_back({layer, 2 * layers - layer, int64_t(64 * (1 + random() % 64))});
    for (int64_t step : {layer, 2 * layers - 1 - layer})
      for (int64_t length : {1, 2})
        buffers.push_back({step, std::min(step + length, 2 * layers), int64_t(1 + random() % 8192)});
  }
  return buffers;
}

TEST(ArenaTest, ATrainingStepIsPackedAtItsLivePeak) {
  // 5 buffers a layer: 100,000 buffers, of which 20,000 are alive in the middle.
  for (int64_t layers : {10, 1000, 20'000}) {
    Buffers buffers = trainingStep(layers);
    auto plan = packArena(buffers);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->bytes, plan->livePeakBytes);
    EXPECT_TRUE(plan->provenOptimal);
    auto wrong = verifyArena(buffers, plan->offsets, 64, plan->bytes);
    EXPECT_FALSE(wrong) << wrong->message;
  }
}

TEST(ArenaTest, OrdersAtRandomPackWhatNoKeyDoes) {
  // Sizes of 64 bytes to 2 MiB in powers of two, where the small ones live longest: the three keys stay 5 % above the
  // live peak, and the search finds nothing.
  std::mt19937 random(4);
  constexpr int sizes = 16;
  constexpr int64_t steps = 200;
  Buffers buffers;
  for (int i = 0; i < 300; ++i) {
    int64_t begin = random() % steps;
    int size = random() % sizes;
    int64_t length = 1 + random() % (8 + 12 * (sizes - 1 - size));
    buffers.push_back({begin, std::min(steps, begin + length), int64_t(64) << size});
  }
  auto byKeys = packArena(buffers, {.effort = 0}), plan = packArena(buffers, {.effort = 20'000'000});
  ASSERT_TRUE(byKeys && plan);
  EXPECT_GT(byKeys->bytes, plan->livePeakBytes * 105 / 100);
  EXPECT_LT(plan->bytes, plan->livePeakBytes * 101 / 100);
  auto wrong = verifyArena(buffers, plan->offsets, 64, plan->bytes);
  EXPECT_FALSE(wrong) << wrong->message;
}

TEST(ArenaTest, SeparatePartsOfTimeArePackedApart) {
  // [0,2) needs 3 + 3 = 6 units of 64, [10,12) needs 2: the peak is the first one's.
  auto plan = packArena(Buffers{{0, 2, 192}, {10, 12, 128}, {0, 2, 192}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->bytes, 384);
  EXPECT_EQ(plan->offsets[1], 0);
}

TEST(ArenaTest, RefusesACapacityBelowTheLivePeak) {
  auto plan = packArena(Buffers{{0, 2, 100}, {1, 3, 60}}, {.alignment = 1, .capacity = 159});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "a capacity of 159 bytes is too small: 160 bytes are alive together at step 1");
  EXPECT_NE(plan.error().note.find("160 or more"), std::string::npos);
}

TEST(ArenaTest, SaysThatNothingIsProvenWhereTheEffortEnds) {
  // Of random instances some stay above the live peak without a search; with no effort at all nothing is proven.
  std::mt19937 random(11);
  size_t unproven = 0;
  for (int round = 0; round < 50; ++round) {
    Buffers buffers = randomBuffers(random, 60, 40, 1000);
    auto plan = packArena(buffers, {.alignment = 1, .effort = 0});
    ASSERT_TRUE(plan);
    if (plan->provenOptimal)
      continue;
    auto tight = packArena(buffers, {.alignment = 1, .capacity = plan->livePeakBytes, .effort = 0});
    ASSERT_FALSE(tight);
    EXPECT_NE(tight.error().message.find("not proven"), std::string::npos) << tight.error().message;
    ++unproven;
  }
  EXPECT_GT(unproven, 0u);
}

TEST(ArenaTest, RefusesBadBuffers) {
  auto error = [](Buffers buffers, ArenaOptions options = {}) {
    auto plan = packArena(buffers, options);
    return plan ? "" : plan.error().place + ": " + plan.error().message;
  };
  EXPECT_EQ(error({{0, 1, 4}, {2, 1, 4}}), "buffer 1: its lifetime begins at 2, after its end 1");
  EXPECT_EQ(error({{0, 1, -4}}), "buffer 0: its size -4 is negative");
  EXPECT_EQ(error({{0, 1, INT64_MAX}}), "buffer 0: the sizes up to here add up to more than 2^63-1 bytes");
  EXPECT_EQ(error({{0, 1, INT64_MAX / 2}, {0, 1, INT64_MAX / 2}, {0, 1, 2}}, {.alignment = 1}),
            "buffer 2: the sizes up to here add up to more than 2^63-1 bytes");
  EXPECT_EQ(error({}, {.alignment = 0}), ": an alignment of 0: it must be at least 1");
}

TEST(ArenaTest, TheJudgeFindsEveryKindOfFault) {
  Buffers buffers = {{0, 2, 64}, {1, 3, 64}, {2, 4, 64}};
  auto fault = [&](std::vector<int64_t> offsets, std::optional<int64_t> capacity = {}) {
    auto error = verifyArena(buffers, offsets, 64, capacity);
    return error ? error->place + ": " + error->message : "";
  };
  EXPECT_EQ(fault({0, 64, 0}, 128), ""); // The first ends where the third begins.
  EXPECT_EQ(fault({0, 0, 64}),
            "buffer 1: 64 bytes at offset 0 overlap buffer 0 (64 bytes at offset 0), which is alive at step 1 too");
  EXPECT_EQ(fault({0, 32, 128}), "buffer 1: expected an offset that is a multiple of 64, found 32");
  EXPECT_EQ(fault({0, -64, 0}), "buffer 1: expected an offset that is a multiple of 64, found -64");
  EXPECT_EQ(fault({0, 64, 128}, 128), "buffer 2: 64 bytes at offset 128 end above the capacity of 128 bytes");
  EXPECT_EQ(fault({0, 64}), ": 2 offsets for 3 buffers");
}

} // namespace
