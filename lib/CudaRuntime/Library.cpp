//===- Library.cpp - Libraries that are loaded when needed -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"

#include <dlfcn.h>

using namespace remat::runtime;

Expected<Library> Library::open(const std::string &file, const char *what, const char *note) {
  Library library;
  library.file = file;
  library.what = what;
  library.handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle)
    return library;
  const char *text = ::dlerror();
  return Error{std::string("no ") + what + ": " + (text ? text : file.c_str()), "", note};
}

std::optional<Error> Library::findAddress(const char *symbol, void *&address) const {
  address = ::dlsym(handle, symbol);
  if (address)
    return std::nullopt;
  return Error{"the " + std::string(what) + " " + file + " has no " + symbol, "",
               "it is older than this runtime needs: update it"};
}

Error remat::runtime::callError(const char *call, const char *statusName, int status, std::string note) {
  std::string name =
      statusName ? std::string(statusName) + " (" + std::to_string(status) + ")" : "status " + std::to_string(status);
  return {std::string(call) + ": " + name, "", std::move(note)};
}
