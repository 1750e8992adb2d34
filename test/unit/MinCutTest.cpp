//===- MinCutTest.cpp - The least to save where fusible ops are free ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Plan/MinCut.h"
#include "TestGraphs.h"
#include "remat/Plan/Generate.h"
#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace remat;
using namespace remat::test;

namespace {

constexpr OpInfo dot{.opClass = OpClass::Dot, .costNs = 10};
constexpr OpInfo reduction{.opClass = OpClass::Reduction, .costNs = 1};

/// The backward part reads s, e and d; e is rebuilt from d by a fusible op.
Maker sampleMaker() {
  Maker make;
  make.argument("x", 100)
      .op("d", Phase::Forward, {"x"}, 8, dot)
      .forward("e", {"d"}, 16)
      .op("f", Phase::Forward, {"e"}, 4, dot)
      .forward("w", {"f"}, 60)
      .op("s", Phase::Forward, {"w"}, 1, reduction)
      .op("g1", Phase::Backward, {"s"}, 20, dot)
      .backward("g2", {"g1", "e"}, 8)
      .backward("g3", {"g2", "d"}, 4)
      .result("s")
      .result("g3");
  return make;
}

PolicyPlan planWith(const Graph &graph, std::string policy) {
  return plan(graph, {.policy = std::move(policy)}).value();
}

/// Names of the values that the plan saves for the backward part.
std::string saved(const Graph &graph, const PolicyPlan &planned) {
  std::string names;
  for (ValueId value : simulate(graph, planned.plan).residuals)
    names += (names.empty() ? "" : " ") + std::string(graph.value(value).name);
  return names;
}

std::string savedUnder(const Graph &graph, const PlanOptions &options) {
  Expected<PolicyPlan> planned = plan(graph, options);
  return planned ? saved(graph, *planned) : "error: " + planned.error().message;
}

} // namespace

TEST(MinCut, SavesWhatFusibleOpsRebuildTheRestFrom) {
  // As given, w: d(8) + e(16) + f(4) + w(60) = 88. With d saved and e rebuilt, w: d(8) + f(4) + w(60) = 72.
  Graph graph = sampleMaker().finish();
  EXPECT_EQ(simulate(graph, programOrder(graph)).peakBytes, 88);
  PolicyPlan planned = planWith(graph, "min-cut");
  Simulation found = simulate(graph, planned.plan);
  EXPECT_EQ(saved(graph, planned), "d s");
  EXPECT_EQ(found.residualBytes, 8 + 1);
  EXPECT_EQ(found.peakBytes, 72);
  EXPECT_EQ(found.costNs, 10 + 1 + 10 + 1 + 1 + 10 + 1 + 1 + 1); // e twice.
  EXPECT_EQ(planned.reasons[graph.findValue("d")->index()], Reason::Policy);
  EXPECT_EQ(planned.reasons[graph.findValue("e")->index()], Reason::Recomputed);
}

TEST(MinCut, SavesTheNarrowestValueOnTheWay) {
  // Not a(100) and not c(50), which are rebuilt from b(10) or read by nobody there.
  Graph graph = Maker()
                    .argument("x", 8)
                    .op("a", Phase::Forward, {"x"}, 100, dot)
                    .forward("b", {"a"}, 10)
                    .forward("c", {"b"}, 50)
                    .backward("first", {"x"}, 8) // What runs behind it is in the backward part.
                    .backward("g", {"c", "first"}, 8)
                    .finish();
  EXPECT_EQ(saved(graph, planWith(graph, "min-cut")), "b");
}

TEST(MinCut, OfEqualCutsTakesTheOneNearestToTheReaders) {
  Graph graph = Maker()
                    .argument("x", 8)
                    .op("a", Phase::Forward, {"x"}, 10, dot)
                    .forward("b", {"a"}, 10)
                    .forward("c", {"b"}, 10)
                    .forward("last", {"c"}, 1)
                    .backward("g", {"c", "last"}, 8)
                    .result("last")
                    .finish();
  EXPECT_EQ(saved(graph, planWith(graph, "min-cut")), "c last"); // last is there anyway: the function returns it.
}

