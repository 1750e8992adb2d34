//===- Pattern.h - The user's regular expressions ----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
} // namespace re2

namespace remat {

/// A regular expression in RE2's syntax. Matching takes time linear in the text, whatever the pattern, and no stack:
/// patterns and names come from users and files.
class Pattern {
public:
  /// Error: a pattern that RE2 can't read or finds too large. `user` says in the message who gave it, such as `policy
  /// 'save-ops=('`.
  static Expected<Pattern> parse(std::string_view pattern, std::string_view user);

  bool matchesWhole(std::string_view text) const;

private:
  explicit Pattern(std::shared_ptr<const re2::RE2> regex) : regex(std::move(regex)) {}

  std::shared_ptr<const re2::RE2> regex;
};

} // namespace remat
