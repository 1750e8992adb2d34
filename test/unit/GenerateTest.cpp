//===- GenerateTest.cpp ----------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Generate.h"
#include "remat/Plan/GraphJson.h"
#include "remat/Plan/Simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

using namespace remat;

static std::string jsonOf(const Graph &graph) {
  std::ostringstream out;
  writeGraph(out, graph);
  return out.str();
}

TEST(Generate, chainByHand) {
  auto graph = generateGraph("chain:n=7,bytes=1");
  ASSERT_TRUE(graph);
  // f1 f2 f3 f4 | b3 b2 b1, where b3 reads f3 and f4. f4, the loss, is a result.
  // f1: 1; f2: 2; f3: f2 is kept for b2, 3; f4: 4; b3: f1-f4 + b3 = 5; b2: f1 f2 f4 + b3 b2 = 5; b1: f1 f4 + b2 b1 = 4
  EXPECT_EQ(simulate(*graph, programOrder(*graph)).timeline, (std::vector<int64_t>{1, 2, 3, 4, 5, 5, 4}));
}

TEST(Generate, graphsAreWhole) {
  for (std::string text : {"chain:n=2", "chain:n=3", "chain", "layered:n=4", "layered:n=5", "layered",
                           "layered:n=300,width=1", "layered:n=2000,width=40,ed=1,skip=1", "layered:n=500,ed=0,skip=0",
                           "transformer:layers=1,heads=1", "transformer"}) {
    auto graph = generateGraph(text);
    ASSERT_TRUE(graph) << text << ": " << graph.error().message;
    EXPECT_EQ(graph->name(), text);
    EXPECT_FALSE(verify(*graph, programOrder(*graph))) << text;
    std::string json = jsonOf(*graph);
    auto again = readGraph(json);
    ASSERT_TRUE(again) << text << ": " << again.error().place << ": " << again.error().message;
    EXPECT_EQ(jsonOf(*again), json) << text;
    EXPECT_EQ(jsonOf(*generateGraph(text)), json) << text;
    // Training steps: forward ops come first, and backward ops read what they made.
    EXPECT_EQ(graph->op(OpId(0)).phase, Phase::Forward) << text;
    EXPECT_EQ(graph->op(OpId(graph->numOps() - 1)).phase, Phase::Backward) << text;
    EXPECT_GT(simulate(*graph, programOrder(*graph)).residualBytes, 0) << text;
    // Everything that is made is read or returned, but for saved statistics: no op is dead.
    for (size_t i = 0; i < graph->numOps(); ++i) {
      bool isUsed = false;
      for (size_t k = 0; k < graph->numResults(OpId(i)); ++k) {
        ValueId value = graph->result(OpId(i), k);
        isUsed |= !graph->users(value).empty() || std::ranges::find(graph->results(), value) != graph->results().end();
      }
      EXPECT_TRUE(isUsed) << text << " " << graph->op(OpId(i)).name;
    }
  }
}

TEST(Generate, layeredHasAsManyOpsAsAsked) {
  for (int n = 4; n < 200; n += 7)
    for (int width : {1, 2, 8})
      EXPECT_EQ(generateGraph("layered:n=" + std::to_string(n) + ",width=" + std::to_string(width))->numOps(),
                size_t(n));
}

TEST(Generate, seedsDiffer) {
  EXPECT_NE(jsonOf(*generateGraph("layered:n=100,seed=1")), jsonOf(*generateGraph("layered:n=100,seed=2")));
}

TEST(Generate, transformerSizes) {
  auto graph = generateGraph("transformer:layers=1,dmodel=4,heads=2,seq=3,batch=5,vocab=7");
  ASSERT_TRUE(graph);
  auto bytes = [&](std::string_view name) { return graph->value(graph->findValue(name).value()).bytes; };
  EXPECT_EQ(bytes("h0.attn.w"), 4 * 3 * 4 * 4);      // 3 D^2 floats
  EXPECT_EQ(bytes("h0.qkv"), 4 * 5 * 3 * 3 * 4);     // B S 3D
  EXPECT_EQ(bytes("h0.softmax"), 4 * 5 * 2 * 3 * 3); // B H S S
  EXPECT_EQ(bytes("logits"), 4 * 5 * 3 * 7);         // B S V
  EXPECT_EQ(bytes("d_wte"), bytes("wte.w"));
  const OpInfo &scores = graph->op(graph->findOp("h0.scores").value());
  EXPECT_EQ(scores.flops, 2 * 5 * 2 * 3 * 3 * 2); // 2 B H S S (D / H)
  EXPECT_EQ(scores.dotBatchDims, 2);
  EXPECT_EQ(graph->results().size(), 1u + 1 + 6 + 1); // loss, wte, the layer's six, ln_f
}

TEST(Generate, theVocabularyCountsOncePerStepNotPerLayer) {
  // FLOPs: a dot over the vocabulary 4 x 800 x 1024 x 768 x 50257 = 1.3e14; a layer's largest numbers at most
  // 32 x 800 x 1024 x 768^2 = 1.5e13. 64 (1.3e14 + 200 x 1.5e13) = 2e17 < 2^60 = 1.2e18; 64 x 201 x 1.3e14 is not.
  EXPECT_TRUE(generateGraph("transformer:layers=200,batch=800"));
}

TEST(Generate, saysWhatIsWrong) {
  auto complaint = [](std::string_view text) {
    auto graph = generateGraph(text);
    return graph ? std::string() : graph.error().place + ": " + graph.error().message + " / " + graph.error().note;
  };
  EXPECT_EQ(complaint("layerd:n=4"), ": unknown kind of graph 'layerd' / did you mean 'layered'?");
  EXPECT_EQ(complaint("chain:width=4,n"), "chain: unknown key 'width' / the keys are n, bytes");
  EXPECT_EQ(complaint("chain:n"), "chain: expected key=value, found 'n' / ");
  EXPECT_EQ(complaint("layered:n=10,n=20"), "layered: the key 'n' is given twice / ");
  EXPECT_EQ(complaint("chain:n=1.5"), "chain: n: expected an integer, found '1.5' / ");
  EXPECT_EQ(complaint("chain:n="), "chain: n: expected an integer, found '' / ");
  EXPECT_EQ(complaint("chain:n=1"), "chain: n: 1 is not in [2, 5e+07] / ");
  EXPECT_EQ(complaint("layered:ed=nan"), "layered: ed: nan is not in [0, 1] / ");
  EXPECT_EQ(complaint("layered:n=99999999999999999999"),
            "layered: n: expected an integer, found '99999999999999999999' / ");
  EXPECT_EQ(complaint("transformer:dmodel=10,heads=3"), "transformer: dmodel=10 is no multiple of heads=3 / ");
  EXPECT_EQ(complaint("transformer:layers=100000,dmodel=1000000,heads=1,seq=10000000,batch=1000000"),
            "transformer: the numbers of this step add up to more than 2^60 / lower batch, seq, dmodel, vocab or "
            "layers, such as to batch=1");
}
