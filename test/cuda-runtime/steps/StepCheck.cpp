//===- StepCheck.cpp - Compiled steps through the CUDA runtime -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: remat-cuda-step-check STEP.mlir [--graph] [LIMIT]
// Compiles a step twice: for the CPU, where it runs, and for a GPU. That program runs through the CUDA runtime on the
// fake driver and libraries; a launch runs the CPU twin of the function it names, for all its blocks. So all is checked
// but NVIDIA's own part: kernels, their launches and parameters, the order of the steps, where the buffers lie. With a
// LIMIT, such as 70%, the GPU's step is planned, and must give what the CPU's gives as it came. Exit status 1: a result
// differs by more than another order of summation can explain, or the arena isn't the planned one.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include "remat/CodeGen/Cpu.h"
#include "remat/Cuda/Cuda.h"
#include "remat/Cuda/Twin.h"
#include "remat/CudaRuntime/CudaSession.h"
#include "remat/IR/OpModel.h"
#include "remat/Import/Import.h"
#include "remat/Plan/Policy.h"
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

/// Makes the fake driver's functions of the twins.
void defineTwins(const CudaStep &step, const CpuTwins &twins) {
  for (auto [kernel, functions] : llvm::zip(step.kernels.kernels, twins.launches))
    for (auto [launch, function] : llvm::zip(kernel.launches, functions))
      fakecuda::defineKernel(launch.symbol, kernel.parameters, [function = function](auto &launched) {
        std::vector<void *> buffers;
        for (uint64_t address : launched.parameters)
          buffers.push_back(reinterpret_cast<void *>(address));
        function(buffers.data(), 0, launched.grid[0], 0);
      });
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

/// Runs twice, with other bytes in the arena, so that what a first run leaves behind is noticed.
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
  fakecuda::state().totalBytes = int64_t(1) << 40;
  std::vector<const void *> arguments;
  for (const std::vector<char> &argument : data)
    arguments.push_back(argument.data());
  auto session = rt::CudaSession::create(*executable, options, arguments);
  if (!session)
    return session.error();
  for (uint8_t poison : {0xFF, 0x3F}) {
    if (auto ms = (*session)->run(); !ms)
      return ms.error();
    if (auto error = (*session)->fillArena(poison))
      return error;
  }
  if (auto ms = (*session)->run(); !ms)
    return ms.error();
  for (auto [i, result] : llvm::enumerate(program.results)) {
    results.emplace_back(size_t(result.type.bytes()));
    if (auto error = (*session)->download(i, results.back().data()))
      return error;
  }
  auto memory = (*session)->memory();
  if (!memory)
    return memory.error();
  if (memory->arenaBytes != program.arenaBytes)
    return rt::Error{"the arena has " + std::to_string(memory->arenaBytes) + " bytes, planned were " +
                     std::to_string(program.arenaBytes)};
  return std::nullopt;
}

FailureOr<func::FuncOp> importStep(ModuleOp module) {
  FailureOr<func::FuncOp> function = findMainFunction(module, "");
  if (failed(function) || failed(flattenFunction(*function)))
    return failure();
  stripMarks(*function);
  if (failed(importStableHlo(*function)))
    return failure();
  return function;
}

FailureOr<CpuStep> compileOnCpu(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<func::FuncOp> function = importStep(*copy);
  if (failed(function))
    return failure();
  return compileForCpu(*function, {});
}

/// Plans the clusters under the limit.
FailureOr<CudaStep> compileWithin(ModuleOp copy, const std::string &limit) {
  RematOptions options;
  options.memoryLimit = limit;
  options.effort = 10;
  FailureOr<ExtractedModule> extracted = extractModule(copy, options);
  if (failed(extracted) || failed(importStableHlo(extracted->function)))
    return failure();
  LayoutOptions layout;
  layout.planClusters = [&](const Graph &graph, ArenaMeasure) -> FailureOr<Plan> {
    Expected<PolicyPlan> planned = plan(graph, options.planOptions());
    if (!planned)
      return extracted->function.emitError() << planned.error().message;
    std::cout << planned->plan.steps.size() - graph.numOps() << " clusters are computed again\n";
    return std::move(planned->plan);
  };
  return compileForCuda(extracted->function, layout);
}

FailureOr<CudaStep> compileOnGpu(ModuleOp module, const std::string &limit) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (!limit.empty())
    return compileWithin(*copy, limit);
  FailureOr<func::FuncOp> function = importStep(*copy);
  if (failed(function))
    return failure();
  return compileForCuda(*function, {});
}

LogicalResult report(const rt::Error &error) {
  std::cerr << "error: " << error.str() << "\n";
  return failure();
}

LogicalResult checkStep(ModuleOp module, bool graph, const std::string &limit) {
  FailureOr<CpuStep> step = compileOnCpu(module);
  FailureOr<CudaStep> cuda = compileOnGpu(module, limit);
  if (failed(step) || failed(cuda))
    return failure();
  FailureOr<LoadedKernels> kernels = loadKernels(*step, module.getLoc());
  FailureOr<CpuTwins> twins = compileTwins(cuda->kernels);
  if (failed(kernels) || failed(twins))
    return failure();
  defineTwins(*cuda, *twins);
  cuda->code.binary = {'F', 'A', 'K', 'E'};
  std::vector<std::vector<char>> data = makeArguments(step->program), results;
  if (auto error = runOnFake(cuda->program, cuda->code, graph, data, results))
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
    std::cerr << "usage: remat-cuda-step-check STEP.mlir [--graph] [LIMIT]\n";
    return 1;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  registerCudaDialects(registry);
  registerExternalModels(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  bool graph = false;
  std::string limit;
  for (int i = 2; i < argc; ++i)
    llvm::StringRef(argv[i]) == "--graph" ? void(graph = true) : void(limit = argv[i]);
  return module && succeeded(checkStep(*module, graph, limit)) ? 0 : 1;
}
