//===- FakeDnn.cpp - cuDNN without a GPU ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "FakeElements.h"

#include <cudnn_graph.h>

#include <algorithm>
#include <map>

using namespace fakecuda;

namespace {

/// Attributes as they were set; descriptors by their address.
struct Descriptor {
  cudnnBackendDescriptorType_t type;
  bool isFinal = false;
  std::map<int, std::vector<char>> values;
  std::map<int, int> types;
  size_t engine = 0; ///< Of engines, their configurations and plans.

  template <typename T>
  std::vector<T> list(int name) const {
    auto found = values.find(name);
    std::vector<T> list(found == values.end() ? 0 : found->second.size() / sizeof(T));
    if (!list.empty())
      std::memcpy(list.data(), found->second.data(), list.size() * sizeof(T));
    return list;
  }
  template <typename T>
  T one(int name) const {
    std::vector<T> all = list<T>(name);
    return all.size() == 1 ? all[0] : T();
  }
  const Descriptor *descriptor(int name) const { return one<const Descriptor *>(name); }
};

struct Handle {
  cudaStream_t stream = nullptr;
};

size_t sizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_DOUBLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  default:
    return 4;
  }
}

struct Tensor {
  std::vector<int64_t> sizes, strides;
  int64_t uid, alignment;
  ElementType element;
};

Tensor tensorOf(const Descriptor *descriptor) {
  static const std::map<int, ElementType> elements = {{CUDNN_DATA_FLOAT, ElementType::F32},
                                                      {CUDNN_DATA_DOUBLE, ElementType::F64},
                                                      {CUDNN_DATA_HALF, ElementType::F16},
                                                      {CUDNN_DATA_BFLOAT16, ElementType::BF16}};
  return {descriptor->list<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS), descriptor->list<int64_t>(CUDNN_ATTR_TENSOR_STRIDES),
          descriptor->one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID),
          descriptor->one<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT),
          elements.at(descriptor->one<int>(CUDNN_ATTR_TENSOR_DATA_TYPE))};
}

struct Convolution {
  std::string kind;
  Tensor x, w, y;
  std::vector<int64_t> pre, post, strides, dilations;
  bool flipped;
};

Convolution convolutionOf(const Descriptor *operation) {
  int convolution = CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, x = CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
      w = CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, y = CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y;
  std::string kind = "forward";
  if (operation->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR) {
    kind = "data";
    convolution = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC;
    x = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX;
    w = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W;
    y = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY;
  } else if (operation->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR) {
    kind = "filter";
    convolution = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC;
    x = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X;
    w = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW;
    y = CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY;
  }
  const Descriptor *d = operation->descriptor(convolution);
  return {kind,
          tensorOf(operation->descriptor(x)),
          tensorOf(operation->descriptor(w)),
          tensorOf(operation->descriptor(y)),
          d->list<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
          d->list<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS),
          d->list<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
          d->list<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS),
          d->one<int>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CONVOLUTION};
}

/// What cuDNN's documentation asks of sizes: response = (image + padding - window) / stride + 1, and features divide.
bool fit(const Convolution &c) {
  size_t space = c.strides.size();
  if (space < 2 || space > 3)
    return false;
  for (const auto *list : {&c.x.sizes, &c.w.sizes, &c.y.sizes, &c.x.strides, &c.w.strides, &c.y.strides})
    if (list->size() != space + 2 || std::ranges::any_of(*list, [](int64_t value) { return value < 1; }))
      return false;
  bool fits = c.x.sizes[0] == c.y.sizes[0] && c.w.sizes[0] == c.y.sizes[1] && c.x.sizes[1] % c.w.sizes[1] == 0 &&
              c.y.sizes[1] % (c.x.sizes[1] / c.w.sizes[1]) == 0;
  // Filters lie densely.
  int64_t count = 1, span = 1;
  for (size_t i = 0; i < space + 2; ++i) {
    count *= c.w.sizes[i];
    span += (c.w.sizes[i] - 1) * c.w.strides[i];
  }
  fits &= count == span;
  for (size_t d = 0; d < space; ++d) {
    int64_t room = c.x.sizes[d + 2] + c.pre[d] + c.post[d] - ((c.w.sizes[d + 2] - 1) * c.dilations[d] + 1);
    fits &= c.pre[d] >= 0 && c.post[d] >= 0 && room >= 0 && c.y.sizes[d + 2] == room / c.strides[d] + 1;
  }
  return fits;
}

