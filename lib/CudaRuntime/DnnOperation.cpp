//===- DnnOperation.cpp - A convolution in cuDNN's words -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DnnOperation.h"

using namespace remat::runtime;

namespace {

cudnnDataType_t dataType(ElementType element) {
  switch (element) {
  case ElementType::F64:
    return CUDNN_DATA_DOUBLE;
  case ElementType::F16:
    return CUDNN_DATA_HALF;
  case ElementType::BF16:
    return CUDNN_DATA_BFLOAT16;
  default:
    return CUDNN_DATA_FLOAT;
  }
}

/// What the three operations call their parts.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t alpha, beta, convolution, x, w, y;
};

OperationNames namesOf(ConvolutionForm::Result result) {
  switch (result) {
  case ConvolutionForm::Result::Image:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
  case ConvolutionForm::Result::Filter:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
  case ConvolutionForm::Result::Response:
    break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
}

std::optional<Error> describeTensor(const Dnn &dnn, DnnDescriptor &tensor, const ConvolutionForm &form,
                                    const ConvolutionForm::Tensor &from, const CallLimits &limits, int64_t uid) {
  int64_t elementBytes = TensorType{form.element, {}}.elementBytes();
  int64_t alignment = commonAlignment(limits.alignment[from.operand], from.offset * elementBytes);
  if (form.calls > 1)
    alignment = commonAlignment(alignment, from.callStride * elementBytes);
  return DnnBuilder(dnn, tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, dataType(form.element))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, from.sizes)
      .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, from.strides)
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, uid)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment)
      .finish();
}

std::optional<Error> describeWindow(const Dnn &dnn, DnnDescriptor &convolution, const ConvolutionForm &form) {
  bool isDouble = form.element == ElementType::F64;
  return DnnBuilder(dnn, convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)
      .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, isDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
           form.flipped ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, int64_t(form.strides.size()))
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, form.dilations)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, form.strides)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, form.prePadding)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, form.postPadding)
      .finish();
}

} // namespace

std::optional<Error> DnnOperation::describe(const Dnn &dnn, const ConvolutionForm &form, const CallLimits &limits) {
  if (auto error = describeTensor(dnn, x, form, form.x, limits, imageUid))
    return error;
  if (auto error = describeTensor(dnn, w, form, form.w, limits, filterUid))
    return error;
  if (auto error = describeTensor(dnn, y, form, form.y, limits, responseUid))
    return error;
  if (auto error = describeWindow(dnn, window, form))
    return error;
  OperationNames names = namesOf(form.result);
  DnnBuilder builder(dnn, operation, names.type);
  builder.set(names.convolution, window).set(names.x, x).set(names.w, w).set(names.y, y);
  if (form.element == ElementType::F64)
    builder.set(names.alpha, CUDNN_TYPE_DOUBLE, 1.0).set(names.beta, CUDNN_TYPE_DOUBLE, 0.0);
  else
    builder.set(names.alpha, CUDNN_TYPE_FLOAT, 1.0f).set(names.beta, CUDNN_TYPE_FLOAT, 0.0f);
  return builder.finish();
}
