//===- GraphTest.cpp -------------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestGraphs.h"

#include <gtest/gtest.h>

using namespace remat;
using namespace remat::test;

TEST(Graph, keepsOperandsResultsAndUsers) {
  Graph graph = Maker("g")
                    .argument("x", 8)
                    .forward("a", {"x", "x"}, 4)
                    .forward("b", {"a", "x"}, 2)
                    .backward("c", {"b", "a", "a"}, 1)
                    .result("c")
                    .result("x")
                    .finish();
  EXPECT_EQ(graph.numOps(), 3u);
  EXPECT_EQ(graph.numValues(), 4u);
  EXPECT_EQ(graph.numArguments(), 1u);
  OpId c = *graph.findOp("c");
  ValueId a = *graph.findValue("a");
  // Operands keep duplicates, users do not.
  EXPECT_EQ(graph.operands(c).size(), 3u);
  EXPECT_EQ(graph.operands(c)[1], a);
  ASSERT_EQ(graph.users(a).size(), 2u);
  EXPECT_EQ(graph.users(a)[0], *graph.findOp("b"));
  EXPECT_EQ(graph.users(a)[1], c);
  EXPECT_EQ(graph.producer(a), *graph.findOp("a"));
  EXPECT_FALSE(graph.producer(*graph.findValue("x")));
  EXPECT_EQ(graph.results().size(), 2u);
  EXPECT_EQ(graph.residentBytes(), 8);
  EXPECT_FALSE(graph.findOp("x"));
  EXPECT_FALSE(graph.findValue("y"));
}

TEST(Graph, baseFollowsChainsOfViews) {
  Graph graph = Maker()
                    .argument("x", 8)
                    .forward("a", {"x"}, 4)
                    .view("v", Phase::Forward, "a")
                    .view("vv", Phase::Backward, "v")
                    .view("vx", Phase::Backward, "x")
                    .finish();
  EXPECT_EQ(graph.base(*graph.findValue("vv")), *graph.findValue("a"));
  EXPECT_EQ(graph.base(*graph.findValue("vx")), *graph.findValue("x"));
  EXPECT_TRUE(graph.isView(*graph.findValue("v")));
  EXPECT_FALSE(graph.isView(*graph.findValue("a")));
}

TEST(Graph, survivesAMove) {
  Graph graph = Maker("moved").argument("x", 8).forward("a", {"x"}, 4).finish();
  Graph other = std::move(graph);
  EXPECT_EQ(other.name(), "moved");
  EXPECT_EQ(other.op(*other.findOp("a")).name, "a");
}

TEST(Graph, opsThatMustRunOnce) {
  Maker maker;
  maker.argument("x", 1);
  for (int i = 0; i <= int(OpClass::Opaque); ++i)
    maker.op(toString(OpClass(i)), Phase::Forward, {"x"}, 0, {.opClass = OpClass(i)});
  maker.op("marked", Phase::Forward, {"x"}, 0, {.opClass = OpClass::Dot, .recomputable = false});
  Graph graph = maker.finish();
  for (size_t i = 0; i < graph.numOps(); ++i) {
    std::string_view name = graph.op(OpId(i)).name;
    bool once = name == "random" || name == "collective" || name == "opaque" || name == "marked";
    EXPECT_EQ(graph.mustRunOnce(OpId(i)), once) << name;
  }
}

TEST(Graph, classNamesReadBack) {
  for (int i = 0; i <= int(OpClass::Opaque); ++i)
    EXPECT_EQ(parseOpClass(toString(OpClass(i))), OpClass(i));
  EXPECT_FALSE(parseOpClass("Dot"));
}

