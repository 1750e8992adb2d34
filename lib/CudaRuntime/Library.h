//===- Library.h - Libraries that are loaded when needed ---------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Error.h"

#include <optional>
#include <string>

namespace remat::runtime {

/// A shared library. It stays loaded until the process ends: NVIDIA's libraries can't be unloaded safely.
class Library {
public:
  /// `what` is its name for a reader, `note` the way out. Error: `no WHAT: ` and what the system says.
  static Expected<Library> open(const std::string &file, const char *what, const char *note);

  /// Sets `function` to the library's symbol. Error: it has none.
  template <typename Function>
  std::optional<Error> find(const char *symbol, Function *&function) const {
    void *address = nullptr;
    if (auto error = findAddress(symbol, address))
      return error;
    function = reinterpret_cast<Function *>(address);
    return std::nullopt;
  }

private:
  std::optional<Error> findAddress(const char *symbol, void *&address) const;

  void *handle = nullptr;
  std::string file;
  const char *what = "";
};

/// An error of a call: `cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)`.
Error callError(const char *call, const char *statusName, int status, std::string note = {});

} // namespace remat::runtime
