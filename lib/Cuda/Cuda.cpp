//===- Cuda.cpp - A training step for a GPU -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Cuda/Cuda.h"

#include "GpuTarget.h"

#include "../CodeGen/EmitObject.h"
#include "../CodeGen/LayOut.h"
#include "../CodeGen/Lower.h"

#include "remat/Cuda/Emit.h"
#include "remat/Transforms/ImportedMarks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace remat {

/// How often the loop's body runs; negative where that is not known.
static int64_t tripsOf(Operation *loop) {
  auto trips = loop->getAttrOfType<IntegerAttr>(tripCountMark);
  return trips ? trips.getInt() : -1;
}

/// `FILE:LINE:COLUMN`, with the op's name if the file gives one; empty where nothing is known.
static std::string spellLocation(Location location) {
  std::string name, place;
  location->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part); named && name.empty())
      name = named.getName().str();
    if (auto file = dyn_cast<FileLineColLoc>(part); file && place.empty())
      place = file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
    return WalkResult::advance();
  });
  return name.empty() ? place : place.empty() ? name : name + ", " + place;
}

static std::vector<runtime::CudaLaunch> launchesOf(const GpuKernel &kernel) {
  std::vector<runtime::CudaLaunch> launches;
  for (const GpuLaunch &from : kernel.launches) {
    runtime::CudaLaunch &launch = launches.emplace_back();
    launch.symbol = from.symbol;
    launch.grid[0] = uint32_t(from.blocks);
    launch.block[0] = uint32_t(from.threads);
    for (unsigned i = 0; i < kernel.parameters; ++i)
      launch.parameters.push_back({runtime::CudaParameter::Kind::Buffer, int64_t(i)});
  }
  return launches;
}

static runtime::CudaCode codeOf(LaidOutStep &step, const GpuKernels &kernels) {
  runtime::CudaCode code;
  for (const GpuKernel &kernel : kernels.kernels)
    code.kernels.push_back(launchesOf(kernel));
  size_t number = 0;
  forEachStep(step.program.steps, [&](const runtime::Step &made) {
    Operation *origin = step.origins[number++];
    code.locations.push_back(spellLocation(origin->getLoc()));
    if (made.kind == runtime::Step::Kind::While)
      code.tripCounts.push_back(tripsOf(origin));
  });
  return code;
}

FailureOr<CudaStep> compileForCuda(func::FuncOp function, const LayoutOptions &options) {
  GpuKernels kernels = makeGpuKernels(function.getLoc());
  GpuTarget target(kernels.gpuModule());
  KernelTable table(target);
  FailureOr<LaidOutStep> step = layOutStep(function, options, table);
  if (failed(step))
    return failure();
  for (const EmittedKernel &kernel : table.kernels)
    kernels.kernels.push_back(target.kernel(kernel.symbol));
  if (failed(prepareKernels(kernels)))
    return failure();
  runtime::CudaCode code = codeOf(*step, kernels);
  return CudaStep{std::move(*step), std::move(code), std::move(kernels)};
}

LogicalResult addBinary(CudaStep &step, StringRef kind, StringRef target) {
  step.code.binary.clear();
  // Without kernels there is nothing to load.
  if (llvm::all_of(step.code.kernels, [](const auto &launches) { return launches.empty(); }))
    return success();
  FailureOr<std::string> binary = emitKernels(step.kernels, kind, target);
  if (failed(binary))
    return failure();
  step.code.binary.assign(binary->begin(), binary->end());
  return success();
}

FailureOr<std::vector<char>> emitCudaObject(const CudaStep &step, StringRef entry, Location location) {
  std::vector<char> code = runtime::writeCudaCode(step.code);
  OwningOpRef<ModuleOp> module = makeGpuEntryPoint(location, step.program, code, entry);
  FailureOr<std::vector<std::vector<char>>> objects = compileObjects(*module);
  if (failed(objects))
    return failure();
  return std::move(objects->front());
}

FailureOr<Graph> extractClustersForCuda(func::FuncOp function, const LayoutOptions &options) {
  GpuKernels kernels = makeGpuKernels(function.getLoc());
  GpuTarget target(kernels.gpuModule());
  return extractClusters(function, options, target);
}

FailureOr<int64_t> findClusterPeakForCuda(func::FuncOp function) {
  GpuKernels kernels = makeGpuKernels(function.getLoc());
  GpuTarget target(kernels.gpuModule());
  return findClusterPeak(function, target);
}

} // namespace remat
