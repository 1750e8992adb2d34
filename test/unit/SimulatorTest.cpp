//===- SimulatorTest.cpp ---------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Simulator.h"
#include "TestGraphs.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace remat;
using namespace remat::test;

//===----------------------------------------------------------------------===//
// The reference: the memory model word for word, slowly
//===----------------------------------------------------------------------===//

namespace {

/// A storage: the value and the step that made it.
using Storage = std::pair<ValueId, size_t>;

class Reference {
public:
  Reference(const Graph &graph, const Plan &plan) : graph(graph), plan(plan) {
    for (size_t t = 0; t < plan.steps.size(); ++t) {
      for (ValueId operand : graph.operands(plan.steps[t]))
        if (auto storage = find(operand, t))
          readAt[*storage].insert(t);
      for (size_t i = 0; i < graph.numResults(plan.steps[t]); ++i)
        if (ValueId made = graph.result(plan.steps[t], i); !graph.isView(made))
          readAt[{made, t}].insert(t);
    }
    for (ValueId result : graph.results())
      if (auto storage = find(result, plan.steps.size()))
        readAt[*storage].insert(plan.steps.size() - 1);
  }

  int64_t liveBytes(size_t t) const {
    int64_t bytes = graph.op(plan.steps[t]).workspaceBytes;
    for (const auto &[storage, reads] : readAt)
      if (storage.second <= t && *reads.rbegin() >= t)
        bytes += graph.value(storage.first).bytes;
    return bytes;
  }

  /// For the program order of a graph whose forward ops come first.
  int64_t residualBytes() const {
    int64_t bytes = 0;
    for (const auto &[storage, reads] : readAt)
      for (size_t t : reads)
        if (isForward(storage.second) && !isForward(t) && readsIt(t, storage)) {
          bytes += graph.value(storage.first).bytes;
          break;
        }
    return bytes;
  }

private:
  /// What `value` is bound to when step `t` begins; nothing for an argument's storage.
  std::optional<Storage> find(ValueId value, size_t t) const {
    if (graph.isArgument(value))
      return std::nullopt;
    size_t made = t;
    while (plan.steps[--made] != graph.producer(value))
      ;
    if (ValueId viewed = graph.value(value).viewOf)
      return find(viewed, made);
    return Storage{value, made};
  }
  bool isForward(size_t t) const { return graph.op(plan.steps[t]).phase == Phase::Forward; }
  /// A graph result lives to the last step without being read there.
  bool readsIt(size_t t, const Storage &storage) const {
    for (ValueId operand : graph.operands(plan.steps[t]))
      if (find(operand, t) == storage)
        return true;
    return false;
  }

  const Graph &graph;
  const Plan &plan;
  std::map<Storage, std::set<size_t>> readAt;
};

} // namespace

TEST(Simulator, agreesWithTheReferenceOnRandomPlans) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Graph graph = randomGraph(seed, 1 + seed % 12);
    Plan plan = randomPlan(graph, seed, seed % 5);
    ASSERT_FALSE(verify(graph, plan)) << "seed " << seed;
    Simulation simulation = simulate(graph, plan);
    Reference reference(graph, plan);
    int64_t peak = 0;
    double cost = 0;
    for (size_t t = 0; t < plan.steps.size(); ++t) {
      ASSERT_EQ(simulation.timeline[t], reference.liveBytes(t)) << "seed " << seed << " step " << t;
      peak = std::max(peak, reference.liveBytes(t));
      cost += graph.op(plan.steps[t]).costNs;
    }
    ASSERT_EQ(simulation.peakBytes, peak) << "seed " << seed;
    ASSERT_EQ(simulation.timeline[simulation.peakStep], peak) << "seed " << seed;
    ASSERT_EQ(simulation.costNs, cost) << "seed " << seed;
    if (plan.steps.size() == graph.numOps()) {
      ASSERT_EQ(simulation.residualBytes, reference.residualBytes()) << "seed " << seed;
    }
  }
}

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

/// x -> a(4) -> b(8) -> c(2), then backward db(16) reads c and b, da(1) reads db and a.
static Graph chain() {
  return Maker()
      .argument("x", 100)
      .forward("a", {"x"}, 4)
      .forward("b", {"a"}, 8)
      .forward("c", {"b"}, 2)
      .backward("db", {"c", "b"}, 16)
      .backward("da", {"db", "a"}, 1)
      .result("da")
      .finish();
}

TEST(Simulator, programOrder) {
  Graph graph = chain();
  Simulation simulation = simulate(graph, programOrder(graph));
  // a: 4; b: 4 + 8 = 12; c: 4 + 8 + 2 = 14; db: 4 + 8 + 2 + 16 = 30; da: 4 + 16 + 1 = 21
  EXPECT_EQ(simulation.timeline, (std::vector<int64_t>{4, 12, 14, 30, 21}));
  EXPECT_EQ(simulation.peakBytes, 30);
  EXPECT_EQ(simulation.peakStep, 3u);
  // Backward reads a(4), b(8) and c(2).
  EXPECT_EQ(simulation.residualBytes, 14);
  EXPECT_EQ(simulation.costNs, 5);
  EXPECT_EQ(simulation.executions, 5u);
}

