//===- Run.cpp - Runs, measures and compares a compiled step ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "remat/Runtime/Types.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace remat {

using runtime::Program;

double RunResult::minMs() const { return stepMs.empty() ? 0 : std::ranges::min(stepMs); }

double RunResult::medianMs() const {
  if (stepMs.empty())
    return 0;
  std::vector<double> sorted = stepMs;
  std::ranges::sort(sorted);
  size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

const OutputError *RunResult::worst() const {
  auto excess = [](const OutputError &error) {
    return error.tolerance > 0 ? error.error / error.tolerance : error.error > 0 ? HUGE_VAL : 0.0;
  };
  auto found = std::ranges::max_element(outputErrors, {}, excess);
  return found == outputErrors.end() ? nullptr : &*found;
}

std::optional<double> RunResult::maxError() const {
  auto found = std::ranges::max_element(outputErrors, {}, &OutputError::error);
  return found == outputErrors.end() ? std::nullopt : std::optional(found->error);
}

/// A hash of each result's bits.
static std::vector<uint64_t> hashResults(const Runner &runner) {
  std::vector<uint64_t> hashes;
  const std::vector<Program::Value> &results = runner.program().results;
  for (size_t i = 0; i < results.size(); ++i) {
    const char *data = static_cast<const char *>(runner.result(i));
    size_t bytes = size_t(results[i].type.bytes());
    uint64_t hash = 0;
    for (size_t at = 0; at < bytes; at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, data + at, std::min<size_t>(8, bytes - at));
      hash = (hash ^ word) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 32;
    }
    hashes.push_back(hash);
  }
  return hashes;
}

/// The run that counts. What was planned is a bound for it: a branch that isn't taken needs less.
static std::optional<Error> measure(RunResult &result) {
  auto measured = result.runner->measure(result.arguments->fresh());
  if (!measured)
    return measured.error();
  result.measured = std::move(*measured);
  // A GPU's arena is taken whole.
  bool isArena = result.measured->peakStep.empty();
  int64_t planned = isArena ? result.arenaBytes : result.plannedPeakBytes;
  if (result.measured->peakBytes <= planned)
    return std::nullopt;
  return makeError("the run had " + std::to_string(result.measured->peakBytes) + " bytes in use" +
                   (isArena ? "" : " at '" + result.measured->peakStep + "'") + ", planned were " +
                   std::to_string(planned));
}

static std::optional<Error> runTimed(const RunOptions &options, RunResult &result) {
  // The first run touches the arena's pages; where several are timed, it is none of them.
  int warmUps = !options.measure && options.repeat > 1;
  for (int i = -warmUps; i < options.repeat; ++i) {
    Expected<double> ms = result.runner->run(result.arguments->fresh());
    if (!ms)
      return ms.error();
    if (i >= 0)
      result.stepMs.push_back(*ms);
  }
  return result.runner->fetchResults();
}

static std::optional<Error> checkFinite(const Runner &runner) {
  const std::vector<Program::Value> &results = runner.program().results;
  for (size_t i = 0; i < results.size(); ++i)
    if (auto element = runtime::findNonFinite(results[i].type, runner.result(i)))
      return makeError("element " + std::to_string(*element) + " is NaN or infinite",
                       "result " + std::to_string(i) + " '" + results[i].name + "'", "--nan-policy=allow lets it pass");
  return std::nullopt;
}

static std::string spellElement(const Program::Value &value, const void *data, int64_t element) {
  double number;
  runtime::toDoubles(value.type.element, value.isUnsigned,
                     static_cast<const char *>(data) + element * value.type.elementBytes(), 1, &number);
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", number);
  return text;
}

/// The first element whose bits differ.
static std::optional<int64_t> firstDifference(const runtime::TensorType &type, const void *a, const void *b) {
  if (type.bytes() == 0 || std::memcmp(a, b, size_t(type.bytes())) == 0)
    return std::nullopt;
  const char *begin = static_cast<const char *>(a);
  auto [at, other] = std::mismatch(begin, begin + type.bytes(), static_cast<const char *>(b));
  return (at - begin) / type.elementBytes();
}

