//===- MatmulTest.cpp - Dots on cuBLASLt ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulForm.h"
#include "TestCalls.h"

#include <algorithm>
#include <cublasLt.h>

using namespace remat::runtime;

namespace {

using MatmulTest = CudaTest;

/// Row-major A [m, k], B [k, n] and C [m, n].
MatmulSpec plainDot(int64_t m, int64_t n, int64_t k, ElementType element = ElementType::F32) {
  MatmulSpec spec;
  spec.a = spec.b = spec.c = element;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  spec.aRowStride = k;
  spec.bRowStride = spec.cRowStride = n;
  spec.aColumnStride = spec.bColumnStride = spec.cColumnStride = 1;
  return spec;
}

void compare(const MatmulSpec &spec, const std::string &what) {
  std::string error;
  auto cpu = makeMatmul(spec, 1, error);
  ASSERT_TRUE(cpu) << error;
  compareWithCpu(callProgram(spec), *cpu, what);
}

TEST_F(MatmulTest, exchangesOperandsOfARowMajorResult) {
  auto form = findMatmulForm(plainDot(2, 3, 5));
  ASSERT_TRUE(form);
  EXPECT_TRUE(form->exchanged);
  // Column-major: Cᵀ [3, 2] = Bᵀ [3, 5] × Aᵀ [5, 2], none transposed.
  EXPECT_EQ(form->a.rows, 3);
  EXPECT_EQ(form->a.columns, 5);
  EXPECT_EQ(form->a.leading, 3);
  EXPECT_FALSE(form->a.transposed);
  EXPECT_EQ(form->b.leading, 5);
  EXPECT_EQ(form->c.leading, 3);
  compare(plainDot(2, 3, 5), "plain");
}

TEST_F(MatmulTest, hasEveryType) {
  for (ElementType element : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    compare(plainDot(4, 3, 5, element), std::string(spell(element)));
    MatmulSpec widening = plainDot(4, 3, 5, element);
    if (element != ElementType::F64)
      widening.c = ElementType::F32;
    compare(widening, std::string(spell(element)) + " wide");
  }
}

TEST_F(MatmulTest, runsDotsInEveryLayout) {
  librarycases::Random random(1);
  int run = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    MatmulSpec spec;
    spec.m = random.pick({1, 1, 2, 3, 7});
    spec.n = random.pick({1, 1, 2, 5, 6});
    spec.k = random.pick({1, 2, 3, 8});
    for (int64_t rank = random.below(3); rank > 0; --rank)
      spec.batch.push_back(random.pick({1, 2, 3}));
    // Each tensor lies densely, its dimensions in any order, the last two of the order being rows and columns mostly.
    auto layOut = [&](int64_t rows, int64_t columns, int64_t &rowStride, int64_t &columnStride,
                      std::vector<int64_t> &batchStrides) {
      std::vector<int64_t *> order;
      std::vector<int64_t> sizes;
      batchStrides.assign(spec.batch.size(), 0);
      std::vector<size_t> dims(spec.batch.size() + 2);
      for (size_t d = 0; d < dims.size(); ++d)
        dims[d] = d;
      std::shuffle(dims.begin(), dims.end(), random.engine);
      int64_t stride = 1;
      for (size_t d : dims) {
        bool isBatch = d < spec.batch.size();
        int64_t size = isBatch ? spec.batch[d] : d == spec.batch.size() ? rows : columns;
        (isBatch ? batchStrides[d] : d == spec.batch.size() ? rowStride : columnStride) = stride;
        stride *= size;
      }
    };
    layOut(spec.m, spec.k, spec.aRowStride, spec.aColumnStride, spec.aBatchStrides);
    layOut(spec.k, spec.n, spec.bRowStride, spec.bColumnStride, spec.bBatchStrides);
    layOut(spec.m, spec.n, spec.cRowStride, spec.cColumnStride, spec.cBatchStrides);
    if (!findMatmulForm(spec)) {
      auto isLoose = [](int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride) {
        return rows > 1 && columns > 1 && rowStride != 1 && columnStride != 1;
      };
      EXPECT_TRUE(isLoose(spec.m, spec.k, spec.aRowStride, spec.aColumnStride) ||
                  isLoose(spec.k, spec.n, spec.bRowStride, spec.bColumnStride) ||
                  isLoose(spec.m, spec.n, spec.cRowStride, spec.cColumnStride));
      ++refused;
      continue;
    }
    compare(spec, "dot " + std::to_string(i));
    ++run;
    fakecuda::reset();
  }
  EXPECT_GT(run, 1000);
  EXPECT_GT(refused, 100);
}

