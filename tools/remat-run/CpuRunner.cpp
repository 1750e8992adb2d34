//===- CpuRunner.cpp - A compiled step on the CPU -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Runner.h"

#include <chrono>

namespace remat {

namespace {

class CpuRunner : public Runner {
public:
  explicit CpuRunner(std::shared_ptr<const runtime::Executable> executable) : executable(std::move(executable)) {}

  std::string_view device() const override { return "CPU"; }
  const runtime::Program &program() const override { return executable->program(); }
  const std::vector<uint32_t> &overwrittenArguments() const override { return executable->overwrittenArguments(); }

  std::optional<Error> start(Arguments, int64_t arenaLimitBytes) override {
    residentBefore = runtime::readProcessMemory().residentBytes;
    runtime::ContextOptions options;
    options.arenaLimitBytes = arenaLimitBytes;
    auto made = runtime::Context::create(executable, options);
    if (!made)
      return toError(made.error());
    context = std::move(*made);
    return std::nullopt;
  }

  Expected<double> run(Arguments arguments) override {
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin = Clock::now();
    auto error = context->run(arguments);
    double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    return error ? Expected<double>(toError(*error)) : ms;
  }

  Expected<Measured> measure(Arguments arguments) override {
    auto measured = context->measure(arguments);
    if (!measured)
      return toError(measured.error());
    return Measured{measured->peakBytes, std::move(measured->peakStep)};
  }

  Expected<runtime::Profile> profile(Arguments arguments) override {
    auto profile = context->profile(arguments);
    if (!profile)
      return toError(profile.error());
    return std::move(*profile);
  }

  std::optional<Error> fetchResults() override { return std::nullopt; }
  const void *result(size_t index) const override { return context->result(index); }
  Expected<int64_t> memoryGrowthBytes() const override {
    return runtime::readProcessMemory().residentBytes - residentBefore;
  }

private:
  std::shared_ptr<const runtime::Executable> executable;
  std::unique_ptr<runtime::Context> context;
  int64_t residentBefore = 0;
};

} // namespace

std::unique_ptr<Runner> makeCpuRunner(std::shared_ptr<const runtime::Executable> executable) {
  return std::make_unique<CpuRunner>(std::move(executable));
}

} // namespace remat
