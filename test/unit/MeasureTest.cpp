//===- MeasureTest.cpp -----------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

using namespace remat::runtime;

static Expected<Measurement> measure(const Program &program, float *result = nullptr) {
  auto executable = Executable::create(program, chainKernels());
  EXPECT_TRUE(executable) << executable.error().str();
  auto context = Context::create(*executable);
  EXPECT_TRUE(context) << context.error().str();
  std::vector<float> x(size_t(program.arguments[0].type.elements()), 1.0f);
  const void *arguments[] = {x.data()};
  auto measured = (*context)->measure(arguments);
  if (result)
    *result = *static_cast<const float *>((*context)->result(0));
  return measured;
}

TEST(MeasureTest, countsSlotsInUse) {
  // 17 floats are 68 bytes: each slot counts 128. y: 128, z: 256, r: 384.
  Program program = chainProgram(17);
  float result = 0;
  auto measured = measure(program, &result);
  ASSERT_TRUE(measured) << measured.error().str();
  EXPECT_EQ(measured->peakBytes, 384);
  EXPECT_EQ(measured->peakBytes, program.plannedPeakBytes);
  EXPECT_EQ(measured->reachedBytes, program.arenaBytes);
  EXPECT_EQ(measured->peakStep, "r");
  EXPECT_EQ(result, 6);
  std::vector<int64_t> live;
  for (const SlotEvent &event : measured->events)
    live.push_back(event.liveBytes);
  // y, z and r are taken; y and z are released.
  EXPECT_EQ(live, (std::vector<int64_t>{128, 256, 384, 256, 128}));
}

TEST(MeasureTest, findsOverlappingSlots) {
  Program program = chainProgram(32);
  // z begins in the middle of y: [64, 192) and [0, 128).
  program.slots[1].offset = 64;
  program.steps[1].buffers[1] = program.steps[2].buffers[1] = arenaAt(64);
  auto measured = measure(program);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().str(), "step 'z': slot 'z' at [64, 192) is taken while slot 'y' at [0, 128) is in use");
}

TEST(MeasureTest, findsASlotAroundAnother) {
  Program program = chainProgram(32);
  // z: [64, 128) in y's middle, then y's neighbour from the other side: r: [0, 384) around both.
  program.slots[2] = {"r", 0, 384};
  auto measured = measure(program);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().str(), "step 'r': slot 'r' at [0, 384) is taken while slot 'y' at [0, 128) is in use");
}

TEST(MeasureTest, findsASlotReleasedTooEarly) {
  Program program = chainProgram(16);
  // y is released behind z, but r still reads it.
  program.steps[1].released = {0};
  program.steps[2].released = {1};
  auto measured = measure(program);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().str(), "step 'r': its buffer 0 at 0 lies in no slot that is in use");
}

TEST(MeasureTest, poisonsWhatIsReleased) {
  // y's place is taken again by a slot that nobody writes: r reads 0xFF bytes, NaN.
  Program program = chainProgram(16);
  program.slots.push_back({"other", 0, 64});
  program.steps[1].released = {0};
  program.steps[2].taken = {2, 3};
  program.steps[2].released = {1, 3};
  float result = 0;
  auto measured = measure(program, &result);
  ASSERT_TRUE(measured) << measured.error().str();
  EXPECT_TRUE(std::isnan(result));
}

TEST(MeasureTest, findsAResultThatIsReleased) {
  Program program = chainProgram(16);
  program.steps[2].released = {0, 1, 2};
  auto measured = measure(program);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().str(), "result 'r': it lies at 128, in no slot that is in use");
}

TEST(MeasureTest, findsSlotsTakenOrReleasedTwice) {
  Program taken = chainProgram(16);
  taken.steps[1].taken = {1, 0};
  EXPECT_EQ(measure(taken).error().str(), "step 'z': slot 'y' at [0, 64) is taken while it is in use");
  Program released = chainProgram(16);
  released.steps[2].released = {0, 1, 0};
  EXPECT_EQ(measure(released).error().str(), "step 'r': slot 'y' at [0, 64) is released without being in use");
}

TEST(MeasureTest, readsTheProcess) {
  ProcessMemory memory = readProcessMemory();
  EXPECT_GT(memory.residentBytes, 1 << 20);
  EXPECT_GE(memory.peakResidentBytes, memory.residentBytes);
}

TEST(ProfileTest, timesEveryStep) {
  Program program = chainProgram(16);
  program.steps[0].bytes = 128;
  program.steps[1].name = "y";
  auto executable = Executable::create(program, chainKernels());
  auto context = Context::create(*executable);
  std::vector<float> x(16, 1.0f);
  const void *arguments[] = {x.data()};
  auto profile = (*context)->profile(arguments);
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->executions.size(), 3u);
  EXPECT_EQ(profile->executions[0].bytes, 128);
  EXPECT_EQ(profile->executions[2].kind, "kernel");
  // y, z and r.
  EXPECT_EQ(profile->executions[2].liveBytes, 192);
  EXPECT_GE(profile->totalNs, profile->executions[2].startNs + profile->executions[2].durationNs);
  std::ostringstream trace, table;
  writeChromeTrace(trace, *profile);
  EXPECT_NE(trace.str().find("\"cat\": \"kernel\""), std::string::npos);
  writeProfileTable(table, *profile);
  // Two steps are named y.
  EXPECT_NE(table.str().find("y                                              2 "), std::string::npos) << table.str();
}

TEST(ProfileTest, escapesNamesInTraces) {
  Profile profile;
  profile.executions = {{"a \"b\"\n", "copy", 1500, 2001, 8, 64, 0}};
  std::ostringstream trace;
  writeChromeTrace(trace, profile);
  EXPECT_NE(trace.str().find(R"("name": "a \"b\"\u000a")"), std::string::npos) << trace.str();
  EXPECT_NE(trace.str().find(R"("ts": 1.500, "dur": 2.001)"), std::string::npos) << trace.str();
}
