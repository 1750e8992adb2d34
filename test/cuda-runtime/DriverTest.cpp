//===- DriverTest.cpp ------------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestSteps.h"

using namespace remat::runtime;

namespace {

class DriverTest : public CudaTest {
protected:
  /// What making a context says.
  static Error errorOf(const CudaOptions &options) {
    auto context = CudaContext::create(executableOf(chainProgram(5), chainCode(5)), options);
    EXPECT_FALSE(context);
    return context ? Error{} : context.error();
  }
};

TEST_F(DriverTest, saysThatThereIsNoDriver) {
  CudaOptions options;
  options.libraries.driver = "libcuda-that-nobody-has.so.1";
  Error error = errorOf(options);
  EXPECT_TRUE(error.message.starts_with("no CUDA driver: libcuda-that-nobody-has.so.1: cannot open")) << error.str();
  EXPECT_EQ(error.note, "install NVIDIA's driver, or run the step on the CPU");
}

TEST_F(DriverTest, saysWhatADriverLacks) {
  CudaOptions options;
  options.libraries.driver = "libm.so.6";
  EXPECT_EQ(errorOf(options).str(),
            "the CUDA driver libm.so.6 has no cuInit (it is older than this runtime needs: update it)");
}

TEST_F(DriverTest, knowsTheToolkitsStub) {
  if (std::string(CUDA_STUB).empty())
    GTEST_SKIP() << "no stub of the CUDA toolkit";
  CudaOptions options;
  options.libraries.driver = CUDA_STUB;
  Error error = errorOf(options);
  EXPECT_EQ(error.message, "cuInit: CUDA_ERROR_STUB_LIBRARY (34)");
  EXPECT_TRUE(error.note.starts_with("this is the toolkit's stub")) << error.note;
}

TEST_F(DriverTest, saysThatThereIsNoGpu) {
  fakecuda::failCall("cuInit", 1, 100);
  EXPECT_EQ(errorOf(fakeOptions()).str(),
            "cuInit: CUDA_ERROR_NO_DEVICE (100) (no GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES, or run "
            "the step on the CPU)");
}

TEST_F(DriverTest, saysWhichDeviceThereIsnt) {
  CudaOptions options = fakeOptions();
  options.device = 3;
  EXPECT_EQ(errorOf(options).str(), "device 3: cuDeviceGet: CUDA_ERROR_INVALID_DEVICE (101)");
}

TEST_F(DriverTest, givesTheNumberOfAStatusWithoutAName) {
  fakecuda::failCall("cuCtxGetCurrent", 1, 998);
  EXPECT_EQ(errorOf(fakeOptions()).str(), "cuCtxGetCurrent: status 998");
}

TEST_F(DriverTest, saysThatTheCodeIsForAnotherGpu) {
  CudaCode code = chainCode(5);
  code.binary = {'s', 'm', '_', '1'};
  auto context = CudaContext::create(executableOf(chainProgram(5), std::move(code)), fakeOptions());
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().str(), "program 'chain': cuModuleLoadData: CUDA_ERROR_NO_BINARY_FOR_GPU (209) (the code "
                                   "isn't for this GPU: compile the step for it, or as a fat binary)");
}

TEST_F(DriverTest, saysWhichFunctionTheCodeLacks) {
  CudaCode code = chainCode(5);
  code.kernels[1][0].symbol = "gpu_subtract";
  auto context = CudaContext::create(executableOf(chainProgram(5), std::move(code)), fakeOptions());
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().str(),
            "kernel 'add', function 'gpu_subtract': cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500)");
}

TEST_F(DriverTest, needsALibraryOnlyForAStepThatCallsIt) {
  CudaOptions options = fakeOptions();
  options.libraries.blasLt = options.libraries.cudnn = "nowhere.so";
  EXPECT_TRUE(contextOf(executableOf(chainProgram(5), chainCode(5)), options));
}

} // namespace
