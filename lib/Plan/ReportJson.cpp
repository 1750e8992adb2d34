//===- ReportJson.cpp - Reports for programs -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonWriter.h"
#include "remat/Plan/Report.h"

#include <utility>

using namespace remat;

namespace {

/// Writes `"key": value` members, one a line.
class Members {
public:
  explicit Members(JsonWriter &json) : json(json) {}

  JsonWriter &key(std::string_view name) {
    json.raw(std::exchange(isFirst, false) ? "\n  " : ",\n  ").string(name).raw(": ");
    return json;
  }
  void text(std::string_view name, std::string_view value) { key(name).string(value); }
  void count(std::string_view name, int64_t value) { key(name).integer(value); }
  void real(std::string_view name, double value) { key(name).real(value); }

private:
  JsonWriter &json;
  bool isFirst = true;
};

} // namespace

static JsonWriter &writeInteger(JsonWriter &json, const std::optional<int64_t> &value) {
  return value ? json.integer(*value) : json.raw("null");
}

static JsonWriter &writeReal(JsonWriter &json, const std::optional<double> &value) {
  return value ? json.real(*value) : json.raw("null");
}

static JsonWriter &writeText(JsonWriter &json, const std::optional<std::string> &value) {
  return value ? json.string(*value) : json.raw("null");
}

static JsonWriter &writeSide(JsonWriter &json, const Report::Side &side) {
  json.raw("{\"peak_bytes\": ").integer(side.peakBytes).raw(", \"peak_op\": ").string(side.peakOp);
  json.raw(", \"residual_bytes\": ").integer(side.residualBytes).raw(", \"flops\": ").integer(side.flops);
  return json.raw(", \"cost_ns\": ").real(side.costNs);
}

static void writeTimeline(JsonWriter &json, const std::vector<int64_t> &timeline) {
  json.raw("[");
  for (size_t i = 0; i < timeline.size(); ++i)
    json.raw(i ? ", " : "").integer(timeline[i]);
  json.raw("]");
}

template <typename Items, typename Write>
static void writeLines(JsonWriter &json, const Items &items, Write write) {
  json.raw("[");
  for (size_t i = 0; i < items.size(); ++i) {
    json.raw(i ? ",\n    " : "\n    ");
    write(items[i]);
  }
  json.raw(items.empty() ? "]" : "\n  ]");
}

void remat::writeReportJson(std::ostream &out, const Report &report) {
  const ReportContext &context = report.context;
  JsonWriter json(out);
  Members members(json.raw("{"));
  members.count("schema", 1);
  members.text("tool", context.tool);
  members.text("input", context.input);
  members.text("function", report.function);
  members.text("policy", context.policy);
  members.text("segments", context.segments);
  members.text("level", context.level);
  writeInteger(members.key("memory_limit_bytes"), report.memoryLimitBytes);
  writeText(members.key("device"), context.device);
  members.count("ops", int64_t(report.ops));
  members.count("values", int64_t(report.values));
  members.count("forward_ops", int64_t(report.forwardOps));
  members.count("backward_ops", int64_t(report.backwardOps));
  members.count("resident_bytes", report.residentBytes);
  writeSide(members.key("before"), report.before).raw("}");
  writeInteger(writeSide(members.key("after"), report.after).raw(", \"arena_bytes\": "), report.arenaBytes).raw("}");
  members.count("saved_values", int64_t(report.saved.size()));
  members.count("recomputed_ops", int64_t(report.recomputedOps));
  members.real("overhead_cost", report.overheadCost);
  members.real("overhead_flops", report.overheadFlops);
  writeInteger(members.key("lower_bound").raw("{\"peak_bytes\": "), report.lowerBoundPeakBytes);
  writeReal(json.raw(", \"cost_ns\": "), report.lowerBoundCostNs);
  writeInteger(json.raw(", \"flops\": "), report.lowerBoundFlops);
  writeReal(json.raw(", \"gap\": "), report.gap).raw("}");
  if (!report.order.empty())
    members.text("order", report.order);
  if (report.interrupted)
    members.key("interrupted").raw("true");
  if (!report.pareto.empty())
    writeLines(members.key("pareto"), report.pareto, [&](const Report::ParetoPoint &point) {
      json.raw("{\"peak_bytes\": ").integer(point.peakBytes).raw(", \"cost_ns\": ").real(point.costNs);
      json.raw(", \"flops\": ").integer(point.flops).raw(", \"overhead_cost\": ").real(point.overheadCost);
      json.raw(", \"overhead_flops\": ").real(point.overheadFlops).raw("}");
    });
  members.real("plan_seconds", context.planSeconds);
  writeLines(members.key("saved"), report.saved, [&](const Report::SavedValue &saved) {
    json.raw("{\"value\": ").string(saved.value).raw(", \"bytes\": ").integer(saved.bytes);
    json.raw(", \"loc\": ").string(saved.location);
    if (!saved.reason.empty())
      json.raw(", \"reason\": ").string(saved.reason);
    json.raw("}");
  });
  writeLines(members.key("recomputed"), report.recomputed, [&](const Report::RecomputedOp &recomputed) {
    json.raw("{\"op\": ").string(recomputed.op).raw(", \"times\": ").integer(int64_t(recomputed.times));
    json.raw(", \"cost_ns\": ").real(recomputed.costNs).raw(", \"loc\": ").string(recomputed.location).raw("}");
  });
  writeTimeline(members.key("timeline").raw("{\n    \"before\": "), report.before.timeline);
  writeTimeline(json.raw(",\n    \"after\": "), report.after.timeline);
  json.raw("\n  }\n}\n");
}
