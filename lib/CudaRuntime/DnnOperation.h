//===- DnnOperation.h - A convolution in cuDNN's words -----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Call.h"
#include "ConvolutionForm.h"
#include "DnnGraph.h"

namespace remat::runtime {

/// The descriptors of one convolution.
struct DnnOperation {
  /// Numbers of the three tensors in variant packs.
  static constexpr int64_t imageUid = 1, filterUid = 2, responseUid = 3;

  DnnDescriptor x, w, y, window, operation;

  /// Needs no handle and no GPU. Precondition: the form is neither empty nor zero. Error: what cuDNN says.
  std::optional<Error> describe(const Dnn &dnn, const ConvolutionForm &form, const CallLimits &limits);
};

} // namespace remat::runtime