TEST(Simulator, recomputation) {
  Graph graph = chain();
  Simulation simulation = simulate(graph, planOf(graph, {"a", "b", "c", "db", "a", "da"}));
  // The first a dies in b: c: 8 + 2 = 10; db: 8 + 2 + 16 = 26; a again: 16 + 4 = 20; da: 16 + 4 + 1 = 21
  EXPECT_EQ(simulation.timeline, (std::vector<int64_t>{4, 12, 10, 26, 20, 21}));
  EXPECT_EQ(simulation.residualBytes, 8 + 2);
  EXPECT_EQ(simulation.executions, 6u);
}

TEST(Simulator, aViewKeepsItsBaseAlive) {
  Graph graph = Maker()
                    .argument("x", 1)
                    .forward("a", {"x"}, 8)
                    .view("v", Phase::Forward, "a")
                    .forward("b", {"x"}, 4)
                    .backward("c", {"v"}, 2)
                    .result("c")
                    .finish();
  // a: 8; v: 8; b, which nobody reads: 8 + 4 = 12; c: 8 + 2 = 10
  EXPECT_EQ(simulate(graph, programOrder(graph)).timeline, (std::vector<int64_t>{8, 8, 12, 10}));
  // Making a again leaves v at the old a: a: 8, v: 8, a again, unread: 16, b: 8 + 4, c: 8 + 2.
  EXPECT_EQ(simulate(graph, planOf(graph, {"a", "v", "a", "b", "c"})).timeline,
            (std::vector<int64_t>{8, 8, 16, 12, 10}));
  // Views are no executions.
  EXPECT_EQ(simulate(graph, programOrder(graph)).executions, 3u);
}

TEST(Simulator, workspaceCountsOnlyWhileTheOpRuns) {
  Graph graph = Maker()
                    .argument("x", 1)
                    .op("a", Phase::Forward, {"x"}, 4, {.opClass = OpClass::Dot, .workspaceBytes = 10})
                    .forward("b", {"a"}, 2)
                    .result("b")
                    .finish();
  // a: 4 + 10 = 14; b: 4 + 2 = 6
  EXPECT_EQ(simulate(graph, programOrder(graph)).timeline, (std::vector<int64_t>{14, 6}));
}

TEST(Simulator, emptyGraphs) {
  Graph graph = Maker().argument("x", 1).result("x").finish();
  Simulation simulation = simulate(graph, programOrder(graph));
  EXPECT_EQ(simulation.peakBytes, 0);
  EXPECT_FALSE(verify(graph, programOrder(graph)));
}

static std::string complaint(const Graph &graph, const std::vector<std::string_view> &names) {
  auto error = verify(graph, planOf(graph, names));
  return error ? error->place + ": " + error->message : "";
}

TEST(Verify, namesTheFirstBrokenRule) {
  Graph graph = chain();
  EXPECT_EQ(complaint(graph, {"a", "b", "c", "db", "da"}), "");
  EXPECT_EQ(complaint(graph, {"a", "c", "b", "db", "da"}), "step 1: op 'c' reads 'b' before it is computed");
  EXPECT_EQ(complaint(graph, {"a", "b", "c", "db"}), "step 4: op 'da' is never executed");
  EXPECT_EQ(complaint(graph, {"a", "b", "c", "db", "a", "a", "da"}), "");
}

TEST(Verify, opsThatMustRunOnce) {
  Graph graph = Maker()
                    .argument("x", 1)
                    .op("mask", Phase::Forward, {"x"}, 4, {.opClass = OpClass::Random})
                    .backward("b", {"mask"}, 2)
                    .finish();
  EXPECT_EQ(complaint(graph, {"mask", "mask", "b"}), "step 1: op 'mask' must not be recomputed");
}

TEST(Verify, nothingReadsWhatWasOverwritten) {
  Maker maker;
  maker.argument("p", 4, true).forward("a", {"p"}, 4);
  ValueId operands[] = {maker.id("p"), maker.id("a")};
  ValueInfo result{.name = "q", .bytes = 4, .inplaceOf = operands[0]};
  OpInfo update{.name = "q", .opClass = OpClass::Elementwise, .phase = Phase::Backward};
  ASSERT_TRUE(maker.builder.addOp(update, operands, {&result, 1}));
  Graph graph = maker.backward("c", {"a"}, 1).result("q").finish();
  EXPECT_EQ(complaint(graph, {"a", "q", "c"}), "");
  // a reads p, which q has overwritten.
  EXPECT_EQ(complaint(graph, {"a", "q", "a", "c"}), "step 2: op 'a' reads 'p' after it was overwritten");
}
