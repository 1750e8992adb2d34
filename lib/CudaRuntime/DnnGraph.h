//===- DnnGraph.h - cuDNN's descriptors --------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Library.h"

#include <cudnn_graph.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace remat::runtime {

class DnnDescriptor;

#define REMAT_DNN_FUNCTIONS(X)                                                                                         \
  X(cudnnGetErrorString)                                                                                               \
  X(cudnnGetLastErrorString)                                                                                           \
  X(cudnnCreate)                                                                                                       \
  X(cudnnDestroy)                                                                                                      \
  X(cudnnSetStream)                                                                                                    \
  X(cudnnBackendCreateDescriptor)                                                                                      \
  X(cudnnBackendDestroyDescriptor)                                                                                     \
  X(cudnnBackendFinalize)                                                                                              \
  X(cudnnBackendSetAttribute)                                                                                          \
  X(cudnnBackendGetAttribute)                                                                                          \
  X(cudnnBackendExecute)

/// The library's functions and a handle.
class Dnn {
public:
#define REMAT_FIELD(name) decltype(&::name) name = nullptr;
  REMAT_DNN_FUNCTIONS(REMAT_FIELD)
#undef REMAT_FIELD
  cudnnHandle_t handle = nullptr;

  ~Dnn();

  /// The error says why, where cuDNN does.
  std::optional<Error> check(const char *call, cudnnStatus_t status) const;
  /// The handle's calls run on `stream` from now on.
  std::optional<Error> useStream(cudaStream_t stream);
  /// An attribute that is a list of descriptors of one type.
  Expected<std::vector<DnnDescriptor>> getDescriptors(const DnnDescriptor &from, cudnnBackendAttributeName_t attribute,
                                                      cudnnBackendDescriptorType_t type) const;

private:
  cudaStream_t current = nullptr;
};

/// A descriptor that is destroyed with the object; the library outlives it.
class DnnDescriptor {
public:
  DnnDescriptor() = default;
  DnnDescriptor(DnnDescriptor &&other) noexcept
      : dnn(other.dnn), descriptor(std::exchange(other.descriptor, nullptr)) {}
  DnnDescriptor &operator=(DnnDescriptor &&other) noexcept {
    std::swap(dnn, other.dnn);
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~DnnDescriptor();

  std::optional<Error> create(const Dnn &dnn, cudnnBackendDescriptorType_t type);
  cudnnBackendDescriptor_t get() const { return descriptor; }

private:
  const Dnn *dnn = nullptr;
  cudnnBackendDescriptor_t descriptor = nullptr;
};

/// Creates a descriptor, sets attributes and finalizes it; the first error ends it.
class DnnBuilder {
public:
  DnnBuilder(const Dnn &dnn, DnnDescriptor &descriptor, cudnnBackendDescriptorType_t type)
      : dnn(dnn), descriptor(descriptor), failure(descriptor.create(dnn, type)) {}

  template <typename T>
  DnnBuilder &set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T &value) {
    return set(name, type, 1, &value);
  }
  DnnBuilder &set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  const std::vector<int64_t> &values) {
    return set(name, type, int64_t(values.size()), values.data());
  }
  template <typename T, size_t N>
  DnnBuilder &set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const std::array<T, N> &values) {
    return set(name, type, int64_t(N), values.data());
  }
  DnnBuilder &set(cudnnBackendAttributeName_t name, const DnnDescriptor &value) {
    cudnnBackendDescriptor_t pointer = value.get();
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &pointer);
  }
  std::optional<Error> finish();

private:
  DnnBuilder &set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                  const void *values);

  const Dnn &dnn;
  DnnDescriptor &descriptor;
  std::optional<Error> failure;
};

} // namespace remat::runtime