TEST(MinCut, RebuildsFromArgumentsAndConstants) {
  Maker make;
  make.argument("x", 8).op("k", Phase::Forward, {}, 40, {.opClass = OpClass::Constant});
  make.forward("a", {"x", "k"}, 100).forward("b", {"a"}, 1).backward("g", {"a", "b"}, 8).result("b");
  Graph graph = make.finish();
  EXPECT_EQ(saved(graph, planWith(graph, "min-cut")), "k b");
}

TEST(MinCut, CountsAValueOnceAndAViewAsItsBase) {
  // Both readers are rebuilt from v, a view of a(10): 10 bytes, not 20, and less than p(6) + q(6).
  Graph graph = Maker()
                    .argument("x", 8)
                    .op("a", Phase::Forward, {"x"}, 10, dot)
                    .view("v", Phase::Forward, "a")
                    .forward("p", {"v"}, 6)
                    .forward("q", {"v"}, 6)
                    .op("s", Phase::Forward, {"p", "q"}, 1, reduction)
                    .backward("g", {"p", "q"}, 8)
                    .result("s")
                    .finish();
  EXPECT_EQ(saved(graph, planWith(graph, "min-cut")), "a");
}

TEST(MinCut, MovesWhatOnlyTheBackwardPartReads) {
  // c runs once, late: its 50 bytes are never held, though it is a dot.
  Graph graph = Maker()
                    .argument("x", 8)
                    .op("a", Phase::Forward, {"x"}, 10, dot)
                    .op("c", Phase::Forward, {"a"}, 50, dot)
                    .op("s", Phase::Forward, {"a"}, 1, reduction)
                    .backward("first", {"s"}, 8)
                    .backward("g", {"c", "first"}, 8)
                    .result("s")
                    .finish();
  PolicyPlan planned = planWith(graph, "min-cut");
  EXPECT_EQ(saved(graph, planned), "a s");
  EXPECT_EQ(planned.reasons[graph.findValue("c")->index()], Reason::Moved);
  EXPECT_EQ(planned.plan.steps.size(), graph.numOps());
}

TEST(MinCut, TakesWhatIsSavedAnywayAsGiven) {
  Graph graph = sampleMaker().finish();
  EXPECT_EQ(savedUnder(graph, {.policy = "min-cut", .keep = {"e"}}), "d e s");
  EXPECT_EQ(savedUnder(graph, {.policy = "min-cut+save-larger-than=10"}), "d e s");
  EXPECT_EQ(savedUnder(graph, {.policy = "save-larger-than=10+min-cut"}), "d e s");
  // With b kept, nothing more is needed for c; alone, c(10) would be cut.
  Graph chain = Maker()
                    .argument("x", 8)
                    .op("a", Phase::Forward, {"x"}, 20, dot)
                    .forward("b", {"a"}, 20)
                    .forward("c", {"b"}, 10)
                    .forward("last", {"c"}, 1)
                    .backward("g", {"c"}, 8)
                    .result("last")
                    .finish();
  EXPECT_EQ(savedUnder(chain, {.policy = "min-cut"}), "c");
  EXPECT_EQ(savedUnder(chain, {.policy = "min-cut", .keep = {"b"}}), "b");
}

TEST(MinCut, RecomputesWhatTheUserNames) {
  // d is a dot and would be saved; named, it runs again, from x, and e from d.
  Graph graph = sampleMaker().finish();
  EXPECT_EQ(savedUnder(graph, {.policy = "min-cut", .recompute = {"d"}}), "s");
  // e may be rebuilt only from d, which is saved.
  EXPECT_EQ(savedUnder(graph, {.policy = "min-cut", .recompute = {"e"}}), "d s");
}

TEST(MinCut, NeverRepeatsWhatMustRunOnce) {
  Maker make;
  make.argument("x", 8).op("u", Phase::Forward, {"x"}, 40, {.opClass = OpClass::Random});
  make.forward("mask", {"u"}, 10).forward("y", {"mask", "x"}, 40).op("s", Phase::Forward, {"y"}, 1, reduction);
  make.backward("g", {"mask", "s"}, 8).result("s");
  Graph graph = make.finish();
  for (const char *policy : {"min-cut", "min-cut=0", "min-cut=0.5"})
    EXPECT_EQ(saved(graph, planWith(graph, policy)), "mask s") << policy;
}

