//===- CodeTest.cpp --------------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestSteps.h"

using namespace remat::runtime;

namespace {

class CodeTest : public CudaTest {
protected:
  static std::string errorOf(CudaCode code) {
    auto executable = CudaExecutable::create(chainProgram(5), std::move(code));
    return executable ? "" : executable.error().str();
  }
};

TEST_F(CodeTest, readsWhatItWrote) {
  CudaCode code = chainCode(5);
  code.kernels[0][0].sharedBytes = 1234;
  code.kernels[0][0].block = {8, 4, 2};
  code.kernels[1].push_back(launchOf("second", 1, 3));
  code.kernels[1][1].parameters = {{CudaParameter::Kind::Int64, -5}};
  code.tripCounts = {3, -1};
  code.locations = {"a.py:1", ""};
  std::vector<char> bytes = writeCudaCode(code);
  auto read = readCudaCode(bytes);
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(writeCudaCode(*read), bytes);
  EXPECT_EQ(read->kernels[0][0].symbol, "gpu_double");
  EXPECT_EQ(read->kernels[0][0].grid[0], 7u);
  EXPECT_EQ(read->kernels[0][0].block, (std::array<uint32_t, 3>{8, 4, 2}));
  EXPECT_EQ(read->kernels[0][0].sharedBytes, 1234u);
  EXPECT_EQ(read->kernels[1][1].parameters[0].kind, CudaParameter::Kind::Int64);
  EXPECT_EQ(read->kernels[1][1].parameters[0].value, -5);
  EXPECT_EQ(read->tripCounts, code.tripCounts);
  EXPECT_EQ(read->locations, code.locations);
  EXPECT_EQ(read->binary, fakeBinary());
}

TEST_F(CodeTest, refusesDamagedBytes) {
  std::vector<char> bytes = writeCudaCode(chainCode(5));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(readCudaCode({bytes.data(), size})) << size;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<char> damaged = bytes;
    damaged[i] = char(damaged[i] ^ 0x41);
    EXPECT_FALSE(readCudaCode(damaged)) << i;
  }
  std::vector<char> other = bytes;
  other[8] = 9;
  EXPECT_EQ(readCudaCode(other).error().str(), "the GPU code is of version 9, this runtime reads version 1 (compile it "
                                               "again, or link the runtime that came with its compiler)");
}

TEST_F(CodeTest, refusesCodeThatDoesntFitTheProgram) {
  CudaCode code = chainCode(5);
  code.kernels.pop_back();
  EXPECT_EQ(errorOf(code), "2 kernels in the program, 1 in its code for a GPU");
  code = chainCode(5);
  code.kernels[0][0].parameters.push_back(bufferParameter(2));
  EXPECT_EQ(errorOf(code), "step 'y': function 'gpu_double' takes buffer 2 of 2");
  code = chainCode(5);
  code.kernels[1][0].grid[1] = 0;
  EXPECT_EQ(errorOf(code), "kernel 'add': function 'gpu_add' has 0 blocks of 1 threads along y, CUDA has 1 to 65535 of "
                           "1 to 1024");
  code = chainCode(5);
  code.kernels[1][0].block = {64, 32, 1};
  EXPECT_EQ(errorOf(code), "kernel 'add': function 'gpu_add' has blocks of 2048 threads, CUDA has at most 1024");
  code = chainCode(5);
  code.binary.clear();
  EXPECT_EQ(errorOf(code), "the code has launches and no binary");
  code = chainCode(5);
  code.tripCounts = {3};
  EXPECT_EQ(errorOf(code), "0 loops in the program, trip counts for 1");
  code = chainCode(5);
  code.locations = {"a.py:1"};
  EXPECT_EQ(errorOf(code), "3 steps in the program, locations of 1");
}

TEST_F(CodeTest, countsTheLaunchesOfAKernel) {
  CudaCode code = chainCode(5);
  code.kernels[1].push_back(launchOf("second", 1));
  auto executable = executableOf(chainProgram(5), std::move(code));
  EXPECT_EQ(executable->plan()[0].calls, 1);
  EXPECT_EQ(executable->plan()[2].calls, 2);
  EXPECT_EQ(executable->plan()[2].reason, "its kernel has 2 launches");
}

} // namespace
