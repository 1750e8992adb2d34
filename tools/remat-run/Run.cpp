//===- Run.cpp - Runs, measures and compares a compiled step ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "remat/Runtime/Types.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace remat {

using runtime::Context;
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
static std::vector<uint64_t> hashResults(const Context &context) {
  std::vector<uint64_t> hashes;
  const std::vector<Program::Value> &results = context.executable().program().results;
  for (size_t i = 0; i < results.size(); ++i) {
    const char *data = static_cast<const char *>(context.result(i));
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

/// The run that counts. The peak that was planned is a bound for it: a branch that isn't taken needs less.
static std::optional<Error> measure(RunResult &result) {
  auto measured = result.context->measure(result.arguments->fresh());
  if (!measured)
    return toError(measured.error());
  result.measured = std::move(*measured);
  if (result.measured->peakBytes <= result.plannedPeakBytes)
    return std::nullopt;
  return makeError("the run had " + std::to_string(result.measured->peakBytes) + " bytes in use at '" +
                   result.measured->peakStep + "', planned were " + std::to_string(result.plannedPeakBytes));
}

static std::optional<Error> runTimed(const RunOptions &options, RunResult &result) {
  using Clock = std::chrono::steady_clock;
  // The first run touches the arena's pages; where several are timed, it is none of them.
  int warmUps = !options.measure && options.repeat > 1;
  for (int i = -warmUps; i < options.repeat; ++i) {
    std::span<const void *const> arguments = result.arguments->fresh();
    Clock::time_point begin = Clock::now();
    auto error = result.context->run(arguments);
    double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    if (error)
      return toError(*error);
    if (i >= 0)
      result.stepMs.push_back(ms);
  }
  return std::nullopt;
}

static std::optional<Error> checkFinite(const Context &context) {
  const std::vector<Program::Value> &results = context.executable().program().results;
  for (size_t i = 0; i < results.size(); ++i)
    if (auto element = runtime::findNonFinite(results[i].type, context.result(i)))
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

/// Runs the original on the same arguments, and compares bit for bit.
static std::optional<Error> verify(const RunTarget &target, RunResult &result) {
  const std::vector<Program::Value> &results = target.rewritten->program().results;
  if (target.original->program().results.size() != results.size())
    return makeError("the original has " + std::to_string(target.original->program().results.size()) +
                     " results, the rewritten program " + std::to_string(results.size()));
  // A result that lies in an argument would be overwritten by the other program's.
  std::vector<std::vector<char>> kept(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    if (target.rewritten->program().resultBuffers[i].space == runtime::Buffer::Space::Argument) {
      const char *data = static_cast<const char *>(result.context->result(i));
      kept[i].assign(data, data + results[i].type.bytes());
    }
  auto original = Context::create(target.original);
  if (!original)
    return toError(original.error());
  if (auto error = (*original)->run(result.arguments->fresh()))
    return toError(*error);
  for (size_t i = 0; i < results.size(); ++i) {
    const Program::Value &value = results[i];
    std::string place = "result " + std::to_string(i) + " '" + value.name + "'";
    if (target.original->program().results[i].type != value.type)
      return makeError("the original's type is " + runtime::spell(target.original->program().results[i].type) +
                           ", the rewritten program's " + runtime::spell(value.type),
                       place);
    const void *ours = kept[i].empty() ? result.context->result(i) : kept[i].data();
    const void *theirs = (*original)->result(i);
    if (auto element = firstDifference(value.type, ours, theirs))
      return makeError("element " + std::to_string(*element) + " is " + spellElement(value, ours, *element) +
                           ", the original gives " + spellElement(value, theirs, *element),
                       place);
  }
  result.verified = true;
  // The results in arguments are the rewritten program's again.
  auto error = result.context->run(result.arguments->fresh());
  return error ? std::optional(toError(*error)) : std::nullopt;
}

static std::optional<Error> compare(const RunOptions &options, RunResult &result) {
  const Context &context = *result.context;
  auto errors = compareResults(options.expect, options.tolerance, context.executable().program(),
                               [&](size_t index) { return context.result(index); });
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

/// The measuring run first, so that its poison meets a fresh arena, then the timed ones; all give the same bits.
static std::optional<Error> runAll(const RunOptions &options, RunResult &result, int64_t residentBefore) {
  std::vector<uint64_t> hashes;
  if (options.measure) {
    if (auto error = measure(result))
      return error;
    result.rssGrowthBytes = result.measured->after.residentBytes - residentBefore;
    hashes = hashResults(*result.context);
  }
  if (auto error = runTimed(options, result))
    return error;
  if (!options.measure) {
    result.rssGrowthBytes = runtime::readProcessMemory().residentBytes - residentBefore;
    return std::nullopt;
  }
  std::vector<uint64_t> later = hashResults(*result.context);
  auto [first, other] = std::ranges::mismatch(hashes, later);
  if (first == hashes.end())
    return std::nullopt;
  size_t index = size_t(first - hashes.begin());
  return makeError("it differs between two runs: it depends on bytes that nobody wrote",
                   "result " + std::to_string(index) + " '" +
                       result.context->executable().program().results[index].name + "'");
}

Expected<RunResult> runProgram(const RunTarget &target, const RunOptions &options) {
  const Program &program = target.rewritten->program();
  std::vector<uint32_t> overwritten = target.rewritten->overwrittenArguments();
  if (target.original)
    overwritten.insert(overwritten.end(), target.original->overwrittenArguments().begin(),
                       target.original->overwrittenArguments().end());
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
  runtime::ContextOptions contextOptions;
  contextOptions.arenaLimitBytes = options.arenaLimitBytes;
  int64_t residentBefore = runtime::readProcessMemory().residentBytes;
  auto context = Context::create(target.rewritten, contextOptions);
  if (!context)
    return toError(context.error());
  result.context = std::move(*context);
  if (auto error = runAll(options, result, residentBefore))
    return std::move(*error);
  if (options.profile) {
    auto profile = result.context->profile(result.arguments->fresh());
    if (!profile)
      return toError(profile.error());
    result.profile = std::move(*profile);
  }
  if (target.original)
    if (auto error = verify(target, result))
      return std::move(*error);
  if (options.nanPolicy == NanPolicy::Error)
    if (auto error = checkFinite(*result.context))
      return std::move(*error);
  if (!options.expect.empty())
    if (auto error = compare(options, result))
      return std::move(*error);
  return result;
}

} // namespace remat
