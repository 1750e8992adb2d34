//===- JsonWriter.h - Pieces of JSON text ------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace remat {

/// Writes JSON text whose layout the caller decides. Same calls, same bytes. Texts must be UTF-8.
class JsonWriter {
public:
  explicit JsonWriter(std::ostream &out) : out(out) {}
  ~JsonWriter() { flush(); }
  JsonWriter(const JsonWriter &) = delete;
  JsonWriter &operator=(const JsonWriter &) = delete;

  /// Punctuation, keys and layout, as they are.
  JsonWriter &raw(std::string_view text);
  JsonWriter &string(std::string_view text);
  JsonWriter &integer(int64_t value);
  /// The shortest text that reads back as the same double; null for what is not finite.
  JsonWriter &real(double value);

private:
  void flush();

  std::ostream &out;
  std::string buffer;
};

} // namespace remat
