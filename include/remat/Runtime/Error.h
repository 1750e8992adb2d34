//===- Error.h - Errors of the runtime ---------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same shape as remat/Plan/Error.h. Emitted programs link the runtime alone, so it can't use the planner's.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace remat::runtime {

/// What went wrong, where, and the way out. The texts are in LLVM's form: lower case, no full stop.
struct Error {
  /// What was found and what was expected.
  std::string message;
  /// Where: a file, `argument 3 'w'`, `step 7 'dot'`; empty where there is none.
  std::string place = {};
  /// The way out; empty where the message says it.
  std::string note = {};

  /// `place: message`, and the note in parentheses.
  std::string str() const {
    return (place.empty() ? "" : place + ": ") + message + (note.empty() ? "" : " (" + note + ")");
  }
};

/// A value or the error that kept it from being made. Precondition of `*`, `->` and `error`: as the test says.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() & { return std::get<0>(state); }
  const T &operator*() const & { return std::get<0>(state); }
  T &&operator*() && { return std::get<0>(std::move(state)); }
  T *operator->() { return &std::get<0>(state); }
  const T *operator->() const { return &std::get<0>(state); }
  Error &error() { return std::get<1>(state); }
  const Error &error() const { return std::get<1>(state); }

private:
  std::variant<T, Error> state;
};

} // namespace remat::runtime
