//===- GraphJsonTest.cpp ---------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/GraphJson.h"
#include "TestGraphs.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace remat;
using namespace remat::test;

/// A graph with every field of the format, in the writer's own layout.
static constexpr std::string_view full = R"({
  "schema": 1,
  "name": "all \"fields\" \u0001 é",
  "arguments": [
    {"name": "x", "bytes": 8},
    {"name": "p", "bytes": 4, "donated": true}
  ],
  "ops": [
    {"name": "h", "op": "stablehlo.dot_general", "class": "dot", "phase": "forward", "operands": ["x", "p"], "results": [{"name": "h", "bytes": 16}], "cost_ns": 1.5, "flops": 32, "workspace_bytes": 64, "dot_batch_dims": 2, "checkpoint_name": "hidden", "region": "outer/inner", "loc": "jit(step)/dot"},
    {"name": "v", "op": "reshape", "class": "view", "phase": "backward", "operands": ["h"], "results": [{"name": "v", "bytes": 0, "view_of": "h"}], "cost_ns": 0, "flops": 0},
    {"name": "u", "op": "rng", "class": "random", "phase": "backward", "operands": ["v", "p"], "results": [{"name": "u", "bytes": 4, "inplace_of": "p"}, {"name": "u2", "bytes": 9223372036854}], "cost_ns": 1e+22, "flops": 0, "recomputable": false}
  ],
  "results": ["u", "x"],
  "regions": [
    {"name": "outer/inner", "policy": "save-dots"}
  ]
}
)";

static std::string jsonOf(const Graph &graph) {
  std::ostringstream out;
  writeGraph(out, graph);
  return out.str();
}

static std::string complaint(std::string_view json) {
  auto graph = readGraph(json);
  return graph ? std::string("none") : graph.error().place + ": " + graph.error().message;
}

/// `full` with the first `from` replaced by `to`.
static std::string complaint(std::string_view from, std::string_view to) {
  std::string json(full);
  size_t at = json.find(from);
  EXPECT_NE(at, json.npos) << from;
  return complaint(json.replace(at, from.size(), to));
}

TEST(GraphJson, readsEveryFieldAndWritesItBack) {
  auto graph = readGraph(full);
  ASSERT_TRUE(graph) << graph.error().place << ": " << graph.error().message;
  const OpInfo &h = graph->op(OpId(0));
  EXPECT_EQ(h.kind, "stablehlo.dot_general");
  EXPECT_EQ(h.opClass, OpClass::Dot);
  EXPECT_EQ(h.costNs, 1.5);
  EXPECT_EQ(h.workspaceBytes, 64);
  EXPECT_EQ(h.checkpointName, "hidden");
  EXPECT_EQ(h.region, "outer/inner");
  EXPECT_EQ(graph->op(OpId(2)).recomputable, false);
  EXPECT_EQ(graph->value(*graph->findValue("u")).inplaceOf, *graph->findValue("p"));
  EXPECT_EQ(jsonOf(*graph), full);
}

TEST(GraphJson, randomGraphsReadBack) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::string json = jsonOf(randomGraph(seed, seed % 20));
    auto graph = readGraph(json);
    ASSERT_TRUE(graph) << graph.error().place << ": " << graph.error().message;
    EXPECT_EQ(jsonOf(*graph), json);
  }
}

TEST(GraphJson, doublesReadBackExactly) {
  for (double cost : {0.1, 1.0 / 3, 5e-324, 1e300, 123456789012345680000.0, 107131.563}) {
    Graph graph = Maker().argument("x", 1).op("a", Phase::Forward, {"x"}, 1, {.costNs = cost}).finish();
    EXPECT_EQ(readGraph(jsonOf(graph))->op(OpId(0)).costNs, cost);
  }
}

TEST(GraphJson, fieldsComeInAnyOrderAndUnknownOnesAreIgnored) {
  auto graph =
      readGraph(R"({"results": ["a"], "new": [[{"k": [1]}]], "ops": [{"flops": 2e1, "cost_ns": 3, "new": {"a": {}},
    "results": [{"bytes": 4.0, "name": "a", "new": null}], "operands": ["x"], "phase": "forward", "class": "dot", "op": "d",
    "name": "a"}], "arguments": [{"bytes": 8, "name": "x"}], "name": "g", "schema": 1})");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->op(OpId(0)).flops, 20);
  EXPECT_EQ(graph->value(*graph->findValue("a")).bytes, 4);
}

