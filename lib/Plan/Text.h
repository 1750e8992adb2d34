//===- Text.h - Texts from values --------------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// std::format, as far as we need it: libstdc++ 12, which our Debian has, comes without.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace remat {

inline std::string toText(std::string_view text) { return std::string(text); }

template <typename Number>
  requires std::integral<Number> || std::floating_point<Number>
std::string toText(Number value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// `pattern` with the n-th `{}` replaced by the n-th value; doubles in their shortest form.
template <typename... Values>
std::string formatText(std::string_view pattern, const Values &...values) {
  std::string text;
  auto append = [&](const auto &value) {
    size_t hole = pattern.find("{}");
    text += pattern.substr(0, hole);
    text += toText(value);
    pattern.remove_prefix(hole + 2);
  };
  (append(values), ...);
  text += pattern;
  return text;
}

} // namespace remat