TEST_F(MatmulTest, joinsBatchDimensionsThatLieEvenly) {
  // [2, 3] matrices of 4 × 4, dense: one batch of 6.
  MatmulSpec spec = plainDot(4, 4, 4);
  spec.batch = {2, 3};
  spec.aBatchStrides = spec.bBatchStrides = spec.cBatchStrides = {48, 16};
  auto form = findMatmulForm(spec);
  EXPECT_EQ(form->batch, 6);
  EXPECT_EQ(form->calls(), 1);
  // Attention's heads: A is [2, 4, 3, 4] (batch, row, head, column), the result is dense. Two calls of three.
  spec.aRowStride = 12;
  spec.aBatchStrides = {48, 4};
  form = findMatmulForm(spec);
  EXPECT_EQ(form->batch, 3);
  EXPECT_EQ(form->calls(), 2);
  auto executable = executableOf(callProgram(spec), {});
  EXPECT_EQ(executable->plan()[0].calls, 2);
  EXPECT_EQ(executable->plan()[0].reason, "batch dimensions that don't lie evenly");
  compare(spec, "heads");
  EXPECT_EQ(fakecuda::countCalls("cublasLtMatmul"), 2);
}

TEST_F(MatmulTest, clearsTheResultOfASumOfNoTerms) {
  MatmulSpec spec = plainDot(3, 4, 0);
  compare(spec, "no terms");
  EXPECT_EQ(fakecuda::countCalls("cublasLtMatmul"), 0);
  EXPECT_EQ(fakecuda::countCalls("cuMemsetD2D8Async"), 1);
  compare(plainDot(0, 4, 2), "no rows");
  EXPECT_EQ(fakecuda::countCalls("cublasLtMatmul"), 0);
}

TEST_F(MatmulTest, picksAnAlgorithmWithinTheWorkspaceAtLoad) {
  fakecuda::state().blasWorkspaceBytes = 4096;
  auto small = CudaContext::create(executableOf(callProgram(plainDot(2, 2, 2), 4032), {}), fakeOptions());
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().str(), "step 'call.0': cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED (15)");
  auto context = contextOf(executableOf(callProgram(plainDot(2, 2, 2), 4096), {}));
  EXPECT_EQ(fakecuda::countCalls("cublasLtMatmulAlgoGetHeuristic"), 2);
  fakecuda::state().calls.clear();
  std::vector<float> values(4, 1);
  DevicePointer a = upload(values), b = upload(values);
  for (int i = 0; i < 2; ++i)
    ASSERT_FALSE(context->run({{a, b}}));
  EXPECT_EQ(fakecuda::countCalls("cublasLtMatmulAlgoGetHeuristic"), 0);
  EXPECT_EQ(fakecuda::countCalls("cublasLtMatmul"), 2);
  // 1 · 1 + 1 · 1
  EXPECT_EQ(floatsAt(context->result(0))[3], 2);
}

TEST_F(MatmulTest, usesTf32OnlyWhereAllowed) {
  CudaOptions options = fakeOptions();
  auto requestOf = [&](ElementType element) {
    fakecuda::reset();
    contextOf(executableOf(callProgram(plainDot(4, 4, 4, element)), {}), options);
    const std::string &request = fakecuda::state().blasRequests.back();
    return request.substr(request.find("compute="));
  };
  EXPECT_EQ(requestOf(ElementType::F32), "compute=" + std::to_string(int(CUBLAS_COMPUTE_32F)));
  options.allowTf32 = true;
  EXPECT_EQ(requestOf(ElementType::F32), "compute=" + std::to_string(int(CUBLAS_COMPUTE_32F_FAST_TF32)));
  EXPECT_EQ(requestOf(ElementType::BF16), "compute=" + std::to_string(int(CUBLAS_COMPUTE_32F)));
  EXPECT_EQ(requestOf(ElementType::F64), "compute=" + std::to_string(int(CUBLAS_COMPUTE_64F)));
}

