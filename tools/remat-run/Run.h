//===- Run.h - Runs, measures and compares a compiled step ------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Arguments.h"
#include "Expectation.h"
#include "Runner.h"

#include <iosfwd>

namespace remat {

class Outputs;

/// What runs. The others are compared with the first one's results, and may be null.
struct RunTarget {
  std::unique_ptr<Runner> rewritten;
  std::unique_ptr<Runner> original;  ///< For `--verify`, on the same device: must give the same bits.
  std::unique_ptr<Runner> reference; ///< For `--verify` on a GPU, the original on the CPU: must come near.
  double compileMs = 0;
  std::optional<int64_t> givenPeakBytes; ///< Of the clusters of the original; nothing where the plan changes nothing.
};

/// What `runProgram` found out.
struct RunResult {
  int threads = 1;
  int64_t residentBytes = 0; ///< Of the arguments.
  int64_t arenaBytes = 0, plannedPeakBytes = 0;
  std::optional<int64_t> givenPeakBytes;
  std::optional<Measured> measured; ///< Nothing with `--measure=false`.
  int64_t memoryGrowthBytes = 0;    ///< From before the runner took its memory to behind its first run.
  double compileMs = 0;
  std::vector<double> stepMs; ///< Of each timed run.
  std::vector<OutputError> outputErrors;
  bool verified = false;                 ///< The original gave the same bits.
  std::optional<double> errorAgainstCpu; ///< The largest, relative to each result's largest magnitude.
  std::optional<runtime::Profile> profile;

  /// The results lie in these.
  std::unique_ptr<Arguments> arguments;
  std::unique_ptr<Runner> runner;

  double minMs() const;
  double medianMs() const;
  /// The output that is the most of its tolerance away; null where nothing was compared.
  const OutputError *worst() const;
  std::optional<double> maxError() const;
};

/// Runs, measures, verifies and compares. The target's runners are used up.
Expected<RunResult> runProgram(RunTarget target, const RunOptions &options);

/// Writes the files of `--outputs` and `--profile`, which are open.
void writeRunFiles(const RunOptions &options, const RunResult &result, Outputs &outputs);

/// Step time, memory and errors, in at most 80 columns; the profile as a table.
void writeRunSummary(std::ostream &out, const RunResult &result);

/// A report of writeReportJson with the members of a run added: `measured_peak_bytes`, `step_ms` …
std::string addRunMembers(std::string reportJson, const RunResult &result);

} // namespace remat
