//===- Convolutions.h - Convolutions as library calls or loops ---*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Target.h"

namespace remat {

/// What a program says of the convolution.
runtime::ConvolutionSpec specOf(ConvolutionOp op);

/// Writes the convolutions that the target's library doesn't have as loops that sum, which clusters take like any
/// others. Clusters must not have been formed yet.
void decomposeUnknownConvolutions(mlir::func::FuncOp function, const Target &target);

} // namespace remat
