//===- Blas.cpp - Dots by cuBLASLt -----------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blas.h"

#include "remat/Runtime/Types.h"

#include <cublasLt.h>

using namespace remat::runtime;

#define REMAT_BLAS_FUNCTIONS(X)                                                                                        \
  X(cublasLtGetStatusName)                                                                                             \
  X(cublasLtCreate)                                                                                                    \
  X(cublasLtDestroy)                                                                                                   \
  X(cublasLtMatmulDescCreate)                                                                                          \
  X(cublasLtMatmulDescSetAttribute)                                                                                    \
  X(cublasLtMatmulDescDestroy)                                                                                         \
  X(cublasLtMatrixLayoutCreate)                                                                                        \
  X(cublasLtMatrixLayoutSetAttribute)                                                                                  \
  X(cublasLtMatrixLayoutDestroy)                                                                                       \
  X(cublasLtMatmulPreferenceCreate)                                                                                    \
  X(cublasLtMatmulPreferenceSetAttribute)                                                                              \
  X(cublasLtMatmulPreferenceDestroy)                                                                                   \
  X(cublasLtMatmulAlgoGetHeuristic)                                                                                    \
  X(cublasLtMatmul)

/// The library's functions and a handle.
class remat::runtime::Blas {
public:
#define REMAT_FIELD(name) decltype(&::name) name = nullptr;
  REMAT_BLAS_FUNCTIONS(REMAT_FIELD)
#undef REMAT_FIELD
  cublasLtHandle_t handle = nullptr;

  ~Blas() {
    if (handle)
      (void)cublasLtDestroy(handle);
  }

  std::optional<Error> check(const char *call, cublasStatus_t status) const {
    if (status == CUBLAS_STATUS_SUCCESS)
      return std::nullopt;
    return callError(call, cublasLtGetStatusName(status), int(status));
  }
};

