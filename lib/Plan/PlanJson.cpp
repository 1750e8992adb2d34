//===- PlanJson.cpp - Plans as JSON, schema 1 ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonReader.h"
#include "JsonWriter.h"
#include "Text.h"
#include "remat/Plan/GraphJson.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>
#include <cmath>

using namespace remat;

namespace {

class PlanCollector : public JsonSink {
public:
  explicit PlanCollector(const Graph &graph) : graph(graph) {}

  Plan plan;
  PlanClaims claims;
  bool hasSchema = false, hasSteps = false;

  std::optional<Error> member(std::string_view key, const JsonValue &value) override {
    JsonPlace place{.field = key};
    if (key == "schema") {
      hasSchema = true;
      return checkSchema(value);
    }
    if (key == "graph")
      return checkGraph(value, place);
    if (key == "steps") {
      hasSteps = true;
      return value.kind == JsonValue::Kind::Array ? std::nullopt : std::optional(wrongType("an array", value, place));
    }
    if (key == "peak_bytes") {
      if (value.kind != JsonValue::Kind::Integer)
        return wrongType("an integer", value, place);
      claims.peakBytes = value.integer;
    }
    if (key == "cost_ns") {
      if (value.kind != JsonValue::Kind::Integer && value.kind != JsonValue::Kind::Real)
        return wrongType("a number", value, place);
      claims.costNs = value.real;
    }
    return std::nullopt;
  }

  std::optional<Error> element(std::string_view key, size_t index, JsonValue &value) override {
    if (key != "steps")
      return std::nullopt;
    JsonPlace place{.field = key, .index = index};
    if (value.kind != JsonValue::Kind::Object)
      return wrongType("an object", value, place);
    const JsonValue *name = value.find("op");
    if (!name || isMove(value))
      return notAnExecution(value, place);
    JsonPlace namePlace{&place, "op"};
    if (name->kind != JsonValue::Kind::String)
      return wrongType("a string", *name, namePlace);
    auto op = graph.findOp(name->text);
    if (!op)
      return Error{formatText("graph '{}' has no op '{}'", graph.name(), name->text), namePlace.str()};
    plan.steps.push_back(*op);
    return std::nullopt;
  }

private:
  std::optional<Error> checkGraph(const JsonValue &value, const JsonPlace &place) const {
    if (value.kind != JsonValue::Kind::String)
      return wrongType("a string", value, place);
    if (value.text != graph.name())
      return Error{formatText("the plan is for graph '{}', not '{}'", value.text, graph.name()), place.str()};
    return std::nullopt;
  }

  static constexpr std::string_view moves[] = {"to_host", "to_device"};

  static bool isMove(const JsonValue &step) {
    return std::ranges::any_of(moves, [&](std::string_view move) { return step.find(move); });
  }

  static Error notAnExecution(const JsonValue &step, const JsonPlace &place) {
    if (step.find("op"))
      return {"a step is an execution or a move, not both", place.str(), "make two steps of it"};
    for (std::string_view move : moves)
      if (step.find(move))
        return {formatText("'{}' is not supported yet by this version", move), place.str(),
                "plan without offloading to the host"};
    return {"a step must have a field 'op'", place.str()};
  }

  const Graph &graph;
};

} // namespace

Expected<Plan> remat::readPlan(std::string_view json, const Graph &graph, PlanClaims *claims) {
  PlanCollector collector(graph);
  if (auto error = readJson(json, collector))
    return std::move(*error);
  if (!collector.hasSchema || !collector.hasSteps)
    return makeError(formatText("missing field '{}'", collector.hasSchema ? "steps" : "schema"));
  if (claims)
    *claims = collector.claims;
  return std::move(collector.plan);
}

Expected<Plan> remat::readLegalPlan(std::string_view json, const Graph &graph, std::optional<double> *otherCostNs) {
  PlanClaims claims;
  Expected<Plan> plan = readPlan(json, graph, &claims);
  if (!plan)
    return plan;
  if (std::optional<Error> error = verify(graph, *plan))
    return std::move(*error);
  Simulation simulation = simulate(graph, *plan);
  int64_t peakBytes = simulation.peakBytes;
  if (claims.peakBytes && *claims.peakBytes != peakBytes)
    return makeError(formatText("the plan claims a peak of {} bytes, it is {}", *claims.peakBytes, peakBytes),
                     "peak_bytes");
  // Sums in another order round differently.
  constexpr double tolerance = 1e-9;
  if (!claims.costNs || std::abs(*claims.costNs - simulation.costNs) <= tolerance * simulation.costNs)
    return plan;
  if (!otherCostNs)
    return makeError(formatText("the plan claims a cost of {} ns, it is {}", *claims.costNs, simulation.costNs),
                     "cost_ns");
  *otherCostNs = claims.costNs;
  return plan;
}

/// Members of a plan from `steps` on; `indent` stands in front of each.
static void writeSteps(JsonWriter &json, const Graph &graph, const Plan &plan, std::string_view indent) {
  Simulation simulation = simulate(graph, plan);
  json.raw("\"steps\": [");
  for (size_t i = 0; i < plan.steps.size(); ++i)
    json.raw(i ? ",\n" : "\n").raw(indent).raw("  {\"op\": ").string(graph.op(plan.steps[i]).name).raw("}");
  if (!plan.steps.empty())
    json.raw("\n").raw(indent);
  json.raw("],\n").raw(indent).raw("\"peak_bytes\": ").integer(simulation.peakBytes);
  json.raw(",\n").raw(indent).raw("\"cost_ns\": ").real(simulation.costNs);
}

void remat::writePlan(std::ostream &out, const Graph &graph, const Plan &plan, bool interrupted) {
  JsonWriter json(out);
  json.raw("{\n  \"schema\": 1,\n  \"graph\": ").string(graph.name()).raw(",\n  ");
  writeSteps(json, graph, plan, "  ");
  json.raw(interrupted ? ",\n  \"interrupted\": true\n}\n" : "\n}\n");
}

void remat::writePlans(std::ostream &out, const Graph &graph, std::span<const FrontPlan> plans, bool interrupted) {
  JsonWriter json(out);
  json.raw("{\n  \"schema\": 1,\n  \"graph\": ").string(graph.name()).raw(",\n  \"plans\": [");
  for (size_t i = 0; i < plans.size(); ++i) {
    json.raw(i ? ",\n    {\n      " : "\n    {\n      ");
    writeSteps(json, graph, plans[i].plan, "      ");
    json.raw("\n    }");
  }
  json.raw(interrupted ? "\n  ],\n  \"interrupted\": true\n}\n" : "\n  ]\n}\n");
}