TEST(MinCut, SavesWhatAnOpInPlaceLeavesOfARandomValue) {
  Maker make;
  make.argument("x", 8).op("u", Phase::Forward, {"x"}, 40, {.opClass = OpClass::Random});
  ValueId u = make.id("u");
  ValueInfo written{.name = "v", .viewOf = u, .inplaceOf = u};
  ASSERT_TRUE(make.builder.addOp({.name = "v", .opClass = OpClass::Elementwise, .costNs = 1}, {&u, 1}, {&written, 1}));
  make.op("s", Phase::Forward, {"v"}, 1, reduction).backward("g", {"v", "s"}, 8).result("s");
  Graph graph = make.finish();
  for (const char *policy : {"min-cut", "min-cut=0", "save-nothing"}) {
    PolicyPlan planned = planWith(graph, policy);
    EXPECT_FALSE(verify(graph, planned.plan)) << policy;
    EXPECT_EQ(saved(graph, planned), "u s") << policy; // u's storage, which holds v.
  }
}

TEST(MinCut, HoldsInARegion) {
  auto make = [](std::string_view policy) {
    GraphBuilder builder("g");
    ValueId last = *builder.addArgument("x", 8);
    auto add = [&](std::string_view name, OpClass opClass, Phase phase, int64_t bytes, std::string_view region) {
      ValueInfo result{.name = name, .bytes = bytes};
      OpInfo op{.name = name, .opClass = opClass, .phase = phase, .costNs = 1, .region = region};
      EXPECT_TRUE(builder.addOp(op, {&last, 1}, {&result, 1}));
      last = *builder.findValue(name);
    };
    add("a", OpClass::Dot, Phase::Forward, 10, "r");
    add("b", OpClass::Elementwise, Phase::Forward, 20, "r");
    add("c", OpClass::Elementwise, Phase::Forward, 20, "r");
    add("d", OpClass::Elementwise, Phase::Forward, 5, "");
    add("g", OpClass::Elementwise, Phase::Backward, 5, "");
    ValueId read[] = {*builder.findValue("b"), *builder.findValue("c"), last};
    ValueInfo result{.name = "h", .bytes = 5};
    EXPECT_TRUE(builder.addOp({.name = "h", .phase = Phase::Backward}, read, {&result, 1}));
    builder.addRegion("r", policy);
    return builder.finish();
  };
  // c crosses into what follows; b is rebuilt from a.
  EXPECT_EQ(savedUnder(make("min-cut"), {}), "a c d");
  EXPECT_EQ(savedUnder(make("min-cut=0.5"), {}), "error: policy 'min-cut=0.5': the budget is the whole function's");
}

TEST(MinCut, BudgetsAreNumbersFromZeroToOne) {
  for (const char *text : {"min-cut=", "min-cut=2", "min-cut=-0.1", "min-cut=x", "min-cut=50%", "min-cut=nan"}) {
    Expected<Policy> policy = Policy::parse(text);
    ASSERT_FALSE(policy) << text;
    EXPECT_EQ(policy.error().message, "policy '" + std::string(text) + "': expected a number from 0 to 1");
  }
  EXPECT_EQ(Policy::parse("min-cut=0.25+save-dots")->budgetRatio(), 0.25);
  EXPECT_EQ(Policy::parse("min-cut=0.25")->name(), "min-cut=0.25");
  EXPECT_EQ(Policy::parse("min-cut=1+min-cut").error().message,
            "policy 'min-cut=1+min-cut': min-cut stands there twice");
}

TEST(MinCut, ALowerBudgetSavesLess) {
  // The cut: 72. Nothing saved, d dead in w: f(4) + w(60) = 64, and g2: s(1) + g1(20) + d(8) + e(16) + g2(8) = 53.
  // At one half at most 64 + (72 - 64) / 2 = 68 bytes are allowed, and only the latter plan is below.
  Graph graph = sampleMaker().finish();
  EXPECT_EQ(simulate(graph, planWith(graph, "min-cut=1").plan).peakBytes, 72);
  EXPECT_EQ(saved(graph, planWith(graph, "min-cut=1")), "d s");
  for (const char *policy : {"min-cut=0", "min-cut=0.5", "min-cut=0.99"}) {
    EXPECT_EQ(simulate(graph, planWith(graph, policy).plan).peakBytes, 64) << policy;
    EXPECT_EQ(saved(graph, planWith(graph, policy)), "s") << policy;
  }
}

