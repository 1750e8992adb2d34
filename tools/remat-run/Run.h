//===- Run.h - Runs, measures and compares a compiled step ------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Arguments.h"
#include "Expectation.h"
#include "remat/Runtime/Executable.h"

#include <iosfwd>

namespace remat {

class Outputs;

/// What is run.
struct RunTarget {
  std::shared_ptr<const runtime::Executable> rewritten;
  std::shared_ptr<const runtime::Executable> original; ///< For `--verify`; else null.
  double compileMs = 0;
  std::optional<int64_t> givenPeakBytes; ///< Of the clusters of the original; nothing where the plan changes nothing.
};

/// What came of it.
struct RunResult {
  int threads = 1;
  int64_t residentBytes = 0; ///< Of the arguments.
  int64_t arenaBytes = 0, plannedPeakBytes = 0;
  std::optional<int64_t> givenPeakBytes;
  std::optional<runtime::Measurement> measured; ///< Nothing with `--measure=false`.
  int64_t rssGrowthBytes = 0;                   ///< From before the context was made to behind its first run.
  double compileMs = 0;
  std::vector<double> stepMs; ///< Of each timed run.
  std::vector<OutputError> outputErrors;
  bool verified = false; ///< The original gave the same bits.
  std::optional<runtime::Profile> profile;

  /// The results lie in these.
  std::unique_ptr<Arguments> arguments;
  std::unique_ptr<runtime::Context> context;

  double minMs() const;
  double medianMs() const;
  /// The output that is the most of its tolerance away; null where nothing was compared.
  const OutputError *worst() const;
  std::optional<double> maxError() const;
};

/// Loads the arguments, runs as the options say and compares. Error: what keeps it from running; a plan that isn't true
/// (slots that overlap, a peak above the planned one, results that depend on what was in the arena); NaN where it isn't
/// allowed; results beyond the tolerance; results other than the original's.
Expected<RunResult> runProgram(const RunTarget &target, const RunOptions &options);

/// Writes the files of `--outputs` and `--profile`, which are open.
void writeRunFiles(const RunOptions &options, const RunResult &result, Outputs &outputs);

/// Step time, memory and errors, in at most 80 columns; the profile as a table.
void writeRunSummary(std::ostream &out, const RunResult &result);

/// A report of writeReportJson with the members of a run added: `measured_peak_bytes`, `step_ms` …
std::string addRunMembers(std::string reportJson, const RunResult &result);

} // namespace remat
