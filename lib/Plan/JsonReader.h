//===- JsonReader.h - Reading JSON piece by piece ----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph of a million ops is 300 MB of JSON; a document tree of it would be ten times that. So the top object is
// streamed: its arrays come element by element, each a small tree that is dropped once it is understood.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remat {

/// A JSON value. Integers that do not fit int64 are Real.
struct JsonValue {
  enum class Kind : uint8_t { Null, Boolean, Integer, Real, String, Array, Object };

  Kind kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string text = {};
  std::vector<std::string> keys = {}; ///< Of an object; item i belongs to key i.
  std::vector<JsonValue> items = {};  ///< Of an array or object.

  /// The member of an object; null where there is none.
  const JsonValue *find(std::string_view key) const;
  /// The kind as a message says it, such as `a string`.
  std::string_view kindName() const;
};

/// Where a value stands, such as `ops[3].operands[1]`. Made on the stack; the text is only made for an error.
struct JsonPlace {
  static constexpr size_t noIndex = ~size_t(0);

  const JsonPlace *parent = nullptr;
  std::string_view field;
  size_t index = noIndex;

  std::string str() const;
};

/// Takes the members of the top object as they are read, in the order of the text.
class JsonSink {
public:
  virtual ~JsonSink() = default;

  /// One member. An array comes without its items, after `element` was called for each of them.
  virtual std::optional<Error> member(std::string_view key, const JsonValue &value) = 0;
  /// One item of an array that is a member.
  virtual std::optional<Error> element(std::string_view key, size_t index, JsonValue &value) = 0;
  /// The key of a member that, if it is an object, is read instead of the top object; empty for none.
  virtual std::string_view innerKey() const { return {}; }
  /// The inner object begins: forget what was read.
  virtual void restart() {}
};

/// Reads `json` into `sink`. Error: not JSON (place `line:column`), no object, a key twice in one object, more than 64
/// levels, or the sink's first error.
std::optional<Error> readJson(std::string_view json, JsonSink &sink);

/// Reads the typed fields of one object and keeps the first error. Readers return a default after an error.
class JsonFields {
public:
  /// Error at once where `value` is no object.
  JsonFields(const JsonValue &value, const JsonPlace &place);

  std::string_view string(std::string_view key);
  std::string_view nonEmptyString(std::string_view key);
  std::string_view optionalString(std::string_view key);
  /// An integer in `[0, 2^63)`; 4.0 and 4e3 are integers too.
  int64_t count(std::string_view key);
  int64_t optionalCount(std::string_view key);
  /// A finite number that is not negative.
  double nonNegative(std::string_view key);
  bool optionalBool(std::string_view key, bool otherwise);
  /// An array; null after an error.
  const JsonValue *array(std::string_view key);

  void fail(std::string message, std::string_view key, std::string note = {});
  void fail(Error found) {
    if (!error)
      error = std::move(found);
  }
  bool failed() const { return error.has_value(); }
  std::optional<Error> takeError() { return std::move(error); }

private:
  const JsonValue *required(std::string_view key);
  const JsonValue *optional(std::string_view key);
  std::string_view asString(const JsonValue *value, std::string_view key);
  int64_t asCount(const JsonValue *value, std::string_view key);

  const JsonValue &object;
  const JsonPlace &place;
  std::optional<Error> error;
};

/// The error for a value of another type than expected.
Error wrongType(std::string_view expected, const JsonValue &found, const JsonPlace &place);

/// Checks a `schema` member against the one this version reads, 1.
std::optional<Error> checkSchema(const JsonValue &value);

} // namespace remat