int64_t place(const Tensor &tensor, const std::vector<int64_t> &index) {
  int64_t at = 0;
  for (size_t i = 0; i < index.size(); ++i)
    at += index[i] * tensor.strides[i];
  return at;
}

/// Next index in row-major order; false behind the last.
bool advance(std::vector<int64_t> &index, const std::vector<int64_t> &sizes) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < sizes[i])
      return true;
    index[i] = 0;
  }
  return false;
}

/// Every product of the convolution, by its definition, added to the element that it belongs to.
void convolve(const Convolution &c, const std::map<int64_t, uint64_t> &data) {
  size_t space = c.strides.size();
  int64_t groupFeatures = c.w.sizes[1], groups = c.x.sizes[1] / groupFeatures, groupResponses = c.y.sizes[1] / groups;
  const Tensor &result = c.kind == "forward" ? c.y : c.kind == "data" ? c.x : c.w;
  std::map<int64_t, double> sums;
  std::vector<int64_t> zero(space + 2, 0), every = zero;
  do
    sums[place(result, every)] = 0;
  while (advance(every, result.sizes));
  std::vector<int64_t> y = zero;
  do {
    std::vector<int64_t> w = zero, taps = c.w.sizes;
    taps[0] = 1;
    do {
      std::vector<int64_t> x = {y[0], y[1] / groupResponses * groupFeatures + w[1]}, tap = w;
      tap[0] = y[1];
      bool inside = true;
      for (size_t d = 0; d < space; ++d) {
        x.push_back(y[d + 2] * c.strides[d] + w[d + 2] * c.dilations[d] - c.pre[d]);
        inside &= x[d + 2] >= 0 && x[d + 2] < c.x.sizes[d + 2];
        if (c.flipped)
          tap[d + 2] = c.w.sizes[d + 2] - 1 - w[d + 2];
      }
      if (!inside)
        continue;
      auto read = [&](const Tensor &tensor, const std::vector<int64_t> &index) {
        return readElement(tensor.element, data.at(tensor.uid), place(tensor, index));
      };
      if (c.kind == "forward")
        sums[place(c.y, y)] += read(c.x, x) * read(c.w, tap);
      else if (c.kind == "data")
        sums[place(c.x, x)] += read(c.y, y) * read(c.w, tap);
      else
        sums[place(c.w, tap)] += read(c.x, x) * read(c.y, y);
    } while (advance(w, taps));
  } while (advance(y, c.y.sizes));
  for (auto [at, sum] : sums)
    writeElement(result.element, data.at(result.uid), at, sum);
}

/// A plan copies what it is made of when it is finalized: its parts may be destroyed before it runs.
std::map<const Descriptor *, Convolution> planned;

Descriptor *as(cudnnBackendDescriptor_t descriptor) { return static_cast<Descriptor *>(descriptor); }

template <typename T>
void store(Descriptor &descriptor, int name, T value) {
  descriptor.values[name].resize(sizeof(T));
  std::memcpy(descriptor.values[name].data(), &value, sizeof(T));
}

