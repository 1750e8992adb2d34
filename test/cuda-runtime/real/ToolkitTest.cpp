//===- ToolkitTest.cpp - What NVIDIA's libraries say without a GPU ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The real libraries have every function that the runtime asks for and take its descriptors, where the toolkit is
// installed.
//
//===----------------------------------------------------------------------===//

#include "Blas.h"
#include "Dnn.h"
#include "DnnOperation.h"
#include "RandomConvolutions.h"

#include <gtest/gtest.h>

using namespace remat::runtime;

namespace {

std::string toolkitLibrary(const char *name) { return std::string(CUDA_LIBRARIES) + "/" + name; }

TEST(ToolkitTest, blasSaysThatThereIsNoGpu) {
  auto blas = loadBlas(toolkitLibrary("libcublasLt.so.13"));
  if (blas || blas.error().message.starts_with("no cuBLASLt"))
    GTEST_SKIP() << (blas ? "there is a GPU" : blas.error().str());
  EXPECT_EQ(blas.error().str(), "cublasLtCreate: CUBLAS_STATUS_NOT_INITIALIZED (1)");
}

/// Without a handle all goes well until the heuristic is asked.
TEST(ToolkitTest, blasTakesTheDescriptionOfAProduct) {
  auto blas = openBlas(toolkitLibrary("libcublasLt.so.13"));
  if (!blas)
    GTEST_SKIP() << blas.error().str();
  for (ElementType element : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    MatmulForm form;
    form.a = {element, 4, 6, 4, 24, false};
    form.b = {element, 8, 6, 8, 48, true};
    form.c = {element, 4, 8, 4, 32, false};
    form.depth = 6;
    form.batch = 3;
    auto call = makeBlasCall(*blas, Driver(), form, {1024, {16, 8, 4}, true});
    ASSERT_FALSE(call);
    EXPECT_TRUE(call.error().message.starts_with("cublasLtMatmulAlgoGetHeuristic: ")) << call.error().str();
  }
}

TEST(ToolkitTest, cudnnSaysThatThereIsNoGpu) {
  auto dnn = loadDnn(toolkitLibrary("libcudnn.so.9"));
  if (dnn || dnn.error().message.starts_with("no cuDNN"))
    GTEST_SKIP() << (dnn ? "there is a GPU" : dnn.error().str());
  EXPECT_TRUE(dnn.error().message.starts_with("cudnnCreate: CUDNN_STATUS_NOT_INITIALIZED (1001)")) << dnn.error().str();
}

TEST(ToolkitTest, cudnnTakesConvolutionsOfEveryForm) {
  auto dnn = openDnn(toolkitLibrary("libcudnn.so.9"));
  if (!dnn)
    GTEST_SKIP() << dnn.error().str();
  librarycases::Random random(1);
  int taken = 0;
  for (int i = 0; i < 1000; ++i) {
    ConvolutionSpec spec;
    if (!randomConvolution(random, spec))
      continue;
    spec.lhs.element = spec.rhs.element = spec.result.element =
        ElementType(random.pick({int64_t(ElementType::F32), int64_t(ElementType::F64), int64_t(ElementType::BF16)}));
    auto form = findConvolutionForm(spec);
    ASSERT_TRUE(form) << form.error().str();
    if (form->isZero)
      continue;
    DnnOperation operation;
    auto error = operation.describe(**dnn, *form, {});
    ASSERT_FALSE(error) << error->str() << ": convolution " << i;
    ++taken;
  }
  EXPECT_GT(taken, 500);
}

} // namespace
