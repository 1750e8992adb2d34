//===- ConvolutionTest.cpp - Convolutions of every form -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCases.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace librarycases;

namespace {

int64_t at(const TensorType &type, const Dims &index) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i)
    offset = offset * type.shape[i] + index[i];
  return offset;
}

bool increment(Dims &index, const Dims &sizes) {
  for (size_t i = sizes.size(); i-- > 0; index[i] = 0)
    if (++index[i] < sizes[i])
      return true;
  return false;
}

bool empty(const Dims &sizes) {
  for (int64_t size : sizes)
    if (size == 0)
      return true;
  return false;
}

/// StableHLO's definition for one element of the result.
Expected convolve(const ConvolutionSpec &spec, const Dims &out, const Array &lhs, const Array &rhs) {
  size_t rank = spec.strides.size();
  Expected expected;
  int64_t batch = out[size_t(spec.resultDims[0])], feature = out[size_t(spec.resultDims[1])];
  int64_t features = spec.rhs.shape[size_t(spec.rhsDims[1])], inputs = spec.rhs.shape[size_t(spec.rhsDims[0])];
  int64_t batches = spec.result.shape[size_t(spec.resultDims[0])];
  Dims window{inputs}, at0(rank + 1);
  for (size_t d = 0; d < rank; ++d)
    window.push_back(spec.rhs.shape[size_t(spec.rhsDims[d + 2])]);
  if (empty(window))
    return expected;
  Dims tap(rank + 1);
  do {
    Dims left(rank + 2), right(rank + 2);
    left[size_t(spec.lhsDims[0])] = batch + feature / (features / spec.batchGroups) * batches;
    left[size_t(spec.lhsDims[1])] = feature / (features / spec.featureGroups) * inputs + tap[0];
    right[size_t(spec.rhsDims[0])] = tap[0];
    right[size_t(spec.rhsDims[1])] = feature;
    bool inside = true;
    for (size_t d = 0; d < rank; ++d) {
      int64_t position = out[size_t(spec.resultDims[d + 2])] * spec.strides[d] + tap[d + 1] * spec.rhsDilation[d] -
                         spec.padding[2 * d];
      int64_t size = spec.lhs.shape[size_t(spec.lhsDims[d + 2])];
      inside &= position >= 0 && position % spec.lhsDilation[d] == 0 && position / spec.lhsDilation[d] < size;
      left[size_t(spec.lhsDims[d + 2])] = position / spec.lhsDilation[d];
      bool reversed = !spec.reversed.empty() && spec.reversed[d];
      right[size_t(spec.rhsDims[d + 2])] = reversed ? window[d + 1] - 1 - tap[d + 1] : tap[d + 1];
    }
    if (inside)
      expected.add(lhs.at(at(spec.lhs, left)) * rhs.at(at(spec.rhs, right)));
  } while (increment(tap, window));
  return expected;
}

std::string spell(const ConvolutionSpec &s) {
  std::string text = spell(s.lhs) + " * " + spell(s.rhs) + " -> " + spell(s.result);
  for (const Dims *list :
       {&s.strides, &s.padding, &s.lhsDilation, &s.rhsDilation, &s.lhsDims, &s.rhsDims, &s.resultDims}) {
    text += " [";
    for (int64_t x : *list)
      text += std::to_string(x) + " ";
    text += "]";
  }
  for (uint8_t flip : s.reversed)
    text += flip ? " reversed" : " -";
  return text + " groups " + std::to_string(s.featureGroups) + " " + std::to_string(s.batchGroups);
}

void checkConvolution(const ConvolutionSpec &spec, unsigned seed) {
  std::string error;
  std::mt19937 engine(seed);
  Array a(spec.lhs.element, spec.lhs.elements()), b(spec.rhs.element, spec.rhs.elements()),
      c(spec.result.element, spec.result.elements());
  a.fill(engine);
  b.fill(engine);
  std::unique_ptr<LibraryCall> call = makeConvolution(spec, 1, error);
  ASSERT_TRUE(call) << error << ": " << spell(spec);
  std::vector<char> bytes = runFresh(*call, a, b, c);
  Dims out(spec.result.shape.size());
  if (!empty(spec.result.shape))
    do {
      Expected expected = convolve(spec, out, a, b);
      double found = c.at(at(spec.result, out));
      ASSERT_LE(std::fabs(found - expected.sum), expected.tolerance(spec.result.element))
          << spell(spec) << ": element " << at(spec.result, out) << " is " << found << ", expected " << expected.sum;
      ASSERT_FALSE(std::isnan(found)) << spell(spec);
    } while (increment(out, spec.result.shape));
  std::unique_ptr<LibraryCall> shared = makeConvolution(spec, 3, error);
  EXPECT_EQ(runFresh(*shared, a, b, c), bytes) << spell(spec) << " differs on 3 threads";
}

