//===- LibraryTest.cpp - Dots, and what a step relies on ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AllocationCounter.h"
#include "LibraryCases.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>

namespace remat::runtime {
void limitKernelLevel(int level); // Of lib/Runtime/GemmKernels.h, which isn't public.
}

using namespace librarycases;

namespace {

/// Calls `use` with C's offset and the expected sum for each element.
template <typename Use>
void forEachDot(const MatmulSpec &spec, const Array &a, const Array &b, Use use) {
  int64_t batches = 1;
  for (int64_t size : spec.batch)
    batches *= size;
  for (int64_t number = 0; number < batches; ++number) {
    int64_t aAt = 0, bAt = 0, cAt = 0, rest = number;
    for (size_t i = spec.batch.size(); i-- > 0; rest /= spec.batch[i]) {
      int64_t digit = rest % spec.batch[i];
      aAt += digit * spec.aBatchStrides[i];
      bAt += digit * spec.bBatchStrides[i];
      cAt += digit * spec.cBatchStrides[i];
    }
    for (int64_t m = 0; m < spec.m; ++m)
      for (int64_t n = 0; n < spec.n; ++n) {
        Expected expected;
        for (int64_t k = 0; k < spec.k; ++k)
          expected.add(a.at(aAt + m * spec.aRowStride + k * spec.aColumnStride) *
                       b.at(bAt + k * spec.bRowStride + n * spec.bColumnStride));
        use(cAt + m * spec.cRowStride + n * spec.cColumnStride, expected);
      }
  }
}

std::string spell(const MatmulSpec &s) {
  std::string text = std::string(spell(s.a)) + "×" + std::string(spell(s.b)) + "->" + std::string(spell(s.c));
  for (int64_t x :
       {s.m, s.n, s.k, s.aRowStride, s.aColumnStride, s.bRowStride, s.bColumnStride, s.cRowStride, s.cColumnStride})
    text += " " + std::to_string(x);
  for (size_t i = 0; i < s.batch.size(); ++i)
    for (int64_t x : {s.batch[i], s.aBatchStrides[i], s.bBatchStrides[i], s.cBatchStrides[i]})
      text += " " + std::to_string(x);
  return text;
}

/// Lays out a tensor with dimensions of `sizes`, in a random order (or as they are), perhaps with gaps, and perhaps
/// with stride 0 in one of them. Returns the number of elements that it spans.
int64_t layOut(Random &random, const Dims &sizes, const std::vector<int64_t *> &strides, bool mayRepeat) {
  std::vector<size_t> order(sizes.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  if (random.below(3))
    std::shuffle(order.begin(), order.end(), random.engine);
  int64_t stride = random.below(8) ? 1 : 2,
          repeated = mayRepeat && !random.below(8) ? random.below(int64_t(sizes.size())) : -1;
  int64_t span = 1;
  for (size_t i = order.size(); i-- > 0;) {
    size_t dim = order[i];
    *strides[dim] = int64_t(dim) == repeated ? 0 : stride;
    span += *strides[dim] * std::max<int64_t>(0, sizes[dim] - 1);
    if (int64_t(dim) != repeated)
      stride = stride * std::max<int64_t>(1, sizes[dim]) + (random.below(6) ? 0 : 3);
  }
  return span;
}

struct DotCase {
  MatmulSpec spec;
  int64_t aCount = 0, bCount = 0, cCount = 0;
};

DotCase randomDot(Random &random, ElementType a, ElementType b, ElementType c) {
  DotCase dot;
  MatmulSpec &spec = dot.spec;
  spec.a = a;
  spec.b = b;
  spec.c = c;
  auto size = [&] { return random.pick({1, 1, 2, 3, 4, 7, 8, 13, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100}); };
  spec.m = size();
  spec.n = size();
  spec.k = random.below(6) ? size() : random.pick({0, 319, 320, 321, 700});
  for (int64_t rank = random.below(4); rank > 0; --rank)
    spec.batch.push_back(random.pick({1, 2, 3}));
  size_t rank = spec.batch.size();
  spec.aBatchStrides.resize(rank);
  spec.bBatchStrides.resize(rank);
  spec.cBatchStrides.resize(rank);
  auto lay = [&](Dims sizes, std::vector<int64_t *> strides, Dims &batchStrides, bool mayRepeat) {
    for (size_t i = rank; i-- > 0;) {
      sizes.insert(sizes.begin(), spec.batch[i]);
      strides.insert(strides.begin(), &batchStrides[i]);
    }
    return layOut(random, sizes, strides, mayRepeat);
  };
  dot.aCount = lay({spec.m, spec.k}, {&spec.aRowStride, &spec.aColumnStride}, spec.aBatchStrides, true);
  dot.bCount = lay({spec.k, spec.n}, {&spec.bRowStride, &spec.bColumnStride}, spec.bBatchStrides, true);
  dot.cCount = lay({spec.m, spec.n}, {&spec.cRowStride, &spec.cColumnStride}, spec.cBatchStrides, false);
  return dot;
}

void checkDot(const DotCase &dot, unsigned seed) {
  std::string error;
  std::mt19937 engine(seed);
  Array a(dot.spec.a, dot.aCount), b(dot.spec.b, dot.bCount), c(dot.spec.c, dot.cCount);
  a.fill(engine);
  b.fill(engine);
  std::unique_ptr<LibraryCall> call = makeMatmul(dot.spec, 1, error);
  ASSERT_TRUE(call) << error;
  std::vector<char> bytes = runFresh(*call, a, b, c);
  bool right = true;
  forEachDot(dot.spec, a, b, [&](int64_t at, const Expected &expected) {
    if (right && !(std::fabs(c.at(at) - expected.sum) <= expected.tolerance(dot.spec.c))) {
      right = false;
      ADD_FAILURE() << spell(dot.spec) << ": element " << at << " is " << c.at(at) << ", expected " << expected.sum;
    }
  });
  for (int threads : {2, 5}) {
    std::unique_ptr<LibraryCall> shared = makeMatmul(dot.spec, threads, error);
    EXPECT_EQ(runFresh(*shared, a, b, c), bytes) << spell(dot.spec) << " differs on " << threads << " threads";
  }
}

TEST(LibraryTest, DotsOfFloatsInAnyLayout) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    Random random(seed);
    checkDot(randomDot(random, ElementType::F32, ElementType::F32, ElementType::F32), seed);
  }
}

