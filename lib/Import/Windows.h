//===- Windows.h - What ops that move a window share -------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Kernels.h"

namespace remat {

/// How a window goes over a tensor; all lists have one number for every dimension of it.
struct Window {
  Ints sizes, strides, dilations;
  Ints baseDilations; ///< The tensor's elements are spread by this before it is padded.
  Ints low, high;     ///< Padding, which may be negative.

  int64_t rank() const { return sizes.size(); }
  /// The length of dimension `dim`, `size` long, once it is spread and padded.
  int64_t paddedSize(int64_t dim, int64_t size) const {
    return low[dim] + (size == 0 ? 0 : (size - 1) * baseDilations[dim] + 1) + high[dim];
  }
  /// How many places the window takes in a dimension of length `size`.
  int64_t places(int64_t dim, int64_t size) const;
};

/// The attributes `window_dimensions`, `window_strides`, `window_dilations`, `base_dilations` and `padding`; what is
/// left out is 1, or no padding. Emits an error where they are malformed or not for tensors of this rank.
mlir::FailureOr<Window> readWindow(mlir::Operation *op, int64_t rank);

/// The shape of the windows' places over `input` is that of `places`. Else emits an error.
mlir::LogicalResult checkPlaces(mlir::Operation *op, const Window &window, mlir::RankedTensorType input,
                                mlir::RankedTensorType places);

/// What a body's sums are made in: `accumulatorType` of the elements where the body adds, else their own type.
mlir::Type sumType(mlir::Block &body, mlir::Type element);

void addSelectAndScatterConversions(ConversionTable &table); ///< select_and_scatter.

} // namespace remat
