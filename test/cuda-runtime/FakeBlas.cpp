//===- FakeBlas.cpp - cuBLASLt without a GPU --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "FakeElements.h"

#include <cublasLt.h>

#include <cstring>
#include <map>

using namespace fakecuda;

namespace {

struct Description {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  bool transposed[2] = {false, false};
};
struct Layout {
  cudaDataType_t type;
  int64_t rows, columns, leading;
  int32_t batch = 1;
  int64_t batchStride = 0;
};
struct Preference {
  uint64_t workspaceBytes = 0;
  uint32_t reductions = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

template <typename To, typename From>
To *as(From *handle) {
  return reinterpret_cast<To *>(handle);
}

Layout transposed(Layout layout, bool transpose) {
  if (transpose)
    std::swap(layout.rows, layout.columns);
  return layout;
}

bool isValid(const Layout &layout) { return layout.leading >= layout.rows && layout.rows > 0 && layout.columns > 0; }

/// The formats' sizes and types fit, as the documentation's table says.
bool fit(const Description &d, const Layout &a, const Layout &b, const Layout &c) {
  Layout opA = transposed(a, d.transposed[0]), opB = transposed(b, d.transposed[1]);
  bool sizes = isValid(a) && isValid(b) && isValid(c) && opA.rows == c.rows && opB.columns == c.columns &&
               opA.columns == opB.rows && a.batch == c.batch && b.batch == c.batch;
  bool isDouble = d.compute == CUBLAS_COMPUTE_64F;
  bool types = a.type == b.type &&
               (isDouble ? a.type == CUDA_R_64F && c.type == a.type && d.scale == CUDA_R_64F
                         : a.type != CUDA_R_64F && d.scale == CUDA_R_32F && (c.type == a.type || c.type == CUDA_R_32F));
  return sizes && types;
}

void multiply(const Description &d, const Layout &a, const Layout &b, const Layout &c, uint64_t aData, uint64_t bData,
              uint64_t cData) {
  auto at = [](const Layout &layout, bool transpose, int64_t batch, int64_t i, int64_t j) {
    return batch * layout.batchStride + (transpose ? i * layout.leading + j : j * layout.leading + i);
  };
  int64_t depth = d.transposed[0] ? a.rows : a.columns;
  for (int64_t batch = 0; batch < c.batch; ++batch)
    for (int64_t i = 0; i < c.rows; ++i)
      for (int64_t j = 0; j < c.columns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += readElement(elementOf(a.type), aData, at(a, d.transposed[0], batch, i, k)) *
                 readElement(elementOf(b.type), bData, at(b, d.transposed[1], batch, k, j));
        writeElement(elementOf(c.type), cData, at(c, false, batch, i, j), sum);
      }
}

} // namespace

#define ENTER(name)                                                                                                    \
  if (int status = enter(name))                                                                                        \
  return cublasStatus_t(status)

extern "C" {

const char *cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED      ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : status == CUBLAS_STATUS_EXECUTION_FAILED ? "CUBLAS_STATUS_EXECUTION_FAILED"
                                                    : "CUBLAS_STATUS_INVALID_VALUE";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  ENTER("cublasLtCreate");
  *handle = as<cublasLtContext>(new int);
  return hasContext() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  enter("cublasLtDestroy");
  delete as<int>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  ENTER("cublasLtMatmulDescCreate");
  *description = as<cublasLtMatmulDescOpaque_t>(new Description{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t name,
                                              const void *value, size_t size) {
  ENTER("cublasLtMatmulDescSetAttribute");
  int32_t operation;
  if (size != sizeof(operation) || (name != CUBLASLT_MATMUL_DESC_TRANSA && name != CUBLASLT_MATMUL_DESC_TRANSB))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&operation, value, size);
  as<Description>(description)->transposed[name == CUBLASLT_MATMUL_DESC_TRANSB] = operation == CUBLAS_OP_T;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete as<Description>(description);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  ENTER("cublasLtMatrixLayoutCreate");
  *layout = as<cublasLtMatrixLayoutOpaque_t>(new Layout{type, int64_t(rows), int64_t(columns), leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name,
                                                const void *value, size_t size) {
  ENTER("cublasLtMatrixLayoutSetAttribute");
  auto *target = as<Layout>(layout);
  if (name == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && size == sizeof(target->batch))
    std::memcpy(&target->batch, value, size);
  else if (name == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && size == sizeof(target->batchStride))
    std::memcpy(&target->batchStride, value, size);
  else
    return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete as<Layout>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  ENTER("cublasLtMatmulPreferenceCreate");
  *preference = as<cublasLtMatmulPreferenceOpaque_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t name, const void *value,
                                                    size_t size) {
  ENTER("cublasLtMatmulPreferenceSetAttribute");
  auto *target = as<Preference>(preference);
  if (name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && size == 8)
    std::memcpy(&target->workspaceBytes, value, size);
  else if (name == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK && size == 4)
    std::memcpy(&target->reductions, value, size);
  else if (name >= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES && name <= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES &&
           size == 4)
    std::memcpy(&target->alignment[name - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, size);
  else
    return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete as<Preference>(preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t preference, int,
                                              cublasLtMatmulHeuristicResult_t *results, int *count) {
  ENTER("cublasLtMatmulAlgoGetHeuristic");
  const Preference &wish = *as<Preference>(preference);
  const Description &d = *as<Description>(description);
  auto text = [](uint64_t value) { return std::to_string(value); };
  state().blasRequests.push_back("workspace=" + text(wish.workspaceBytes) + " reductions=" + text(wish.reductions) +
                                 " a=" + text(wish.alignment[0]) + " b=" + text(wish.alignment[1]) +
                                 " c=" + text(wish.alignment[2]) + " compute=" + text(uint64_t(d.compute)));
  *count = 0;
  if (!fit(d, *as<Layout>(a), *as<Layout>(b), *as<Layout>(c)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (int64_t(wish.workspaceBytes) < state().blasWorkspaceBytes)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  results[0] = {};
  // The workspace and the alignment that a call must have.
  results[0].algo.data[0] = uint64_t(state().blasWorkspaceBytes);
  for (int i = 0; i < 3; ++i)
    results[0].algo.data[i + 1] = wish.alignment[i];
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t aLayout, const void *b, cublasLtMatrixLayout_t bLayout,
                              const void *beta, const void *c, cublasLtMatrixLayout_t cLayout, void *d,
                              cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspaceBytes, cudaStream_t stream) {
  ENTER("cublasLtMatmul");
  const Description description_ = *as<Description>(description);
  const Layout la = *as<Layout>(aLayout), lb = *as<Layout>(bLayout), lc = *as<Layout>(cLayout);
  bool isScaled = description_.scale == CUDA_R_64F
                      ? *static_cast<const double *>(alpha) != 1 || *static_cast<const double *>(beta) != 0
                      : *static_cast<const float *>(alpha) != 1 || *static_cast<const float *>(beta) != 0;
  bool isAligned = true;
  for (auto [pointer, i] : {std::pair(a, 1), std::pair(b, 2), std::pair<const void *, int>(d, 3)})
    isAligned &= uint64_t(pointer) % algorithm->data[i] == 0;
  if (isScaled || c != d || !isAligned || workspaceBytes < algorithm->data[0] || (algorithm->data[0] && !workspace))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (workspace)
    std::memset(workspace, 0xff, workspaceBytes);
  enqueue(stream, "matmul", [=] { multiply(description_, la, lb, lc, uint64_t(a), uint64_t(b), uint64_t(d)); });
  return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
