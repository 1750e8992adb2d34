//===- Toolkit.h - What the CUDA toolkit brings ------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace remat {

/// The file at `path` of the toolkit: below $CUDA_HOME, $CUDA_PATH or $CUDA_ROOT, whichever is set first, or, for a
/// program, in PATH. Error: where it was looked for.
Expected<std::string> findInToolkit(llvm::StringRef path);

} // namespace remat