using Results = std::vector<std::vector<char>>;

static Results copyResults(const Runner &runner) {
  Results copies;
  for (size_t i = 0; i < runner.program().results.size(); ++i) {
    const char *data = static_cast<const char *>(runner.result(i));
    copies.emplace_back(data, data + runner.program().results[i].type.bytes());
  }
  return copies;
}

/// The results of another program on the same arguments.
static Expected<Results> runOther(Runner &other, const std::vector<Program::Value> &values, Arguments &arguments) {
  const std::vector<Program::Value> &found = other.program().results;
  if (found.size() != values.size())
    return makeError("the original has " + std::to_string(found.size()) + " results, the rewritten program " +
                     std::to_string(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    if (found[i].type != values[i].type)
      return makeError("the original's type is " + runtime::spell(found[i].type) + ", the rewritten program's " +
                           runtime::spell(values[i].type),
                       "result " + std::to_string(i) + " '" + values[i].name + "'");
  if (auto error = other.start(arguments.fresh(), 0))
    return *error;
  if (Expected<double> ms = other.run(arguments.fresh()); !ms)
    return ms.error();
  if (auto error = other.fetchResults())
    return *error;
  return copyResults(other);
}

/// Compares bit for bit.
static std::optional<Error> compareBits(const std::vector<Program::Value> &values, const Results &ours,
                                        const Results &theirs) {
  for (size_t i = 0; i < values.size(); ++i)
    if (auto element = firstDifference(values[i].type, ours[i].data(), theirs[i].data()))
      return makeError("element " + std::to_string(*element) + " is " +
                           spellElement(values[i], ours[i].data(), *element) + ", the original gives " +
                           spellElement(values[i], theirs[i].data(), *element),
                       "result " + std::to_string(i) + " '" + values[i].name + "'");
  return std::nullopt;
}

/// Relative to the result's largest magnitude; NaN is infinitely far from all but NaN.
static double errorOf(const Program::Value &value, const void *ours, const void *theirs) {
  size_t count = size_t(value.type.elements());
  std::vector<double> a(count), b(count);
  runtime::toDoubles(value.type.element, value.isUnsigned, ours, int64_t(count), a.data());
  runtime::toDoubles(value.type.element, value.isUnsigned, theirs, int64_t(count), b.data());
  double most = 0, scale = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i]))
      return HUGE_VAL;
    if (a[i] != b[i] && !std::isnan(a[i]))
      most = std::max(most, std::fabs(a[i] - b[i]));
    scale = std::max(scale, std::isfinite(b[i]) ? std::fabs(b[i]) : 0);
  }
  return most == 0 ? 0 : most / scale;
}

/// Compares with the CPU's numbers, which another order of sums may change a little.
static std::optional<Error> compareWithCpu(const RunOptions &options, RunResult &result, const Results &ours,
                                           const Results &theirs) {
  const Program &program = result.runner->program();
  double allowed = options.tolerance.value_or(defaultTolerance(program)), most = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    double error = errorOf(program.results[i], ours[i].data(), theirs[i].data());
    most = std::max(most, error);
    if (error > allowed) {
      char text[120];
      std::snprintf(text, sizeof(text), "the error against the CPU is %.3g, allowed is %.3g", error, allowed);
      return makeError(text, "result " + std::to_string(i) + " '" + program.results[i].name + "'",
                       "--tolerance=X allows more");
    }
  }
  result.errorAgainstCpu = most;
  return std::nullopt;
}

/// Runs the original on the same arguments. The results are the rewritten program's again at the end.
static std::optional<Error> verify(RunTarget &target, const RunOptions &options, RunResult &result) {
  const std::vector<Program::Value> &values = result.runner->program().results;
  Results ours = copyResults(*result.runner);
  Expected<Results> theirs = runOther(*target.original, values, *result.arguments);
  if (!theirs)
    return theirs.error();
  if (auto error = compareBits(values, ours, *theirs))
    return error;
  result.verified = true;
  if (target.reference) {
    Expected<Results> onCpu = runOther(*target.reference, values, *result.arguments);
    if (!onCpu)
      return onCpu.error();
    if (auto error = compareWithCpu(options, result, ours, *onCpu))
      return error;
  }
  if (Expected<double> ms = result.runner->run(result.arguments->fresh()); !ms)
    return ms.error();
  return result.runner->fetchResults();
}

