//===- Outputs.h - All that one run writes ----------------------*- C++ -*-===//
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

/// Files that are committed together.
class Outputs {
public:
  /// Error: OutputFile's, or a path that is open already.
  std::optional<Error> open(const std::string &path) {
    if (std::ranges::find(files, path, &OutputFile::path) != files.end())
      return makeError("'" + path + "' is named for two outputs");
    Expected<OutputFile> file = OutputFile::open(path);
    if (!file)
      return file.error();
    files.push_back(std::move(*file));
    return std::nullopt;
  }
  /// Of the file that was opened as number `index`.
  std::ostream &stream(size_t index) { return files[index].stream(); }
  std::ostream &last() { return files.back().stream(); }
  std::optional<Error> commit() { return OutputFile::commitAll(files); }

private:
  std::vector<OutputFile> files;
};

} // namespace remat
