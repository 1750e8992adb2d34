//===- DnnGraph.cpp - cuDNN's descriptors ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DnnGraph.h"

#include "Dnn.h"

using namespace remat::runtime;

Dnn::~Dnn() {
  if (handle)
    (void)cudnnDestroy(handle);
}

std::optional<Error> Dnn::check(const char *call, cudnnStatus_t status) const {
  if (status == CUDNN_STATUS_SUCCESS)
    return std::nullopt;
  Error error = callError(call, cudnnGetErrorString(status), int(status));
  char reason[512] = {};
  cudnnGetLastErrorString(reason, sizeof(reason));
  if (reason[0])
    error.message += ": " + std::string(reason);
  return error;
}

std::optional<Error> Dnn::useStream(cudaStream_t stream) {
  if (stream == current)
    return std::nullopt;
  if (auto error = check("cudnnSetStream", cudnnSetStream(handle, stream)))
    return error;
  current = stream;
  return std::nullopt;
}

Expected<std::vector<DnnDescriptor>> Dnn::getDescriptors(const DnnDescriptor &from,
                                                         cudnnBackendAttributeName_t attribute,
                                                         cudnnBackendDescriptorType_t type) const {
  int64_t count = 0;
  if (attribute == CUDNN_ATTR_ENGINECFG_ENGINE)
    count = 1; // Always one; cuDNN doesn't tell the count of an attribute that isn't a list.
  else if (auto error = check(
               "cudnnBackendGetAttribute",
               cudnnBackendGetAttribute(from.get(), attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr)))
    return *error;
  std::vector<DnnDescriptor> descriptors(static_cast<size_t>(count));
  std::vector<cudnnBackendDescriptor_t> pointers;
  for (DnnDescriptor &descriptor : descriptors) {
    if (auto error = descriptor.create(*this, type))
      return *error;
    pointers.push_back(descriptor.get());
  }
  int64_t found = 0;
  if (count > 0)
    if (auto error = check("cudnnBackendGetAttribute",
                           cudnnBackendGetAttribute(from.get(), attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &found,
                                                    pointers.data())))
      return *error;
  if (found < count)
    descriptors.resize(size_t(found));
  return descriptors;
}

DnnDescriptor::~DnnDescriptor() {
  if (descriptor)
    (void)dnn->cudnnBackendDestroyDescriptor(descriptor);
}

std::optional<Error> DnnDescriptor::create(const Dnn &library, cudnnBackendDescriptorType_t type) {
  dnn = &library;
  return dnn->check("cudnnBackendCreateDescriptor", dnn->cudnnBackendCreateDescriptor(type, &descriptor));
}

DnnBuilder &DnnBuilder::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                            const void *values) {
  if (!failure)
    failure = dnn.check("cudnnBackendSetAttribute",
                        dnn.cudnnBackendSetAttribute(descriptor.get(), name, type, count, values));
  return *this;
}

std::optional<Error> DnnBuilder::finish() {
  if (!failure)
    failure = dnn.check("cudnnBackendFinalize", dnn.cudnnBackendFinalize(descriptor.get()));
  return std::move(failure);
}

Expected<std::shared_ptr<Dnn>> remat::runtime::openDnn(const std::string &file) {
  auto library = Library::open(file, "cuDNN", "the step's convolutions need it: install cuDNN 9");
  if (!library)
    return library.error();
  auto dnn = std::make_shared<Dnn>();
#define REMAT_FIND(name)                                                                                               \
  if (auto error = library->find(#name, dnn->name))                                                                    \
    return *error;
  REMAT_DNN_FUNCTIONS(REMAT_FIND)
#undef REMAT_FIND
  return dnn;
}

Expected<std::shared_ptr<Dnn>> remat::runtime::loadDnn(const std::string &file) {
  auto dnn = openDnn(file);
  if (!dnn)
    return dnn;
  if (auto error = (*dnn)->check("cudnnCreate", (*dnn)->cudnnCreate(&(*dnn)->handle)))
    return *error;
  return dnn;
}
