//===- GraphJson.cpp - Reading graphs from JSON, schema 1 ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading has two steps, because the members of an object come in any order: `Collector` checks the types and keeps the
// names; `Builder` resolves them. A graph of a million ops must fit, so the texts lie in one arena until the graph has
// its own.
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/GraphJson.h"

#include "JsonReader.h"
#include "Text.h"
#include "remat/Plan/Policy.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace remat;

namespace {

/// Keeps copies of texts, close together.
class TextArena {
public:
  std::string_view keep(std::string_view text) {
    if (text.empty())
      return {};
    if (text.size() > left) {
      left = std::max(chunkSize, text.size());
      chunks.push_back(std::make_unique_for_overwrite<char[]>(left));
      next = chunks.back().get();
    }
    char *copy = next;
    std::memcpy(copy, text.data(), text.size());
    next += text.size();
    left -= text.size();
    return {copy, text.size()};
  }
  void clear() { *this = {}; }

private:
  static constexpr size_t chunkSize = size_t(1) << 20;
  std::vector<std::unique_ptr<char[]>> chunks;
  char *next = nullptr;
  size_t left = 0;
};

struct RawArgument {
  std::string_view name;
  int64_t bytes;
  bool donated;
};

struct RawResult {
  std::string_view name;
  int64_t bytes;
  std::string_view viewOf, inplaceOf;
};

struct RawOp {
  OpInfo info;
  size_t operandBegin, operandEnd, resultBegin, resultEnd;
};

/// A graph file with checked types and unresolved names.
struct RawGraph {
  std::string_view name;
  std::vector<RawArgument> arguments;
  std::vector<RawOp> ops;
  std::vector<std::string_view> operands;
  std::vector<RawResult> opResults;
  std::vector<std::string_view> results;
  std::vector<RegionInfo> regions;

  std::span<const std::string_view> operandsOf(const RawOp &op) const {
    return std::span(operands).subspan(op.operandBegin, op.operandEnd - op.operandBegin);
  }
  std::span<const RawResult> resultsOf(const RawOp &op) const {
    return std::span(opResults).subspan(op.resultBegin, op.resultEnd - op.resultBegin);
  }
};

constexpr std::string_view graphFields[] = {"schema", "name", "arguments", "ops", "results"};

class Collector : public JsonSink {
public:
  RawGraph graph;
  bool inner = false;

  std::string_view innerKey() const override { return "graph"; }
  void restart() override {
    graph = {};
    texts.clear();
    seen.fill(false);
    inner = true;
  }

  std::optional<Error> member(std::string_view key, const JsonValue &value) override {
    auto field = std::ranges::find(graphFields, key);
    if (field != std::end(graphFields))
      seen[size_t(field - std::begin(graphFields))] = true;
    if (key == "schema")
      return checkSchema(value);
    if (key == "name") {
      if (value.kind != JsonValue::Kind::String)
        return wrongType("a string", value, {.field = key});
      graph.name = texts.keep(value.text);
      return std::nullopt;
    }
    bool isArray = key == "regions" || field != std::end(graphFields);
    if (isArray && value.kind != JsonValue::Kind::Array)
      return wrongType("an array", value, {.field = key});
    return std::nullopt;
  }

  std::optional<Error> element(std::string_view key, size_t index, JsonValue &value) override {
    JsonPlace place{.field = key, .index = index};
    if (key == "arguments")
      return addArgument(value, place);
    if (key == "ops")
      return addOp(value, place);
    if (key == "results")
      return addText(graph.results, value, place);
    if (key == "regions")
      return addRegion(value, place);
    return std::nullopt;
  }

  std::optional<Error> missingField() const {
    for (size_t i = 0; i < seen.size(); ++i)
      if (!seen[i])
        return Error{formatText("missing field '{}'", graphFields[i]), inner ? "graph" : ""};
    return std::nullopt;
  }

private:
  std::optional<Error> addText(std::vector<std::string_view> &list, const JsonValue &value, const JsonPlace &place) {
    if (value.kind != JsonValue::Kind::String)
      return wrongType("a string", value, place);
    list.push_back(texts.keep(value.text));
    return std::nullopt;
  }

