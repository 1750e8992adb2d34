//===- Regions.h - The user's regions and names in a flat function -*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace remat {

/// Replaces every `remat.region` by its body and notes the regions' paths and policies. Calls are inlined already.
void dissolveRegions(mlir::func::FuncOp function);

/// Replaces every `remat.name` by an attribute of the op that makes the value. Regions are dissolved already.
void dissolveNames(mlir::func::FuncOp function);

} // namespace remat
