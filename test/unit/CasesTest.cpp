//===- CasesTest.cpp - Graphs made after bug reports of other systems ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every case gives the right peak, residual bytes and number of recomputed ops of three policies, and the lowest peak
// that any schedule reaches.
//
//===----------------------------------------------------------------------===//

#include "BruteForce.h"
#include "remat/Plan/GraphJson.h"
#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

using namespace remat;
using namespace remat::test;
namespace fs = std::filesystem;

static fs::path sourceTest() { return fs::path(__FILE__).parent_path().parent_path(); }

static fs::path inputs() {
#ifdef REMAT_TEST_INPUTS
  return REMAT_TEST_INPUTS;
#else
  return sourceTest() / "Inputs";
#endif
}

static fs::path sharedFolder() {
  const char *named = std::getenv("REMAT_SHARED");
  return named ? fs::path(named) : sourceTest().parent_path().parent_path() / "shared";
}

static std::set<fs::path> casesIn(const fs::path &folder) {
  std::set<fs::path> files;
  std::error_code missing;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, missing))
    if (entry.path().filename().string().starts_with("R") && entry.path().extension() == ".json")
      files.insert(entry.path());
  return files;
}

static nlohmann::json readJson(const fs::path &file) { return nlohmann::json::parse(std::ifstream(file)); }

static void checkCase(const fs::path &file) {
  SCOPED_TRACE(file.string());
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  Expected<Graph> graph = readGraph(text.str());
  ASSERT_TRUE(graph) << graph.error().place << ": " << graph.error().message;
  size_t once = simulate(*graph, programOrder(*graph)).executions;
  const nlohmann::json expected = readJson(file).at("expected");
  for (const char *policy : {"save-everything", "save-dots", "save-nothing"}) {
    if (!expected.contains(policy))
      continue;
    SCOPED_TRACE(policy);
    Expected<PolicyPlan> plan =
        remat::plan(*graph, {.policy = policy, .segments = "none", .keep = {}, .recompute = {}});
    ASSERT_TRUE(plan) << plan.error().message;
    std::optional<Error> error = verify(*graph, plan->plan);
    ASSERT_FALSE(error) << error->place << ": " << error->message;
    Simulation result = simulate(*graph, plan->plan);
    EXPECT_EQ(result.peakBytes, expected[policy].at("peak_bytes"));
    if (expected[policy].contains("residual_bytes"))
      EXPECT_EQ(result.residualBytes, expected[policy]["residual_bytes"]);
    if (expected[policy].contains("recomputed_ops"))
      EXPECT_EQ(result.executions - once, expected[policy]["recomputed_ops"]);
  }
}

/// The reference search itself is right where others worked the numbers out.
static size_t checkLowestPeaks(const std::set<fs::path> &files) {
  size_t checked = 0;
  for (const fs::path &file : files) {
    SCOPED_TRACE(file.string());
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    Expected<Graph> graph = readGraph(text.str());
    const nlohmann::json expected = readJson(file).at("expected");
    if (!graph || !expected.contains("min_reachable_peak_bytes"))
      continue;
    if (std::optional<int64_t> lowest = BruteForce(*graph).lowestPeak()) {
      EXPECT_EQ(*lowest, expected["min_reachable_peak_bytes"]);
      Expected<PolicyPlan> plan =
          remat::plan(*graph, {.policy = "sqrt-n", .segments = {}, .keep = {}, .recompute = {}});
      EXPECT_GE(simulate(*graph, plan->plan).peakBytes, *lowest);
      ++checked;
    }
  }
  return checked;
}

TEST(Cases, InputsGiveTheExpectedNumbers) {
  std::set<fs::path> files = casesIn(inputs() / "cases");
  ASSERT_FALSE(files.empty()) << inputs();
  for (const fs::path &file : files)
    checkCase(file);
}

TEST(Cases, SharedGiveTheExpectedNumbers) {
  std::set<fs::path> files = casesIn(sharedFolder() / "cases");
  if (files.empty())
    GTEST_SKIP() << "no cases in " << sharedFolder() / "cases";
  for (const fs::path &file : files)
    checkCase(file);
}

TEST(Cases, LowestReachablePeaks) {
  std::set<fs::path> files = casesIn(inputs() / "cases");
  EXPECT_GT(checkLowestPeaks(files), files.size() / 3);
}