  std::optional<Error> addArgument(const JsonValue &value, const JsonPlace &place) {
    JsonFields fields(value, place);
    RawArgument argument;
    argument.name = texts.keep(fields.nonEmptyString("name"));
    argument.bytes = fields.count("bytes");
    argument.donated = fields.optionalBool("donated", false);
    graph.arguments.push_back(argument);
    return fields.takeError();
  }

  std::optional<Error> addRegion(const JsonValue &value, const JsonPlace &place) {
    JsonFields fields(value, place);
    graph.regions.push_back({texts.keep(fields.nonEmptyString("name")), texts.keep(fields.string("policy"))});
    return fields.takeError();
  }

  std::optional<Error> addOp(const JsonValue &value, const JsonPlace &place) {
    JsonFields fields(value, place);
    OpInfo info;
    info.name = texts.keep(fields.nonEmptyString("name"));
    info.kind = texts.keep(fields.string("op"));
    info.opClass = readClass(fields);
    info.phase = readPhase(fields);
    size_t operandBegin = graph.operands.size(), resultBegin = graph.opResults.size();
    if (const JsonValue *operands = fields.array("operands"))
      for (size_t i = 0; i < operands->items.size(); ++i)
        if (auto error = addText(graph.operands, operands->items[i], {&place, "operands", i}))
          return error;
    if (const JsonValue *results = fields.array("results"))
      for (size_t i = 0; i < results->items.size(); ++i)
        if (auto error = addOpResult(results->items[i], {&place, "results", i}))
          return error;
    info.costNs = fields.nonNegative("cost_ns");
    info.flops = fields.count("flops");
    info.workspaceBytes = fields.optionalCount("workspace_bytes");
    info.recomputable = fields.optionalBool("recomputable", true);
    int64_t batchDims = fields.optionalCount("dot_batch_dims");
    if (batchDims > std::numeric_limits<int32_t>::max())
      fields.fail(formatText("{} batch dimensions are out of range", batchDims), "dot_batch_dims");
    info.dotBatchDims = int32_t(batchDims);
    info.checkpointName = texts.keep(fields.optionalString("checkpoint_name"));
    info.region = texts.keep(fields.optionalString("region"));
    info.location = texts.keep(fields.optionalString("loc"));
    graph.ops.push_back({info, operandBegin, graph.operands.size(), resultBegin, graph.opResults.size()});
    return fields.takeError();
  }

  std::optional<Error> addOpResult(const JsonValue &value, const JsonPlace &place) {
    JsonFields fields(value, place);
    RawResult result;
    result.name = texts.keep(fields.nonEmptyString("name"));
    result.bytes = fields.count("bytes");
    result.viewOf = texts.keep(fields.optionalString("view_of"));
    result.inplaceOf = texts.keep(fields.optionalString("inplace_of"));
    graph.opResults.push_back(result);
    return fields.takeError();
  }

  static OpClass readClass(JsonFields &fields) {
    std::string_view text = fields.string("class");
    if (auto opClass = parseOpClass(text))
      return *opClass;
    std::vector<std::string_view> names;
    for (int i = 0; i <= int(OpClass::Opaque); ++i)
      names.push_back(toString(OpClass(i)));
    std::string known = "the classes are ";
    for (std::string_view name : names)
      known += formatText("{}{}", name == names.front() ? "" : ", ", name);
    if (!fields.failed())
      fields.fail(formatText("unknown class '{}'", text), "class", didYouMean(text, names, known));
    return OpClass::Opaque;
  }

