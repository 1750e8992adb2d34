//===- Generate.cpp - Graphs made by rule ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Costs come from one fixed roofline, that of the literature's PyTorch graphs: 19.5 TFLOP/s and 1.5 TB/s.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"

#include "Text.h"
#include "remat/Plan/Generate.h"
#include "remat/Plan/Policy.h"

#include <algorithm>
#include <charconv>
#include <set>

using namespace remat;

std::optional<Error> Knobs::read(std::string_view text) {
  std::set<std::string_view> given;
  while (!text.empty()) {
    std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    std::string_view key = pair.substr(0, pair.find('='));
    if (key.size() == pair.size())
      return Error{formatText("expected key=value, found '{}'", pair)};
    auto knob = std::ranges::find(knobs, key, &Knob::name);
    if (knob == knobs.end())
      return Error{formatText("unknown key '{}'", key), "", nearestNote(key)};
    if (!given.insert(key).second)
      return Error{formatText("the key '{}' is given twice", key)};
    std::string_view digits = pair.substr(key.size() + 1);
    double value = 0;
    auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    bool isNumber = code == std::errc() && end == digits.data() + digits.size();
    if (!isNumber || (knob->isInteger && value != double(int64_t(std::clamp(value, -0x1p62, 0x1p62)))))
      return Error{formatText("{}: expected {}, found '{}'", key, knob->isInteger ? "an integer" : "a number", digits)};
    if (!(value >= knob->least && value <= knob->most))
      return Error{formatText("{}: {} is not in [{}, {}]", key, digits, knob->least, knob->most)};
    knob->value = value;
  }
  return std::nullopt;
}

std::string Knobs::nearestNote(std::string_view key) const {
  std::vector<std::string_view> names;
  std::string known = "the keys are ";
  for (const Knob &knob : knobs) {
    known += (names.empty() ? "" : ", ") + std::string(knob.name);
    names.push_back(knob.name);
  }
  auto nearest = nearestName(key, names);
  return nearest ? formatText("did you mean '{}'?", *nearest) : known;
}

const Knob &Knobs::find(std::string_view name) const { return *std::ranges::find(knobs, name, &Knob::name); }

ValueId StepBuilder::argument(std::string name, int64_t bytes) {
  sizes.push_back(bytes);
  if (auto added = builder.addArgument(name, bytes); !added && !error)
    error = std::move(added.error());
  return ValueId(sizes.size() - 1);
}

OpId StepBuilder::op(const OpInfo &info, std::span<const ValueId> operands, std::span<const NewValue> results) {
  std::vector<ValueInfo> infos;
  int64_t moved = 0;
  for (ValueId operand : operands)
    moved += sizes[operand.index()];
  for (const NewValue &result : results) {
    infos.push_back({.name = result.name, .bytes = result.viewOf ? 0 : result.bytes, .viewOf = result.viewOf});
    moved += result.bytes;
    sizes.push_back(result.bytes);
  }
  OpInfo timed = info;
  bool isFree = info.opClass == OpClass::View || info.opClass == OpClass::Constant;
  timed.costNs = isFree ? 0 : std::max(double(info.flops) / flopsPerNs, double(moved) / bytesPerNs);
  firstResult = ValueId(sizes.size() - results.size());
  auto added = builder.addOp(timed, operands, infos);
  if (!added && !error)
    error = std::move(added.error());
  return added ? *added : OpId();
}

//===----------------------------------------------------------------------===//
// chain
//===----------------------------------------------------------------------===//

static Expected<Graph> generateChain(std::string_view graphName, const Knobs &knobs) {
  size_t n = size_t(knobs.integer("n"));
  int64_t bytes = knobs.integer("bytes");
  size_t forward = (n + 1) / 2;
  StepBuilder step(graphName);
  std::vector<ValueId> values{step.argument("x", bytes)};
  auto add = [&](std::string name, Phase phase, std::span<const ValueId> operands) {
    OpInfo info{.name = name, .kind = "chain.op", .opClass = OpClass::Elementwise, .phase = phase, .flops = bytes / 4};
    NewValue result{name, bytes};
    step.op(info, operands, {&result, 1});
    return step.result(0);
  };
  for (size_t i = 1; i <= forward; ++i)
    values.push_back(add(formatText("f{}", i), Phase::Forward, {&values.back(), 1}));
  // The gradient of op i reads the op's own result and the gradient of the next.
  ValueId gradient = values.back();
  for (size_t i = n - forward; i >= 1; --i) {
    ValueId operands[] = {values[i], gradient};
    bool isLoss = values[i] == gradient;
    gradient = add(formatText("b{}", i), Phase::Backward, std::span(operands).first(isLoss ? 1 : 2));
  }
  ValueId results[] = {values.back(), gradient};
  return step.finish(results);
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

Expected<Graph> remat::generateGraph(std::string_view text) {
  struct Kind {
    std::string_view name;
    Knobs knobs;
    Expected<Graph> (*generate)(std::string_view graphName, const Knobs &knobs);
  };
  Kind kinds[] = {
      {"layered", layeredKnobs(), generateLayered},
      {"transformer", transformerKnobs(), generateTransformer},
      {"chain", Knobs{{{"n", 100, 2, 5e7}, {"bytes", 1 << 20, 0, 0x1p32}}}, generateChain},
  };
  std::string_view name = text.substr(0, text.find(':'));
  auto kind = std::ranges::find(kinds, name, &Kind::name);
  if (kind == std::end(kinds)) {
    std::string_view names[] = {kinds[0].name, kinds[1].name, kinds[2].name};
    auto nearest = nearestName(name, names);
    return makeError(formatText("unknown kind of graph '{}'", name), "",
                     nearest ? formatText("did you mean '{}'?", *nearest)
                             : "the kinds are layered, transformer and chain");
  }
  std::string_view settings = text.substr(std::min(name.size() + 1, text.size()));
  if (auto error = kind->knobs.read(settings)) {
    error->place = kind->name;
    return std::move(*error);
  }
  auto graph = kind->generate(text, kind->knobs);
  if (!graph)
    graph.error().place = kind->name;
  return graph;
}