TEST_F(MatmulTest, doesntSumPartsOf16Bits) {
  contextOf(executableOf(callProgram(plainDot(4, 4, 4, ElementType::BF16)), {}));
  // CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE is 2, _MASK is 7.
  EXPECT_NE(fakecuda::state().blasRequests.back().find("reductions=2 "), std::string::npos);
  contextOf(executableOf(callProgram(plainDot(4, 4, 4)), {}));
  EXPECT_NE(fakecuda::state().blasRequests.back().find("reductions=7 "), std::string::npos);
}

/// Two equal dots: the second with less workspace, and with its A at 8 bytes behind a multiple of 16. Another algorithm
/// would give other bits, so both get what holds for both.
TEST_F(MatmulTest, givesEqualDotsEqualAlgorithms) {
  Program program = callProgram(plainDot(4, 4, 4), 256);
  program.matmuls.push_back(program.matmuls[0]);
  Step again = program.steps[0];
  again.library = 1;
  again.name = "call.1";
  program.arguments[0].type.shape = {18};
  again.buffers[0].offset = 8;
  program.slots.push_back({"workspace.1", 64, 128});
  again.taken = {2};
  program.steps.push_back(again);
  contextOf(executableOf(program, {}));
  // Row-major: A of the library is B of the spec.
  std::string expected = "workspace=128 reductions=7 a=16 b=8 c=16 ";
  ASSERT_EQ(fakecuda::state().blasRequests.size(), 2u);
  for (const std::string &request : fakecuda::state().blasRequests)
    EXPECT_TRUE(request.starts_with(expected)) << request;
}

TEST_F(MatmulTest, refusesWhatCublasLtDoesntHave) {
  auto errorOf = [](const MatmulSpec &spec) {
    auto executable = CudaExecutable::create(callProgram(spec), {});
    return executable ? "" : executable.error().str();
  };
  EXPECT_EQ(errorOf(plainDot(2, 2, 2, ElementType::I8)), "step 'call.0': cuBLASLt has no product i8 × i8 -> i8 "
                                                         "(convert the operands to one of f64, f32, bf16 and f16 "
                                                         "first)");
  MatmulSpec loose = plainDot(2, 2, 2);
  loose.aRowStride = 8;
  loose.aColumnStride = 4;
  EXPECT_EQ(errorOf(loose), "step 'call.0': cuBLASLt needs neighbouring elements in the rows or columns of an operand, "
                            "found strides of 4 and 8 (transpose or copy the operand before the product)");
}

TEST_F(MatmulTest, reportsWhatTheLibrarySays) {
  auto executable = executableOf(callProgram(plainDot(2, 2, 2)), {});
  auto context = contextOf(executable);
  std::vector<float> values(4, 1);
  fakecuda::failCall("cublasLtMatmul", 1, int(CUBLAS_STATUS_EXECUTION_FAILED));
  EXPECT_EQ(context->run({{upload(values), upload(values)}})->str(),
            "step 'call.0': cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED (13)");
  for (const char *call :
       {"cublasLtCreate", "cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutCreate",
        "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute", "cublasLtMatmulAlgoGetHeuristic"}) {
    fakecuda::failCall(call, 1, int(CUBLAS_STATUS_INVALID_VALUE));
    auto failed = CudaContext::create(executable, fakeOptions());
    ASSERT_FALSE(failed) << call;
    EXPECT_EQ(failed.error().str(), "step 'call.0': " + std::string(call) + ": CUBLAS_STATUS_INVALID_VALUE (7)");
  }
  CudaOptions options = fakeOptions();
  options.libraries.blasLt = "libcublasLt-nowhere.so";
  auto missing = CudaContext::create(executable, options);
  ASSERT_FALSE(missing);
  EXPECT_TRUE(missing.error().str().starts_with("step 'call.0': no cuBLASLt: libcublasLt-nowhere.so: cannot open"))
      << missing.error().str();
}

TEST_F(MatmulTest, isCapturedInAGraph) {
  CudaOptions options = fakeOptions();
  options.graph = true;
  auto context = contextOf(executableOf(callProgram(plainDot(2, 2, 2)), {}), options);
  std::vector<float> values = {1, 2, 3, 4};
  DevicePointer a = upload(values), b = upload(values);
  for (int i = 0; i < 2; ++i)
    ASSERT_FALSE(context->run({{a, b}}));
  // [1 2; 3 4]² = [7 10; 15 22]
  EXPECT_EQ(floatsAt(context->result(0))[2], 15);
  EXPECT_EQ(fakecuda::countCalls("cublasLtMatmul"), 1);
  EXPECT_EQ(context->graphCounts().launched, 2);
}

} // namespace
