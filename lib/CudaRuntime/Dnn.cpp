//===- Dnn.cpp - Convolutions by cuDNN -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dnn.h"

#include "DnnOperation.h"

#include <algorithm>

using namespace remat::runtime;

namespace {

class DnnCall : public CudaCall {
public:
  DnnCall(std::shared_ptr<Dnn> dnn, const Driver &driver, const ConvolutionForm &form, int64_t resultBytes,
          const CallLimits &limits)
      : dnn(std::move(dnn)), driver(driver), form(form), resultBytes(resultBytes), limits(limits) {}

  std::optional<Error> prepare();
  std::optional<Error> enqueue(const std::array<CUdeviceptr, 3> &buffers, CUdeviceptr workspace,
                               CUstream stream) override;

private:
  std::optional<Error> describeGraph();
  std::optional<Error> pickPlan(cudnnBackendHeurMode_t mode);
  Expected<bool> takesPlan(DnnDescriptor &config);
  Expected<bool> isAllowed(DnnDescriptor &config);
  std::optional<Error> packFilter(CUdeviceptr filter, int64_t call, CUdeviceptr to, CUstream stream);
  std::optional<Error> execute(const std::array<CUdeviceptr, 3> &buffers, int64_t call, CUdeviceptr workspace);
  int64_t elementBytes() const { return TensorType{form.element, {}}.elementBytes(); }

  std::shared_ptr<Dnn> dnn;
  const Driver &driver;
  ConvolutionForm form;
  int64_t resultBytes;
  CallLimits limits;
  DnnOperation operation;
  DnnDescriptor graph, plan;
  bool hasPlan = false;
};

std::optional<Error> DnnCall::describeGraph() {
  if (auto error = operation.describe(*dnn, form, limits))
    return error;
  return DnnBuilder(*dnn, graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation.operation)
      .set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, dnn->handle)
      .finish();
}

std::optional<Error> DnnCall::prepare() {
  if (form.isEmpty || form.isZero)
    return std::nullopt;
  int64_t packed = packedBytes(form);
  if (packed > limits.workspaceBytes)
    return Error{"the filter is copied for each group, which takes a workspace of " + std::to_string(packed) +
                 " bytes; it has " + std::to_string(limits.workspaceBytes)};
  limits.workspaceBytes -= packed;
  if (auto error = describeGraph())
    return error;
  for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (auto error = pickPlan(mode))
      return error;
    if (hasPlan)
      return std::nullopt;
  }
  return Error{"cuDNN has no deterministic engine within a workspace of " + std::to_string(limits.workspaceBytes) +
                   " bytes",
               "", "allow the library more workspace" + std::string(limits.allowTf32 ? "" : ", or TF32")};
}

