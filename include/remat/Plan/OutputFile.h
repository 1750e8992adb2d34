//===- OutputFile.h - Files that are whole or not there ----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"

#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>

namespace remat {

/// An output that appears whole or not at all: it is written to a temporary file in the same folder, and `commit`
/// renames that.
/// `-` is standard output; a device or a pipe is written directly; a symbolic link keeps pointing to its file. Without
/// a commit the destructor removes the temporary file.
///
///   auto out = OutputFile::open(path);
///   writePlan(out->stream(), graph, plan);
///   if (auto error = out->commit()) …
class OutputFile {
public:
  /// Error: a folder that does not exist or cannot be written, a path that is a folder. `place` is the path.
  static Expected<OutputFile> open(std::string path);

  OutputFile(OutputFile &&);
  OutputFile &operator=(OutputFile &&);
  ~OutputFile();

  const std::string &path() const;
  std::ostream &stream();

  /// Writes what is buffered, closes and renames. Error: anything that went wrong since `open`, such as a full disk.
  std::optional<Error> commit();

  /// Commits several outputs: all of them are written before the first is renamed.
  static std::optional<Error> commitAll(std::span<OutputFile> files);

  /// Error: two of the paths lead to one file (by another spelling, a link, or as standard output), so that one output
  /// would replace the other or run together with it. Devices such as /dev/null may be named twice. Nothing is opened.
  static std::optional<Error> checkDistinct(std::span<const std::string> paths);

  /// Error: one of the paths leads to the file that `input` is read from (by another spelling, a link, or as standard
  /// input), which writing would destroy. `input` may be empty: none. Nothing is opened.
  static std::optional<Error> checkNotInput(std::span<const std::string> paths, const std::string &input);

  /// Makes SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the temporary files before they end the process, and SIGXFSZ an
  /// error of `commit`. For a tool's main; at most 16 files are covered at a time.
  static void removeOnSignals();

private:
  struct Impl;
  explicit OutputFile(std::unique_ptr<Impl> impl);
  std::optional<Error> finish();
  std::optional<Error> publish();

  std::unique_ptr<Impl> impl;
};

/// The whole of a file, or of standard input for `-`. Error: what the system says; `place` is the path.
Expected<std::string> readFile(const std::string &path);

} // namespace remat