Expected<std::shared_ptr<Blas>> remat::runtime::openBlas(const std::string &file) {
  auto library = Library::open(file, "cuBLASLt", "the step's dots need it: install the CUDA libraries");
  if (!library)
    return library.error();
  auto blas = std::make_shared<Blas>();
#define REMAT_FIND(name)                                                                                               \
  if (auto error = library->find(#name, blas->name))                                                                   \
    return *error;
  REMAT_BLAS_FUNCTIONS(REMAT_FIND)
#undef REMAT_FIND
  return blas;
}

Expected<std::shared_ptr<Blas>> remat::runtime::loadBlas(const std::string &file) {
  auto blas = openBlas(file);
  if (!blas)
    return blas;
  if (auto error = (*blas)->check("cublasLtCreate", (*blas)->cublasLtCreate(&(*blas)->handle)))
    return *error;
  return blas;
}

static cudaDataType_t dataType(ElementType element) {
  switch (element) {
  case ElementType::F64:
    return CUDA_R_64F;
  case ElementType::F16:
    return CUDA_R_16F;
  case ElementType::BF16:
    return CUDA_R_16BF;
  default:
    return CUDA_R_32F;
  }
}

namespace {

class BlasCall : public CudaCall {
public:
  BlasCall(std::shared_ptr<Blas> blas, const Driver &driver, const MatmulForm &form, const CallLimits &limits)
      : blas(std::move(blas)), driver(driver), form(form), limits(limits) {}
  ~BlasCall() override;

  std::optional<Error> prepare();
  std::optional<Error> enqueue(const std::array<CUdeviceptr, 3> &buffers, CUdeviceptr workspace,
                               CUstream stream) override;

private:
  std::optional<Error> describe();
  std::optional<Error> describe(cublasLtMatrixLayout_t &layout, const MatmulForm::Matrix &matrix);
  std::optional<Error> pickAlgorithm();
  std::optional<Error> prefer(cublasLtMatmulPreference_t preference) const;
  std::optional<Error> enqueueOuter(size_t loop, std::array<CUdeviceptr, 3> buffers, CUdeviceptr workspace,
                                    CUstream stream);
  std::optional<Error> multiply(const std::array<CUdeviceptr, 3> &buffers, CUdeviceptr workspace, CUstream stream);
  std::optional<Error> clear(CUdeviceptr c, CUstream stream);
  bool isDouble() const { return form.a.element == ElementType::F64; }

  std::shared_ptr<Blas> blas;
  const Driver &driver;
  MatmulForm form;
  CallLimits limits;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
};

BlasCall::~BlasCall() {
  for (cublasLtMatrixLayout_t layout : {a, b, c})
    if (layout)
      (void)blas->cublasLtMatrixLayoutDestroy(layout);
  if (description)
    (void)blas->cublasLtMatmulDescDestroy(description);
}

std::optional<Error> BlasCall::prepare() {
  if (form.isEmpty() || form.depth == 0)
    return std::nullopt;
  if (auto error = describe())
    return error;
  return pickAlgorithm();
}

std::optional<Error> BlasCall::describe() {
  cublasComputeType_t compute = isDouble() ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  if (form.a.element == ElementType::F32 && limits.allowTf32)
    compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  if (auto error =
          blas->check("cublasLtMatmulDescCreate",
                      blas->cublasLtMatmulDescCreate(&description, compute, isDouble() ? CUDA_R_64F : CUDA_R_32F)))
    return error;
  for (auto [attribute, matrix] :
       {std::pair(CUBLASLT_MATMUL_DESC_TRANSA, &form.a), std::pair(CUBLASLT_MATMUL_DESC_TRANSB, &form.b)}) {
    int32_t operation = matrix->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    if (auto error =
            blas->check("cublasLtMatmulDescSetAttribute",
                        blas->cublasLtMatmulDescSetAttribute(description, attribute, &operation, sizeof(operation))))
      return error;
  }
  if (auto error = describe(a, form.a))
    return error;
  if (auto error = describe(b, form.b))
    return error;
  return describe(c, form.c);
}

std::optional<Error> BlasCall::describe(cublasLtMatrixLayout_t &layout, const MatmulForm::Matrix &matrix) {
  if (auto error =
          blas->check("cublasLtMatrixLayoutCreate",
                      blas->cublasLtMatrixLayoutCreate(&layout, dataType(matrix.element), uint64_t(matrix.rows),
                                                       uint64_t(matrix.columns), matrix.leading)))
    return error;
  if (form.batch == 1)
    return std::nullopt;
  int32_t count = int32_t(form.batch);
  if (auto error = blas->check(
          "cublasLtMatrixLayoutSetAttribute",
          blas->cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count))))
    return error;
  return blas->check("cublasLtMatrixLayoutSetAttribute",
                     blas->cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                            &matrix.batchStride, sizeof(matrix.batchStride)));
}

/// Bounds the workspace and the alignment. A result of 16 bits is not summed in parts of 16 bits.
std::optional<Error> BlasCall::prefer(cublasLtMatmulPreference_t preference) const {
  auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    return blas->check("cublasLtMatmulPreferenceSetAttribute",
                       blas->cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)));
  };
  if (auto error = set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(limits.workspaceBytes)))
    return error;
  bool isNarrow = form.c.element == ElementType::F16 || form.c.element == ElementType::BF16;
  uint32_t reductions = isNarrow ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_MASK;
  if (auto error = set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions))
    return error;
  auto [first, second, result] = limits.alignment;
  if (form.exchanged)
    std::swap(first, second);
  for (auto [attribute, bytes] : {std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, first),
                                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, second},
                                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, result},
                                  {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, result}})
    if (auto error = set(attribute, uint32_t(bytes)))
      return error;
  return std::nullopt;
}

std::optional<Error> BlasCall::pickAlgorithm() {
  cublasLtMatmulPreference_t preference = nullptr;
  if (auto error = blas->check("cublasLtMatmulPreferenceCreate", blas->cublasLtMatmulPreferenceCreate(&preference)))
    return error;
  std::optional<Error> error = prefer(preference);
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  if (!error)
    error = blas->check(
        "cublasLtMatmulAlgoGetHeuristic",
        blas->cublasLtMatmulAlgoGetHeuristic(blas->handle, description, a, b, c, c, preference, 1, &found, &count));
  (void)blas->cublasLtMatmulPreferenceDestroy(preference);
  if (error)
    return error;
  if (count < 1 || found.state != CUBLAS_STATUS_SUCCESS)
    return Error{"cuBLASLt has no algorithm within a workspace of " + std::to_string(limits.workspaceBytes) + " bytes"};
  algorithm = found.algo;
  return std::nullopt;
}

