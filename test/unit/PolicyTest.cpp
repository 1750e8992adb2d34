//===- PolicyTest.cpp - What each policy saves, and its messages --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Policy.h"
#include "../../lib/Plan/Size.h"
#include "TestGraphs.h"
#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"

#include <gtest/gtest.h>

using namespace remat;
using namespace remat::test;

namespace {

/// One forward op of each kind that policies tell apart.
Graph sampleGraph() {
  Maker make;
  make.argument("x", 64);
  auto add = [&](std::string_view name, std::string_view kind, OpClass opClass, int64_t bytes, int32_t batchDims = 0,
                 std::string_view checkpoint = {}) {
    make.op(name, Phase::Forward, {"x"}, bytes,
            {.kind = kind, .opClass = opClass, .dotBatchDims = batchDims, .checkpointName = checkpoint});
  };
  add("dot", "stablehlo.dot_general", OpClass::Dot, 100);
  add("scores", "stablehlo.dot_general", OpClass::Dot, 100, 2);
  add("conv", "stablehlo.convolution", OpClass::Convolution, 100);
  add("tanh", "stablehlo.tanh", OpClass::Elementwise, 200, 0, "act");
  add("exp", "math.exp", OpClass::Elementwise, 201, 0, "norm");
  make.backward("grad", {"tanh"}, 64);
  return make.finish();
}

/// Names of the values that the policy saves, or the error's message.
std::string saved(std::string_view text) {
  Graph graph = sampleGraph();
  Expected<Policy> policy = Policy::parse(text);
  if (!policy)
    return "error: " + policy.error().message;
  if (std::optional<Error> error = policy->check(graph))
    return "error: " + error->message;
  std::string names;
  for (size_t v = graph.numArguments(); v < graph.numValues(); ++v)
    if (ValueId value(v); graph.op(graph.producer(value)).phase == Phase::Forward && policy->saves(graph, value))
      names += (names.empty() ? "" : " ") + std::string(graph.value(value).name);
  return names;
}

Error errorOf(std::string_view text) {
  Graph graph = sampleGraph();
  Expected<Policy> policy = Policy::parse(text);
  return policy ? policy->check(graph).value_or(Error{}) : policy.error();
}

} // namespace

TEST(Policy, SavesWhatItsNameSays) {
  EXPECT_EQ(saved("save-everything"), "dot scores conv tanh exp");
  EXPECT_EQ(saved("save-nothing"), "");
  EXPECT_EQ(saved("save-dots"), "dot scores conv");
  EXPECT_EQ(saved("save-dots-no-batch-dims"), "dot");
  EXPECT_EQ(saved("save-only-names=act"), "tanh");
  EXPECT_EQ(saved("save-only-names=act,norm"), "tanh exp");
}

TEST(Policy, SaveAnyNamesButSavesNoValueWithoutAName) { EXPECT_EQ(saved("save-any-names-but=act"), "exp"); }

TEST(Policy, SaveLargerThanIsStrict) {
  EXPECT_EQ(saved("save-larger-than=200"), "exp"); // tanh has exactly 200 bytes.
  EXPECT_EQ(saved("save-larger-than=0.1kB"), "tanh exp");
  EXPECT_EQ(saved("save-larger-than=1GiB"), "");
}

TEST(Policy, SaveOpsMatchesTheWholeKindWithOrWithoutDialect) {
  EXPECT_EQ(saved("save-ops=tanh"), "tanh");
  EXPECT_EQ(saved("save-ops=stablehlo.tanh"), "tanh");
  EXPECT_EQ(saved("save-ops=tanh|exp"), "tanh exp");
  EXPECT_EQ(saved("save-ops=stablehlo\\..*"), "dot scores conv tanh");
  EXPECT_EQ(saved("save-ops=tan"), "error: policy 'save-ops=tan': no forward op matches");
}

TEST(Policy, SaveOpsTakesLongKindsAndHardPatterns) {
  std::string kind(80000, 'a');
  Maker make;
  make.argument("x", 8).op("y", Phase::Forward, {"x"}, 8, {.kind = kind, .opClass = OpClass::Elementwise});
  Graph graph = make.finish();
  EXPECT_TRUE(Policy::parse("save-ops=.*")->saves(graph, graph.resultBegin(OpId(0))));
  EXPECT_FALSE(Policy::parse("save-ops=(a+)+b")->saves(graph, graph.resultBegin(OpId(0))));
}

