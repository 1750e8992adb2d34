//===- Error.h - Errors of the planner ---------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <expected>
#include <string>

namespace remat {

/// What went wrong, where, and the way out. The texts are in LLVM's form: lower case, no full stop.
struct Error {
  /// What was found and what was expected.
  std::string message;
  /// Where: a path in a JSON file such as `ops[3].operands[1]`, or `step 7`; empty where there is none.
  std::string place = {};
  /// The way out; empty where the message says it.
  std::string note = {};
};

template <typename T>
using Expected = std::expected<T, Error>;

inline std::unexpected<Error> makeError(std::string message, std::string place = {}, std::string note = {}) {
  return std::unexpected(Error{std::move(message), std::move(place), std::move(note)});
}

} // namespace remat
