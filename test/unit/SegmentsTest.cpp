//===- SegmentsTest.cpp - Where the forward part is cut -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Segments.h"
#include "TestGraphs.h"
#include "remat/Plan/Generate.h"

#include <gtest/gtest.h>

using namespace remat;
using namespace remat::test;

namespace {

/// The segment of each forward op as one letter, `-` for outside.
std::string letters(const Graph &graph, const Segments &segments) {
  std::string text;
  EXPECT_EQ(segments.ofOp.size(), graph.numOps());
  for (size_t i = 0; i < graph.numOps(); ++i) {
    uint32_t segment = segments.ofOp[i];
    if (graph.op(OpId(i)).phase == Phase::Backward)
      EXPECT_EQ(segment, Segments::outside);
    else
      text += segment == Segments::outside ? '-' : char('a' + segment);
    EXPECT_TRUE(segment == Segments::outside || segment < segments.count);
  }
  return text;
}

constexpr OpInfo dot{.kind = "dot", .opClass = OpClass::Dot, .costNs = 1};

/// Two-layer perceptron blocks with a skip connection: dot, relu, dot, add. What crosses between blocks is one value.
void addBlock(Maker &make, std::string name, std::string_view in, int64_t bytes, int64_t inner) {
  make.op(name + "up", Phase::Forward, {in, "w"}, inner, dot);
  make.forward(name + "relu", {name + "up"}, inner);
  make.op(name + "down", Phase::Forward, {name + "relu", "w"}, bytes, dot);
  make.op(name + "add", Phase::Forward, {in, name + "down"}, bytes,
          {.kind = "add", .opClass = OpClass::Elementwise, .costNs = 1});
}

} // namespace

TEST(Segments, NoneIsOneSegmentOfAllForwardOps) {
  Graph graph = Maker().argument("x", 8).forward("a", {"x"}, 8).forward("b", {"a"}, 8).backward("d", {"b"}, 8).finish();
  EXPECT_EQ(letters(graph, noSegments(graph)), "aa");
  EXPECT_EQ(letters(graph, *makeSegments(graph, "none")), "aa");
}

TEST(Segments, GraphsWithoutForwardOpsHaveNone) {
  Graph empty = Maker().finish();
  Graph backward = Maker().argument("x", 8).backward("d", {"x"}, 8).finish();
  for (const Graph *graph : {&empty, &backward}) {
    EXPECT_EQ(noSegments(*graph).count, 0u);
    EXPECT_EQ(balancedSegments(*graph, 3).count, 0u);
    EXPECT_EQ(autoSegments(*graph).count, 0u);
    EXPECT_EQ(regionSegments(*graph).count, 0u);
  }
}

TEST(Segments, RegionsAreSegmentsAndTheRestIsOutside) {
  Maker make;
  make.argument("x", 8);
  auto in = [](std::string_view region) { return OpInfo{.opClass = OpClass::Elementwise, .region = region}; };
  make.op("a", Phase::Forward, {"x"}, 8, in("enc/0")).op("b", Phase::Forward, {"a"}, 8, in("enc/1"));
  make.op("c", Phase::Forward, {"b"}, 8, in("")).op("d", Phase::Forward, {"c"}, 8, in("enc/0"));
  Graph graph = make.finish();
  EXPECT_EQ(letters(graph, regionSegments(graph)), "ab-a");
}

TEST(BalancedSegments, AChainIsCutEvenly) {
  Maker make;
  make.argument("h0", 8);
  for (int i = 1; i <= 6; ++i)
    make.forward("h" + std::to_string(i), {"h" + std::to_string(i - 1)}, 8);
  Graph graph = make.finish();
  EXPECT_EQ(letters(graph, balancedSegments(graph, 1)), "aaaaaa");
  EXPECT_EQ(letters(graph, balancedSegments(graph, 2)), "aaabbb");
  EXPECT_EQ(letters(graph, balancedSegments(graph, 3)), "aabbcc");
  EXPECT_LE(balancedSegments(graph, 1000).count, 6u);
}