std::optional<Error> BlasCall::multiply(const std::array<CUdeviceptr, 3> &buffers, CUdeviceptr workspace,
                                        CUstream stream) {
  float one = 1, zero = 0;
  double wideOne = 1, wideZero = 0;
  const void *alpha = isDouble() ? static_cast<const void *>(&wideOne) : &one;
  const void *beta = isDouble() ? static_cast<const void *>(&wideZero) : &zero;
  auto at = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
  return blas->check("cublasLtMatmul",
                     blas->cublasLtMatmul(blas->handle, description, alpha, at(buffers[0]), a, at(buffers[1]), b, beta,
                                          at(buffers[2]), c, at(buffers[2]), c, &algorithm, at(workspace),
                                          size_t(limits.workspaceBytes), stream));
}

/// A sum of no terms.
std::optional<Error> BlasCall::clear(CUdeviceptr c, CUstream stream) {
  int64_t bytes = TensorType{form.c.element, {}}.elementBytes();
  for (int64_t i = 0; i < form.batch; ++i)
    if (auto error = driver.check(
            "cuMemsetD2D8Async",
            driver.cuMemsetD2D8Async(c + CUdeviceptr(i * form.c.batchStride * bytes), size_t(form.c.leading * bytes), 0,
                                     size_t(form.c.rows * bytes), size_t(form.c.columns), stream)))
      return error;
  return std::nullopt;
}

std::optional<Error> BlasCall::enqueueOuter(size_t loop, std::array<CUdeviceptr, 3> buffers, CUdeviceptr workspace,
                                            CUstream stream) {
  if (loop == form.outer.size())
    return form.depth == 0 ? clear(buffers[2], stream) : multiply(buffers, workspace, stream);
  const MatmulForm::Outer &outer = form.outer[loop];
  auto advance = [](CUdeviceptr &address, int64_t stride, ElementType element) {
    address += CUdeviceptr(stride * TensorType{element, {}}.elementBytes());
  };
  for (int64_t i = 0; i < outer.size; ++i) {
    if (auto error = enqueueOuter(loop + 1, buffers, workspace, stream))
      return error;
    advance(buffers[0], outer.aStride, form.a.element);
    advance(buffers[1], outer.bStride, form.b.element);
    advance(buffers[2], outer.cStride, form.c.element);
  }
  return std::nullopt;
}

std::optional<Error> BlasCall::enqueue(const std::array<CUdeviceptr, 3> &buffers, CUdeviceptr workspace,
                                       CUstream stream) {
  if (form.isEmpty())
    return std::nullopt;
  std::array<CUdeviceptr, 3> ordered = buffers;
  if (form.exchanged)
    std::swap(ordered[0], ordered[1]);
  return enqueueOuter(0, ordered, workspace, stream);
}

} // namespace

Expected<std::unique_ptr<CudaCall>> remat::runtime::makeBlasCall(std::shared_ptr<Blas> blas, const Driver &driver,
                                                                 const MatmulForm &form, const CallLimits &given) {
  CallLimits limits = given;
  // Loops of the host move the operands by their strides.
  for (const MatmulForm::Outer &outer : form.outer) {
    int64_t strides[3] = {outer.aStride, outer.bStride, outer.cStride};
    if (form.exchanged)
      std::swap(strides[0], strides[1]);
    ElementType elements[3] = {form.a.element, form.b.element, form.c.element};
    for (size_t i = 0; i < 3; ++i)
      limits.alignment[i] =
          commonAlignment(limits.alignment[i], strides[i] * TensorType{elements[i], {}}.elementBytes());
  }
  auto call = std::make_unique<BlasCall>(std::move(blas), driver, form, limits);
  if (auto error = call->prepare())
    return *error;
  return std::unique_ptr<CudaCall>(std::move(call));
}
