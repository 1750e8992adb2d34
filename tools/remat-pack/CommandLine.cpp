//===- CommandLine.cpp - What the user asked of remat-pack -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "remat/Plan/Policy.h"

#include <algorithm>
#include <charconv>
#include <set>

using namespace remat;

namespace {

struct Flag {
  std::string_view name;
  std::string_view argument; ///< Empty: takes none.
  std::string_view help;
  std::optional<Error> (*set)(CommandLine &line, std::string_view value);
};

std::optional<Error> setSize(std::string_view flag, std::string_view text, int64_t &bytes) {
  auto size = parseSize(text);
  if (!size) {
    size.error().place = flag;
    return std::move(size.error());
  }
  bytes = *size;
  return std::nullopt;
}

template <typename Number>
std::optional<Error> setNumber(std::string_view flag, std::string_view text, Number least, Number &number) {
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < least)
    return makeError("expected a whole number of at least " + std::to_string(least) + ", found '" + std::string(text) +
                         "'",
                     std::string(flag));
  return std::nullopt;
}

constexpr Flag flags[] = {
    {"--capacity", "SIZE",
     "pack within this many bytes (512, 8GiB, ...), or fail;\n"
     "without it, into as few as the effort allows",
     [](CommandLine &line, std::string_view value) {
       return setSize("--capacity", value, line.options.capacity.emplace());
     }},
    {"--alignment", "N", "offsets are multiples of it, sizes count rounded up to it (default 1)",
     [](CommandLine &line, std::string_view value) {
       return setNumber<int64_t>("--alignment", value, 1, line.options.alignment);
     }},
    {"--effort", "N", "how long to search where greedy packings are too large\n(default 100000000: one or two seconds)",
     [](CommandLine &line, std::string_view value) {
       return setNumber<int64_t>("--effort", value, 0, line.options.effort);
     }},
    {"--seed", "N", "of the search's random choices (default 1)",
     [](CommandLine &line, std::string_view value) {
       return setNumber<uint64_t>("--seed", value, 0, line.options.seed);
     }},
    {"-o", "FILE", "write the buffers with their offsets (CSV)",
     [](CommandLine &line, std::string_view value) -> std::optional<Error> {
       line.output = value;
       return std::nullopt;
     }},
    {"--help", "", "print this",
     [](CommandLine &line, std::string_view) -> std::optional<Error> {
       line.help = true;
       return std::nullopt;
     }},
    {"--version", "", "print the version",
     [](CommandLine &line, std::string_view) -> std::optional<Error> {
       line.version = true;
       return std::nullopt;
     }},
};

Error unknownFlag(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Flag &flag : flags)
    names.push_back(flag.name);
  auto nearest = nearestName(name, names);
  return {"unknown flag '" + std::string(name) + "'", "",
          nearest ? "did you mean '" + std::string(*nearest) + "'?" : "--help lists the flags"};
}

std::optional<Error> parseFlag(CommandLine &line, std::set<std::string_view> &given,
                               std::span<const std::string_view> &rest) {
  std::string_view text = rest.front();
  rest = rest.subspan(1);
  std::string_view name = text.substr(0, text.find('='));
  auto flag = std::ranges::find(flags, name, &Flag::name);
  if (flag == std::end(flags))
    return unknownFlag(name);
  std::string quoted = "'" + std::string(name) + "'";
  bool hasValue = name.size() < text.size();
  if (flag->argument.empty() && hasValue)
    return Error{quoted + " takes no value"};
  std::string_view value;
  if (hasValue) {
    value = text.substr(name.size() + 1);
  } else if (!flag->argument.empty()) {
    if (rest.empty())
      return Error{quoted + " needs a value", "", std::string(name) + "=" + std::string(flag->argument)};
    value = rest.front();
    rest = rest.subspan(1);
  }
  if (!flag->argument.empty() && value.empty())
    return Error{quoted + " has an empty value"};
  if (!given.insert(flag->name).second)
    return Error{quoted + " is given twice"};
  return flag->set(line, value);
}

} // namespace

Expected<CommandLine> remat::parseCommandLine(std::span<const std::string_view> arguments) {
  CommandLine line;
  line.options.alignment = 1; // The sizes in a CSV file are what the buffers take.
  std::set<std::string_view> given;
  bool onlyInputs = false;
  while (!arguments.empty()) {
    std::string_view text = arguments.front();
    if (!onlyInputs && text.size() > 1 && text.starts_with('-') && text != "--") {
      if (auto error = parseFlag(line, given, arguments))
        return std::move(*error);
      continue;
    }
    arguments = arguments.subspan(1);
    if (!onlyInputs && text == "--")
      onlyInputs = true;
    else if (!line.input.empty())
      return makeError("two files of buffers: '" + line.input + "' and '" + std::string(text) + "'");
    else
      line.input = text;
  }
  if (line.input.empty() && !line.help && !line.version)
    return makeError("no file of buffers", "", "remat-pack BUFFERS.csv --capacity=1GiB -o PACKED.csv");
  return line;
}

std::string remat::helpText() {
  constexpr size_t column = 20;
  std::string text = "usage: remat-pack BUFFERS.csv [flags]\n"
                     "Packs buffers with lifetimes into one arena: no two that are alive together overlap.\n"
                     "Reads the columns id, lower, upper, size; a buffer is alive in [lower, upper). An offset column\n"
                     "is replaced. - is standard input or output. Files are written whole or not at all.\n\n";
  for (const Flag &flag : flags) {
    std::string left = "  " + std::string(flag.name);
    if (!flag.argument.empty())
      left += (flag.name.starts_with("--") ? "=" : " ") + std::string(flag.argument);
    text += left + std::string(column - left.size(), ' ');
    for (char c : flag.help)
      text += c == '\n' ? "\n" + std::string(column, ' ') : std::string(1, c);
    text += '\n';
  }
  return text;
}