cudnnStatus_t giveEngines(const Descriptor &heuristic, int64_t requested, int64_t *count, Descriptor **configs) {
  bool isFallback = heuristic.one<int>(CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_FALLBACK;
  const Descriptor *graph = heuristic.descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  int64_t offered = isFallback ? 0 : int64_t(state().engines.size());
  *count = requested == 0 ? offered : std::min(requested, offered);
  for (int64_t i = 0; i < *count && requested > 0; ++i) {
    configs[i]->engine = size_t(i);
    configs[i]->isFinal = true;
    store(*configs[i], CUDNN_ATTR_ENGINECFG_ENGINE, graph);
  }
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

#define ENTER(name)                                                                                                    \
  if (int status = enter(name))                                                                                        \
  return cudnnStatus_t(status)

extern "C" {

const char *cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_BAD_PARAM         ? "CUDNN_STATUS_BAD_PARAM"
         : status == CUDNN_STATUS_NOT_SUPPORTED   ? "CUDNN_STATUS_NOT_SUPPORTED"
         : status == CUDNN_STATUS_NOT_INITIALIZED ? "CUDNN_STATUS_NOT_INITIALIZED"
                                                  : "CUDNN_STATUS_EXECUTION_FAILED";
}
void cudnnGetLastErrorString(char *message, size_t size) { message[0] = 0; }
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  ENTER("cudnnCreate");
  *handle = reinterpret_cast<cudnnHandle_t>(new Handle);
  return hasContext() ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_INITIALIZED;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  enter("cudnnDestroy");
  delete reinterpret_cast<Handle *>(handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  ENTER("cudnnSetStream");
  reinterpret_cast<Handle *>(handle)->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *descriptor) {
  ENTER("cudnnBackendCreateDescriptor");
  auto *created = new Descriptor;
  created->type = type;
  *descriptor = created;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  planned.erase(as(descriptor));
  delete as(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void *values) {
  ENTER("cudnnBackendSetAttribute");
  if (as(descriptor)->isFinal)
    return CUDNN_STATUS_BAD_PARAM;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    for (int64_t i = 0; i < count; ++i)
      if (!static_cast<Descriptor *const *>(values)[i]->isFinal)
        return CUDNN_STATUS_BAD_PARAM;
  const char *begin = static_cast<const char *>(values);
  as(descriptor)->values[name].assign(begin, begin + size_t(count) * sizeOf(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  ENTER("cudnnBackendFinalize");
  Descriptor &descriptor = *as(handle);
  if (descriptor.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
      descriptor.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
      descriptor.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR)
    if (!fit(convolutionOf(&descriptor)))
      return CUDNN_STATUS_BAD_PARAM;
  if (descriptor.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    descriptor.engine = descriptor.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->engine;
    if (state().engines[descriptor.engine].refuses)
      return CUDNN_STATUS_NOT_SUPPORTED;
    planned[&descriptor] = convolutionOf(descriptor.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
                                             ->descriptor(CUDNN_ATTR_ENGINECFG_ENGINE)
                                             ->descriptor(CUDNN_ATTR_OPERATIONGRAPH_OPS));
  }
  descriptor.isFinal = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const handle, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t requested, int64_t *count, void *values) {
  ENTER("cudnnBackendGetAttribute");
  const Descriptor &descriptor = *as(handle);
  if (!descriptor.isFinal)
    return CUDNN_STATUS_BAD_PARAM;
  switch (name) {
  case CUDNN_ATTR_ENGINEHEUR_RESULTS:
    return giveEngines(descriptor, requested, count, static_cast<Descriptor **>(values));
  case CUDNN_ATTR_ENGINECFG_ENGINE:
    *count = 1;
    (*static_cast<Descriptor **>(values))->engine = descriptor.engine;
    (*static_cast<Descriptor **>(values))->isFinal = true;
    return CUDNN_STATUS_SUCCESS;
  case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: {
    const std::vector<int> &notes = state().engines[descriptor.engine].notes;
    *count = int64_t(notes.size());
    std::copy(notes.begin(), notes.end(), static_cast<int *>(values));
    return CUDNN_STATUS_SUCCESS;
  }
  case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
    *count = 1;
    *static_cast<int64_t *>(values) = state().engines[descriptor.engine].workspaceBytes;
    return CUDNN_STATUS_SUCCESS;
  default:
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t planHandle,
                                  cudnnBackendDescriptor_t packHandle) {
  ENTER("cudnnBackendExecute");
  const Descriptor &plan = *as(planHandle), &pack = *as(packHandle);
  if (!plan.isFinal || !pack.isFinal)
    return CUDNN_STATUS_BAD_PARAM;
  Convolution c = planned.at(&plan);
  auto uids = pack.list<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  auto pointers = pack.list<uint64_t>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::map<int64_t, uint64_t> data;
  for (size_t i = 0; i < uids.size(); ++i)
    data[uids[i]] = pointers[i];
  for (const Tensor *tensor : {&c.x, &c.w, &c.y})
    if (data.at(tensor->uid) % uint64_t(tensor->alignment) != 0)
      return CUDNN_STATUS_BAD_PARAM;
  int64_t workspaceBytes = state().engines[plan.engine].workspaceBytes;
  auto workspace = pack.one<uint64_t>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  if (workspaceBytes > 0 && workspace == 0)
    return CUDNN_STATUS_BAD_PARAM;
  std::string text = c.kind + " " + std::to_string(plan.engine);
  enqueue(reinterpret_cast<Handle *>(handle)->stream, "convolution", [=] {
    if (workspaceBytes > 0)
      std::memset(reinterpret_cast<void *>(workspace), 0xff, size_t(workspaceBytes));
    state().convolutions.push_back(text);
    convolve(c, data);
  });
  return CUDNN_STATUS_SUCCESS;
}

} // extern "C"