std::optional<Error> DnnCall::pickPlan(cudnnBackendHeurMode_t mode) {
  DnnDescriptor heuristic;
  if (auto error = DnnBuilder(*dnn, heuristic, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
                       .set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
                       .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode)
                       .finish())
    return error;
  auto configs = dnn->getDescriptors(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  if (!configs)
    return configs.error();
  for (DnnDescriptor &config : *configs) {
    Expected<bool> takes = takesPlan(config);
    if (!takes)
      return takes.error();
    if (*takes) {
      hasPlan = true;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// The engine's notes keep it from giving other bits another time, or fewer than the type has.
Expected<bool> DnnCall::isAllowed(DnnDescriptor &config) {
  auto engines = dnn->getDescriptors(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  if (!engines)
    return engines.error();
  if (engines->empty())
    return false;
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  int64_t count = 0;
  if (auto error = dnn->check("cudnnBackendGetAttribute",
                              dnn->cudnnBackendGetAttribute(engines->front().get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                            CUDNN_TYPE_NUMERICAL_NOTE, int64_t(notes.size()), &count,
                                                            notes.data())))
    return *error;
  notes.resize(size_t(std::clamp<int64_t>(count, 0, int64_t(notes.size()))));
  auto has = [&](cudnnBackendNumericalNote_t note) { return std::ranges::find(notes, note) != notes.end(); };
  if (has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) || has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
    return false;
  bool roundsInputs = has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) || has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  return !(form.element == ElementType::F32 && !limits.allowTf32 && roundsInputs);
}

/// True: `plan` is made of the configuration. An engine may refuse what the heuristic offers: the next is tried.
Expected<bool> DnnCall::takesPlan(DnnDescriptor &config) {
  Expected<bool> allowed = isAllowed(config);
  if (!allowed || !*allowed)
    return allowed;
  DnnDescriptor candidate;
  if (DnnBuilder(*dnn, candidate, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
          .set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, dnn->handle)
          .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config)
          .finish())
    return false;
  int64_t bytes = 0, count = 0;
  if (auto error = dnn->check("cudnnBackendGetAttribute",
                              dnn->cudnnBackendGetAttribute(candidate.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                            CUDNN_TYPE_INT64, 1, &count, &bytes)))
    return *error;
  if (bytes > limits.workspaceBytes)
    return false;
  plan = std::move(candidate);
  return true;
}

std::optional<Error> DnnCall::packFilter(CUdeviceptr filter, int64_t call, CUdeviceptr to, CUstream stream) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = filter + CUdeviceptr(call * form.pack.width * elementBytes());
  copy.srcPitch = size_t(form.pack.pitch * elementBytes());
  copy.dstDevice = to;
  copy.dstPitch = copy.WidthInBytes = size_t(form.pack.width * elementBytes());
  copy.Height = size_t(form.pack.rows);
  return driver.check("cuMemcpy2DAsync", driver.cuMemcpy2DAsync_v2(&copy, stream));
}

std::optional<Error> DnnCall::execute(const std::array<CUdeviceptr, 3> &buffers, int64_t call, CUdeviceptr workspace) {
  auto at = [&](const ConvolutionForm::Tensor &tensor) {
    int64_t elements = tensor.offset + call * tensor.callStride;
    return reinterpret_cast<void *>(buffers[tensor.operand] + CUdeviceptr(elements * elementBytes()));
  };
  bool isPacked = form.pack.rows > 0;
  void *filter = isPacked ? reinterpret_cast<void *>(workspace) : at(form.w);
  DnnDescriptor pack;
  if (auto error = DnnBuilder(*dnn, pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
                       .set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                            std::array{DnnOperation::imageUid, DnnOperation::filterUid, DnnOperation::responseUid})
                       .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                            std::array<void *, 3>{at(form.x), filter, at(form.y)})
                       .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
                            reinterpret_cast<void *>(workspace + CUdeviceptr(packedBytes(form))))
                       .finish())
    return error;
  return dnn->check("cudnnBackendExecute", dnn->cudnnBackendExecute(dnn->handle, plan.get(), pack.get()));
}

std::optional<Error> DnnCall::enqueue(const std::array<CUdeviceptr, 3> &buffers, CUdeviceptr workspace,
                                      CUstream stream) {
  if (form.isEmpty)
    return std::nullopt;
  if (form.isZero || form.clearFirst)
    if (auto error =
            driver.check("cuMemsetD8Async", driver.cuMemsetD8Async(buffers[2], 0, size_t(resultBytes), stream)))
      return error;
  if (form.isZero)
    return std::nullopt;
  if (auto error = dnn->useStream(stream))
    return error;
  for (int64_t call = 0; call < form.calls; ++call) {
    if (form.pack.rows > 0)
      if (auto error = packFilter(buffers[form.w.operand], call, workspace, stream))
        return error;
    if (auto error = execute(buffers, call, workspace))
      return error;
  }
  return std::nullopt;
}

} // namespace

Expected<std::unique_ptr<CudaCall>> remat::runtime::makeDnnCall(std::shared_ptr<Dnn> dnn, const Driver &driver,
                                                                const ConvolutionForm &form, int64_t resultBytes,
                                                                const CallLimits &limits) {
  auto call = std::make_unique<DnnCall>(std::move(dnn), driver, form, resultBytes, limits);
  if (auto error = call->prepare())
    return *error;
  return std::unique_ptr<CudaCall>(std::move(call));
}
