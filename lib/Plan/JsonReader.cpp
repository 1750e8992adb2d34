//===- JsonReader.cpp - Reading JSON piece by piece ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonReader.h"
#include "Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace remat;

const JsonValue *JsonValue::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key)
      return &items[i];
  return nullptr;
}

std::string_view JsonValue::kindName() const {
  switch (kind) {
  case Kind::Null:
    return "null";
  case Kind::Boolean:
    return "a boolean";
  case Kind::Integer:
    return "an integer";
  case Kind::Real:
    return "a number";
  case Kind::String:
    return "a string";
  case Kind::Array:
    return "an array";
  case Kind::Object:
    return "an object";
  }
  return "";
}

std::string JsonPlace::str() const {
  std::string text = parent ? parent->str() : std::string();
  if (!text.empty() && !field.empty())
    text += '.';
  text += field;
  if (index != noIndex)
    text += formatText("[{}]", index);
  return text;
}

//===----------------------------------------------------------------------===//
// From nlohmann's events to the sink
//===----------------------------------------------------------------------===//

namespace {

constexpr size_t maxDepth = 64; // JsonValue's destructor recurses.

std::optional<std::string_view> duplicate(const std::vector<std::string> &keys) {
  std::vector<std::string_view> sorted(keys.begin(), keys.end());
  std::ranges::sort(sorted);
  auto twice = std::ranges::adjacent_find(sorted);
  return twice == sorted.end() ? std::nullopt : std::optional(*twice);
}

/// The SAX handler. `open` holds the arrays and objects that have begun; the streamed object is `open[streamed]`.
class Handler {
public:
  Handler(std::string_view json, JsonSink &sink) : json(json), sink(sink) {}

  std::optional<Error> error;

  bool null() { return complete({}); }
  bool boolean(bool value) { return complete({.kind = JsonValue::Kind::Boolean, .boolean = value}); }
  bool number_integer(int64_t value) {
    return complete({.kind = JsonValue::Kind::Integer, .integer = value, .real = double(value)});
  }
  bool number_unsigned(uint64_t value) {
    if (value > uint64_t(std::numeric_limits<int64_t>::max()))
      return complete({.kind = JsonValue::Kind::Real, .real = double(value)});
    return complete({.kind = JsonValue::Kind::Integer, .integer = int64_t(value), .real = double(value)});
  }
  bool number_float(double value, const std::string &) {
    return complete({.kind = JsonValue::Kind::Real, .real = value});
  }
  bool string(std::string &value) { return complete({.kind = JsonValue::Kind::String, .text = std::move(value)}); }
  bool binary(nlohmann::json::binary_t &) { return false; }

  bool start_object(size_t) {
    bool isMember = open.size() == 1 && streamed == 0;
    if (isMember && !sink.innerKey().empty() && open[0].value.keys.back() == sink.innerKey()) {
      sink.restart();
      error.reset();
      streamed = 1;
    }
    return begin(JsonValue::Kind::Object);
  }
  bool start_array(size_t) { return begin(JsonValue::Kind::Array); }
  bool key(std::string &text) {
    open.back().value.keys.push_back(std::move(text));
    return true;
  }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &exception) {
    error = syntaxError(position, exception.what());
    return false;
  }

private:
  struct Open {
    JsonValue value;
    size_t count = 0;
  };

  bool begin(JsonValue::Kind kind) {
    if (open.size() == maxDepth) {
      error = Error{formatText("nested deeper than {} levels", maxDepth), place(open.size())};
      return false;
    }
    if (open.empty() && kind == JsonValue::Kind::Array)
      return complete({.kind = kind});
    open.push_back({.value = {.kind = kind}});
    return true;
  }

  bool end() {
    JsonValue value = std::move(open.back().value);
    if (auto key = duplicate(value.keys))
      fail(Error{formatText("the key '{}' stands twice in one object", *key), place(open.size() - 1)});
    bool wasStreamed = open.size() == streamed + 1;
    open.pop_back();
    if (wasStreamed) {
      streamed = finished;
      return true;
    }
    return open.empty() || complete(std::move(value));
  }

  /// A value has ended: gives it to the sink, or to the array or object around it.
  bool complete(JsonValue value) {
    if (open.empty()) {
      error = wrongType("an object", value, {});
      return false;
    }
    Open &around = open.back();
    size_t index = around.count++;
    size_t depth = open.size() - 1;
    bool inArray = around.value.kind == JsonValue::Kind::Array;
    if (depth == streamed)
      fail(sink.member(around.value.keys.back(), value));
    else if (streamed != finished && depth == streamed + 1 && inArray)
      fail(sink.element(open[streamed].value.keys.back(), index, value));
    else if (streamed != finished && depth > streamed)
      around.value.items.push_back(std::move(value));
    return true;
  }

  void fail(std::optional<Error> found) {
    if (error || !found || streamed == finished)
      return;
    error = std::move(found);
    if (streamed == 1)
      error->place = std::string(sink.innerKey()) + (error->place.empty() ? "" : ".") + error->place;
  }

  /// The path, below the streamed object, of the value that is being read inside the first `levels` open ones.
  std::string place(size_t levels) const {
    std::string text;
    for (size_t i = streamed == finished ? 0 : streamed; i < levels; ++i) {
      if (open[i].value.kind == JsonValue::Kind::Array)
        text += formatText("[{}]", open[i].count);
      else if (!open[i].value.keys.empty())
        text += (text.empty() ? "" : ".") + open[i].value.keys.back();
    }
    return text;
  }