static std::optional<Error> compare(const RunOptions &options, RunResult &result) {
  const Runner &runner = *result.runner;
  auto errors = compareResults(options.expect, options.tolerance, runner.program(),
                               [&](size_t index) { return runner.result(index); });
  if (!errors)
    return errors.error();
  result.outputErrors = std::move(*errors);
  const OutputError *worst = result.worst();
  if (!worst || worst->error <= worst->tolerance)
    return std::nullopt;
  char text[120];
  std::snprintf(text, sizeof(text), "the largest error is %.3g, allowed is %.3g", worst->error, worst->tolerance);
  return makeError(text, options.expect + ": '" + worst->name + "'", "--tolerance=X allows more");
}

static std::optional<Error> noteGrowth(RunResult &result) {
  Expected<int64_t> growth = result.runner->memoryGrowthBytes();
  if (!growth)
    return growth.error();
  result.memoryGrowthBytes = *growth;
  return std::nullopt;
}

/// The measuring run first, so that its poison meets a fresh arena, then the timed ones; all give the same bits.
static std::optional<Error> runAll(const RunOptions &options, RunResult &result) {
  std::vector<uint64_t> hashes;
  if (options.measure) {
    if (auto error = measure(result))
      return error;
    if (auto error = noteGrowth(result))
      return error;
    if (auto error = result.runner->fetchResults())
      return error;
    hashes = hashResults(*result.runner);
  }
  if (auto error = runTimed(options, result))
    return error;
  if (!options.measure)
    return noteGrowth(result);
  std::vector<uint64_t> later = hashResults(*result.runner);
  auto [first, other] = std::ranges::mismatch(hashes, later);
  if (first == hashes.end())
    return std::nullopt;
  size_t index = size_t(first - hashes.begin());
  return makeError("it differs between two runs: it depends on bytes that nobody wrote",
                   "result " + std::to_string(index) + " '" + result.runner->program().results[index].name + "'");
}

Expected<RunResult> runProgram(RunTarget target, const RunOptions &options) {
  const Program &program = target.rewritten->program();
  std::vector<uint32_t> overwritten;
  for (const Runner *runner : {target.rewritten.get(), target.original.get(), target.reference.get()})
    if (runner)
      overwritten.insert(overwritten.end(), runner->overwrittenArguments().begin(),
                         runner->overwrittenArguments().end());
  Expected<Arguments> arguments = Arguments::load(options, program, overwritten);
  if (!arguments)
    return arguments.error();
  RunResult result;
  result.arguments = std::make_unique<Arguments>(std::move(*arguments));
  result.threads = program.threads;
  result.residentBytes = result.arguments->bytes();
  result.arenaBytes = program.arenaBytes;
  result.plannedPeakBytes = program.plannedPeakBytes;
  result.givenPeakBytes = target.givenPeakBytes;
  result.compileMs = target.compileMs;
  result.runner = std::move(target.rewritten);
  if (auto error = result.runner->start(result.arguments->fresh(), options.arenaLimitBytes))
    return std::move(*error);
  if (auto error = runAll(options, result))
    return std::move(*error);
  if (options.profile) {
    auto profile = result.runner->profile(result.arguments->fresh());
    if (!profile)
      return profile.error();
    result.profile = std::move(*profile);
  }
  if (target.original)
    if (auto error = verify(target, options, result))
      return std::move(*error);
  if (options.nanPolicy == NanPolicy::Error)
    if (auto error = checkFinite(*result.runner))
      return std::move(*error);
  if (!options.expect.empty())
    if (auto error = compare(options, result))
      return std::move(*error);
  return result;
}

} // namespace remat
