//===- ImportedMarks.h - What import knows and cost needs -------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes of imported ops (Import.h) that say what their form doesn't; code generation reads them for planning.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/StringRef.h"

namespace remat {

/// On a `remat.kernel` that draws random numbers: it runs once, although its state would give the same numbers again.
inline constexpr llvm::StringLiteral randomMark = "random";

/// On an `scf.while` that counts: how often its body runs, an i64.
inline constexpr llvm::StringLiteral tripCountMark = "trip_count";

} // namespace remat