  static Phase readPhase(JsonFields &fields) {
    static constexpr std::string_view names[] = {"forward", "backward"};
    std::string_view text = fields.string("phase");
    if (text == names[0] || text == names[1])
      return text == names[0] ? Phase::Forward : Phase::Backward;
    if (!fields.failed())
      fields.fail(formatText("unknown phase '{}'", text), "phase",
                  didYouMean(text, names, "the phases are forward and backward"));
    return Phase::Forward;
  }

  static std::string didYouMean(std::string_view text, std::span<const std::string_view> names, std::string otherwise) {
    auto nearest = nearestName(text, names);
    return nearest ? formatText("did you mean '{}'?", *nearest) : std::move(otherwise);
  }

  TextArena texts;
  std::array<bool, std::size(graphFields)> seen{};
};

//===----------------------------------------------------------------------===//
// Names to ids
//===----------------------------------------------------------------------===//

/// Explains an operand that no argument or earlier op makes.
class Diagnosis {
public:
  explicit Diagnosis(const RawGraph &graph) : graph(graph) {
    for (size_t i = 0; i < graph.ops.size(); ++i)
      for (const RawResult &result : graph.resultsOf(graph.ops[i]))
        maker.emplace(result.name, i);
  }

  Error unknownOperand(size_t reader, std::string_view name) const {
    auto found = maker.find(name);
    if (found == maker.end())
      return {formatText("nothing makes '{}'", name), "", nearestNote(name)};
    size_t later = found->second;
    std::vector<size_t> cycle = path(later, reader);
    if (cycle.empty())
      return {formatText("'{}' is made later by op '{}': the ops must stand in program order", name,
                         graph.ops[later].info.name)};
    return {formatText("the graph has a cycle: {}", describe(cycle)), "",
            "a training step's graph has no cycles: unroll the loop, or give it as one op of class loop"};
  }

private:
  /// The ops on a way from `from` to `to` along operands, both ends included; empty where there is none.
  std::vector<size_t> path(size_t from, size_t to) const {
    constexpr size_t unseen = ~size_t(0);
    std::vector<size_t> readBy(graph.ops.size(), unseen), queue{from};
    readBy[from] = from;
    for (size_t next = 0; next < queue.size() && readBy[to] == unseen; ++next)
      for (std::string_view operand : graph.operandsOf(graph.ops[queue[next]]))
        if (auto made = maker.find(operand); made != maker.end() && readBy[made->second] == unseen) {
          readBy[made->second] = queue[next];
          queue.push_back(made->second);
        }
    if (readBy[to] == unseen)
      return {};
    std::vector<size_t> ops{to};
    while (ops.back() != from)
      ops.push_back(readBy[ops.back()]);
    std::ranges::reverse(ops);
    return ops;
  }

  /// `'a' reads 'b', 'b' reads 'c', 'c' reads 'a'`, shortened in the middle. `cycle` begins with the op that is read
  /// too early.
  std::string describe(const std::vector<size_t> &cycle) const {
    constexpr size_t shownAtEnds = 4;
    auto name = [&](size_t i) { return graph.ops[cycle[i % cycle.size()]].info.name; };
    std::string text = formatText("op '{}'", name(cycle.size() - 1));
    for (size_t i = 0; i < cycle.size(); ++i) {
      if (cycle.size() > 2 * shownAtEnds && i == shownAtEnds) {
        i = cycle.size() - shownAtEnds;
        text += formatText(" reads ... {} more ops", cycle.size() - 2 * shownAtEnds);
      }
      text += formatText(" reads '{}'", name(i));
    }
    return text;
  }

  std::string nearestNote(std::string_view name) const {
    if (graph.arguments.size() + graph.opResults.size() > 10000)
      return {};
    std::vector<std::string_view> names;
    for (const RawArgument &argument : graph.arguments)
      names.push_back(argument.name);
    for (const RawResult &result : graph.opResults)
      names.push_back(result.name);
    auto nearest = nearestName(name, names);
    return nearest ? formatText("did you mean '{}'?", *nearest) : std::string();
  }