TEST(GraphJson, caseFilesAreLookedInto) {
  std::string json =
      R"({"schema": 7, "arguments": 3, "name": 4, "graph": )" + std::string(full) + R"(, "expected": {"ops": []}})";
  auto graph = readGraph(json);
  ASSERT_TRUE(graph) << graph.error().place << ": " << graph.error().message;
  EXPECT_EQ(jsonOf(*graph), full);
  json.replace(json.find("\"dot\""), 5, "\"dott\"");
  EXPECT_EQ(complaint(json), "graph.ops[0].class: unknown class 'dott'");
  EXPECT_EQ(complaint(R"({"graph": {"schema": 1}})"), "graph: missing field 'name'");
}

TEST(GraphJson, aRegionHasOnePolicy) {
  EXPECT_EQ(complaint(R"({"schema": 1, "name": "g", "arguments": [], "ops": [], "results": [], "regions": [
                {"name": "a", "policy": "save-dots"}, {"name": "a", "policy": "save-nothing"}]})"),
            "regions[1]: region 'a' is given twice");
}

TEST(GraphJson, syntaxErrorsHaveAPosition) {
  EXPECT_EQ(complaint(""), "1:1: the file is empty");
  EXPECT_EQ(complaint("{\n  \"schema\": 1,,\n}").substr(0, 6), "2:15: ");
  EXPECT_EQ(complaint("{\n\"a\": tru}").substr(0, 3), "2:9");
  EXPECT_EQ(complaint("{\"a\": \"\xff\"}").substr(0, 4), "1:8:");
  EXPECT_EQ(complaint("cost_ns\": 1.5", "cost_ns\": NaN"), "9:162: NaN and Infinity are no numbers in JSON");
  EXPECT_EQ(complaint("{\"a\": 1e999}").substr(0, 31), "1:11: number overflow parsing '");
  EXPECT_EQ(complaint("[1]"), ": expected an object, found an array");
  EXPECT_EQ(complaint("3"), ": expected an object, found an integer");
  EXPECT_EQ(complaint("{\"a\": " + std::string(100000, '[')).substr(0, 10), "a[0][0][0]");
  EXPECT_EQ(complaint(std::string(full) + "{}").substr(0, 5), "18:1:");
}

TEST(GraphJson, fieldsThatAreMissingOrWrong) {
  EXPECT_EQ(complaint("{}"), ": missing field 'schema'");
  EXPECT_EQ(complaint("\"schema\": 1", "\"schema\": 2"),
            "schema: schema 2 is not supported: this version reads schema 1");
  EXPECT_EQ(complaint("\"schema\": 1", "\"schema\": \"1\""), "schema: expected an integer, found a string");
  EXPECT_EQ(complaint("\"bytes\": 8", "\"size\": 8"), "arguments[0]: missing field 'bytes'");
  EXPECT_EQ(complaint("\"bytes\": 8", "\"bytes\": -8"),
            "arguments[0].bytes: expected an integer that is not negative, found -8");
  EXPECT_EQ(complaint("\"bytes\": 8", "\"bytes\": 8.5"), "arguments[0].bytes: expected an integer, found 8.5");
  EXPECT_EQ(complaint("\"bytes\": 8", "\"bytes\": 9223372036854775808").substr(0, 20), "arguments[0].bytes: ");
  EXPECT_EQ(complaint("\"bytes\": 8", "\"bytes\": null"), "arguments[0].bytes: expected an integer, found null");
  EXPECT_EQ(complaint("\"donated\": true", "\"donated\": 1"),
            "arguments[1].donated: expected a boolean, found an integer");
  EXPECT_EQ(complaint("{\"name\": \"x\", \"bytes\": 8}", "8"), "arguments[0]: expected an object, found an integer");
  EXPECT_EQ(complaint("\"x\", \"p\"]", "\"x\", 3]"), "ops[0].operands[1]: expected a string, found an integer");
  EXPECT_EQ(complaint("[\"x\", \"p\"]", "\"x\""), "ops[0].operands: expected an array, found a string");
  EXPECT_EQ(complaint("\"cost_ns\": 1.5", "\"cost_ns\": -1"),
            "ops[0].cost_ns: expected a finite number that is not negative, found -1");
  EXPECT_EQ(complaint("\"flops\": 32, ", ""), "ops[0]: missing field 'flops'");
  EXPECT_EQ(complaint("\"phase\": \"forward\"", "\"phase\": \"fwd\""), "ops[0].phase: unknown phase 'fwd'");
  EXPECT_EQ(complaint("\"results\": [\"u\", \"x\"]", "\"results\": [\"u\", \"z\"]"), "results[1]: nothing makes 'z'");
  EXPECT_EQ(complaint("\"name\": \"h\", \"op\"", "\"name\": \"h\", \"name\": \"h\", \"op\""),
            "ops[0]: the key 'name' stands twice in one object");
  EXPECT_EQ(complaint("\"schema\": 1,", "\"schema\": 1, \"schema\": 1,"),
            ": the key 'schema' stands twice in one object");
  EXPECT_EQ(complaint("9223372036854}", "9223372036854775807}"),
            "ops[2].results[1].bytes: the bytes of this graph add up to more than 2^60");
}

