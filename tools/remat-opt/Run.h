//===- Run.h - Plan, rewrite and write ---------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "CommandLine.h"
#include "Input.h"

namespace remat {

/// Plans and rewrites the module as the flags say and writes all outputs, whole or not at all. Prints errors.
mlir::LogicalResult run(const CommandLine &line, const Input &input, mlir::ModuleOp module);

} // namespace remat
