//===- LoadContext.cpp - Brings a step to a device -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContextImpl.h"

#include "WalkSteps.h"

using namespace remat::runtime;

std::optional<Error> CudaContext::Impl::takeContext() {
  if (auto error = driver.check("cuCtxGetCurrent", driver.cuCtxGetCurrent(&context)))
    return error;
  if (context)
    return std::nullopt;
  CUdevice device = 0;
  if (auto error = driver.check("cuDeviceGet", driver.cuDeviceGet(&device, options.device))) {
    error->place = "device " + std::to_string(options.device);
    return error;
  }
  if (auto error = driver.check("cuDevicePrimaryCtxRetain", driver.cuDevicePrimaryCtxRetain(&context, device)))
    return error;
  retained = device;
  return std::nullopt;
}

std::optional<Error> CudaContext::Impl::load() {
  Expected<int64_t> used = usedBytes();
  if (!used)
    return used.error();
  memory.usedBefore = *used;
  if (auto error = loadModule())
    return error;
  if (auto error = uploadConstants())
    return error;
  if (auto error = makeCalls())
    return error;
  if (!executable->canBeCaptured())
    if (auto error = driver.check("cuMemAllocHost", driver.cuMemAllocHost_v2(&decision, sizeof(uint64_t))))
      return error;
  size_t number = 0;
  prepare(program().steps, steps, number);
  if (!options.graph)
    return std::nullopt;
  graph = std::make_unique<GraphCache>(driver);
  return graph->prepare();
}

Expected<int64_t> CudaContext::Impl::usedBytes() const {
  size_t free = 0, total = 0;
  if (auto error = driver.check("cuMemGetInfo", driver.cuMemGetInfo_v2(&free, &total)))
    return *error;
  return int64_t(total - free);
}

std::optional<Error> CudaContext::Impl::allocate(CUdeviceptr &address, int64_t bytes, const char *purpose) {
  if (bytes == 0)
    return std::nullopt;
  if (auto error = driver.check("cuMemAlloc", driver.cuMemAlloc_v2(&address, size_t(bytes)))) {
    error->place = std::string(purpose) + " of " + std::to_string(bytes) + " bytes";
    address = 0;
    return error;
  }
  ++memory.allocations;
  return std::nullopt;
}

std::optional<Error> CudaContext::Impl::uploadConstants() {
  const std::vector<char> &data = program().constants;
  if (data.empty())
    return std::nullopt;
  if (auto error = allocate(constants, int64_t(data.size()), "the program's constants"))
    return error;
  memory.constantBytes = int64_t(data.size());
  return driver.check("cuMemcpyHtoD", driver.cuMemcpyHtoD_v2(constants, data.data(), data.size()));
}

std::optional<Error> CudaContext::Impl::loadModule() {
  const CudaCode &code = executable->code();
  launches.resize(code.kernels.size());
  if (code.binary.empty())
    return std::nullopt;
  if (auto error = driver.check("cuModuleLoadData", driver.cuModuleLoadData(&module, code.binary.data()))) {
    error->place = "program '" + program().name + "'";
    return error;
  }
  for (size_t i = 0; i < code.kernels.size(); ++i)
    for (const CudaLaunch &launch : code.kernels[i]) {
      PreparedLaunch &prepared = launches[i].emplace_back(&launch, nullptr);
      if (auto error = findFunction(launch, prepared.function)) {
        error->place = "kernel '" + program().kernels[i] + "', function '" + launch.symbol + "'";
        return error;
      }
    }
  return std::nullopt;
}

std::optional<Error> CudaContext::Impl::findFunction(const CudaLaunch &launch, CUfunction &function) {
  if (auto error =
          driver.check("cuModuleGetFunction", driver.cuModuleGetFunction(&function, module, launch.symbol.c_str())))
    return error;
  // More than every device has without asking.
  if (launch.sharedBytes <= 48 * 1024)
    return std::nullopt;
  return driver.check(
      "cuFuncSetAttribute",
      driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(launch.sharedBytes)));
}

std::optional<Error> CudaContext::Impl::makeCalls() {
  const CudaExecutable::Impl &shared = this->shared();
  matmuls.resize(shared.matmuls.size());
  convolutions.resize(shared.convolutions.size());
  std::optional<Error> failure;
  size_t number = 0;
  auto make = [&](const Step &step) -> std::optional<Error> {
    bool isMatmul = step.kind == Step::Kind::Matmul;
    std::unique_ptr<CudaCall> &slot = (isMatmul ? matmuls : convolutions)[step.library];
    if (slot)
      return std::nullopt;
    CallLimits limits = (isMatmul ? shared.matmulLimits : shared.convolutionLimits)[step.library];
    limits.allowTf32 = options.allowTf32;
    if (isMatmul && !blas) {
      auto loaded = loadBlas(options.libraries.blasLt);
      if (!loaded)
        return loaded.error();
      blas = std::move(*loaded);
    }
    if (!isMatmul && !dnn) {
      auto loaded = loadDnn(options.libraries.cudnn);
      if (!loaded)
        return loaded.error();
      dnn = std::move(*loaded);
    }
    auto call = isMatmul ? makeBlasCall(blas, driver, *shared.matmuls[step.library], limits)
                         : makeDnnCall(dnn, driver, *shared.convolutions[step.library],
                                       program().convolutions[step.library].result.bytes(), limits);
    if (!call)
      return call.error();
    slot = std::move(*call);
    return std::nullopt;
  };
  walkSteps(program().steps, [&](const Step &step, int) {
    const CudaStepPlan &plan = executable->plan()[number++];
    bool isCall = step.kind == Step::Kind::Matmul || step.kind == Step::Kind::Convolution;
    if (failure || !isCall)
      return;
    failure = make(step);
    if (failure)
      failure->place = placeOf(plan);
  });
  return failure;
}

void CudaContext::Impl::prepare(const std::vector<Step> &from, std::vector<PreparedCudaStep> &to, size_t &number) {
  for (const Step &step : from) {
    PreparedCudaStep &prepared = to.emplace_back();
    prepared.step = &step;
    prepared.plan = &executable->plan()[number++];
    if (step.kind == Step::Kind::Kernel)
      prepared.launches = &launches[step.kernel];
    if (step.kind == Step::Kind::Matmul)
      prepared.call = matmuls[step.library].get();
    if (step.kind == Step::Kind::Convolution)
      prepared.call = convolutions[step.library].get();
    prepared.bodies.resize(step.bodies.size());
    for (size_t i = 0; i < step.bodies.size(); ++i)
      prepare(step.bodies[i], prepared.bodies[i], number);
  }
}

/// Statuses are ignored: there is nobody to tell, and what fails here has failed before.
CudaContext::Impl::~Impl() {
  if (context) {
    CurrentContext current(driver, context);
    graph.reset();
    matmuls.clear();
    convolutions.clear();
    blas.reset();
    dnn.reset();
    if (module)
      (void)driver.cuModuleUnload(module);
    for (CUdeviceptr memory : {constants, ownArena})
      if (memory)
        (void)driver.cuMemFree_v2(memory);
    if (decision)
      (void)driver.cuMemFreeHost(decision);
  }
  if (retained)
    (void)driver.cuDevicePrimaryCtxRelease_v2(*retained);
}