TEST(GraphBuilder, sumsBeyondWhatInt64HoldsAreRefusedWhereTheyArise) {
  // 3 × 2^58 + 2^58 = 2^60 is the most there may be; one byte more is too much.
  constexpr int64_t quarter = int64_t(1) << 58;
  Maker maker;
  maker.argument("x", quarter).argument("y", quarter).forward("a", {"x"}, quarter).forward("b", {"x"}, quarter);
  ValueInfo one{.name = "c", .bytes = 1};
  Error error = maker.builder.addOp({.name = "c"}, {}, {&one, 1}).error();
  EXPECT_EQ(error.place, "results[0].bytes");
  EXPECT_EQ(error.message, "the bytes of this graph add up to more than 2^60");
  Maker other;
  EXPECT_EQ(other.builder.addArgument("x", INT64_MAX).error().place, "bytes");
  EXPECT_EQ(Maker().builder.addOp({.name = "f", .flops = INT64_MAX}, {}, {}).error().place, "flops");
  EXPECT_EQ(Maker().builder.addOp({.name = "w", .workspaceBytes = INT64_MAX}, {}, {}).error().place, "workspace_bytes");
  EXPECT_EQ(Maker().builder.addOp({.name = "t", .costNs = 1e306}, {}, {}).error().place, "cost_ns");
}

TEST(GraphBuilder, whatWasOverwrittenIsReadNoMore) {
  Maker maker;
  maker.argument("x", 8).argument("given", 8, true).forward("a", {"x"}, 8).view("va", Phase::Forward, "a");
  GraphBuilder &builder = maker.builder;
  auto complaint = [&](std::string_view name, std::vector<std::string_view> operands, ValueInfo result) {
    result.name = name;
    auto added = builder.addOp({.name = name}, maker.ids(operands), {&result, 1});
    return added ? std::string() : added.error().place + ": " + added.error().message;
  };
  EXPECT_EQ(complaint("large", {"a"}, {.bytes = 9, .inplaceOf = maker.id("a")}),
            "results[0].bytes: the result has 9 bytes, but takes the place of 'a' with 8");
  EXPECT_EQ(complaint("torn", {"a", "x"}, {.viewOf = maker.id("x"), .inplaceOf = maker.id("a")}),
            "results[0].view_of: the result views 'x' but overwrites 'a'");
  // u reads a and overwrites it through its view; from then on a and va are gone, u is there.
  EXPECT_EQ(complaint("u", {"a", "va"}, {.viewOf = maker.id("va"), .inplaceOf = maker.id("va")}), "");
  EXPECT_EQ(complaint("late", {"x", "a"}, {}), "operands[1]: 'a' is read after op 'u' overwrote it");
  EXPECT_EQ(complaint("later", {"va"}, {}), "operands[0]: 'va' is read after op 'u' overwrote it");
  EXPECT_EQ(complaint("fine", {"u"}, {}), "");
  EXPECT_FALSE(builder.addResult(maker.id("u")));
  EXPECT_EQ(builder.addResult(maker.id("a"))->message, "'a' is read after op 'u' overwrote it");
}

TEST(GraphBuilder, namesWhatIsWrong) {
  Maker maker;
  maker.argument("x", 8).argument("given", 8, true).forward("a", {"x"}, 4);
  GraphBuilder &builder = maker.builder;
  auto place = [&](const OpInfo &info, std::vector<ValueId> operands, std::vector<ValueInfo> results) {
    auto added = builder.addOp(info, operands, results);
    return added ? std::string("none") : added.error().place;
  };
  ValueId x = maker.id("x"), a = maker.id("a");
  EXPECT_FALSE(builder.addArgument("late", 1));
  EXPECT_EQ(place({.name = "a"}, {}, {}), "name");
  EXPECT_EQ(place({.name = "p", .costNs = -1}, {}, {}), "cost_ns");
  EXPECT_EQ(place({.name = "q"}, {x, ValueId()}, {}), "operands[1]");
  EXPECT_EQ(place({.name = "r"}, {x}, {{.name = "a", .bytes = 1}}), "results[0].name");
  EXPECT_EQ(place({.name = "s"}, {x}, {{.name = "s", .bytes = 1}, {.name = "t", .bytes = -1}}), "results[1].bytes");
  EXPECT_EQ(place({.name = "u"}, {x}, {{.name = "u", .bytes = 0, .viewOf = a}}), "results[0].view_of");
  EXPECT_EQ(place({.name = "v"}, {x}, {{.name = "v", .bytes = 1, .viewOf = x}}), "results[0].bytes");
  EXPECT_EQ(place({.name = "y"}, {x}, {{.name = "y", .bytes = 1, .inplaceOf = x}}), "results[0].inplace_of");
}
