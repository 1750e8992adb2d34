//===- Error.h - Errors of the planner ---------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>
#include <utility>
#include <variant>

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

/// A value or the error that kept it from being made, in the shape of C++23's std::expected (see docs/Rationale.md,
/// "The language"). Precondition of `*`, `->` and `error`: as the test says.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T &operator*() & { return std::get<0>(state); }
  const T &operator*() const & { return std::get<0>(state); }
  T &&operator*() && { return std::get<0>(std::move(state)); }
  T *operator->() { return &std::get<0>(state); }
  const T *operator->() const { return &std::get<0>(state); }
  /// As `*`, but throws std::bad_variant_access where there is none: for tests.
  T &value() { return std::get<0>(state); }
  Error &error() { return std::get<1>(state); }
  const Error &error() const { return std::get<1>(state); }

private:
  std::variant<T, Error> state;
};

inline Error makeError(std::string message, std::string place = {}, std::string note = {}) {
  return Error{std::move(message), std::move(place), std::move(note)};
}

} // namespace remat