Dims randomOrder(Random &random, size_t rank) {
  Dims order(rank);
  for (size_t i = 0; i < rank; ++i)
    order[i] = int64_t(i);
  std::shuffle(order.begin(), order.end(), random.engine);
  return order;
}

bool randomConvolution(Random &random, ElementType type, ConvolutionSpec &spec) {
  size_t rank = size_t(random.pick({0, 1, 1, 2, 2, 2, 2, 3, 3, 4}));
  bool channelsLast = random.below(2);
  spec.lhs.element = spec.rhs.element = spec.result.element = type;
  spec.lhs.shape.assign(rank + 2, 1);
  spec.rhs.shape.assign(rank + 2, 1);
  spec.lhsDims = randomOrder(random, rank + 2);
  spec.rhsDims = randomOrder(random, rank + 2);
  spec.resultDims = randomOrder(random, rank + 2);
  if (channelsLast)
    for (Dims *dims : {&spec.lhsDims, &spec.resultDims}) {
      *dims = {0, int64_t(rank + 1)};
      for (size_t d = 0; d < rank; ++d)
        dims->push_back(int64_t(d + 1));
    }
  int64_t groups = random.pick({1, 1, 1, 2, 3, 12}), inputs = random.pick({1, 2, 3, 5, 16, 20}),
          outputs = random.pick({1, 2, 3, 8, 17, 33}), batch = random.pick({1, 2, 3, 17});
  (random.below(3) ? spec.featureGroups : spec.batchGroups) = groups;
  spec.lhs.shape[size_t(spec.lhsDims[0])] = batch * spec.batchGroups;
  spec.lhs.shape[size_t(spec.lhsDims[1])] = inputs * spec.featureGroups;
  spec.rhs.shape[size_t(spec.rhsDims[0])] = inputs;
  spec.rhs.shape[size_t(spec.rhsDims[1])] = outputs * groups;
  for (size_t d = 0; d < rank; ++d) {
    spec.lhs.shape[size_t(spec.lhsDims[d + 2])] = 1 + random.below(rank > 2 ? 5 : 9);
    spec.rhs.shape[size_t(spec.rhsDims[d + 2])] = 1 + random.below(4);
    spec.strides.push_back(random.pick({1, 1, 1, 2, 3}));
    spec.lhsDilation.push_back(random.pick({1, 1, 1, 2, 3}));
    spec.rhsDilation.push_back(random.pick({1, 1, 1, 2, 4}));
    spec.padding.push_back(random.below(6) - 2);
    spec.padding.push_back(random.below(6) - 2);
    if (random.below(2))
      spec.reversed.resize(rank);
  }
  for (uint8_t &flip : spec.reversed)
    flip = uint8_t(random.below(2));
  return finish(spec);
}

TEST(ConvolutionTest, ConvolutionsOfEveryForm) {
  int checked = 0;
  for (unsigned seed = 0; checked < 500; ++seed) {
    Random random(seed);
    ConvolutionSpec spec;
    ElementType type = seed % 5 ? ElementType::F32 : random.below(2) ? ElementType::F64 : ElementType::BF16;
    if (!randomConvolution(random, type, spec) || spec.result.elements() * spec.rhs.elements() > 3000000)
      continue;
    checkConvolution(spec, seed);
    ++checked;
    if (HasFatalFailure())
      return;
  }
}

TEST(ConvolutionTest, ConvolutionAndItsGradientsAsJaxWritesThem) {
  // y = x[2,9,9,20] * w[3,3,20,24], stride 2, padding 1: 9 -> (9 + 2 - 3) / 2 + 1 = 5.
  ConvolutionSpec forward = imageConvolution({2, 9, 9, 20}, {3, 3, 20, 24}, {2, 2}, {1, 1, 1, 1});
  ASSERT_TRUE(finish(forward));
  EXPECT_EQ(forward.result.shape, (Dims{2, 5, 5, 24}));
  checkConvolution(forward, 1);
  // dx: dy dilated by 2 (9 wide), padded by 1 on both sides, with the flipped kernel: 9 + 2 - 3 + 1 = 9.
  ConvolutionSpec data = imageConvolution({2, 5, 5, 24}, {3, 3, 20, 24}, {1, 1}, {1, 1, 1, 1});
  data.lhsDilation = {2, 2};
  data.rhsDims = {3, 2, 0, 1};
  data.reversed = {1, 1};
  ASSERT_TRUE(finish(data));
  EXPECT_EQ(data.result.shape, forward.lhs.shape);
  checkConvolution(data, 2);
  // dw: batch and features change places, the gradient is a kernel of 5 × 5 taps at distance 2: 9 + 2 - 9 + 1 = 3.
  ConvolutionSpec filter = imageConvolution({2, 9, 9, 20}, {2, 5, 5, 24}, {1, 1}, {1, 1, 1, 1});
  filter.rhsDilation = {2, 2};
  filter.lhsDims = {3, 0, 1, 2};
  filter.rhsDims = {0, 3, 1, 2};
  filter.resultDims = {2, 3, 0, 1};
  ASSERT_TRUE(finish(filter));
  EXPECT_EQ(filter.result.shape, forward.rhs.shape);
  checkConvolution(filter, 3);
}

