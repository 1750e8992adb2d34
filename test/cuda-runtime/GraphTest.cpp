//===- GraphTest.cpp -------------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestSteps.h"

using namespace remat::runtime;

namespace {

class GraphTest : public CudaTest {
protected:
  static std::unique_ptr<CudaContext> chain() {
    CudaOptions options = fakeOptions();
    options.graph = true;
    return contextOf(executableOf(chainProgram(2), chainCode(2)), options);
  }
  static void expectCounts(const CudaContext &context, int64_t captured, int64_t updated, int64_t instantiated,
                           int64_t launched) {
    CudaContext::GraphCounts counts = context.graphCounts();
    EXPECT_EQ(counts.captured, captured);
    EXPECT_EQ(counts.updated, updated);
    EXPECT_EQ(counts.instantiated, instantiated);
    EXPECT_EQ(counts.launched, launched);
  }
};

TEST_F(GraphTest, capturesOnceAndReplays) {
  auto context = chain();
  DevicePointer x = upload(std::vector<float>{1, 2});
  ASSERT_FALSE(context->run({{x}}));
  EXPECT_EQ(floatsAt(context->result(0))[1], 12); // 6 · 2
  fakecuda::state().calls.clear();
  reinterpret_cast<float *>(x)[1] = 5;
  ASSERT_FALSE(context->run({{x}}));
  EXPECT_EQ(floatsAt(context->result(0))[1], 30); // 6 · 5
  EXPECT_EQ(fakecuda::state().calls,
            (std::vector<std::string>{"cuCtxPushCurrent", "cuGraphLaunch", "cuCtxPopCurrent"}));
  expectCounts(*context, 1, 0, 1, 2);
}

TEST_F(GraphTest, updatesTheGraphForOtherPointers) {
  auto context = chain();
  ASSERT_FALSE(context->run({{upload(std::vector<float>{1, 2})}}));
  ASSERT_FALSE(context->run({{upload(std::vector<float>{3, 4})}}));
  EXPECT_EQ(floatsAt(context->result(0))[0], 18); // 6 · 3
  expectCounts(*context, 2, 1, 1, 2);
  DevicePointer arena = upload(std::vector<char>(192));
  ASSERT_FALSE(context->run({{upload(std::vector<float>{7, 8})}}, arena));
  EXPECT_EQ(context->result(0), arena + 128);
  EXPECT_EQ(floatsAt(arena + 128)[0], 42); // 6 · 7
  expectCounts(*context, 3, 2, 1, 3);
}

TEST_F(GraphTest, instantiatesAnewWhereAnUpdateIsRefused) {
  auto context = chain();
  ASSERT_FALSE(context->run({{upload(std::vector<float>{1, 2})}}));
  fakecuda::failCall("cuGraphExecUpdate", 1, 910);
  ASSERT_FALSE(context->run({{upload(std::vector<float>{3, 4})}}));
  EXPECT_EQ(floatsAt(context->result(0))[0], 18);
  expectCounts(*context, 2, 0, 2, 2);
  EXPECT_EQ(fakecuda::countCalls("cuGraphExecDestroy"), 1);
}

TEST_F(GraphTest, endsACaptureThatFailsAndCapturesTheNextTime) {
  auto context = chain();
  DevicePointer x = upload(std::vector<float>{1, 2});
  fakecuda::failCall("cuLaunchKernel", 3, 1);
  EXPECT_EQ(context->run({{x}})->place, "step 'r'");
  EXPECT_TRUE(fakecuda::state().launches.empty());
  ASSERT_FALSE(context->run({{x}}));
  EXPECT_EQ(floatsAt(context->result(0))[0], 6);
  expectCounts(*context, 1, 0, 1, 1);
}

} // namespace
