//===- WorkFolder.h - Files for other programs -------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"

#include <csignal>
#include <optional>
#include <string>
#include <string_view>

namespace remat {

/// A folder for the files that a linker or an assembler reads and writes; it is gone afterwards. As long as it is
/// there, the signals that end a tool wait, because nobody else would remove it; a program that is started inherits
/// that.
class WorkFolder {
public:
  /// Error: it can't be made.
  static Expected<WorkFolder> make();
  WorkFolder(WorkFolder &&);
  ~WorkFolder();

  /// The path of a file in it.
  std::string file(std::string_view name) const { return path + "/" + std::string(name); }
  /// Writes a file in it. Error: as those of OutputFile.
  std::optional<Error> write(std::string_view name, std::string_view text) const;

private:
  WorkFolder() = default;
  std::string path; ///< Empty once it was moved from.
  sigset_t signalsBefore = {};
};

} // namespace remat
