//===- Outputs.h - All that one run of a tool writes ------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/OutputFile.h"

#include <algorithm>
#include <vector>

namespace remat {

/// Files that appear together or not at all. They are opened before the work is done, so that it isn't done in vain,
/// and written after it, for what went to standard output can't be taken back.
class Outputs {
public:
  /// Opens a file for every path that isn't empty. Error: two paths lead to one file, or OutputFile's.
  std::optional<Error> open(std::vector<std::string> paths) {
    std::erase(paths, std::string());
    if (std::optional<Error> error = OutputFile::checkDistinct(paths))
      return error;
    for (const std::string &path : paths) {
      Expected<OutputFile> file = OutputFile::open(path);
      if (!file)
        return file.error();
      files.push_back(std::move(*file));
    }
    return std::nullopt;
  }

  /// Where to write what belongs to a path. Precondition: it was opened.
  std::ostream &to(const std::string &path) { return std::ranges::find(files, path, &OutputFile::path)->stream(); }

  std::optional<Error> commit() { return OutputFile::commitAll(files); }

private:
  std::vector<OutputFile> files;
};

} // namespace remat
