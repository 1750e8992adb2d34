//===- ProgramFile.h - Programs as bytes ------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Error.h"
#include "remat/Runtime/Program.h"

#include <span>

namespace remat::runtime {

/// The program as bytes: what an emitted object carries. Same program, same bytes.
std::vector<char> writeProgram(const Program &program);

/// Reads what `writeProgram` wrote. Error: cut off, corrupt (by a checksum), of another version, or a program that
/// `checkProgram` refuses.
Expected<Program> readProgram(std::span<const char> bytes);

} // namespace remat::runtime
