//===- JsonWriter.cpp - Pieces of JSON text --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonWriter.h"

#include <charconv>
#include <cmath>

using namespace remat;

void JsonWriter::flush() {
  out.write(buffer.data(), std::streamsize(buffer.size()));
  buffer.clear();
}

JsonWriter &JsonWriter::raw(std::string_view text) {
  buffer += text;
  if (buffer.size() > (size_t(1) << 16))
    flush();
  return *this;
}

JsonWriter &JsonWriter::string(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  buffer += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      (buffer += '\\') += c;
    else if (c == '\n')
      buffer += "\\n";
    else if (c == '\t')
      buffer += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      ((buffer += "\\u00") += hex[static_cast<unsigned char>(c) >> 4]) += hex[c & 15];
    else
      buffer += c;
  }
  return raw("\"");
}

JsonWriter &JsonWriter::integer(int64_t value) {
  char text[24];
  return raw({text, std::to_chars(text, text + sizeof text, value).ptr});
}

JsonWriter &JsonWriter::real(double value) {
  if (!std::isfinite(value))
    return raw("null");
  char text[32];
  // -0 would come back as the integer 0.
  return raw({text, std::to_chars(text, text + sizeof text, value == 0 ? 0.0 : value).ptr});
}
