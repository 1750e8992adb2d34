//===- Arguments.cpp - The arguments of a run ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "remat/Plan/OutputFile.h"

#include <cstring>
#include <unistd.h>

namespace remat {

std::string findRules(const std::string &program) {
  size_t folder = program.find_last_of('/') + 1;
  for (size_t dot = program.rfind('.'); dot != program.npos && dot > folder; dot = program.rfind('.', dot - 1))
    if (std::string path = program.substr(0, dot) + ".args.tsv"; ::access(path.c_str(), F_OK) == 0)
      return path;
  return "";
}

std::optional<Error> Arguments::fromFile(const std::string &path, const runtime::Program &program) {
  auto arrays = runtime::readNpz(path);
  if (!arrays)
    return toError(arrays.error());
  auto data = runtime::matchArguments(std::move(*arrays), program, path);
  if (!data)
    return toError(data.error());
  for (size_t i = 0; i < data->size(); ++i)
    if (!(*data)[i].empty())
      std::memcpy(pointers[i], (*data)[i].data(), (*data)[i].size());
  return std::nullopt;
}

std::optional<Error> Arguments::fromSeed(const RunOptions &options, const runtime::Program &program) {
  std::map<uint32_t, runtime::RandomRule> rules;
  if (std::string path = findRules(options.program); !path.empty()) {
    Expected<std::string> table = readFile(path);
    if (!table)
      return table.error();
    auto parsed = runtime::parseRules(*table, path);
    if (!parsed)
      return toError(parsed.error());
    rules = std::move(*parsed);
    if (!rules.empty() && rules.rbegin()->first >= program.arguments.size())
      return makeError("it has a rule for argument " + std::to_string(rules.rbegin()->first) + ", the program has " +
                           std::to_string(program.arguments.size()) + " arguments",
                       path);
  }
  for (uint32_t i = 0; i < program.arguments.size(); ++i) {
    const runtime::TensorType &type = program.arguments[i].type;
    auto rule = rules.find(i);
    runtime::fillRandom(type, rule != rules.end() ? rule->second : runtime::defaultRule(type.element),
                        *options.randomSeed, i, pointers[i]);
  }
  return std::nullopt;
}

Expected<Arguments> Arguments::load(const RunOptions &options, const runtime::Program &program,
                                    const std::vector<uint32_t> &overwritten) {
  Arguments arguments;
  std::vector<int64_t> offsets;
  int64_t size = 0;
  for (const runtime::Program::Value &value : program.arguments) {
    offsets.push_back(size);
    arguments.total += value.type.bytes();
    size += (value.type.bytes() + 63) / 64 * 64;
  }
  auto memory = runtime::Pages::allocate(size + 64, 0, "the arguments");
  if (!memory)
    return toError(memory.error());
  arguments.memory = std::move(*memory);
  for (int64_t offset : offsets)
    arguments.pointers.push_back(arguments.memory.data() + offset);
  if (auto error =
          options.inputs.empty() ? arguments.fromSeed(options, program) : arguments.fromFile(options.inputs, program))
    return std::move(*error);
  for (uint32_t index : overwritten) {
    const char *data = static_cast<const char *>(arguments.pointers[index]);
    arguments.kept.push_back({index, {data, data + program.arguments[index].type.bytes()}});
  }
  return arguments;
}

std::span<const void *const> Arguments::fresh() {
  for (const auto &[index, data] : kept)
    std::memcpy(pointers[index], data.data(), data.size());
  return {pointers.data(), pointers.size()};
}

} // namespace remat
