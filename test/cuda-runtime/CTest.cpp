//===- CTest.cpp -----------------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestSteps.h"
#include "remat-c/RematCuda.h"
#include "remat/Runtime/ProgramFile.h"

using namespace remat::runtime;

namespace {

class CudaCTest : public CudaTest {
protected:
  ~CudaCTest() override { remat_cuda_close(program); }
  void open(const remat_cuda_options *options) {
    std::vector<char> image = writeProgram(chainProgram(5)), code = writeCudaCode(chainCode(5));
    program = remat_cuda_open(image.data(), image.size(), code.data(), code.size(), options);
    ASSERT_TRUE(program) << remat_cuda_error();
  }
  void TearDown() override {
    remat_cuda_close(std::exchange(program, nullptr));
    CudaTest::TearDown();
  }

  remat_cuda_options fake{FAKE_CUDA, FAKE_CUDA, FAKE_CUDA, 0, 0, 0};
  remat_cuda_program *program = nullptr;
};

TEST_F(CudaCTest, answersWithoutADriver) {
  remat_cuda_options nowhere{"libcuda-nowhere.so", nullptr, nullptr, 0, 0, 0};
  open(&nowhere);
  EXPECT_EQ(remat_cuda_arena_bytes(program), 192);
  EXPECT_EQ(remat_cuda_peak_bytes(program), 192);
  EXPECT_EQ(remat_cuda_argument_count(program), 1u);
  EXPECT_EQ(remat_cuda_result_count(program), 1u);
  remat_tensor tensor;
  ASSERT_EQ(remat_cuda_argument(program, 0, &tensor), 0);
  EXPECT_STREQ(tensor.name, "x");
  EXPECT_EQ(tensor.bytes, 20);
  EXPECT_EQ(remat_cuda_result(program, 1, &tensor), -1);
  EXPECT_EQ(remat_cuda_argument_is_overwritten(program, 0), 0);
  EXPECT_EQ(remat_cuda_can_be_captured(program), 1);
  EXPECT_EQ(remat_cuda_load(program), -1);
  EXPECT_TRUE(std::string(remat_cuda_error()).starts_with("no CUDA driver: libcuda-nowhere.so")) << remat_cuda_error();
  remat_device_pointer argument = 256;
  EXPECT_EQ(remat_cuda_run(program, &argument, nullptr, 0, nullptr), -1);
}

TEST_F(CudaCTest, aNullProgramIsAnError) {
  EXPECT_EQ(remat_cuda_open("no image", 8, "no code", 7, nullptr), nullptr);
  EXPECT_EQ(remat_cuda_arena_bytes(nullptr), -1);
  EXPECT_EQ(remat_cuda_peak_bytes(nullptr), -1);
  EXPECT_EQ(remat_cuda_argument_count(nullptr), 0u);
  EXPECT_EQ(remat_cuda_result_count(nullptr), 0u);
  remat_tensor tensor;
  EXPECT_EQ(remat_cuda_argument(nullptr, 0, &tensor), -1);
  EXPECT_EQ(remat_cuda_result(nullptr, 0, &tensor), -1);
  EXPECT_EQ(remat_cuda_argument_is_overwritten(nullptr, 0), 0);
  EXPECT_EQ(remat_cuda_can_be_captured(nullptr), 0);
  remat_cuda_memory memory;
  EXPECT_EQ(remat_cuda_memory_used(nullptr, &memory), -1);
  EXPECT_EQ(remat_cuda_run(nullptr, nullptr, nullptr, 0, nullptr), -1);
  EXPECT_EQ(remat_cuda_load(nullptr), -1);
  EXPECT_STREQ(remat_cuda_error(), "the program is null (remat_cuda_open says why)");
}

/// Expects that the last call failed with this text.
void expectError(const char *text) { EXPECT_STREQ(remat_cuda_error(), text); }

TEST_F(CudaCTest, nullPointersAreErrors) {
  EXPECT_EQ(remat_cuda_open(nullptr, 8, "no code", 7, nullptr), nullptr);
  expectError("the image is null");
  EXPECT_EQ(remat_cuda_open("no image", 8, nullptr, 7, nullptr), nullptr);
  expectError("the code is null");
  remat_cuda_close(nullptr);
  open(&fake);
  EXPECT_EQ(remat_cuda_argument(program, 0, nullptr), -1);
  expectError("the tensor is null");
  EXPECT_EQ(remat_cuda_result(program, 0, nullptr), -1);
  expectError("the tensor is null");
  EXPECT_EQ(remat_cuda_run(program, nullptr, nullptr, 0, nullptr), -1);
  expectError("the list of arguments is null");
  EXPECT_EQ(fakecuda::countCalls("cuInit"), 0);
  ASSERT_EQ(remat_cuda_load(program), 0) << remat_cuda_error();
  EXPECT_EQ(remat_cuda_memory_used(program, nullptr), -1);
  expectError("the memory to fill in is null");
  remat_device_pointer none = 0;
  EXPECT_EQ(remat_cuda_run(program, &none, nullptr, 0, nullptr), -1);
  expectError("argument 0 'x': the argument is null");
}

// The program has one argument and one result.
TEST_F(CudaCTest, numbersOutOfRangeAreErrors) {
  open(&fake);
  remat_tensor tensor;
  EXPECT_EQ(remat_cuda_argument(program, 1000, &tensor), -1);
  expectError("there is no argument 1000: the program has 1");
  EXPECT_EQ(remat_cuda_result(program, 1, &tensor), -1);
  expectError("there is no result 1: the program has 1");
  EXPECT_EQ(remat_cuda_argument_is_overwritten(program, 1), 0);
  expectError("there is no argument 1: the program has 1");
  remat_device_pointer odd = 8, x = 256;
  EXPECT_EQ(remat_cuda_run(program, &odd, nullptr, 0, nullptr), -1);
  expectError("argument 0 'x': the argument isn't at a multiple of 16 (copy it to memory of its own)");
  EXPECT_EQ(remat_cuda_run(program, &x, nullptr, 128, nullptr), -1);
  expectError("the caller's arena isn't at a multiple of 256");
  std::vector<char> image = writeProgram(chainProgram(5)), code = writeCudaCode(chainCode(5));
  fake.device = -1;
  EXPECT_EQ(remat_cuda_open(image.data(), image.size(), code.data(), code.size(), &fake), nullptr);
  expectError("expected a device's number, found: -1 (0 is the first device)");
}

TEST_F(CudaCTest, runsInTheCallersArena) {
  open(&fake);
  EXPECT_EQ(fakecuda::countCalls("cuInit"), 0);
  remat_cuda_memory memory;
  EXPECT_EQ(remat_cuda_memory_used(program, &memory), -1);
  EXPECT_STREQ(remat_cuda_error(), "the program isn't loaded (run it, or call remat_cuda_load, first)");
  remat_device_pointer arena = upload(std::vector<char>(size_t(remat_cuda_arena_bytes(program))));
  remat_device_pointer x = upload(std::vector<float>{1, 2, 3, 4, 5}), result = 0;
  ASSERT_EQ(remat_cuda_run(program, &x, &result, arena, nullptr), 0) << remat_cuda_error();
  EXPECT_STREQ(remat_cuda_error(), "");
  // y at 0, z at 64, r at 128; r = 6x.
  EXPECT_EQ(result, arena + 128);
  EXPECT_EQ(floatsAt(result)[4], 30);
  ASSERT_EQ(remat_cuda_memory_used(program, &memory), 0);
  EXPECT_EQ(memory.arena_bytes, 0);
  EXPECT_EQ(memory.constant_bytes, 0);
}

TEST_F(CudaCTest, takesItsOwnArenaOnce) {
  open(&fake);
  remat_device_pointer x = upload(std::vector<float>{1, 2, 3, 4, 5});
  int64_t before = fakecuda::liveBytes();
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(remat_cuda_run(program, &x, nullptr, 0, nullptr), 0) << remat_cuda_error();
  remat_cuda_memory memory;
  ASSERT_EQ(remat_cuda_memory_used(program, &memory), 0);
  EXPECT_EQ(memory.arena_bytes, 192);
  EXPECT_EQ(memory.used_after - before, 192);
  remat_cuda_close(std::exchange(program, nullptr));
  EXPECT_EQ(fakecuda::liveBytes(), before);
}

TEST_F(CudaCTest, capturesAGraphWhereAsked) {
  fake.graph = 1;
  open(&fake);
  remat_device_pointer x = upload(std::vector<float>{1, 2, 3, 4, 5});
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(remat_cuda_run(program, &x, nullptr, 0, nullptr), 0) << remat_cuda_error();
  EXPECT_EQ(fakecuda::countCalls("cuGraphInstantiate"), 1);
  EXPECT_EQ(fakecuda::countCalls("cuGraphLaunch"), 3);
}

TEST_F(CudaCTest, refusesWhatIsNoProgram) {
  std::vector<char> image = writeProgram(chainProgram(5)), code = writeCudaCode(chainCode(5));
  EXPECT_FALSE(remat_cuda_open(code.data(), code.size(), code.data(), code.size(), nullptr));
  EXPECT_STREQ(remat_cuda_error(), "these bytes are no compiled program");
  EXPECT_FALSE(remat_cuda_open(image.data(), image.size(), image.data(), image.size(), nullptr));
  EXPECT_STREQ(remat_cuda_error(), "these bytes are no GPU code of a program");
  EXPECT_FALSE(remat_cuda_open(image.data(), image.size(), code.data(), code.size() - 1, nullptr));
  EXPECT_STREQ(remat_cuda_error(), "the GPU code is cut off or corrupt (compile it again)");
}

} // namespace
