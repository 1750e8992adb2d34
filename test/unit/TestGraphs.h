//===- TestGraphs.h - Graphs for tests ---------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Plan.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace remat::test {

/// So many random graphs, times `REMAT_TEST_SCALE`, if that is set.
inline uint32_t scaled(uint32_t count) {
  const char *scale = std::getenv("REMAT_TEST_SCALE");
  return scale ? count * uint32_t(std::max(1, std::atoi(scale))) : count;
}

/// Builds graphs by names; a mistake in a test's own graph ends the test program.
class Maker {
public:
  explicit Maker(std::string_view name = "g") : builder(name) {}

  Maker &argument(std::string_view name, int64_t bytes, bool donated = false) {
    builder.addArgument(name, bytes, donated).value();
    return *this;
  }
  /// An op with one result of the same name.
  Maker &op(std::string_view name, Phase phase, std::vector<std::string_view> operands, int64_t bytes,
            OpInfo info = {.opClass = OpClass::Elementwise, .costNs = 1}) {
    info.name = name;
    info.phase = phase;
    ValueInfo result{.name = name, .bytes = bytes};
    builder.addOp(info, ids(operands), {&result, 1}).value();
    return *this;
  }
  Maker &forward(std::string_view name, std::vector<std::string_view> operands, int64_t bytes) {
    return op(name, Phase::Forward, std::move(operands), bytes);
  }
  Maker &backward(std::string_view name, std::vector<std::string_view> operands, int64_t bytes) {
    return op(name, Phase::Backward, std::move(operands), bytes);
  }
  Maker &view(std::string_view name, Phase phase, std::string_view of) {
    ValueInfo result{.name = name, .viewOf = id(of)};
    ValueId operand = id(of);
    builder.addOp({.name = name, .opClass = OpClass::View, .phase = phase}, {&operand, 1}, {&result, 1}).value();
    return *this;
  }
  Maker &result(std::string_view name) {
    builder.addResult(id(name));
    return *this;
  }
  ValueId id(std::string_view name) const { return builder.findValue(name).value(); }
  std::vector<ValueId> ids(const std::vector<std::string_view> &names) const {
    std::vector<ValueId> found;
    for (std::string_view name : names)
      found.push_back(id(name));
    return found;
  }
  Graph finish() { return builder.finish(); }

  GraphBuilder builder;
};

/// What one execution of each op costs.
inline std::vector<double> costsOf(const Graph &graph, bool flops = false) {
  std::vector<double> costs;
  for (size_t i = 0; i < graph.numOps(); ++i)
    costs.push_back(flops ? double(graph.op(OpId(i)).flops) : graph.op(OpId(i)).costNs);
  return costs;
}

/// n times sin on `bytes`, its sum, and the gradient: each backward op reads the input of its forward op.
inline Graph sineChain(int n, int64_t bytes) {
  Maker make;
  make.argument("h0", bytes);
  for (int i = 1; i <= n; ++i)
    make.forward("h" + std::to_string(i), {"h" + std::to_string(i - 1)}, bytes);
  make.forward("loss", {"h" + std::to_string(n)}, 4).backward("d" + std::to_string(n), {}, bytes);
  for (int i = n; i >= 1; --i)
    make.backward("d" + std::to_string(i - 1), {"d" + std::to_string(i), "h" + std::to_string(i - 1)}, bytes);
  return make.result("loss").result("d0").finish();
}

/// The plan that executes the ops of these names.
inline Plan planOf(const Graph &graph, const std::vector<std::string_view> &names) {
  Plan plan;
  for (std::string_view name : names)
    plan.steps.push_back(graph.findOp(name).value());
  return plan;
}

/// A random DAG with views, several results, workspace, unread values, arguments among the results; forward, then
/// backward.
inline Graph randomGraph(uint32_t seed, size_t opCount) {
  std::mt19937 random(seed);
  GraphBuilder builder("random" + std::to_string(seed));
  std::vector<ValueId> values{*builder.addArgument("x", random() % 9), *builder.addArgument("w", random() % 9)};
  for (size_t i = 0; i < opCount; ++i) {
    std::string name = "o" + std::to_string(i);
    std::vector<ValueId> operands;
    for (size_t count = random() % 4; operands.size() < count;)
      operands.push_back(values[values.size() - 1 - random() % std::min<size_t>(values.size(), 6)]);
    std::vector<std::string> names;
    for (size_t k = 0, count = 1 + random() % 3; k < count; ++k)
      names.push_back(name + "." + std::to_string(k));
    std::vector<ValueInfo> results;
    for (const std::string &resultName : names) {
      bool isView = !operands.empty() && random() % 3 == 0;
      results.push_back({.name = resultName, .bytes = isView ? 0 : int64_t(random() % 17)});
      if (isView)
        results.back().viewOf = operands[random() % operands.size()];
    }
    OpInfo info{.name = name, .kind = "op", .opClass = OpClass::Elementwise};
    info.phase = 2 * i < opCount ? Phase::Forward : Phase::Backward;
    info.costNs = random() % 100;
    info.flops = random() % 100;
    info.workspaceBytes = random() % 4 == 0 ? random() % 8 : 0;
    OpId op = *builder.addOp(info, operands, results);
    for (size_t k = 0; k < results.size(); ++k)
      values.push_back(*builder.findValue(names[k]));
    (void)op;
  }
  for (size_t count = random() % 4; count > 0; --count)
    builder.addResult(values[random() % values.size()]);
  return builder.finish();
}

/// The program order with `extra` second executions at random places.
inline Plan randomPlan(const Graph &graph, uint32_t seed, size_t extra) {
  std::mt19937 random(seed);
  Plan plan = programOrder(graph);
  for (; extra > 0 && !plan.steps.empty(); --extra) {
    size_t from = random() % plan.steps.size();
    size_t to = from + 1 + random() % (plan.steps.size() - from);
    OpId op = plan.steps[from];
    plan.steps.insert(plan.steps.begin() + ptrdiff_t(to), op);
  }
  return plan;
}

} // namespace remat::test