TEST(Policy, PlusJoinsPoliciesButNotInsideARegex) {
  EXPECT_EQ(saved("save-dots-no-batch-dims+save-only-names=norm"), "dot exp");
  EXPECT_EQ(saved("save-ops=[a-z]+nh+save-dots"), "dot scores conv tanh");
  EXPECT_TRUE(Policy::parse("save-dots+save-everything")->isSaveEverything());
  EXPECT_FALSE(Policy::parse("save-dots+save-nothing")->isSaveEverything());
  EXPECT_EQ(Policy::parse("save-dots+save-nothing")->name(), "save-dots+save-nothing");
}

TEST(Policy, UnknownNameSuggestsTheNearest) {
  EXPECT_EQ(errorOf("save-dot").message, "unknown policy 'save-dot'");
  EXPECT_EQ(errorOf("save-dot").note, "did you mean 'save-dots'?");
  EXPECT_EQ(errorOf("save_everything").note, "did you mean 'save-everything'?");
  EXPECT_TRUE(errorOf("zzz").note.starts_with("use one of: save-everything"));
}

TEST(Policy, LaterPoliciesAreNotSupported) {
  for (const char *text : {"offload-dots", "save-dots+offload-names=a"}) {
    EXPECT_NE(errorOf(text).message.find("is not supported by this version"), std::string::npos) << text;
    EXPECT_TRUE(errorOf(text).note.starts_with("use one of:")) << text;
  }
}

TEST(Policy, BadTextsAreErrors) {
  for (const char *text : {"",
                           "+",
                           "save-dots+",
                           "+save-dots",
                           "save-dots++save-nothing",
                           " save-dots",
                           "save-dots ",
                           "save-dots=1",
                           "save-only-names",
                           "save-only-names=",
                           "save-only-names=a,,b",
                           "save-only-names=act,",
                           "save-larger-than=",
                           "save-larger-than=x",
                           "save-larger-than=-1",
                           "save-ops",
                           "save-ops=(",
                           "save-ops=",
                           "sqrt-n",
                           "save-dots+sqrt-n"})
    EXPECT_FALSE(errorOf(text).message.empty()) << "'" << text << "'";
}

TEST(Policy, NameThatMatchesNothingListsTheNames) {
  EXPECT_EQ(errorOf("save-only-names=acts").message,
            "policy 'save-only-names=acts': no forward op has the checkpoint name 'acts'");
  EXPECT_EQ(errorOf("save-only-names=acts").note, "did you mean 'act'? the graph's names are: act, norm");
  EXPECT_FALSE(errorOf("save-any-names-but=nothing-like-it").message.empty());
}

TEST(Policy, GraphWithoutNamesSaysWhereNamesComeFrom) {
  Graph graph = Maker().argument("x", 1).forward("a", {"x"}, 1).finish();
  Error error = Policy::parse("save-only-names=a")->check(graph).value();
  EXPECT_NE(error.note.find("raw JAX exports hold no trace of them"), std::string::npos) << error.note;
  EXPECT_NE(error.note.find("remat.name"), std::string::npos);
}

