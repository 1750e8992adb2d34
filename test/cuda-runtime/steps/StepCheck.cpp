//===- StepCheck.cpp - Compiled steps through the CUDA runtime -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: remat-cuda-step-check STEP.mlir [--graph]
// Compiles a step for the CPU, and runs its program twice: on the CPU, and through the CUDA runtime on the fake driver
// and libraries, whose functions are the CPU's kernels. What differs is who orders the steps, passes the buffers and
// computes the dots. Exit status 1: a result differs by more than another order of summation can explain.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "remat/CodeGen/Cpu.h"
#include "remat/CudaRuntime/CudaExecutable.h"
#include "remat/IR/OpModel.h"
#include "remat/Import/Import.h"
#include "remat/Runtime/Executable.h"
#include "remat/Runtime/Inputs.h"
#include "remat/Runtime/Types.h"
#include "remat/Transforms/Pipelines.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <iostream>

using namespace mlir;
using namespace remat;

namespace rt = remat::runtime;

namespace {

/// Arguments that both runs read.
std::vector<std::vector<char>> makeArguments(const rt::Program &program) {
  std::vector<std::vector<char>> data;
  for (auto [i, argument] : llvm::enumerate(program.arguments)) {
    data.emplace_back(size_t(argument.type.bytes()));
    rt::fillRandom(argument.type, rt::defaultRule(argument.type.element), 1, uint32_t(i), data.back().data());
  }
  return data;
}

/// One launch for every kernel, with all buffers of its steps; the fake runs the CPU's kernel.
rt::CudaCode makeCode(const rt::Program &program, const std::vector<rt::KernelFunction> &functions) {
  rt::CudaCode code;
  code.kernels.resize(program.kernels.size());
  code.binary = {'F', 'A', 'K', 'E'};
  std::function<void(const std::vector<rt::Step> &)> visit = [&](const std::vector<rt::Step> &steps) {
    for (const rt::Step &step : steps) {
      for (const std::vector<rt::Step> &body : step.bodies)
        visit(body);
      if (step.kind != rt::Step::Kind::Kernel || !code.kernels[step.kernel].empty())
        continue;
      rt::CudaLaunch launch;
      launch.symbol = program.kernels[step.kernel];
      for (size_t i = 0; i < step.buffers.size(); ++i)
        launch.parameters.push_back({rt::CudaParameter::Kind::Buffer, int64_t(i)});
      fakecuda::defineKernel(launch.symbol, step.buffers.size(),
                             [function = functions[step.kernel], iterations = step.iterations](auto &launched) {
                               std::vector<void *> buffers;
                               for (uint64_t address : launched.parameters)
                                 buffers.push_back(reinterpret_cast<void *>(address));
                               function(buffers.data(), 0, iterations, 0);
                             });
      code.kernels[step.kernel].push_back(std::move(launch));
    }
  };
  visit(program.steps);
  return code;
}

/// The largest difference by the result's largest magnitude. Of less than 1e-5 nothing but rounding is left where sums
/// cancel: it counts as 1e-5.
double difference(const rt::Program::Value &value, const void *a, const void *b) {
  int64_t count = value.type.elements();
  std::vector<double> x(static_cast<size_t>(count)), y(static_cast<size_t>(count));
  rt::toDoubles(value.type.element, value.isUnsigned, a, count, x.data());
  rt::toDoubles(value.type.element, value.isUnsigned, b, count, y.data());
  double most = 0, scale = 1e-5;
  for (auto [p, q] : llvm::zip(x, y)) {
    if (std::isnan(p) != std::isnan(q))
      return INFINITY;
    if (!std::isnan(p) && p != q)
      most = std::max(most, std::fabs(p - q));
    scale = std::max(scale, std::fabs(p));
  }
  return most / scale;
}

void printPlan(const rt::CudaExecutable &executable) {
  std::map<std::string, int64_t> calls;
  int64_t waits = 0;
  static const char *const kinds[] = {"launches", "cuBLASLt", "cuDNN", "copies", "loops", "branches"};
  for (const rt::CudaStepPlan &step : executable.plan()) {
    calls[kinds[int(step.kind)]] += step.calls;
    waits += step.waits;
    if (!step.reason.empty())
      std::cout << step.name << ": " << step.calls << " calls: " << step.reason << "\n";
  }
  for (const auto &[kind, count] : calls)
    std::cout << kind << " " << count << ", ";
  std::cout << "steps that wait " << waits << "\n";
}

/// Runs twice, so that what a first run leaves behind is noticed.
std::optional<rt::Error> runOnFake(const rt::Program &program, rt::CudaCode code, bool graph,
                                   const std::vector<std::vector<char>> &data,
                                   std::vector<std::vector<char>> &results) {
  auto executable = rt::CudaExecutable::create(program, std::move(code));
  if (!executable)
    return executable.error();
  printPlan(**executable);
  rt::CudaOptions options;
  options.libraries = {FAKE_CUDA, FAKE_CUDA, FAKE_CUDA};
  options.graph = graph && (*executable)->canBeCaptured();
  auto context = rt::CudaContext::create(*executable, options);
  if (!context)
    return context.error();
  fakecuda::state().totalBytes = int64_t(1) << 40;
  for (int run = 0; run < 2; ++run) {
    std::vector<rt::DevicePointer> arguments;
    for (const std::vector<char> &argument : data)
      arguments.push_back(fakecuda::upload(argument.data(), argument.size()));
    if (auto error = (*context)->run(arguments))
      return error;
  }
  for (auto [i, result] : llvm::enumerate(program.results)) {
    auto *begin = reinterpret_cast<const char *>((*context)->result(i));
    results.emplace_back(begin, begin + result.type.bytes());
  }
  auto memory = (*context)->memory();
  if (!memory)
    return memory.error();
  if (memory->arenaBytes != program.arenaBytes)
    return rt::Error{"the arena has " + std::to_string(memory->arenaBytes) + " bytes, planned were " +
                     std::to_string(program.arenaBytes)};
  return std::nullopt;
}

FailureOr<CpuStep> compileStep(ModuleOp module) {
  FailureOr<func::FuncOp> function = findMainFunction(module, "");
  if (failed(function) || failed(flattenFunction(*function)))
    return failure();
  stripMarks(*function);
  CpuOptions options;
  options.signature = function->getFunctionType();
  if (failed(importStableHlo(*function)))
    return failure();
  return compileForCpu(*function, options);
}

LogicalResult report(const rt::Error &error) {
  std::cerr << "error: " << error.str() << "\n";
  return failure();
}

LogicalResult checkStep(ModuleOp module, bool graph) {
  FailureOr<CpuStep> step = compileStep(module);
  if (failed(step))
    return failure();
  FailureOr<LoadedKernels> kernels = loadKernels(*step, module.getLoc());
  if (failed(kernels))
    return failure();
  std::vector<std::vector<char>> data = makeArguments(step->program), results;
  if (auto error = runOnFake(step->program, makeCode(step->program, kernels->functions), graph, data, results))
    return report(*error);
  auto executable = rt::Executable::create(step->program, kernels->functions, kernels->code);
  if (!executable)
    return report(executable.error());
  auto context = rt::Context::create(*executable);
  if (!context)
    return report(context.error());
  std::vector<const void *> arguments;
  for (const std::vector<char> &argument : data)
    arguments.push_back(argument.data());
  if (auto error = (*context)->run(arguments))
    return report(*error);
  double most = 0;
  for (auto [i, value] : llvm::enumerate(step->program.results))
    most = std::max(most, difference(value, (*context)->result(i), results[i].data()));
  std::cout << results.size() << " results, the largest relative difference is " << most << "\n";
  return success(most < 1e-3);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: remat-cuda-step-check STEP.mlir [--graph]\n";
    return 1;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  registerCodeGenDialects(registry);
  registerExternalModels(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  return module && succeeded(checkStep(*module, argc > 2 && llvm::StringRef(argv[2]) == "--graph")) ? 0 : 1;
}
