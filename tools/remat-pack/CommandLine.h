//===- CommandLine.h - What the user asked of remat-pack ---------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Arena.h"

#include <string>
#include <string_view>

namespace remat {

struct CommandLine {
  std::string input;
  std::string output; ///< Empty: not written.
  ArenaOptions options;
  bool help = false, version = false;
};

/// Error: an unknown flag (nearest named), a flag given twice, a value that is wrong.
Expected<CommandLine> parseCommandLine(std::span<const std::string_view> arguments);

std::string helpText();

} // namespace remat