TEST(GraphJson, namesThatDoNotFit) {
  EXPECT_EQ(complaint("\"name\": \"p\"", "\"name\": \"x\""), "arguments[1].name: the name 'x' is taken");
  EXPECT_EQ(complaint("\"name\": \"v\", \"op\"", "\"name\": \"h\", \"op\""), "ops[1].name: the name 'h' is taken");
  EXPECT_EQ(complaint("\"name\": \"u2\"", "\"name\": \"u\""), "ops[2].results[1].name: the name 'u' is taken");
  EXPECT_EQ(complaint("\"name\": \"h\", \"op\"", "\"name\": \"\", \"op\""), "ops[0].name: the name is empty");
  EXPECT_EQ(complaint("\"view_of\": \"h\"", "\"view_of\": \"x\""),
            "ops[1].results[0].view_of: 'x' is no operand of this op");
  EXPECT_EQ(complaint("\"inplace_of\": \"p\"", "\"inplace_of\": \"h\""),
            "ops[2].results[0].inplace_of: 'h' is no operand of this op");
  EXPECT_EQ(complaint("\"bytes\": 0, \"view_of\"", "\"bytes\": 1, \"view_of\""),
            "ops[1].results[0].bytes: a view has no bytes of its own, found 1");
}

TEST(GraphJson, readingWhatWasOverwrittenNamesTheOperand) {
  std::string reader =
      R"(, {"name": "w", "op": "add", "class": "elementwise", "phase": "backward", "operands": ["x", "p"],
    "results": [], "cost_ns": 1, "flops": 1}
  ],
  "results")";
  EXPECT_EQ(complaint("\n  ],\n  \"results\"", reader), "ops[3].operands[1]: 'p' is read after op 'u' overwrote it");
  EXPECT_EQ(complaint("[\"u\", \"x\"]", "[\"u\", \"p\"]"), "results[1]: 'p' is read after op 'u' overwrote it");
  EXPECT_EQ(complaint("{\"name\": \"u\", \"bytes\": 4", "{\"name\": \"u\", \"bytes\": 5"),
            "ops[2].results[0].bytes: the result has 5 bytes, but takes the place of 'p' with 4");
  EXPECT_EQ(complaint("\"bytes\": 4, \"inplace_of\": \"p\"", "\"bytes\": 0, \"view_of\": \"v\", \"inplace_of\": \"p\""),
            "ops[2].results[0].view_of: the result views 'v' but overwrites 'p'");
}

static std::string opJson(std::string_view name, std::string_view operand) {
  std::string n(name), o(operand);
  return R"({"name": ")" + n + R"(", "op": "o", "class": "dot", "phase": "forward", "operands": [")" + o +
         R"("], "results": [{"name": ")" + n + R"(", "bytes": 1}], "cost_ns": 1, "flops": 1})";
}

static std::string graphJson(std::vector<std::string> ops) {
  std::string json = R"({"schema": 1, "name": "g", "arguments": [{"name": "x", "bytes": 1}], "results": [], "ops": [)";
  for (size_t i = 0; i < ops.size(); ++i)
    json += (i ? ", " : "") + ops[i];
  return json + "]}";
}