TEST(LibraryTest, DotsOfEveryType) {
  using E = ElementType;
  const E types[][3] = {{E::F64, E::F64, E::F64},       {E::BF16, E::BF16, E::BF16},      {E::F16, E::F16, E::F16},
                        {E::BF16, E::BF16, E::F32},     {E::F16, E::F16, E::F32},         {E::F32, E::BF16, E::F32},
                        {E::F8E5M2, E::F8E5M2, E::F32}, {E::F8E4M3FN, E::F8E5M2, E::F16}, {E::I32, E::I32, E::I32},
                        {E::I8, E::I8, E::I32},         {E::I64, E::I64, E::I64},         {E::I16, E::I16, E::I16}};
  for (unsigned seed = 0; seed < 360; ++seed) {
    Random random(seed);
    const E *type = types[seed % 12];
    checkDot(randomDot(random, type[0], type[1], type[2]), seed);
  }
}

TEST(LibraryTest, EveryInstructionSetIsRight) {
  for (int level : {0, 1}) {
    limitKernelLevel(level);
    for (unsigned seed = 1000; seed < 1150; ++seed) {
      Random random(seed);
      ElementType type = seed % 3 ? ElementType::F32 : ElementType::F64;
      checkDot(randomDot(random, type, type, type), seed);
    }
  }
  limitKernelLevel(2);
}

TEST(LibraryTest, LargeDotInAllTransposedForms) {
  // Several blocks of rows, columns and depths, and the last of each isn't full.
  for (int form = 0; form < 8; form += form == 5 ? 2 : 1) {
    DotCase dot;
    MatmulSpec &s = dot.spec;
    s.m = 230;
    s.n = 830;
    s.k = 325;
    std::tie(s.aRowStride, s.aColumnStride) = form & 1 ? std::tuple(int64_t(1), s.m) : std::tuple(s.k, int64_t(1));
    std::tie(s.bRowStride, s.bColumnStride) = form & 2 ? std::tuple(int64_t(1), s.k) : std::tuple(s.n, int64_t(1));
    std::tie(s.cRowStride, s.cColumnStride) = form & 4 ? std::tuple(int64_t(1), s.m) : std::tuple(s.n, int64_t(1));
    dot.aCount = s.m * s.k;
    dot.bCount = s.k * s.n;
    dot.cCount = s.m * s.n;
    checkDot(dot, unsigned(form));
  }
}