TEST(BalancedSegments, CutsWhereFewBytesCross) {
  // Half of the bytes are made behind `wide`, but `wide` (64) would cross there; behind `thin` only 4 bytes do.
  Graph graph = Maker()
                    .argument("x", 8)
                    .forward("a", {"x"}, 32)
                    .forward("wide", {"a"}, 64)
                    .forward("thin", {"wide"}, 4)
                    .forward("b", {"thin"}, 50)
                    .forward("c", {"b"}, 50)
                    .finish();
  EXPECT_EQ(letters(graph, balancedSegments(graph, 2)), "aaabb");
}

TEST(AutoSegments, FindsBlocksBetweenOtherOps) {
  Maker make;
  make.argument("w", 8).argument("tokens", 8);
  make.forward("embed", {"tokens"}, 16);
  std::string in = "embed";
  for (char name : {'p', 'q', 'r'}) {
    addBlock(make, std::string(1, name), in, 16, 64);
    in = std::string(1, name) + "add";
  }
  make.op("logits", Phase::Forward, {in, "w"}, 100, {.kind = "dot", .opClass = OpClass::Dot, .flops = 7});
  Graph graph = make.finish();
  EXPECT_EQ(letters(graph, autoSegments(graph)), "-aaaabbbbcccc-");
}

TEST(AutoSegments, ABlockThatLeadsToAnotherSizeIsABlock) {
  // Stages of two and three blocks; the first block of the second stage changes the size and is like no other.
  Maker make;
  make.argument("w", 8).argument("x", 8).forward("stem", {"x"}, 16);
  addBlock(make, "a", "stem", 16, 64);
  addBlock(make, "b", "aadd", 16, 64);
  make.op("cup", Phase::Forward, {"badd", "w"}, 32, dot).forward("crelu", {"cup"}, 32);
  make.op("cdown", Phase::Forward, {"crelu", "w"}, 8, dot).op("cskip", Phase::Forward, {"badd", "w"}, 8, dot);
  make.op("cadd", Phase::Forward, {"cskip", "cdown"}, 8, {.kind = "add", .opClass = OpClass::Elementwise});
  addBlock(make, "d", "cadd", 8, 32);
  addBlock(make, "e", "dadd", 8, 32);
  Graph graph = make.finish();
  EXPECT_EQ(letters(graph, autoSegments(graph)), "-aaaabbbbcccccddddeeee");
}

TEST(AutoSegments, AlternatingBlocksThatShareAPartAreApart) {
  // Every layer begins with the same block; a small or a large one follows in turn.
  Maker make;
  make.argument("w", 8).argument("x", 8).forward("embed", {"x"}, 16);
  std::string in = "embed";
  for (int i = 0; i < 4; ++i) {
    std::string name = "l" + std::to_string(i);
    addBlock(make, name + "s", in, 16, 24);
    addBlock(make, name + "m", name + "sadd", 16, i % 2 ? 64 : 128);
    in = name + "madd";
  }
  Graph graph = make.finish();
  EXPECT_EQ(letters(graph, autoSegments(graph)), "-aaaaaaaabbbbbbbbccccccccdddddddd");
}

TEST(AutoSegments, TransformerLayersAreFound) {
  Graph graph = *generateGraph("transformer:layers=5");
  EXPECT_EQ(autoSegments(graph).count, 5u);
}

TEST(AutoSegments, NothingIsFoundWhereNothingRepeats) {
  Graph random = *generateGraph("layered:n=2000,seed=1");
  EXPECT_EQ(autoSegments(random).count, 0u);
  Graph noDots = Maker().argument("x", 8).forward("a", {"x"}, 8).forward("b", {"a"}, 8).finish();
  EXPECT_EQ(autoSegments(noDots).count, 0u);
}

namespace {

Graph scopedGraph() {
  Maker make;
  make.argument("x", 8);
  auto at = [](std::string_view location) {
    return OpInfo{.kind = "add", .opClass = OpClass::Elementwise, .location = location};
  };
  make.op("e", Phase::Forward, {"x"}, 8, at("jit(f)/jvp()/gather"));
  make.op("a", Phase::Forward, {"e"}, 8, at("jit(f)/jvp(h00)/attn/add"));
  make.op("mask", Phase::Forward, {}, 8, at(""));
  make.op("b", Phase::Forward, {"a", "mask"}, 8, at("jit(f)/jvp(h00)/mlp/add"));
  make.op("c", Phase::Forward, {"b"}, 8, at("\"jit(_where)/select\" \"jit(f)/vmap(jvp(h01))/jit(_where)\""));
  make.op("loss", Phase::Forward, {"c"}, 8, at("jit(f)/jvp()/h02"));
  make.op("d", Phase::Backward, {"c", "b"}, 8, at("jit(f)/transpose(jvp(h01))/mul"));
  return make.finish();
}

} // namespace

