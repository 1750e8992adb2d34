//===- WorkFolder.cpp - Files for other programs ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/CodeGen/WorkFolder.h"
#include "remat/Plan/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <utility>

namespace remat {

Expected<WorkFolder> WorkFolder::make() {
  sigset_t ending, before;
  ::sigemptyset(&ending);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    ::sigaddset(&ending, signal);
  ::sigprocmask(SIG_BLOCK, &ending, &before);
  llvm::SmallString<128> made;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("remat", made)) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return makeError("no folder for temporary files can be made: " + llvm::StringRef(error.message()).lower(), "",
                     "TMPDIR says where it is made");
  }
  WorkFolder folder;
  folder.path = made.str();
  folder.signalsBefore = before;
  return folder;
}

WorkFolder::WorkFolder(WorkFolder &&other) : path(std::exchange(other.path, {})), signalsBefore(other.signalsBefore) {}

WorkFolder::~WorkFolder() {
  if (path.empty())
    return;
  (void)llvm::sys::fs::remove_directories(path);
  ::sigprocmask(SIG_SETMASK, &signalsBefore, nullptr);
}

std::optional<Error> WorkFolder::write(std::string_view name, std::string_view text) const {
  Expected<OutputFile> out = OutputFile::open(file(name));
  if (!out)
    return out.error();
  out->stream().write(text.data(), std::streamsize(text.size()));
  return out->commit();
}

} // namespace remat