TEST(Size, ReadsBytesAndUnits) {
  EXPECT_EQ(*parseSize("0"), 0);
  EXPECT_EQ(*parseSize("512"), 512);
  EXPECT_EQ(*parseSize("8GiB"), int64_t(8) << 30);
  EXPECT_EQ(*parseSize("8GB"), 8'000'000'000);
  EXPECT_EQ(*parseSize("1.5MiB"), 1572864);
  EXPECT_EQ(*parseSize("2kB"), 2000);
  EXPECT_EQ(*parseSize("0.3kB"), 300); // Exact: 0.3 has no binary fraction.
  EXPECT_EQ(*parseSize("1.0"), 1);
  EXPECT_EQ(*parseSize("9223372036854775807"), INT64_MAX);
}

TEST(Size, PartsOfBytes) {
  EXPECT_EQ(*parseSize("0.3KiB"), 307); // 307.2
  EXPECT_EQ(*parseSize("0.0019kB"), 1); // 1.9
  EXPECT_EQ(*parseSize("0.0001kB"), 0);
  // Who writes part of a byte has forgotten a unit.
  for (const char *text : {"1.5", "0.5B"})
    EXPECT_EQ(parseSize(text).error().message, std::string("bad size '") + text + "': it is no whole number of bytes");
  // Shares of a peak round up: the peak itself is 100 % of it.
  EXPECT_EQ(parseShare("70%", 101), 71);      // 70.7
  EXPECT_EQ(parseShare("0.57%", 10'000), 57); // Exact: in floating point it is below.
  EXPECT_EQ(parseShare("100%", 101), 101);
  EXPECT_EQ(parseShare("1000%", INT64_MAX), INT64_MAX);
  for (const char *text : {"0%", "-1%", "1000.1%", "%", "70", "70%%", "nan%"})
    EXPECT_FALSE(parseShare(text, 100)) << text;
}

TEST(Size, RejectsWhatIsNoSize) {
  for (const char *text : {"", "GiB", "-1", "1 GiB", "1gib", "8GiBs", "1e9", ".", "9223372036854775808", "8388608TiB",
                           "1.2.3", "9223372036854775807.5TiB", "9223372036854775.9kB"})
    EXPECT_FALSE(parseSize(text)) << "'" << text << "'";
  EXPECT_EQ(parseSize("1gib").error().message, "bad size '1gib': unknown unit 'gib'");
}

TEST(NearestName, FindsWhatIsNearEnough) {
  const std::string_view names[] = {"save-dots", "save-nothing"};
  EXPECT_EQ(nearestName("save-dot", names), "save-dots");
  EXPECT_EQ(nearestName("save-nothin", names), "save-nothing");
  EXPECT_EQ(nearestName("x", names), std::nullopt);
  EXPECT_EQ(nearestName(std::string(100000, 'a'), names), std::nullopt);
}

TEST(PolicyPlan, NamesThatContradictOrCannotBeObeyedAreErrors) {
  Maker make;
  make.argument("x", 8).forward("a", {"x"}, 8);
  make.op("u", Phase::Forward, {"a"}, 8, OpInfo{.opClass = OpClass::Random});
  make.forward("b", {"u"}, 8).backward("gb", {"b", "u", "a"}, 8);
  Graph graph = make.finish();
  PlanOptions both{.policy = "save-nothing", .keep = {"a"}, .recompute = {"a"}};
  EXPECT_EQ(plan(graph, both).error().message, "'a' is named by both --keep and --recompute");
  PlanOptions random{.policy = "save-nothing", .recompute = {"u"}};
  EXPECT_EQ(plan(graph, random).error().message, "--recompute: op 'u' must not run twice");
}

TEST(PolicyPlan, ARegionWithAPolicyMustHoldAnOp) {
  GraphBuilder builder("g");
  ValueId x = *builder.addArgument("x", 8);
  ValueInfo y{.name = "y", .bytes = 8};
  OpInfo op{.name = "y", .opClass = OpClass::Elementwise, .region = "outer/inner"};
  (void)builder.addOp(op, {&x, 1}, {&y, 1});
  builder.addRegion("outer", "save-nothing");
  builder.addRegion("out", "save-nothing");
  Graph graph = builder.finish();
  EXPECT_EQ(plan(graph, {}).error().message, "no op is in region 'out'");
}

TEST(Policy, ViewsOfWhatIsSavedAreThereThoughTheirOpRunsAgain) {
  // Ops with a view of a saved value and a result of their own; the seeds are small graphs in which one moved away.
  for (uint32_t seed : {1u, 9u, 219u, 400u, 401u, 402u})
    for (uint32_t count : {3u, 8u}) {
      Graph graph = randomGraph(seed, 20 + seed % 181);
      PolicyRequest request;
      request.policy = Policy::saveNothing();
      request.segments = balancedSegments(graph, count);
      Expected<PolicyPlan> planned = planPolicy(graph, request);
      ASSERT_TRUE(planned);
      EXPECT_FALSE(verify(graph, planned->plan)) << seed;
    }
}
