//===- ExecutorTest.cpp ----------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AllocationCounter.h"
#include "TestPrograms.h"
#include "remat/Runtime/Library.h"
#include "remat/Runtime/Processor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <thread>

using namespace remat::runtime;

static std::shared_ptr<const Executable> make(Program program, std::vector<KernelFunction> kernels = chainKernels()) {
  auto executable = Executable::create(std::move(program), std::move(kernels));
  EXPECT_TRUE(executable) << executable.error().str();
  return *executable;
}

static std::unique_ptr<Context> contextOf(std::shared_ptr<const Executable> executable) {
  auto context = Context::create(std::move(executable));
  EXPECT_TRUE(context) << context.error().str();
  return std::move(*context);
}

static std::vector<float> iota(size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST(ExecutorTest, runsStepsInOrder) {
  auto context = contextOf(make(chainProgram(5)));
  std::vector<float> x = iota(5);
  const void *arguments[] = {x.data()};
  ASSERT_FALSE(context->run(arguments));
  // y = 2x, z = 4x, r = 6x
  const float *r = static_cast<const float *>(context->result(0));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(r[i], 6 * x[i]);
}

TEST(ExecutorTest, splitsIterationsWithoutGapOrOverlap) {
  // Each iteration counts itself: every count is 1 for any number of threads and any grain.
  auto count = [](void *const *buffers, int64_t begin, int64_t end, int64_t) {
    for (int64_t i = begin; i < end; ++i)
      floatAt(buffers, 0, i) += 1;
  };
  for (int threads : {1, 2, 3, 8})
    for (int64_t n : {0, 1, 2, 7, 1000})
      for (int64_t grain : {1, 3, 2000}) {
        Program program;
        program.threads = threads;
        program.results = {{"r", f32({n})}};
        program.slots = {{"r", 0, 4 * n}};
        program.kernels = {"count"};
        program.steps = {kernelStep("r", 0, n, {arenaAt(0)}, {0})};
        program.steps[0].grain = grain;
        program.resultBuffers = {arenaAt(0)};
        program.arenaBytes = 4096;
        auto context = contextOf(make(program, {count}));
        ASSERT_FALSE(context->run({}));
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(static_cast<const float *>(context->result(0))[i], 1) << threads << " " << n << " " << grain;
      }
}

TEST(ExecutorTest, givesEachThreadItsNumber) {
  auto number = [](void *const *buffers, int64_t begin, int64_t end, int64_t thread) {
    for (int64_t i = begin; i < end; ++i)
      floatAt(buffers, 0, i) = float(thread);
  };
  Program program;
  program.threads = 3;
  program.results = {{"r", f32({7})}};
  program.slots = {{"r", 0, 28}};
  program.kernels = {"number"};
  program.steps = {kernelStep("r", 0, 7, {arenaAt(0)}, {0})};
  program.resultBuffers = {arenaAt(0)};
  program.arenaBytes = 64;
  auto context = contextOf(make(program, {number}));
  ASSERT_FALSE(context->run({}));
  // 7 = 3 + 2 + 2
  float expected[] = {0, 0, 0, 1, 1, 2, 2};
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(static_cast<const float *>(context->result(0))[i], expected[i]);
}

/// while (i < 3) { i = i + 1; x = 2x }, on arguments i = 0 and x in the arena.
static Program loopProgram() {
  Program program;
  program.arguments = {{"x", f32({})}};
  program.results = {{"x", f32({})}, {"i", f32({})}};
  program.slots = {{"x", 0, 4}, {"i", 64, 4}, {"condition", 128, 1}, {"next", 192, 4}};
  program.kernels = {"double", "isBelow3", "increment"};
  program.constants.resize(4);
  Step copyX, copyI, loop, back;
  copyX.kind = copyI.kind = back.kind = Step::Kind::Copy;
  copyX.bytes = copyI.bytes = back.bytes = 4;
  copyX.buffers = {argumentAt(0), arenaAt(0)};
  copyX.taken = {0};
  copyI.buffers = {constantAt(0), arenaAt(64)};
  copyI.taken = {1};
  back.buffers = {arenaAt(192), arenaAt(0)};
  back.released = {3};
  loop.kind = Step::Kind::While;
  loop.name = "loop";
  loop.buffers = {arenaAt(128)};
  loop.taken = {2};
  loop.released = {2};
  loop.bodies = {
      {kernelStep("condition", 1, 1, {arenaAt(64), arenaAt(128)})},
      {kernelStep("increment", 2, 1, {arenaAt(64)}), kernelStep("next", 0, 1, {arenaAt(0), arenaAt(192)}, {3}), back}};
  program.steps = {copyX, copyI, loop};
  program.resultBuffers = {arenaAt(0), arenaAt(64)};
  program.arenaBytes = 256;
  // x, i, condition, next
  program.plannedPeakBytes = 4 * 64;
  return program;
}

static std::vector<KernelFunction> loopKernels() {
  auto isBelow3 = [](void *const *buffers, int64_t, int64_t, int64_t) {
    *static_cast<char *>(buffers[1]) = floatAt(buffers, 0, 0) < 3;
  };
  auto increment = [](void *const *buffers, int64_t, int64_t, int64_t) { floatAt(buffers, 0, 0) += 1; };
  return {doubleKernel, isBelow3, increment};
}

TEST(ExecutorTest, runsLoops) {
  auto context = contextOf(make(loopProgram(), loopKernels()));
  float x = 5;
  const void *arguments[] = {&x};
  ASSERT_FALSE(context->run(arguments));
  EXPECT_EQ(*static_cast<const float *>(context->result(0)), 40); // 5 × 2³
  EXPECT_EQ(*static_cast<const float *>(context->result(1)), 3);
  auto measured = context->measure(arguments);
  ASSERT_TRUE(measured) << measured.error().str();
  EXPECT_EQ(measured->peakBytes, 256);
  EXPECT_EQ(measured->peakStep, "next");
  // x, i and the condition; `next` comes and goes in each of three rounds; then the condition goes.
  EXPECT_EQ(measured->events.size(), 3 + 2 * 3 + 1u);
}

TEST(ExecutorTest, branchesByIndexAndClampsToTheLast) {
  auto put = [](float value) {
    Step step = kernelStep("put", uint32_t(value), 1, {arenaAt(0)});
    return std::vector<Step>{step};
  };
  Program program;
  program.arguments = {{"index", {ElementType::I32, {}}}};
  program.results = {{"r", f32({})}};
  program.slots = {{"r", 0, 4}};
  program.kernels = {"ten", "twenty"};
  Step branch;
  branch.kind = Step::Kind::Branch;
  branch.buffers = {argumentAt(0)};
  branch.bodies = {put(0), put(1)};
  branch.taken = {0};
  program.steps = {branch};
  program.resultBuffers = {arenaAt(0)};
  program.arenaBytes = 64;
  auto ten = [](void *const *buffers, int64_t, int64_t, int64_t) { floatAt(buffers, 0, 0) = 10; };
  auto twenty = [](void *const *buffers, int64_t, int64_t, int64_t) { floatAt(buffers, 0, 0) = 20; };
  auto context = contextOf(make(program, {ten, twenty}));
  for (auto [index, expected] : {std::pair(0, 10.0f), {1, 20.0f}, {2, 20.0f}, {-1, 20.0f}}) {
    int32_t value = index;
    const void *arguments[] = {&value};
    ASSERT_FALSE(context->run(arguments));
    EXPECT_EQ(*static_cast<const float *>(context->result(0)), expected) << index;
  }
}

TEST(ExecutorTest, writesDonatedArguments) {
  // r = 2x in the place of x.
  Program program;
  program.arguments = {{"x", f32({4})}};
  program.results = {{"r", f32({4})}};
  program.kernels = {"double"};
  program.steps = {kernelStep("r", 0, 4, {argumentAt(0), argumentAt(0)})};
  program.resultBuffers = {argumentAt(0)};
  auto executable = make(program, {doubleKernel});
  EXPECT_EQ(executable->overwrittenArguments(), std::vector<uint32_t>{0});
  auto context = contextOf(executable);
  std::vector<float> x = iota(4);
  const void *arguments[] = {x.data()};
  ASSERT_FALSE(context->run(arguments));
  EXPECT_EQ(context->result(0), x.data());
  EXPECT_EQ(x, (std::vector<float>{2, 4, 6, 8}));
}

TEST(ExecutorTest, runsInTheCallersArena) {
  auto executable = make(chainProgram(16));
  alignas(64) char arena[192];
  ContextOptions options;
  options.arena = arena;
  options.arenaBytes = 192;
  auto context = Context::create(executable, options);
  ASSERT_TRUE(context);
  EXPECT_EQ((*context)->result(0), arena + 128);
  options.arenaBytes = 191;
  auto small = Context::create(executable, options);
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().message, "the arena needs 192 bytes, the caller gives 191");
  options.arena = arena + 4;
  EXPECT_FALSE(Context::create(executable, options));
}