  /// nlohmann's message without its own position, and with one that an editor understands.
  Error syntaxError(size_t position, std::string_view what) const {
    size_t offset = std::min(position ? position - 1 : 0, json.size());
    std::string_view before = json.substr(0, offset);
    size_t line = 1 + std::ranges::count(before, '\n');
    size_t lineBegin = before.rfind('\n') + 1; // npos + 1 is 0
    Error found{"", formatText("{}:{}", line, offset - lineBegin + 1)};
    if (json.empty())
      found.message = "the file is empty";
    else if (offset < json.size() && (json[offset] == 'N' || json[offset] == 'I'))
      found.message = "NaN and Infinity are no numbers in JSON";
    else {
      size_t begin = what.find("] ");
      what.remove_prefix(begin == what.npos ? 0 : begin + 2);
      if (what.starts_with("parse error"))
        what.remove_prefix(std::min(what.find(": "), what.size() - 2) + 2);
      found.message = what.substr(0, 200);
    }
    return found;
  }

  static constexpr size_t finished = ~size_t(0) - 1;
  std::string_view json;
  JsonSink &sink;
  std::vector<Open> open;
  size_t streamed = 0;
};

} // namespace

std::optional<Error> remat::readJson(std::string_view json, JsonSink &sink) {
  Handler handler(json, sink);
  bool complete = nlohmann::json::sax_parse(json.data(), json.data() + json.size(), &handler);
  if (!complete && !handler.error)
    return Error{"not JSON", ""};
  return std::move(handler.error);
}

//===----------------------------------------------------------------------===//
// Typed fields
//===----------------------------------------------------------------------===//

Error remat::wrongType(std::string_view expected, const JsonValue &found, const JsonPlace &place) {
  return {formatText("expected {}, found {}", expected, found.kindName()), place.str()};
}

std::optional<Error> remat::checkSchema(const JsonValue &value) {
  if (value.kind != JsonValue::Kind::Integer)
    return wrongType("an integer", value, {.field = "schema"});
  if (value.integer != 1)
    return Error{formatText("schema {} is not supported: this version reads schema 1", value.integer), "schema"};
  return std::nullopt;
}

JsonFields::JsonFields(const JsonValue &value, const JsonPlace &place) : object(value), place(place) {
  if (value.kind != JsonValue::Kind::Object)
    error = wrongType("an object", value, place);
}

void JsonFields::fail(std::string message, std::string_view key, std::string note) {
  fail(Error{std::move(message), JsonPlace{&place, key}.str(), std::move(note)});
}

const JsonValue *JsonFields::required(std::string_view key) {
  const JsonValue *value = optional(key);
  if (!value && !error)
    fail(Error{formatText("missing field '{}'", key), place.str()});
  return value;
}

const JsonValue *JsonFields::optional(std::string_view key) { return error ? nullptr : object.find(key); }

std::string_view JsonFields::asString(const JsonValue *value, std::string_view key) {
  if (!value)
    return {};
  if (value->kind != JsonValue::Kind::String)
    fail(wrongType("a string", *value, {&place, key}));
  return value->text;
}

std::string_view JsonFields::string(std::string_view key) { return asString(required(key), key); }

std::string_view JsonFields::optionalString(std::string_view key) { return asString(optional(key), key); }

std::string_view JsonFields::nonEmptyString(std::string_view key) {
  std::string_view text = string(key);
  if (text.empty() && !error)
    fail("the name is empty", key);
  return text;
}

int64_t JsonFields::asCount(const JsonValue *value, std::string_view key) {
  if (!value)
    return 0;
  bool isReal = value->kind == JsonValue::Kind::Real;
  if (!isReal && value->kind != JsonValue::Kind::Integer)
    fail(wrongType("an integer", *value, {&place, key}));
  else if (value->real < 0)
    fail(formatText("expected an integer that is not negative, found {}", value->real), key);
  else if (isReal && value->real >= 0x1p63)
    fail(formatText("{} is out of range: the largest is 2^63-1", value->real), key);
  else if (std::trunc(value->real) != value->real)
    fail(formatText("expected an integer, found {}", value->real), key);
  else
    return isReal ? int64_t(value->real) : value->integer;
  return 0;
}

int64_t JsonFields::count(std::string_view key) { return asCount(required(key), key); }

int64_t JsonFields::optionalCount(std::string_view key) { return asCount(optional(key), key); }

double JsonFields::nonNegative(std::string_view key) {
  const JsonValue *value = required(key);
  if (!value)
    return 0;
  if (value->kind != JsonValue::Kind::Integer && value->kind != JsonValue::Kind::Real)
    fail(wrongType("a number", *value, {&place, key}));
  else if (!std::isfinite(value->real) || value->real < 0)
    fail(formatText("expected a finite number that is not negative, found {}", value->real), key);
  else
    return value->real;
  return 0;
}

bool JsonFields::optionalBool(std::string_view key, bool otherwise) {
  const JsonValue *value = optional(key);
  if (!value)
    return otherwise;
  if (value->kind != JsonValue::Kind::Boolean)
    fail(wrongType("a boolean", *value, {&place, key}));
  return value->boolean;
}

const JsonValue *JsonFields::array(std::string_view key) {
  const JsonValue *value = required(key);
  if (value && value->kind != JsonValue::Kind::Array) {
    fail(wrongType("an array", *value, {&place, key}));
    return nullptr;
  }
  return value;
}
