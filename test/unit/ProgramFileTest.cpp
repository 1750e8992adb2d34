//===- ProgramFileTest.cpp -------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/ProgramFile.h"
#include "TestPrograms.h"
#include "remat-c/Remat.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace remat::runtime;

/// The chain with something in every field.
static Program fullProgram() {
  Program program = chainProgram(16);
  program.constants = {1, 2, 3};
  program.features = {"avx2"};
  program.arguments[0].isUnsigned = true;
  MatmulSpec matmul;
  matmul.batch = {3};
  matmul.aBatchStrides = matmul.bBatchStrides = matmul.cBatchStrides = {5};
  matmul.cColumnStride = 7;
  program.matmuls = {matmul};
  ConvolutionSpec convolution;
  convolution.lhs = f32({1, 2});
  convolution.padding = {-1, 1};
  convolution.reversed = {1};
  convolution.featureGroups = 2;
  program.convolutions = {convolution};
  Step loop;
  loop.kind = Step::Kind::While;
  loop.name = "loop";
  loop.buffers = {constantAt(0)};
  loop.bodies = {{}, {program.steps[0]}};
  program.steps.push_back(loop);
  return program;
}

TEST(ProgramFileTest, readsWhatItWrites) {
  Program program = fullProgram();
  std::vector<char> bytes = writeProgram(program);
  auto read = readProgram(bytes);
  ASSERT_TRUE(read) << read.error().str();
  // Writing covers every field, so the same bytes are the same program.
  EXPECT_EQ(writeProgram(*read), bytes);
  EXPECT_EQ(read->steps[3].bodies[1][0].name, "y");
  EXPECT_EQ(read->steps[2].released, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(read->convolutions[0].padding, (std::vector<int64_t>{-1, 1}));
  EXPECT_EQ(read->matmuls[0].cColumnStride, 7);
  EXPECT_TRUE(read->arguments[0].isUnsigned);
  EXPECT_EQ(read->arenaBytes, 192);
}

TEST(ProgramFileTest, refusesDamage) {
  std::vector<char> bytes = writeProgram(fullProgram());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(readProgram(std::span(bytes).first(size))) << size;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::vector<char> damaged = bytes;
    damaged[at] ^= 0x40;
    EXPECT_FALSE(readProgram(damaged)) << at;
  }
  EXPECT_EQ(readProgram(std::span(bytes).first(20)).error().message, "the program is cut off or corrupt");
  bytes[8] = 99;
  EXPECT_EQ(readProgram(bytes).error().message, "the program is of version 99, this runtime reads version 2");
  bytes[0] = 'x';
  EXPECT_EQ(readProgram(bytes).error().message, "these bytes are no compiled program");
}

TEST(ProgramFileTest, refusesIllegalPrograms) {
  Program program = fullProgram();
  program.steps[0].kernel = 9;
  EXPECT_EQ(readProgram(writeProgram(program)).error().str(), "step 'y': kernel 9 of 2");
}

TEST(CTest, runsAnImage) {
  std::vector<char> image = writeProgram(chainProgram(4, 2));
  const remat_kernel kernels[] = {doubleKernel, addKernel};
  remat_program *program = remat_program_open(image.data(), image.size(), kernels, 2);
  ASSERT_TRUE(program) << remat_error();
  EXPECT_EQ(remat_argument_count(program), 1u);
  EXPECT_EQ(remat_result_count(program), 1u);
  EXPECT_EQ(remat_arena_bytes(program), 192);
  EXPECT_EQ(remat_peak_bytes(program), 192);
  EXPECT_EQ(remat_threads(program), 2);
  remat_tensor x;
  ASSERT_EQ(remat_argument(program, 0, &x), 0);
  EXPECT_STREQ(x.name, "x");
  EXPECT_EQ(x.element, REMAT_F32);
  ASSERT_EQ(x.rank, 1u);
  EXPECT_EQ(x.shape[0], 4);
  EXPECT_EQ(x.bytes, 16);
  EXPECT_EQ(remat_argument(program, 1, &x), -1);
  EXPECT_EQ(remat_argument_is_overwritten(program, 0), 0);
  remat_context *context = remat_context_create(program, nullptr, 0);
  ASSERT_TRUE(context) << remat_error();
  // The context keeps what it needs of the program.
  remat_program_close(program);
  float values[] = {1, 2, 3, 4};
  const void *arguments[] = {values};
  ASSERT_EQ(remat_run(context, arguments), 0) << remat_error();
  EXPECT_EQ(static_cast<const float *>(remat_result_data(context, 0))[3], 24); // 6 × 4
  EXPECT_EQ(remat_result_data(context, 1), nullptr);
  const void *missing[] = {nullptr};
  EXPECT_EQ(remat_run(context, missing), -1);
  EXPECT_STREQ(remat_error(), "argument 0 'x': the argument is null");
  remat_context_destroy(context);
}

TEST(CTest, saysWhatIsWrong) {
  EXPECT_EQ(remat_program_open("x", 1, nullptr, 0), nullptr);
  EXPECT_STREQ(remat_error(), "the program is cut off or corrupt (compile it again)");
  std::vector<char> image = writeProgram(chainProgram(4));
  EXPECT_EQ(remat_program_open(image.data(), image.size(), nullptr, 0), nullptr);
  EXPECT_STREQ(remat_error(), "2 kernels in the program, 0 in the code");
  const remat_kernel kernels[] = {doubleKernel, addKernel};
  remat_program *program = remat_program_open(image.data(), image.size(), kernels, 2);
  ASSERT_TRUE(program);
  alignas(64) char arena[64];
  EXPECT_EQ(remat_context_create(program, arena, 64), nullptr);
  EXPECT_STREQ(remat_error(), "the arena needs 192 bytes, the caller gives 64");
  remat_program_close(program);
}
