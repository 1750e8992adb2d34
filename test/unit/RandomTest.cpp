//===- RandomTest.cpp ------------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The expected numbers are numpy's, by the reference implementation of the rule.
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Inputs.h"

#include <gtest/gtest.h>

using namespace remat::runtime;

static std::vector<uint32_t> bitsOf(const TensorType &type, const RandomRule &rule, uint32_t argument) {
  std::vector<uint32_t> bits(size_t(type.elements()));
  fillRandom(type, rule, 42, argument, bits.data());
  return bits;
}

TEST(RandomTest, makesFloats) {
  EXPECT_EQ(bitsOf({ElementType::F32, {6}}, {false, 0, 0x1p-5f, 0}, 0),
            (std::vector<uint32_t>{0xbc207818, 0x3ce957a2, 0xba5fa640, 0xbcdd8346, 0x3c352964, 0xbcdd6f4a}));
  EXPECT_EQ(bitsOf({ElementType::F32, {2, 3}}, {false, 1, 0x1p-4f, 0}, 3),
            (std::vector<uint32_t>{0x3f76609a, 0x3f7f5dae, 0x3f7216d5, 0x3f81de44, 0x3f827155, 0x3f82afe7}));
}

TEST(RandomTest, makesIntegers) {
  RandomRule rule{true, 0, 0, 4096};
  EXPECT_EQ(bitsOf({ElementType::I32, {6}}, rule, 5), (std::vector<uint32_t>{271, 2543, 3967, 2274, 1680, 747}));
  std::vector<int64_t> wide(6);
  fillRandom({ElementType::I64, {6}}, rule, 42, 5, wide.data());
  EXPECT_EQ(wide, (std::vector<int64_t>{271, 2543, 3967, 2274, 1680, 747}));
  EXPECT_EQ(bitsOf({ElementType::I32, {2}}, defaultRule(ElementType::I32), 5), (std::vector<uint32_t>{0, 0}));
}

TEST(RandomTest, makesOtherFloatsOfTheSameNumbers) {
  // 0xbc207818 and 0x3ce957a2 to the nearest bf16.
  std::vector<uint16_t> brain(2);
  fillRandom({ElementType::BF16, {2}}, defaultRule(ElementType::BF16), 42, 0, brain.data());
  EXPECT_EQ(brain, (std::vector<uint16_t>{0xbc20, 0x3ce9}));
  std::vector<double> wide(1);
  fillRandom({ElementType::F64, {1}}, defaultRule(ElementType::F64), 42, 0, wide.data());
  EXPECT_EQ(wide[0], -0x1.40f030p-7);
}

TEST(RandomTest, sumsResults) {
  TensorType type{ElementType::F32, {1000, 3}};
  std::vector<uint32_t> bits = bitsOf(type, {false, 0, 0.25, 0}, 7);
  uint32_t all = 0;
  for (uint32_t each : bits)
    all ^= each;
  EXPECT_EQ(all, 0x29d71b2u);
  Checksum first = computeChecksum(0, type, false, bits.data()), eighth = computeChecksum(7, type, false, bits.data());
  EXPECT_NEAR(first.sum, 15.579606622457504, 1e-12);
  EXPECT_NEAR(first.absoluteSum, 375.5747044980526, 1e-11);
  EXPECT_NEAR(first.weightedSum, 2.622322301788639, 1e-12);
  EXPECT_EQ(first.max, 0.24998721480369568);
  // Results differ by their weights alone.
  EXPECT_NEAR(eighth.weightedSum, 1.0197506151956404, 1e-12);
  EXPECT_EQ(eighth.sum, first.sum);
  int32_t integers[] = {271, 2543, 3967, 2274, 1680, 747};
  Checksum third = computeChecksum(2, {ElementType::I32, {6}}, false, integers);
  EXPECT_EQ(third.sum, 11482);
  EXPECT_NEAR(third.weightedSum, -526.2516330480576, 1e-9);
}

TEST(RandomTest, readsRules) {
  auto rules = parseRules("index\tio\tname\trule\toffset\tscale\tmax\n"
                          "0\tin\tw\tf\t1\t0.0625\t0\n"
                          "3\tin\tids\ti\t0\t0\t4096\n"
                          "0\tout\tloss\t-\t-\t-\t-\n",
                          "x.args.tsv");
  ASSERT_TRUE(rules) << rules.error().str();
  ASSERT_EQ(rules->size(), 2u);
  EXPECT_EQ(rules->at(0).offset, 1);
  EXPECT_EQ(rules->at(0).scale, 0.0625f);
  EXPECT_TRUE(rules->at(3).isInteger);
  EXPECT_EQ(rules->at(3).max, 4096u);
  auto none = parseRules("index\tio\trole\n0\tin\tparam\n", "x.args.tsv");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  auto bad = parseRules("index\tio\trule\toffset\tscale\tmax\n0\tin\tq\t0\t0\t0\n", "x.args.tsv");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().str(), "x.args.tsv:2: the row can't be read");
}
