//===- GraphJsonWriter.cpp - Writing graphs as JSON, schema 1 --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonWriter.h"
#include "remat/Plan/GraphJson.h"

using namespace remat;

/// Writes `[item, …]`, one item a line.
template <typename Item>
static void writeLines(JsonWriter &json, size_t count, Item item) {
  json.raw("[");
  for (size_t i = 0; i < count; ++i) {
    json.raw(i ? ",\n    " : "\n    ");
    item(i);
  }
  json.raw(count ? "\n  ]" : "]");
}

/// Writes `[item, …]` on one line.
template <typename Item>
static void writeList(JsonWriter &json, size_t count, Item item) {
  json.raw("[");
  for (size_t i = 0; i < count; ++i) {
    json.raw(i ? ", " : "");
    item(i);
  }
  json.raw("]");
}

static void writeOpResult(JsonWriter &json, const Graph &graph, ValueId id) {
  const ValueInfo &value = graph.value(id);
  json.raw("{\"name\": ").string(value.name).raw(", \"bytes\": ").integer(value.bytes);
  if (value.viewOf)
    json.raw(", \"view_of\": ").string(graph.value(value.viewOf).name);
  if (value.inplaceOf)
    json.raw(", \"inplace_of\": ").string(graph.value(value.inplaceOf).name);
  json.raw("}");
}

static void writeOp(JsonWriter &json, const Graph &graph, OpId id) {
  const OpInfo &op = graph.op(id);
  json.raw("{\"name\": ").string(op.name).raw(", \"op\": ").string(op.kind);
  json.raw(", \"class\": ").string(toString(op.opClass)).raw(", \"phase\": ").string(toString(op.phase));
  json.raw(", \"operands\": ");
  std::span<const ValueId> operands = graph.operands(id);
  writeList(json, operands.size(), [&](size_t i) { json.string(graph.value(operands[i]).name); });
  json.raw(", \"results\": ");
  writeList(json, graph.numResults(id), [&](size_t i) { writeOpResult(json, graph, graph.result(id, i)); });
  json.raw(", \"cost_ns\": ").real(op.costNs).raw(", \"flops\": ").integer(op.flops);
  if (op.workspaceBytes)
    json.raw(", \"workspace_bytes\": ").integer(op.workspaceBytes);
  if (!op.recomputable)
    json.raw(", \"recomputable\": false");
  if (op.dotBatchDims)
    json.raw(", \"dot_batch_dims\": ").integer(op.dotBatchDims);
  if (!op.checkpointName.empty())
    json.raw(", \"checkpoint_name\": ").string(op.checkpointName);
  if (!op.region.empty())
    json.raw(", \"region\": ").string(op.region);
  if (!op.location.empty())
    json.raw(", \"loc\": ").string(op.location);
  json.raw("}");
}

void remat::writeGraph(std::ostream &out, const Graph &graph) {
  JsonWriter json(out);
  json.raw("{\n  \"schema\": 1,\n  \"name\": ").string(graph.name()).raw(",\n  \"arguments\": ");
  writeLines(json, graph.numArguments(), [&](size_t i) {
    const ValueInfo &argument = graph.value(ValueId(i));
    json.raw("{\"name\": ").string(argument.name).raw(", \"bytes\": ").integer(argument.bytes);
    json.raw(argument.donated ? ", \"donated\": true}" : "}");
  });
  json.raw(",\n  \"ops\": ");
  writeLines(json, graph.numOps(), [&](size_t i) { writeOp(json, graph, OpId(i)); });
  json.raw(",\n  \"results\": ");
  std::span<const ValueId> results = graph.results();
  writeList(json, results.size(), [&](size_t i) { json.string(graph.value(results[i]).name); });
  if (std::span<const RegionInfo> regions = graph.regions(); !regions.empty()) {
    json.raw(",\n  \"regions\": ");
    writeLines(json, regions.size(), [&](size_t i) {
      json.raw("{\"name\": ").string(regions[i].name).raw(", \"policy\": ").string(regions[i].policy).raw("}");
    });
  }
  json.raw("\n}\n");
}