TEST(ExecutorTest, saysThatTheArenaIsTooLarge) {
  auto executable = make(chainProgram(16));
  ContextOptions options;
  options.arenaLimitBytes = 100;
  auto limited = Context::create(executable, options);
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.error().message, "the arena needs 192 bytes, the limit is 100");
  Program huge = chainProgram(16);
  huge.arenaBytes = int64_t(1) << 55;
  auto unlimited = Context::create(make(huge));
  ASSERT_FALSE(unlimited);
  EXPECT_NE(unlimited.error().message.find("the system says"), std::string::npos);
}

TEST(ExecutorTest, refusesWrongArguments) {
  auto context = contextOf(make(chainProgram(5)));
  auto error = context->run({});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "expected arguments: 1, found: 0");
  const void *arguments[] = {nullptr};
  error = context->run(arguments);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->str(), "argument 0 'x': the argument is null");
}

TEST(ExecutorTest, refusesIllegalPrograms) {
  auto refuse = [](auto change, const std::string &expected) {
    Program program = chainProgram(16);
    change(program);
    auto executable = Executable::create(program, chainKernels());
    ASSERT_FALSE(executable) << expected;
    EXPECT_EQ(executable.error().str(), expected);
  };
  refuse([](Program &p) { p.steps[0].kernel = 2; }, "step 'y': kernel 2 of 2");
  refuse([](Program &p) { p.steps[1].taken = {3}; }, "step 'z': slot 3 of 3");
  refuse([](Program &p) { p.steps[0].buffers[0].index = 1; }, "step 'y': argument 1 of 1");
  refuse([](Program &p) { p.steps[0].buffers[1].offset = -64; }, "step 'y': a buffer of 0 bytes at -64, beyond 192");
  refuse([](Program &p) { p.slots[2].bytes = 128; },
         "slot 'r': a slot of 128 bytes at 128 in an arena of 192, at multiples of 64");
  refuse([](Program &p) { p.slots[1].offset = 65; },
         "slot 'z': a slot of 64 bytes at 65 in an arena of 192, at multiples of 64");
  refuse([](Program &p) { p.resultBuffers[0].offset = 192; }, "result 'r': a buffer of 64 bytes at 192, beyond 192");
  refuse([](Program &p) { p.resultBuffers.clear(); }, "1 results in 0 buffers");
  refuse([](Program &p) { p.threads = 0; }, "a program for 0 threads");
  refuse([](Program &p) { p.steps[0].kind = Step::Kind::While; },
         "step 'y': 2 buffers and 0 bodies, not what its kind of step takes");
  refuse([](Program &p) { p.kernels.pop_back(), p.steps.pop_back(); }, "1 kernels in the program, 2 in the code");
  auto missing = Executable::create(chainProgram(16), {doubleKernel, nullptr});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().str(), "the code has no kernel 'add'");
}

