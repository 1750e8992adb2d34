//===- PlannerBenchmark.cpp - Planning time by graph size -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints a table of planning times over graphs of growing size: near-linear growth is what to look for.
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Generate.h"
#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"

#include <benchmark/benchmark.h>

static remat::Graph layered(int64_t opCount) {
  return std::move(*remat::generateGraph("layered:n=" + std::to_string(opCount) + ",seed=1"));
}

static void planGraph(benchmark::State &state, const char *policy, const char *segments) {
  remat::Graph graph = layered(state.range(0));
  remat::PlanOptions options;
  options.policy = policy;
  options.segments = segments;
  int64_t peakBytes = 0;
  for (auto _ : state)
    peakBytes = remat::simulate(graph, remat::plan(graph, options)->plan).peakBytes;
  state.counters["peak_of_original"] =
      double(peakBytes) / double(remat::simulate(graph, remat::programOrder(graph)).peakBytes);
  state.SetComplexityN(state.range(0));
}

BENCHMARK_CAPTURE(planGraph, sqrt_n, "sqrt-n", "")
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(planGraph, save_nothing, "save-nothing", "none")
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(planGraph, save_dots, "save-dots", "none")
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);

static void simulateGraph(benchmark::State &state) {
  remat::Graph graph = layered(state.range(0));
  remat::Plan plan = remat::programOrder(graph);
  for (auto _ : state)
    benchmark::DoNotOptimize(remat::simulate(graph, plan));
}
BENCHMARK(simulateGraph)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
