//===- ControlFlowTest.cpp -------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestSteps.h"

#include <cstring>

using namespace remat::runtime;

namespace {

using ControlFlowTest = CudaTest;

/// while (x[0] < 100) x = 2x, from the argument, with x at 0 and the flag at 64.
Program loopProgram() {
  Program program;
  program.name = "loop";
  program.arguments = {{"x", f32({1})}};
  program.results = {{"r", f32({1})}};
  program.slots = {{"x", 0, 4}, {"flag", 64, 1}};
  program.arenaBytes = 128;
  program.kernels = {"test", "double"};
  Step copy;
  copy.kind = Step::Kind::Copy;
  copy.name = "init";
  copy.bytes = 4;
  copy.buffers = {argumentAt(0), arenaAt(0)};
  Step loop;
  loop.kind = Step::Kind::While;
  loop.name = "while.1";
  loop.buffers = {arenaAt(64)};
  loop.bodies = {{kernelStep("less.2", 0, 1, {arenaAt(0), arenaAt(64)})},
                 {kernelStep("add.3", 1, 1, {arenaAt(0), arenaAt(0)})}};
  program.steps = {copy, loop};
  program.resultBuffers = {arenaAt(0)};
  return program;
}

CudaCode loopCode(std::vector<int64_t> tripCounts = {}) {
  fakecuda::defineKernel("gpu_test", 2, [](const fakecuda::Launch &launch) {
    *reinterpret_cast<char *>(launch.parameters[1]) = *floatsAt(launch.parameters[0]) < 100;
  });
  defineCpuKernel("gpu_double", 2, doubleKernel, 1);
  return {{{launchOf("gpu_test", 2)}, {launchOf("gpu_double", 2)}}, std::move(tripCounts), {}, fakeBinary()};
}

TEST_F(ControlFlowTest, readsALoopsConditionBackOncePerIteration) {
  auto executable = executableOf(loopProgram(), loopCode());
  auto context = contextOf(executable);
  ASSERT_FALSE(context->run({{upload(std::vector<float>{3})}}));
  // 3 → 6 → 12 → 24 → 48 → 96 → 192: six iterations, seven tests, seven bytes read.
  EXPECT_EQ(*floatsAt(context->result(0)), 192);
  EXPECT_EQ(fakecuda::state().launches.size(), 13u);
  EXPECT_EQ(fakecuda::countCalls("cuMemcpyDtoHAsync"), 7);
  EXPECT_EQ(fakecuda::countCalls("cuStreamSynchronize"), 7);
}

TEST_F(ControlFlowTest, leavesTheTestOutWhereTheCountIsKnown) {
  auto context = contextOf(executableOf(loopProgram(), loopCode({4})));
  ASSERT_FALSE(context->run({{upload(std::vector<float>{3})}}));
  // 3 · 2^4 = 48
  EXPECT_EQ(*floatsAt(context->result(0)), 48);
  EXPECT_EQ(fakecuda::state().launches.size(), 4u);
  EXPECT_EQ(fakecuda::countCalls("cuMemcpyDtoHAsync"), 0);
  EXPECT_EQ(fakecuda::countCalls("cuStreamSynchronize"), 0);
  EXPECT_EQ(fakecuda::countCalls("cuMemAllocHost"), 0);
}

TEST_F(ControlFlowTest, saysInThePlanWhichStepsWait) {
  auto unknown = executableOf(loopProgram(), loopCode());
  ASSERT_EQ(unknown->plan().size(), 4u);
  EXPECT_EQ(unknown->plan()[0].kind, CudaStepPlan::Kind::Copy);
  EXPECT_EQ(unknown->plan()[1].kind, CudaStepPlan::Kind::Loop);
  EXPECT_TRUE(unknown->plan()[1].waits);
  EXPECT_EQ(unknown->plan()[2].depth, 1);
  EXPECT_FALSE(unknown->plan()[2].waits);
  EXPECT_FALSE(unknown->canBeCaptured());
  auto known = executableOf(loopProgram(), loopCode({4}));
  EXPECT_EQ(known->plan()[1].trips, 4);
  EXPECT_FALSE(known->plan()[1].waits);
  EXPECT_TRUE(known->canBeCaptured());
}

TEST_F(ControlFlowTest, namesTheStepThatAGraphCantHold) {
  CudaOptions options = fakeOptions();
  options.graph = true;
  CudaCode code = loopCode();
  code.locations = {"a.py:1", "a.py:2", "a.py:3", "a.py:4"};
  auto context = CudaContext::create(executableOf(loopProgram(), std::move(code)), options);
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().str(), "step 'while.1' (a.py:2): the host waits here for a value of the device, which a "
                                   "CUDA graph can't (run without a graph)");
}

TEST_F(ControlFlowTest, namesTheInnermostStepThatFails) {
  auto context = contextOf(executableOf(loopProgram(), loopCode()));
  // Launches alternate: less.2, add.3, less.2, …
  fakecuda::failCall("cuLaunchKernel", 2, 700);
  EXPECT_EQ(context->run({{upload(std::vector<float>{3})}})->place, "step 'add.3'");
  fakecuda::failCall("cuStreamSynchronize", 1, 700);
  EXPECT_EQ(context->run({{upload(std::vector<float>{3})}})->str(),
            "step 'while.1': cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
}

/// Body i copies 4 bytes from i · 4 of the constants to the result; the index is an argument, or at 12 of the
/// constants.
Program branchProgram(bool isConstant) {
  Program program;
  program.name = "branch";
  program.arguments = {{"index", {ElementType::I32, {}}}};
  program.results = {{"r", f32({})}};
  program.slots = {{"r", 0, 4}};
  program.arenaBytes = 64;
  const float values[3] = {10, 11, 12};
  const int32_t index = 1;
  program.constants.resize(16);
  std::memcpy(program.constants.data(), values, 12);
  std::memcpy(program.constants.data() + 12, &index, 4);
  Step branch;
  branch.kind = Step::Kind::Branch;
  branch.name = "case.0";
  branch.buffers = {isConstant ? constantAt(12) : argumentAt(0)};
  for (int64_t i = 0; i < 3; ++i) {
    Step copy;
    copy.kind = Step::Kind::Copy;
    copy.name = "copy." + std::to_string(i);
    copy.bytes = 4;
    copy.buffers = {constantAt(4 * i), arenaAt(0)};
    branch.bodies.push_back({copy});
  }
  program.steps = {branch};
  program.resultBuffers = {arenaAt(0)};
  return program;
}

TEST_F(ControlFlowTest, branchesOnAValueOfTheDevice) {
  auto context = contextOf(executableOf(branchProgram(false), {}));
  // Out of range: the last body.
  for (auto [index, expected] : {std::pair(0, 10), {1, 11}, {2, 12}, {3, 12}, {-1, 12}}) {
    ASSERT_FALSE(context->run({{upload(std::vector<int32_t>{index})}}));
    EXPECT_EQ(*floatsAt(context->result(0)), float(expected)) << index;
  }
  EXPECT_EQ(fakecuda::countCalls("cuStreamSynchronize"), 5);
}

TEST_F(ControlFlowTest, branchesOnAConstantWithoutWaiting) {
  auto executable = executableOf(branchProgram(true), {});
  EXPECT_TRUE(executable->canBeCaptured());
  auto context = contextOf(executable);
  ASSERT_FALSE(context->run({{upload(std::vector<int32_t>{0})}}));
  EXPECT_EQ(*floatsAt(context->result(0)), 11);
  EXPECT_EQ(fakecuda::countCalls("cuStreamSynchronize"), 0);
}

} // namespace