namespace {

/// A random DAG of ops of all classes, with views and several results.
Graph randomClasses(uint32_t seed, size_t forwardOps) {
  std::mt19937 random(seed);
  GraphBuilder builder("g");
  std::vector<ValueId> values{*builder.addArgument("x", 5)};
  for (size_t i = 0; i < 2 * forwardOps; ++i) {
    constexpr OpClass classes[] = {OpClass::Dot,         OpClass::Reduction,    OpClass::Random,
                                   OpClass::Elementwise, OpClass::DataMovement, OpClass::Elementwise,
                                   OpClass::Elementwise, OpClass::View,         OpClass::Constant};
    OpClass opClass = classes[random() % std::size(classes)];
    std::vector<ValueId> operands;
    size_t most = opClass == OpClass::Constant ? 0 : opClass == OpClass::View ? 1 : 2;
    for (size_t count = most - (most == 2 ? random() % 2 : 0); operands.size() < count;)
      operands.push_back(values[values.size() - 1 - random() % std::min<size_t>(values.size(), 5)]);
    std::string name = "o" + std::to_string(i), second = name + ".1";
    std::vector<ValueInfo> results{{.name = name, .bytes = opClass == OpClass::View ? 0 : 1 + int64_t(random() % 9)}};
    if (opClass == OpClass::View)
      results[0].viewOf = operands[0];
    else if (random() % 5 == 0)
      results.push_back({.name = second, .bytes = 1 + int64_t(random() % 9)});
    OpInfo info{.name = name, .opClass = opClass, .phase = i < forwardOps ? Phase::Forward : Phase::Backward};
    info.costNs = 1 + double(random() % 20);
    (void)builder.addOp(info, operands, results).value();
    for (const ValueInfo &result : results)
      values.push_back(*builder.findValue(result.name));
  }
  for (size_t count = random() % 3; count > 0; --count)
    (void)builder.addResult(values[random() % values.size()]);
  return builder.finish();
}

/// Tries every set of values.
class BruteForceCut {
public:
  explicit BruteForceCut(const Graph &graph) : graph(graph), isSaved(graph.numValues()), isResult(graph.numValues()) {
    for (ValueId value : graph.results())
      isResult[graph.base(value).index()] = true;
    for (size_t v = graph.numArguments(); v < graph.numValues(); ++v)
      if (ValueId value(v); graph.op(graph.producer(value)).phase == Phase::Forward && !graph.isView(value))
        values.push_back(value);
  }

  int64_t leastBytes() {
    int64_t least = INT64_MAX;
    for (uint64_t set = 0; set < uint64_t(1) << values.size(); ++set) {
      int64_t bytes = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        isSaved[values[i].index()] = set >> i & 1;
        bytes += set >> i & 1 ? graph.value(values[i]).bytes : 0;
      }
      if (bytes < least && isEnough())
        least = bytes;
    }
    return least;
  }

private:
  bool isEnough() const {
    for (size_t i = 0; i < graph.numOps(); ++i)
      if (graph.op(OpId(i)).phase == Phase::Backward &&
          !std::ranges::all_of(graph.operands(OpId(i)), [&](ValueId v) { return canBeRead(v); }))
        return false;
    return true;
  }

  bool canBeRead(ValueId value) const {
    ValueId base = graph.base(value);
    OpId maker = graph.producer(base), op = graph.producer(value);
    if (!maker || graph.op(maker).phase == Phase::Backward || graph.op(maker).opClass == OpClass::Constant ||
        isSaved[base.index()] || isResult[base.index()])
      return true;
    return mayRunThere(op) && std::ranges::all_of(graph.operands(op), [&](ValueId v) { return canBeRead(v); });
  }

  bool mayRunThere(OpId op) const {
    OpClass opClass = graph.op(op).opClass;
    if (opClass == OpClass::Elementwise || opClass == OpClass::DataMovement || opClass == OpClass::View)
      return true;
    for (size_t r = 0; r < graph.numResults(op); ++r)
      if (isResult[graph.result(op, r).index()] ||
          std::ranges::any_of(graph.users(graph.result(op, r)),
                              [&](OpId user) { return graph.op(user).phase == Phase::Forward; }))
        return false;
    return !graph.mustRunOnce(op);
  }

