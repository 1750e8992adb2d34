//===- RunTest.cpp ---------------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestSteps.h"

#include <algorithm>
#include <cstring>
#include <cuda.h>
#include <map>
#include <numeric>

using namespace remat::runtime;

namespace {

using RunTest = CudaTest;

std::vector<float> iota(size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST_F(RunTest, needsNoDriverUntilAContextIsMade) {
  auto executable = executableOf(chainProgram(5), chainCode(5));
  EXPECT_EQ(executable->program().arenaBytes, 3 * 64);
  EXPECT_TRUE(executable->canBeCaptured());
  EXPECT_TRUE(fakecuda::state().calls.empty());
}

TEST_F(RunTest, launchesStepsInOrder) {
  auto context = contextOf(executableOf(chainProgram(5), chainCode(5)));
  DevicePointer x = upload(iota(5));
  ASSERT_FALSE(context->run({{x}}));
  // y = 2x, z = 4x, r = 6x
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(floatsAt(context->result(0))[i], 6 * float(i + 1));
  // One launch a step: y and z are one function on other buffers, one slot of 64 bytes behind the other.
  const std::vector<fakecuda::Launch> &launches = fakecuda::state().launches;
  ASSERT_EQ(launches.size(), 3u);
  DevicePointer arena = context->result(0) - 128;
  EXPECT_EQ(launches[0].symbol, "gpu_double");
  EXPECT_EQ(launches[0].grid, (std::array<unsigned, 3>{7, 1, 1}));
  EXPECT_EQ(launches[0].block, (std::array<unsigned, 3>{32, 1, 1}));
  EXPECT_EQ(launches[0].parameters, (std::vector<uint64_t>{x, arena}));
  EXPECT_EQ(launches[1].parameters, (std::vector<uint64_t>{arena, arena + 64}));
  EXPECT_EQ(launches[2].parameters, (std::vector<uint64_t>{arena, arena + 64, arena + 128}));
}

TEST_F(RunTest, onlyLaunchesBehindTheFirstRun) {
  auto context = contextOf(executableOf(chainProgram(5), chainCode(5)));
  DevicePointer x = upload(iota(5));
  ASSERT_FALSE(context->run({{x}}));
  EXPECT_EQ(fakecuda::countCalls("cuModuleLoadData"), 1);
  EXPECT_EQ(fakecuda::countCalls("cuModuleGetFunction"), 2);
  EXPECT_EQ(fakecuda::countCalls("cuMemAlloc"), 1);
  EXPECT_EQ(fakecuda::countCalls("cuStreamSynchronize"), 0);
  fakecuda::state().calls.clear();
  ASSERT_FALSE(context->run({{x}}));
  EXPECT_EQ(fakecuda::state().calls,
            (std::vector<std::string>{"cuCtxPushCurrent", "cuLaunchKernel gpu_double", "cuLaunchKernel gpu_double",
                                      "cuLaunchKernel gpu_add", "cuCtxPopCurrent"}));
}

TEST_F(RunTest, takesNumbersAsParametersAndAsksForLargeSharedMemory) {
  CudaCode code = chainCode(5);
  fakecuda::defineKernel("gpu_add", 2, [](const fakecuda::Launch &) {});
  code.kernels[1][0].sharedBytes = 100 * 1024;
  code.kernels[1][0].parameters = {{CudaParameter::Kind::Int64, -7}, {CudaParameter::Kind::Int32, 9}};
  auto context = contextOf(executableOf(chainProgram(5), std::move(code)));
  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES is 8.
  EXPECT_EQ(std::ranges::count(fakecuda::state().calls, "cuFuncSetAttribute 8 102400"), 1);
  ASSERT_FALSE(context->run({{upload(iota(5))}}));
  EXPECT_EQ(fakecuda::state().launches.back().parameters, (std::vector<uint64_t>{uint64_t(-7), 9}));
  EXPECT_EQ(fakecuda::state().launches.back().sharedBytes, 100u * 1024);
}

TEST_F(RunTest, runsInTheCallersArena) {
  auto context = contextOf(executableOf(chainProgram(5), chainCode(5)));
  DevicePointer arena = upload(std::vector<char>(3 * 64));
  DevicePointer x = upload(iota(5));
  ASSERT_FALSE(context->run({{x}}, arena));
  EXPECT_EQ(context->result(0), arena + 128);
  EXPECT_EQ(fakecuda::countCalls("cuMemAlloc"), 0);
  EXPECT_EQ(context->run({{x}}, arena + 64)->str(), "the caller's arena isn't at a multiple of 256");
}

TEST_F(RunTest, refusesArgumentsThatDontFit) {
  auto context = contextOf(executableOf(chainProgram(5), chainCode(5)));
  EXPECT_EQ(context->run({})->str(), "expected arguments: 1, found: 0");
  EXPECT_EQ(context->run({{0}})->str(), "argument 0 'x': the argument is null");
  DevicePointer x = upload(iota(5));
  EXPECT_EQ(context->run({{x + 4}})->str(),
            "argument 0 'x': the argument isn't at a multiple of 16 (copy it to memory of its own)");
  EXPECT_TRUE(fakecuda::state().launches.empty());
  EXPECT_EQ(context->result(0), 0u);
}

TEST_F(RunTest, refusesAnArenaBeyondTheLimitOrTheDevice) {
  CudaOptions options = fakeOptions();
  options.arenaLimitBytes = 191;
  auto limited = contextOf(executableOf(chainProgram(5), chainCode(5)), options);
  DevicePointer x = upload(iota(5));
  EXPECT_EQ(limited->run({{x}})->str(), "the arena needs 192 bytes, the limit is 191 (raise the limit, or plan for "
                                        "less memory: --memory-limit)");
  auto context = contextOf(executableOf(chainProgram(5), chainCode(5)));
  fakecuda::state().totalBytes = fakecuda::liveBytes() + 191;
  EXPECT_EQ(context->run({{x}})->str(), "the arena of 192 bytes: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2) (plan for "
                                        "less memory: --memory-limit)");
  // The next run may find more memory.
  fakecuda::state().totalBytes += 1;
  EXPECT_FALSE(context->run({{x}}));
}

/// x += constant, in the argument's place: buffers argument, constant, argument.
Program donatingProgram() {
  Program program;
  program.name = "donating";
  program.arguments = {{"x", f32({4})}};
  program.results = {{"r", f32({4})}};
  program.kernels = {"add"};
  program.constants.resize(64 + 16);
  const float values[4] = {10, 20, 30, 40};
  std::memcpy(program.constants.data() + 64, values, sizeof(values));
  program.steps = {kernelStep("r", 0, 4, {argumentAt(0), constantAt(64), argumentAt(0)})};
  program.resultBuffers = {argumentAt(0)};
  return program;
}
CudaCode donatingCode() {
  defineCpuKernel("gpu_add", 3, addKernel, 4);
  return {{{launchOf("gpu_add", 3)}}, {}, {}, fakeBinary()};
}

TEST_F(RunTest, readsConstantsAndWritesDonatedArguments) {
  auto executable = executableOf(donatingProgram(), donatingCode());
  EXPECT_EQ(executable->overwrittenArguments(), std::vector<uint32_t>{0});
  auto context = contextOf(executable);
  DevicePointer x = upload(std::vector<float>{1, 2, 3, 4});
  ASSERT_FALSE(context->run({{x}}));
  EXPECT_EQ(context->result(0), x);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(floatsAt(x)[i], 11 * float(i + 1));
  // An arena of no bytes is not allocated: one allocation, of 80 bytes of constants.
  CudaMemory memory = *context->memory();
  EXPECT_EQ(memory.allocations, 1);
  EXPECT_EQ(memory.constantBytes, 80);
  EXPECT_EQ(memory.arenaBytes, 0);
}

TEST_F(RunTest, measuresWhatItPlanned) {
  auto context = contextOf(executableOf(chainProgram(100), chainCode(100)));
  // 100 floats take 400 bytes, rounded up to 448: three slots are 1344.
  DevicePointer x = upload(iota(100));
  int64_t ofTheTest = fakecuda::liveBytes();
  ASSERT_FALSE(context->run({{x}}));
  CudaMemory memory = *context->memory();
  EXPECT_EQ(memory.arenaBytes, 1344);
  EXPECT_EQ(memory.allocations, 1);
  EXPECT_EQ(memory.usedBefore, 0);
  EXPECT_EQ(memory.usedAfter - ofTheTest, context->executable().program().arenaBytes);
  context.reset();
  EXPECT_EQ(fakecuda::liveBytes(), ofTheTest);
}

TEST_F(RunTest, usesTheCallersContext) {
  auto executable = executableOf(chainProgram(5), chainCode(5));
  { // No current context: the device's primary one is held until the end.
    auto context = contextOf(executable);
    EXPECT_FALSE(fakecuda::hasContext());
    EXPECT_EQ(fakecuda::countCalls("cuDevicePrimaryCtxRetain"), 1);
    EXPECT_EQ(fakecuda::countCalls("cuDevicePrimaryCtxRelease"), 0);
  }
  EXPECT_EQ(fakecuda::countCalls("cuDevicePrimaryCtxRelease"), 1);
  int callers;
  CUcontext ofTheCaller = reinterpret_cast<CUcontext>(&callers), current;
  ASSERT_EQ(cuCtxPushCurrent(ofTheCaller), CUDA_SUCCESS);
  { // A current context is used, and still current behind a run.
    auto context = contextOf(executable);
    ASSERT_FALSE(context->run({{upload(iota(5))}}));
    ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, ofTheCaller);
  }
  EXPECT_EQ(fakecuda::countCalls("cuDevicePrimaryCtxRetain"), 1);
}

TEST_F(RunTest, namesStepAndPlaceOfAFailedLaunch) {
  CudaCode code = chainCode(5);
  code.locations = {"model.py:10", "model.py:11", "model.py:12"};
  auto context = contextOf(executableOf(chainProgram(5), std::move(code)));
  DevicePointer x = upload(iota(5));
  fakecuda::failCall("cuLaunchKernel", 2, 700);
  EXPECT_EQ(context->run({{x}})->str(),
            "step 'z' (model.py:11): cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS (700) at function 'gpu_double'");
  EXPECT_EQ(fakecuda::state().launches.size(), 1u);
  EXPECT_FALSE(context->run({{x}}));
}

/// Every call that a step makes from its begin to its end fails once: each time there is an error with the call's name,
/// nothing stays allocated and the caller's context is restored.
TEST_F(RunTest, reportsEveryCallThatFailsAndLeaksNothing) {
  auto step = [](bool graph) -> std::optional<Error> {
    auto executable = CudaExecutable::create(donatingProgram(), donatingCode());
    CudaOptions options = fakeOptions();
    options.graph = graph;
    auto context = CudaContext::create(*executable, options);
    if (!context)
      return context.error();
    DevicePointer x = upload(std::vector<float>{1, 2, 3, 4});
    if (auto error = (*context)->run({{x}}))
      return error;
    auto memory = (*context)->memory();
    return memory ? std::nullopt : std::optional(memory.error());
  };
  for (bool graph : {false, true}) {
    fakecuda::reset();
    ASSERT_FALSE(step(graph));
    std::vector<std::string> calls = fakecuda::state().calls;
    std::map<std::string, int> nth;
    int failures = 0;
    for (const std::string &text : calls) {
      std::string call = text.substr(0, text.find(' '));
      int occurrence = ++nth[call];
      fakecuda::reset();
      fakecuda::failCall(call, occurrence, 1);
      std::optional<Error> error = step(graph);
      EXPECT_FALSE(fakecuda::hasContext() && call != "cuCtxPopCurrent") << call;
      bool isEnd = call.find("Destroy") != std::string::npos || call.find("Free") != std::string::npos ||
                   call.find("Release") != std::string::npos || call.find("Unload") != std::string::npos ||
                   call == "cuCtxPopCurrent";
      if (isEnd || (call == "cuCtxPushCurrent" && !error))
        continue; // There is nobody to tell.
      ++failures;
      ASSERT_TRUE(error) << call << " " << occurrence;
      EXPECT_NE(error->str().find(call + ": CUDA_ERROR_INVALID_VALUE (1)"), std::string::npos) << error->str();
      // What is left is the test's own argument, 16 bytes, if it came to that.
      EXPECT_LE(fakecuda::liveBytes(), 16) << call;
    }
    // Init, current context, device, primary context, push × 3, memory × 2, module, function, constants × 2, launch;
    // with a graph also stream, capture × 2, instantiate, launch.
    EXPECT_EQ(failures, graph ? 19 : 14);
  }
}

} // namespace