TEST(ConvolutionTest, ConvolutionsOfSeveralBlocks) {
  // Rows: 2 · 13 · 13 = 338 of at most 224 in a block; depths: 3 · 3 · 40 = 360 of at most 320.
  ConvolutionSpec forward = imageConvolution({2, 13, 13, 40}, {3, 3, 40, 24}, {1, 1}, {1, 1, 1, 1});
  ASSERT_TRUE(finish(forward));
  checkConvolution(forward, 1);
  // The filter's gradient the other way round: 360 rows, 338 depths.
  ConvolutionSpec filter = imageConvolution({2, 13, 13, 40}, {2, 13, 13, 24}, {1, 1}, {1, 1, 1, 1});
  filter.lhsDims = {3, 0, 1, 2};
  filter.rhsDims = {0, 3, 1, 2};
  filter.resultDims = {2, 3, 0, 1};
  ASSERT_TRUE(finish(filter));
  checkConvolution(filter, 2);
  // The same with features before space.
  ConvolutionSpec featuresFirst = forward;
  featuresFirst.lhs.shape = {2, 40, 13, 13};
  featuresFirst.rhs.shape = {24, 40, 3, 3};
  featuresFirst.lhsDims = featuresFirst.resultDims = {0, 1, 2, 3};
  featuresFirst.rhsDims = {1, 0, 2, 3};
  ASSERT_TRUE(finish(featuresFirst));
  checkConvolution(featuresFirst, 3);
  ConvolutionSpec filterFirst = filter;
  filterFirst.lhs.shape = {2, 40, 13, 13};
  filterFirst.rhs.shape = {2, 24, 13, 13};
  filterFirst.lhsDims = {1, 0, 2, 3};
  filterFirst.rhsDims = {0, 1, 2, 3};
  filterFirst.resultDims = {1, 0, 2, 3};
  ASSERT_TRUE(finish(filterFirst));
  checkConvolution(filterFirst, 4);
}

TEST(ConvolutionTest, DepthwiseConvolutionAndItsGradients) {
  ConvolutionSpec forward = imageConvolution({2, 7, 7, 40}, {3, 3, 1, 40}, {1, 1}, {1, 1, 1, 1});
  forward.featureGroups = 40;
  ASSERT_TRUE(finish(forward));
  checkConvolution(forward, 1);
  ConvolutionSpec data = forward;
  data.reversed = {1, 1};
  checkConvolution(data, 2);
  ConvolutionSpec filter = imageConvolution({2, 7, 7, 40}, {2, 7, 7, 40}, {1, 1}, {1, 1, 1, 1});
  filter.batchGroups = 40;
  filter.lhsDims = {3, 0, 1, 2};
  filter.rhsDims = {0, 3, 1, 2};
  filter.resultDims = {2, 3, 0, 1};
  ASSERT_TRUE(finish(filter));
  EXPECT_EQ(filter.result.shape, (Dims{3, 3, 1, 40}));
  checkConvolution(filter, 3);
}

TEST(ConvolutionTest, RefusesConvolutionsThatAreNone) {
  std::string error;
  ConvolutionSpec spec = imageConvolution({2, 7, 7, 4}, {3, 3, 4, 5}, {1, 1}, {1, 1, 1, 1});
  ASSERT_TRUE(finish(spec));
  ConvolutionSpec wrong = spec;
  wrong.result.shape[1] = 6;
  EXPECT_FALSE(makeConvolution(wrong, 1, error));
  EXPECT_EQ(error, "expected a result of batch, feature and space [2, 5, 7, 7], found [2, 5, 6, 7]");
  wrong = spec;
  wrong.featureGroups = 2;
  EXPECT_FALSE(makeConvolution(wrong, 1, error));
  EXPECT_EQ(error, "groups don't divide batch 2 and features 4 × 4 -> 5");
  wrong = spec;
  wrong.lhsDims = {0, 3, 1, 1};
  EXPECT_FALSE(makeConvolution(wrong, 1, error));
  EXPECT_EQ(error, "dimension numbers [0, 3, 1, 1] don't fit a tensor of shape [2, 7, 7, 4]");
  wrong = spec;
  wrong.strides = {1, 0};
  EXPECT_FALSE(makeConvolution(wrong, 1, error));
  EXPECT_EQ(error, "strides and dilations must be at least 1, found [1, 0]");
}

} // namespace