TEST(ScopeSegments, MatchesWholeComponentsThroughWrappers) {
  Graph graph = scopedGraph();
  EXPECT_EQ(letters(graph, *scopeSegments(graph, "h[0-9]+")), "-aaab-");  // The last component is an op, not a scope.
  EXPECT_EQ(letters(graph, *scopeSegments(graph, "attn|mlp")), "-abb--"); // mask goes with its only reader.
  EXPECT_EQ(letters(graph, *makeSegments(graph, "scope:h00")), "-aaa--");
}

TEST(ScopeSegments, TheOutermostMatchCounts) {
  Graph graph = scopedGraph();
  EXPECT_EQ(letters(graph, *scopeSegments(graph, "h00|attn|mlp")), "-aaa--");
}

TEST(ScopeSegments, FoldersOfSourceLinesAreNoScopes) {
  Maker make;
  make.argument("x", 8);
  auto at = [](std::string_view location) { return OpInfo{.opClass = OpClass::Elementwise, .location = location}; };
  make.op("a", Phase::Forward, {"x"}, 8, at("/h00/graphs/model.py:3:1"));
  make.op("b", Phase::Forward, {"a"}, 8, at("jit(f)/jvp(h01)/tanh /h00/my models/model.py:3:1"));
  make.op("c", Phase::Forward, {"b"}, 8, at(" /my h00/h00/model.py:3:1"));
  Graph graph = make.finish();
  EXPECT_EQ(letters(graph, *scopeSegments(graph, "h[0-9]+")), "-a-");
  EXPECT_EQ(scopeSegments(graph, "graphs").error().note, "the scopes are: f, h01");
}

TEST(ScopeSegments, LongNamesTakeNoStack) {
  std::string scope(100000, 'a'), location = scope + "/add";
  Maker make;
  make.argument("x", 8).op("y", Phase::Forward, {"x"}, 8, {.opClass = OpClass::Elementwise, .location = location});
  Graph graph = make.finish();
  EXPECT_EQ(letters(graph, *scopeSegments(graph, "a.*")), "a");
  EXPECT_FALSE(scopeSegments(graph, "(a+)+b")); // Exponential for an engine that tries all ways.
}

TEST(ScopeSegments, NoMatchListsTheScopes) {
  Graph graph = scopedGraph();
  Error error = scopeSegments(graph, "h").error();
  EXPECT_EQ(error.message, "segments 'scope:h': no scope of a forward op matches");
  EXPECT_EQ(error.note, "the scopes are: _where, attn, f, h00, h01, mlp");
  EXPECT_FALSE(scopeSegments(graph, "("));
  Graph bare = Maker().argument("x", 8).forward("a", {"x"}, 8).finish();
  EXPECT_EQ(scopeSegments(bare, ".*").error().note, "the ops' locations hold no scopes");
}

TEST(Segments, UnknownSegmentationSuggestsTheNearest) {
  Graph graph = scopedGraph();
  EXPECT_EQ(makeSegments(graph, "autos").error().note,
            "did you mean 'auto'? use one of: none, auto, sqrt, regions, scope:REGEX");
  EXPECT_EQ(makeSegments(graph, "").error().message, "unknown segmentation ''");
}

TEST(BalancedSegments, CanFallInSize) {
  // Nine equal values in three segments: 9 × 1/3 × (1 + 0.3 × 2/3) = 3.6 and 9 × 2/3 × (1 + 0.3 × 1/3) = 6.6: cut at 4
  // and 7.
  Maker make;
  make.argument("x", 8).forward("v0", {"x"}, 8);
  for (int i = 1; i < 9; ++i)
    make.forward("v" + std::to_string(i), {"v" + std::to_string(i - 1)}, 8);
  Graph graph = make.finish();
  EXPECT_EQ(letters(graph, balancedSegments(graph, 3, 0.3)), "aaaabbbcc");
  EXPECT_EQ(letters(graph, balancedSegments(graph, 3)), "aaabbbccc");
}
