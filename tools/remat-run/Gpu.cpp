//===- Gpu.cpp - Steps on a GPU -------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include "Arguments.h"
#include "remat/CudaRuntime/CudaSession.h"

#include <cstdlib>

namespace remat {

/// Other libraries than the system's: to try a newer one, or the tests' fake.
static runtime::CudaLibraries libraries() {
  runtime::CudaLibraries named;
  for (auto [variable, file] : {std::pair("REMAT_CUDA_DRIVER", &named.driver),
                                std::pair("REMAT_CUBLASLT", &named.blasLt), std::pair("REMAT_CUDNN", &named.cudnn)})
    if (const char *value = std::getenv(variable))
      *file = value;
  return named;
}

Expected<std::string> findGpuTarget() {
  auto device = runtime::findCudaDevice(libraries());
  if (!device)
    return toError(device.error());
  // Code for a capability runs on later ones of the same major number.
  for (auto [major, target] : {std::pair(8, "sm_80"), std::pair(9, "sm_90"), std::pair(10, "sm_100")})
    if (device->major == major)
      return std::string(target);
  return makeError("there is no code for '" + device->name + "', whose compute capability is " +
                       std::to_string(device->major) + "." + std::to_string(device->minor),
                   "", "Remat makes code for 8.x, 9.x and 10.x; run the step with --device=cpu");
}

namespace {

class GpuRunner : public Runner {
public:
  GpuRunner(std::shared_ptr<const runtime::CudaExecutable> executable, const runtime::CudaOptions &options)
      : executable(std::move(executable)), options(options) {}

  std::string_view device() const override { return "GPU"; }
  const runtime::Program &program() const override { return executable->program(); }
  const std::vector<uint32_t> &overwrittenArguments() const override { return executable->overwrittenArguments(); }

  std::optional<Error> start(Arguments arguments, int64_t arenaLimitBytes) override {
    options.arenaLimitBytes = arenaLimitBytes;
    auto made = runtime::CudaSession::create(executable, options, arguments);
    if (!made)
      return toError(made.error());
    session = std::move(*made);
    return std::nullopt;
  }

  Expected<double> run(Arguments) override {
    auto ms = session->run();
    return ms ? Expected<double>(*ms) : toError(ms.error());
  }

  /// The arena is taken by the first run; a second one finds no zeros in it.
  Expected<Measured> measure(Arguments) override {
    if (auto ms = session->run(); !ms)
      return toError(ms.error());
    constexpr uint8_t poison = 0xFF; // NaN, and far beyond every index.
    if (auto error = session->fillArena(poison))
      return toError(*error);
    if (auto ms = session->run(); !ms)
      return toError(ms.error());
    auto memory = session->memory();
    if (!memory)
      return toError(memory.error());
    return Measured{memory->arenaBytes, ""};
  }

  Expected<runtime::Profile> profile(Arguments) override {
    return makeError("--profile times steps of the CPU", "", "nsys profile shows those of a GPU");
  }

  std::optional<Error> fetchResults() override {
    const std::vector<runtime::Program::Value> &values = program().results;
    results.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      results[i].resize(size_t(values[i].type.bytes()));
      if (auto error = session->download(i, results[i].data()))
        return toError(*error);
    }
    return std::nullopt;
  }
  const void *result(size_t index) const override { return results[index].data(); }

  Expected<int64_t> memoryGrowthBytes() const override {
    auto memory = session->memory();
    return memory ? Expected<int64_t>(memory->usedAfter - memory->usedBefore) : toError(memory.error());
  }

private:
  std::shared_ptr<const runtime::CudaExecutable> executable;
  runtime::CudaOptions options;
  std::unique_ptr<runtime::CudaSession> session;
  std::vector<std::vector<char>> results;
};

} // namespace

Expected<std::unique_ptr<Runner>> makeGpuRunner(runtime::Program program, runtime::CudaCode code, bool graph,
                                                bool allowTf32) {
  auto executable = runtime::CudaExecutable::create(std::move(program), std::move(code));
  if (!executable)
    return toError(executable.error());
  runtime::CudaOptions options;
  options.libraries = libraries();
  options.graph = graph;
  options.allowTf32 = allowTf32;
  return std::unique_ptr<Runner>(std::make_unique<GpuRunner>(std::move(*executable), options));
}

} // namespace remat
