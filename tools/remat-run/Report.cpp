//===- Report.cpp - What came of a run -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonMembers.h"
#include "Outputs.h"
#include "Run.h"

#include <cmath>
#include <cstdio>
#include <ostream>

namespace remat {

template <typename... Arguments>
static std::string format(const char *form, Arguments... arguments) {
  char text[256];
  std::snprintf(text, sizeof(text), form, arguments...);
  return text;
}

static std::string spellBytes(int64_t bytes) {
  if (std::llabs(bytes) < 10240)
    return format("%lld bytes", static_cast<long long>(bytes));
  if (std::llabs(bytes) < int64_t(10) << 20)
    return format("%.1f KiB", double(bytes) / 1024);
  return format("%.1f MiB", double(bytes) / (1 << 20));
}

void writeRunSummary(std::ostream &out, const RunResult &result) {
  bool onGpu = result.runner->device() == "GPU";
  std::string where =
      onGpu ? "on the GPU" : format("%d %s", result.threads, result.threads == 1 ? "thread" : "threads");
  if (!result.stepMs.empty())
    out << format("step time     %.3f ms (median %.3f, %zu %s, %s)\n", result.minMs(), result.medianMs(),
                  result.stepMs.size(), result.stepMs.size() == 1 ? "run" : "runs", where.c_str());
  out << format("compile time  %.0f ms\n", result.compileMs);
  out << "planned peak  " << spellBytes(result.plannedPeakBytes);
  if (result.givenPeakBytes)
    out << " (" << spellBytes(*result.givenPeakBytes) << " as it came)";
  out << "\n";
  if (result.measured && !onGpu)
    out << "measured peak " << spellBytes(result.measured->peakBytes)
        << (result.measured->peakBytes == result.plannedPeakBytes ? ", as planned" : "") << "\n";
  bool counted = result.measured && !onGpu;
  int64_t peak = counted ? result.measured->peakBytes : result.plannedPeakBytes;
  out << "arena         " << spellBytes(result.arenaBytes);
  if (peak > 0)
    out << format(", %.4f of the %s peak", double(result.arenaBytes) / double(peak), counted ? "measured" : "planned");
  if (onGpu && result.measured)
    out << "; " << spellBytes(result.measured->peakBytes) << " allocated"
        << (result.measured->peakBytes == result.arenaBytes ? ", as planned" : "");
  out << (onGpu ? "; the GPU's memory in use grew by " : "; the process grew by ")
      << spellBytes(result.memoryGrowthBytes) << "\n";
  out << "arguments     " << spellBytes(result.residentBytes) << "\n";
  if (const OutputError *worst = result.worst())
    out << format("largest error %.3g of '%.30s' (allowed: %.3g)\n", worst->error, worst->name.c_str(),
                  worst->tolerance);
  if (result.verified)
    out << "verified      every result equals the original's, bit for bit\n";
  if (result.errorAgainstCpu)
    out << format("the CPU       gives the same but for an error of %.3g\n", *result.errorAgainstCpu);
  if (result.profile) {
    out << "\n";
    runtime::writeProfileTable(out, *result.profile);
  }
}

/// JSON has no infinity.
static std::string spellReal(std::optional<double> value) {
  return value && std::isfinite(*value) ? format("%.9g", *value) : "null";
}

std::string addRunMembers(std::string reportJson, const RunResult &result) {
  auto integer = [](std::optional<int64_t> value) { return value ? std::to_string(*value) : "null"; };
  std::string members;
  members +=
      "\"measured_peak_bytes\": " + integer(result.measured ? std::optional(result.measured->peakBytes) : std::nullopt);
  members += ",\n  \"planned_peak_bytes\": " + integer(result.plannedPeakBytes);
  members += ",\n  \"planned_peak_bytes_before\": " + integer(result.givenPeakBytes.value_or(result.plannedPeakBytes));
  members += std::string(",\n  \"") + (result.runner->device() == "GPU" ? "device" : "rss") +
             "_growth_bytes\": " + integer(result.memoryGrowthBytes);
  members += ",\n  \"threads\": " + std::to_string(result.threads);
  bool timed = !result.stepMs.empty();
  members += ",\n  \"step_ms\": " +
             (timed ? "{\"min\": " + spellReal(result.minMs()) + ", \"median\": " + spellReal(result.medianMs()) + "}"
                    : std::string("null"));
  members += ",\n  \"compile_ms\": " + spellReal(result.compileMs);
  members += ",\n  \"max_error\": " + spellReal(result.maxError());
  members += std::string(",\n  \"verified\": ") + (result.verified ? "true" : "false");
  if (result.errorAgainstCpu)
    members += ",\n  \"max_error_against_cpu\": " + spellReal(result.errorAgainstCpu);
  return addMembers(reportJson, members);
}

static void writeResults(std::ostream &out, const Runner &runner) {
  const std::vector<runtime::Program::Value> &results = runner.program().results;
  std::vector<runtime::NpzEntry> entries;
  for (size_t i = 0; i < results.size(); ++i)
    entries.push_back({runtime::npzKey(i, results[i].name), results[i].type, results[i].isUnsigned, runner.result(i)});
  runtime::writeNpz(out, entries);
}

void writeRunFiles(const RunOptions &options, const RunResult &result, Outputs &outputs) {
  if (!options.outputs.empty())
    writeResults(outputs.to(options.outputs), *result.runner);
  if (result.profile && !options.profileFile.empty())
    writeChromeTrace(outputs.to(options.profileFile), *result.profile);
}

} // namespace remat