TEST(LibraryTest, RowsAtPowersOfTwo) {
  // Rows 4096 bytes apart are packed instead of read in place.
  DotCase dot;
  MatmulSpec &s = dot.spec;
  s.m = 40;
  s.n = 96;
  s.k = 1024;
  s.aRowStride = s.k;
  s.aColumnStride = s.bColumnStride = s.cColumnStride = 1;
  s.bRowStride = s.cRowStride = s.n;
  dot.aCount = s.m * s.k;
  dot.bCount = s.k * s.n;
  dot.cCount = s.m * s.n;
  checkDot(dot, 1);
}

TEST(LibraryTest, NothingToMultiplyGivesZeros) {
  DotCase dot;
  dot.spec.m = dot.spec.n = 20;
  dot.spec.k = 0;
  dot.spec.cRowStride = 20;
  dot.spec.cColumnStride = 1;
  dot.cCount = 400;
  checkDot(dot, 1);
}

TEST(LibraryTest, RefusesWhatItCannotMultiply) {
  std::string error;
  MatmulSpec spec;
  spec.a = ElementType::I1;
  EXPECT_FALSE(makeMatmul(spec, 1, error));
  EXPECT_EQ(error,
            "no kernel for i1 × f32 -> f32: the types must be floats, or integers of at least 8 bits; convert first");
  spec.a = ElementType::F32;
  spec.m = 2;
  EXPECT_FALSE(makeMatmul(spec, 1, error));
  EXPECT_EQ(error, "the result has a stride of 0: elements would be written twice");
  spec.batch = {2};
  EXPECT_FALSE(makeMatmul(spec, 1, error));
  EXPECT_EQ(error, "expected 1 batch strides for each operand and the result, found 0, 0 and 0");
}

struct LargeCalls {
  std::unique_ptr<LibraryCall> dot, convolution;
  Array a{ElementType::F32, 300 * 400}, b{ElementType::F32, 300 * 400}, c{ElementType::F32, 300 * 400};
  explicit LargeCalls(int threads) {
    std::string error;
    MatmulSpec spec;
    spec.m = spec.n = 300;
    spec.k = 400;
    spec.aRowStride = 400;
    spec.bRowStride = spec.cRowStride = 300;
    spec.aColumnStride = spec.bColumnStride = spec.cColumnStride = 1;
    dot = makeMatmul(spec, threads, error);
    ConvolutionSpec image = imageConvolution({4, 20, 20, 24}, {3, 3, 24, 64}, {1, 1}, {1, 1, 1, 1});
    finish(image);
    convolution = makeConvolution(image, threads, error);
    std::mt19937 engine(1);
    a.fill(engine);
    b.fill(engine);
  }
};

TEST(LibraryTest, RunsAllocateNothing) {
  for (int threads : {1, 2}) {
    LargeCalls calls(threads);
    Array workspace(ElementType::I8, std::max(calls.dot->workspaceBytes(), calls.convolution->workspaceBytes()));
    auto run = [&] {
      calls.dot->run(calls.a.data(), calls.b.data(), calls.c.data(), workspace.data());
      calls.convolution->run(calls.a.data(), calls.b.data(), calls.c.data(), workspace.data());
    };
    run();
    int64_t before = allocationCount();
    for (int i = 0; i < 10; ++i)
      run();
    EXPECT_EQ(allocationCount() - before, 0) << "on " << threads << " threads";
  }
}

TEST(LibraryTest, SeveralCallersAtOnceGetTheSameBits) {
  LargeCalls first(2);
  std::vector<char> expected = runFresh(*first.dot, first.a, first.b, first.c);
  std::vector<std::thread> callers;
  std::vector<int> different(4);
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      LargeCalls own(2);
      for (int i = 0; i < 5; ++i)
        different[size_t(caller)] += runFresh(*own.dot, own.a, own.b, own.c) != expected;
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(different, std::vector<int>(4, 0));
}

} // namespace