TEST(ExecutorTest, allocatesNothingBehindTheFirstRun) {
  std::vector<float> x = iota(100000);
  const void *arguments[] = {x.data()};
  auto context = contextOf(make(chainProgram(100000, 2)));
  ASSERT_FALSE(context->run(arguments));
  size_t before = allocationCount();
  for (int i = 0; i < 50; ++i)
    ASSERT_FALSE(context->run(arguments));
  EXPECT_EQ(allocationCount(), before);
}

/// c = a × bᵀ, both of 96 × 96 floats, with the workspace that the library wants: b is packed into it.
static Program matmulProgram(int threads) {
  constexpr int64_t n = 96;
  MatmulSpec spec;
  spec.m = spec.n = spec.k = n;
  spec.aRowStride = spec.bColumnStride = spec.cRowStride = n;
  spec.aColumnStride = spec.bRowStride = spec.cColumnStride = 1;
  std::string error;
  auto call = makeMatmul(spec, threads, error);
  EXPECT_TRUE(call) << error;
  Program program;
  program.threads = threads;
  program.arguments = {{"a", f32({n, n})}, {"b", f32({n, n})}};
  program.results = {{"c", f32({n, n})}};
  int64_t bytes = 4 * n * n; // 36864: a multiple of 64
  program.slots = {{"c", 0, bytes}, {"workspace", bytes, call->workspaceBytes()}};
  program.arenaBytes = bytes + (call->workspaceBytes() + 63) / 64 * 64;
  program.matmuls = {spec};
  Step step;
  step.kind = Step::Kind::Matmul;
  step.name = "c";
  step.buffers = {argumentAt(0), argumentAt(1), arenaAt(0), arenaAt(bytes)};
  step.taken = {0, 1};
  step.released = {1};
  program.steps = {step};
  program.resultBuffers = {arenaAt(0)};
  return program;
}

