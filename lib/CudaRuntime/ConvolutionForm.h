//===- ConvolutionForm.h - Convolutions as cuDNN takes them ------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// StableHLO has one convolution, which can dilate its input, have any dimension in the place of batch and features, and
// pad by a negative amount. cuDNN has three: forward, and the gradients by its data and by its filter.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Error.h"
#include "remat/Runtime/Program.h"

#include <array>

namespace remat::runtime {

/// y = x ⋆ w with image x [N, C, space], filter w [K, C / groups, space] and response y [N, K, space], or one of its
/// gradients: `result` says which of the three is computed. cuDNN reads the groups from the sizes.
struct ConvolutionForm {
  struct Tensor {
    unsigned operand = 0; ///< 0, 1: the spec's operands; 2: its result.
    std::vector<int64_t> sizes, strides;
    int64_t offset = 0;     ///< Elements from the buffer's begin: what negative padding cuts off.
    int64_t callStride = 0; ///< Elements from one call of `calls` to the next.
  };
  enum class Result { Image, Filter, Response };
  Result result = Result::Response;
  ElementType element = ElementType::F32;
  Tensor x, w, y;
  std::vector<int64_t> prePadding, postPadding, strides, dilations; ///< Of the forward convolution.
  bool flipped = false; ///< The filter is reversed in space: what mathematics calls a convolution.
  int64_t calls = 1;    ///< Calls of the host: groups that the sizes can't say.
  /// cuDNN wants filters dense, and that of one call isn't: before each call `rows` of `width` elements, `pitch` apart,
  /// are copied to the workspace. `rows` is 0 where nothing is.
  struct Pack {
    int64_t rows = 0, width = 0, pitch = 0;
  } pack;
  /// The result's buffer is set to zeros before: a part of it is not written.
  bool clearFirst = false;
  bool isZero = false;  ///< Nothing is summed: the result is zeros.
  bool isEmpty = false; ///< The result has no elements.
};

/// Bytes at the begin of the workspace that the packed filter takes.
int64_t packedBytes(const ConvolutionForm &form);

/// Error: types, ranks, dilations or reversals that cuDNN doesn't have.
Expected<ConvolutionForm> findConvolutionForm(const ConvolutionSpec &spec);

} // namespace remat::runtime