TEST(GraphJson, operandsThatAreMadeLater) {
  EXPECT_EQ(complaint(graphJson({opJson("a", "b"), opJson("b", "x")})),
            "ops[0].operands[0]: 'b' is made later by op 'b': the ops must stand in program order");
  EXPECT_EQ(complaint(graphJson({opJson("a", "a")})), "ops[0].operands[0]: the graph has a cycle: op 'a' reads 'a'");
  EXPECT_EQ(complaint(graphJson({opJson("a", "c"), opJson("b", "a"), opJson("c", "b")})),
            "ops[0].operands[0]: the graph has a cycle: op 'a' reads 'c' reads 'b' reads 'a'");
  std::vector<std::string> ring{opJson("o0", "o19")};
  for (int i = 1; i < 20; ++i)
    ring.push_back(opJson("o" + std::to_string(i), "o" + std::to_string(i - 1)));
  EXPECT_EQ(complaint(graphJson(ring)),
            "ops[0].operands[0]: the graph has a cycle: op 'o0' reads 'o19' reads 'o18' reads 'o17' reads 'o16' "
            "reads ... 12 more ops reads 'o3' reads 'o2' reads 'o1' reads 'o0'");
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static std::string planComplaint(const Graph &graph, std::string_view json) {
  auto plan = readPlan(json, graph);
  return plan ? std::string("none") : plan.error().place + ": " + plan.error().message;
}

TEST(PlanJson, readsWhatItWrites) {
  Graph graph = *readGraph(full);
  Plan plan = planOf(graph, {"h", "v", "h", "u"});
  std::ostringstream out;
  writePlan(out, graph, plan);
  PlanClaims claims;
  auto again = readPlan(out.str(), graph, &claims);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->steps, plan.steps);
  // u reads the first h(16) through v: 16 + u(4) + u2(9223372036854)
  EXPECT_EQ(claims.peakBytes, 16 + 4 + 9223372036854);
  EXPECT_EQ(claims.costNs, 1e22);
}

TEST(PlanJson, saysWhatIsWrong) {
  Graph graph = Maker("g").argument("x", 1).forward("a", {"x"}, 1).finish();
  EXPECT_EQ(planComplaint(graph, R"({"schema": 1, "graph": "g", "steps": [{"op": "a"}]})"), "none");
  EXPECT_EQ(planComplaint(graph, R"({"schema": 1, "graph": "h", "steps": []})"),
            "graph: the plan is for graph 'h', not 'g'");
  EXPECT_EQ(planComplaint(graph, R"({"schema": 3, "graph": "g", "steps": []})"),
            "schema: schema 3 is not supported: this version reads schema 1");
  EXPECT_EQ(planComplaint(graph, R"({"schema": 1, "graph": "g"})"), ": missing field 'steps'");
  EXPECT_EQ(planComplaint(graph, R"({"schema": 1, "steps": [{"op": "a"}, {"op": "b"}]})"),
            "steps[1].op: graph 'g' has no op 'b'");
  EXPECT_EQ(planComplaint(graph, R"({"schema": 1, "steps": [{"to_host": "a"}]})"),
            "steps[0]: 'to_host' is not supported yet by this version");
  EXPECT_EQ(planComplaint(graph, R"({"schema": 1, "steps": [{"op": "a", "to_host": "a"}]})"),
            "steps[0]: a step is an execution or a move, not both");
  EXPECT_EQ(planComplaint(graph, R"({"schema": 1, "steps": [{}]})"), "steps[0]: a step must have a field 'op'");
  EXPECT_EQ(planComplaint(graph, R"({"schema": 1, "steps": ["a"]})"), "steps[0]: expected an object, found a string");
}

TEST(PlanJson, claimsMustHold) {
  // a costs 1 ns and has 1 byte.
  Graph graph = Maker("g").argument("x", 1).forward("a", {"x"}, 1).finish();
  auto complaint = [&](std::string_view claim) {
    auto plan =
        readLegalPlan(R"({"schema": 1, "graph": "g", "steps": [{"op": "a"}], )" + std::string(claim) + "}", graph);
    return plan ? std::string() : plan.error().place + ": " + plan.error().message;
  };
  EXPECT_EQ(complaint(R"("peak_bytes": 1, "cost_ns": 1)"), "");
  EXPECT_EQ(complaint(R"("cost_ns": 1.0000000005)"), "");
  EXPECT_EQ(complaint(R"("cost_ns": 1.5)"), "cost_ns: the plan claims a cost of 1.5 ns, it is 1");
  EXPECT_EQ(complaint(R"("peak_bytes": 2)"), "peak_bytes: the plan claims a peak of 2 bytes, it is 1");
}