  const Graph &graph;
  std::vector<ValueId> values;
  std::vector<bool> isSaved, isResult;
};

/// What min-cut alone decides of a graph.
std::vector<ValueId> cutOf(const Graph &graph) {
  std::vector<Reason> reasons(graph.numValues(), Reason::Recomputed);
  for (ValueId value : graph.results())
    reasons[graph.base(value).index()] = Reason::Result;
  std::vector<bool> mayClone(graph.numOps());
  for (size_t i = 0; i < graph.numOps(); ++i)
    mayClone[i] = !graph.mustRunOnce(OpId(i));
  return findMinCut(
      {graph, reasons, mayClone, std::vector<bool>(graph.numOps()), std::vector<bool>(graph.numValues())});
}

/// The first op that the plan repeats although it isn't fusible.
std::optional<OpId> findDearRepeat(const Graph &graph, const Plan &plan) {
  std::vector<bool> ran(graph.numOps());
  for (OpId op : plan.steps) {
    if (ran[op.index()] && !isFusible(graph.op(op).opClass))
      return op;
    ran[op.index()] = true;
  }
  return std::nullopt;
}

} // namespace

TEST(MinCut, OnRandomGraphsHasTheFewestBytesAndRepeatsFusibleOpsAlone) {
  int64_t all = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Graph graph = randomClasses(seed, 2 + seed % 8);
    int64_t bytes = 0;
    for (ValueId value : cutOf(graph))
      bytes += graph.value(value).bytes;
    ASSERT_EQ(bytes, BruteForceCut(graph).leastBytes()) << "seed " << seed;
    Plan plan = planWith(graph, "min-cut").plan;
    ASSERT_FALSE(verify(graph, plan)) << "seed " << seed;
    std::optional<OpId> repeat = findDearRepeat(graph, plan);
    ASSERT_FALSE(repeat) << "seed " << seed << ": " << graph.op(*repeat).name;
    all += bytes;
  }
  EXPECT_GT(all, 3000); // The graphs ask for something.
}

namespace {

/// The peak stays within its share, and more budget never costs more.
void checkBudgets(const Graph &graph, std::string_view what) {
  double high = double(simulate(graph, planWith(graph, "min-cut").plan).peakBytes), low = 0;
  double cost = INFINITY;
  for (int tenths = 0; tenths <= 10; ++tenths) {
    PolicyPlan planned = planWith(graph, "min-cut=" + std::to_string(tenths / 10.0));
    ASSERT_FALSE(verify(graph, planned.plan)) << what << " at " << tenths;
    Simulation found = simulate(graph, planned.plan);
    if (tenths == 0)
      low = double(found.peakBytes);
    ASSERT_LE(found.peakBytes, low + tenths / 10.0 * (high - low)) << what << " at " << tenths;
    ASSERT_LE(found.costNs, cost) << what << " at " << tenths;
    cost = found.costNs;
  }
  EXPECT_LE(cost, simulate(graph, planWith(graph, "min-cut").plan).costNs) << what;
}

} // namespace

TEST(MinCut, BudgetsBoundThePeakAndAreMonotone) {
  for (uint32_t seed = 0; seed < 200; ++seed)
    checkBudgets(randomClasses(seed, 4 + seed % 24), "seed " + std::to_string(seed));
  for (const char *text : {"layered:n=600,seed=3", "transformer:layers=12", "chain:n=100"})
    checkBudgets(*generateGraph(text), text);
}

TEST(MinCut, ABudgetOnATransformerReachesWhatSqrtNReaches) {
  Expected<Graph> made = generateGraph("transformer:layers=12");
  ASSERT_TRUE(made);
  const Graph &graph = *made;
  EXPECT_LE(double(simulate(graph, planWith(graph, "min-cut=0").plan).peakBytes),
            1.03 * double(simulate(graph, planWith(graph, "sqrt-n").plan).peakBytes));
}

TEST(MinCut, UnderAMemoryLimitTheCutStaysSaved) {
  Graph graph = sampleMaker().finish();
  Expected<PolicyPlan> planned = plan(graph, {.policy = "min-cut", .memoryLimit = "72", .order = "given"});
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(std::ranges::count(planned->plan.steps, *graph.findOp("d")), 1);
  EXPECT_LE(simulate(graph, planned->plan).peakBytes, 72);
}
