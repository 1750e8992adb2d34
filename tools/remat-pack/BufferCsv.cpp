//===- BufferCsv.cpp - Buffers as comma-separated values -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferCsv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

using namespace remat;

namespace {

enum Column : size_t { Id, Lower, Upper, Size, Offset, ColumnCount };
constexpr std::array<std::string_view, ColumnCount> columnNames = {"id", "lower", "upper", "size", "offset"};
constexpr std::string_view formatNote = "the first line names the columns: id,lower,upper,size";

std::string quote(std::string_view text) {
  constexpr size_t longest = 60;
  return "'" + std::string(text.substr(0, longest)) + (text.size() > longest ? "..." : "") + "'";
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos)
    return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    size_t comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == line.npos)
      return fields;
    line.remove_prefix(comma + 1);
  }
}

class Reader {
public:
  Expected<BufferTable> read(std::string_view text);

private:
  std::optional<Error> readHeader(std::string_view line);
  std::optional<Error> readBuffer(std::string_view line);
  std::optional<Error> readNumber(std::span<const std::string_view> fields, Column column, int64_t &number) const;
  Error error(std::string message, std::string note = {}) const {
    return makeError(std::move(message), std::to_string(lineNumber), std::move(note));
  }

  BufferTable table;
  std::vector<Column> columns; ///< By field.
  std::array<size_t, ColumnCount> fieldOf = {};
  std::unordered_map<std::string, size_t> lineOfId;
  size_t lineNumber = 0;
  int64_t totalBytes = 0;
};

std::optional<Error> Reader::readHeader(std::string_view line) {
  std::array<bool, ColumnCount> isThere = {};
  for (std::string_view field : split(line)) {
    auto name = std::ranges::find(columnNames, field);
    if (name == columnNames.end())
      return error("unknown column " + quote(field), std::string(formatNote));
    auto column = Column(name - columnNames.begin());
    if (isThere[column])
      return error("two columns " + quote(field));
    isThere[column] = true;
    fieldOf[column] = columns.size();
    columns.push_back(column);
  }
  for (Column column : {Id, Lower, Upper, Size})
    if (!isThere[column])
      return error("no column " + quote(columnNames[column]), std::string(formatNote));
  return std::nullopt;
}

std::optional<Error> Reader::readNumber(std::span<const std::string_view> fields, Column column,
                                        int64_t &number) const {
  std::string_view text = fields[fieldOf[column]], name = columnNames[column];
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc::result_out_of_range)
    return error(std::string(name) + " " + quote(text) + " is beyond 2^63-1");
  if (code != std::errc() || end != text.data() + text.size())
    return error("expected a whole number for " + std::string(name) + ", found " + quote(text));
  if (number < 0)
    return error(std::string(name) + " " + quote(text) + " is negative");
  return std::nullopt;
}

std::optional<Error> Reader::readBuffer(std::string_view line) {
  std::vector<std::string_view> fields = split(line);
  if (fields.size() != columns.size())
    return error("expected " + std::to_string(columns.size()) + " fields, found " + std::to_string(fields.size()));
  ArenaBuffer buffer;
  std::string id(fields[fieldOf[Id]]);
  if (id.empty())
    return error("the id is empty");
  if (auto [known, isNew] = lineOfId.emplace(id, lineNumber); !isNew)
    return error("the id " + quote(id) + " is there twice", "it is in line " + std::to_string(known->second) + " too");
  for (auto [column, number] :
       {std::pair(Lower, &buffer.begin), std::pair(Upper, &buffer.end), std::pair(Size, &buffer.bytes)})
    if (auto wrong = readNumber(fields, column, *number))
      return wrong;
  if (buffer.begin > buffer.end)
    return error("lower " + std::to_string(buffer.begin) + " is above upper " + std::to_string(buffer.end));
  if (__builtin_add_overflow(totalBytes, buffer.bytes, &totalBytes))
    return error("the sizes up to here add up to more than 2^63-1 bytes");
  table.ids.push_back(std::move(id));
  table.buffers.push_back(buffer);
  return std::nullopt;
}

Expected<BufferTable> Reader::read(std::string_view text) {
  while (!text.empty()) {
    ++lineNumber;
    size_t end = text.find('\n');
    std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.empty())
      continue;
    if (auto wrong = columns.empty() ? readHeader(line) : readBuffer(line))
      return std::move(*wrong);
  }
  lineNumber = std::max<size_t>(lineNumber, 1);
  if (columns.empty())
    return error("the file is empty", std::string(formatNote));
  return std::move(table);
}

} // namespace

Expected<BufferTable> remat::readBuffers(std::string_view text) { return Reader().read(text); }

void remat::writeBuffers(std::ostream &out, const BufferTable &table, std::span<const int64_t> offsets) {
  out << "id,lower,upper,size,offset\n";
  for (size_t i = 0; i < table.ids.size(); ++i) {
    const ArenaBuffer &buffer = table.buffers[i];
    out << table.ids[i] << ',' << buffer.begin << ',' << buffer.end << ',' << buffer.bytes << ',' << offsets[i] << '\n';
  }
}
