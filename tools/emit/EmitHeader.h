//===- EmitHeader.h - The C header of an emitted step -----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Program.h"

#include <string>

namespace remat {

/// A C identifier made of a file's name: `out/my-step.o` gives `my_step`.
std::string entryName(const std::string &path);

/// The header beside an emitted object: declares NAME_open, which for a GPU takes the options, and lists the arguments
/// and results.
std::string emitHeader(const runtime::Program &program, const std::string &name, bool forGpu);

} // namespace remat