TEST(ExecutorTest, runsTheLibraryWithoutAllocating) {
  auto context = contextOf(make(matmulProgram(2), {}));
  std::vector<float> a(96 * 96, 0.5f), b(96 * 96, 2.0f);
  const void *arguments[] = {a.data(), b.data()};
  ASSERT_FALSE(context->run(arguments));
  size_t before = allocationCount();
  for (int i = 0; i < 20; ++i)
    ASSERT_FALSE(context->run(arguments));
  EXPECT_EQ(allocationCount(), before);
  // 96 × 0.5 × 2
  for (int i = 0; i < 96 * 96; ++i)
    ASSERT_EQ(static_cast<const float *>(context->result(0))[i], 96);
  auto measured = context->measure(arguments);
  EXPECT_TRUE(measured) << measured.error().str();
}

TEST(ExecutorTest, refusesAWorkspaceThatIsTooSmall) {
  Program program = matmulProgram(1);
  ASSERT_GT(program.slots[1].bytes, 0);
  program.slots[1].bytes -= 1;
  auto context = Context::create(make(program, {}));
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().place, "step 'c'");
}

TEST(ExecutorTest, refusesCodeForAnotherProcessor) {
  Program program = chainProgram(5);
  program.features = processorFeatures();
  EXPECT_TRUE(Executable::create(program, chainKernels()));
  program.features.push_back("avx1024f");
  auto executable = Executable::create(program, chainKernels());
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().message, "the kernels need 'avx1024f', which this processor doesn't have");
}

TEST(ExecutorTest, growsTheProcessByTheArenaAlone) {
  if (allocationCount() == 0)
    GTEST_SKIP() << "a sanitizer's shadow memory counts too";
  // Three slots of 4 MB.
  std::vector<float> x = iota(1000000);
  const void *arguments[] = {x.data()};
  auto executable = make(chainProgram(1000000, 2));
  int64_t before = readProcessMemory().residentBytes;
  ASSERT_GT(before, 0);
  auto context = contextOf(executable);
  ASSERT_FALSE(context->run(arguments));
  int64_t grown = readProcessMemory().residentBytes - before, arena = executable->program().arenaBytes;
  EXPECT_LE(grown, arena + (4 << 20));
  EXPECT_GE(grown, arena / 2);
  context.reset();
  EXPECT_LE(readProcessMemory().residentBytes - before, 4 << 20);
}

TEST(ExecutorTest, runsSeveralContextsAtATime) {
  auto executable = make(chainProgram(5000, 2));
  std::atomic<int> wrong = 0;
  auto work = [&](float factor) {
    std::vector<float> x(5000, factor);
    const void *arguments[] = {x.data()};
    auto context = contextOf(executable);
    for (int i = 0; i < 100; ++i) {
      if (context->run(arguments))
        ++wrong;
      const float *r = static_cast<const float *>(context->result(0));
      for (int j = 0; j < 5000; ++j)
        wrong += r[j] != 6 * factor;
    }
  };
  std::thread a(work, 1.0f), b(work, 7.0f), c(work, -3.0f);
  a.join(), b.join(), c.join();
  EXPECT_EQ(wrong, 0);
}