  const RawGraph &graph;
  std::unordered_map<std::string_view, size_t> maker;
};

/// Puts a raw graph into a GraphBuilder.
class Resolver {
public:
  explicit Resolver(const RawGraph &raw) : raw(raw), builder(raw.name) {}

  Expected<Graph> resolve() {
    for (size_t i = 0; i < raw.arguments.size(); ++i) {
      const RawArgument &argument = raw.arguments[i];
      if (auto added = builder.addArgument(argument.name, argument.bytes, argument.donated); !added)
        return at(std::move(added.error()), {.field = "arguments", .index = i});
    }
    for (size_t i = 0; i < raw.ops.size(); ++i)
      if (auto error = addOp(i))
        return at(std::move(*error), {.field = "ops", .index = i});
    for (size_t i = 0; i < raw.results.size(); ++i) {
      auto value = builder.findValue(raw.results[i]);
      if (!value)
        return at(Diagnosis(raw).unknownOperand(0, raw.results[i]), {.field = "results", .index = i});
      if (auto error = builder.addResult(*value))
        return at(std::move(*error), {.field = "results", .index = i});
    }
    std::unordered_set<std::string_view> regionNames;
    for (size_t i = 0; i < raw.regions.size(); ++i) {
      const RegionInfo &region = raw.regions[i];
      if (!regionNames.insert(region.name).second)
        return Error{formatText("region '{}' is given twice", region.name),
                     JsonPlace{.field = "regions", .index = i}.str(), "give every region one policy"};
      builder.addRegion(region.name, region.policy);
    }
    return builder.finish();
  }

private:
  static Error at(Error error, const JsonPlace &place) {
    bool isField = !error.place.empty();
    error.place = place.str() + (isField ? "." : "") + error.place;
    return error;
  }

  std::optional<Error> addOp(size_t index) {
    const RawOp &op = raw.ops[index];
    std::span<const std::string_view> names = raw.operandsOf(op);
    operands.clear();
    for (size_t i = 0; i < names.size(); ++i) {
      auto value = builder.findValue(names[i]);
      if (!value) {
        Error error = Diagnosis(raw).unknownOperand(index, names[i]);
        error.place = JsonPlace{.field = "operands", .index = i}.str();
        return error;
      }
      operands.push_back(*value);
    }
    results.clear();
    std::span<const RawResult> rawResults = raw.resultsOf(op);
    for (size_t i = 0; i < rawResults.size(); ++i) {
      JsonPlace place{.field = "results", .index = i};
      const RawResult &result = rawResults[i];
      auto viewOf = findOperand(names, result.viewOf, {&place, "view_of"});
      auto inplaceOf = findOperand(names, result.inplaceOf, {&place, "inplace_of"});
      if (!viewOf || !inplaceOf)
        return std::move(viewOf ? inplaceOf : viewOf).error();
      results.push_back({result.name, result.bytes, *viewOf, *inplaceOf});
    }
    auto added = builder.addOp(op.info, operands, results);
    return added ? std::nullopt : std::optional(std::move(added.error()));
  }

  /// The operand of that name; invalid where `name` is empty.
  Expected<ValueId> findOperand(std::span<const std::string_view> names, std::string_view name,
                                const JsonPlace &place) {
    if (name.empty())
      return ValueId();
    auto found = std::ranges::find(names, name);
    if (found == names.end())
      return makeError(formatText("'{}' is no operand of this op", name), place.str());
    return operands[size_t(found - names.begin())];
  }

  const RawGraph &raw;
  GraphBuilder builder;
  std::vector<ValueId> operands;
  std::vector<ValueInfo> results;
};

} // namespace

Expected<Graph> remat::readGraph(std::string_view json) {
  Collector collector;
  if (auto error = readJson(json, collector))
    return std::move(*error);
  if (auto error = collector.missingField())
    return std::move(*error);
  auto graph = Resolver(collector.graph).resolve();
  if (!graph && collector.inner)
    graph.error().place.insert(0, "graph.");
  return graph;
}
