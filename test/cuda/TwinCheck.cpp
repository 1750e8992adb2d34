//===- TwinCheck.cpp - GPU kernels against the CPU's ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: remat-twin-check STEP.mlir [-v | --pairs]
// Runs the CPU twin of every GPU kernel of a step and the CPU's own kernel on the same random inputs, and compares all
// buffers. Element-wise results must be equal bit for bit where no sum comes before them; sums run in another order, so
// floating-point results may differ by a few units in the last place of the largest. Exit status 1: they differ by
// more.
//
//===----------------------------------------------------------------------===//

#include "remat/CodeGen/Cpu.h"
#include "remat/Cuda/Emit.h"
#include "remat/Cuda/Twin.h"
#include "remat/IR/OpModel.h"
#include "remat/IR/RematDialect.h"
#include "remat/Import/Import.h"
#include "remat/Transforms/Pipelines.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>
#include <iostream>
#include <random>

using namespace mlir;

namespace remat {

namespace {

/// A tensor in memory, aligned as slots of the arena are.
struct Buffer {
  Type element;
  int64_t count = 0, elementBytes = 1;
  std::vector<char> storage;
  char *data = nullptr;

  Buffer(Type element, int64_t count)
      : element(element), count(count), elementBytes(std::max(1u, element.getIntOrFloatBitWidth() / 8)),
        storage(count * elementBytes + 256, char(0xAA)) {
    data = storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64);
  }
  explicit Buffer(Type tensor)
      : Buffer(cast<RankedTensorType>(tensor).getElementType(), cast<RankedTensorType>(tensor).getNumElements()) {}

  /// Whether nothing was written before the first element or behind the last.
  bool isIntact() const {
    const char *begin = storage.data(), *end = begin + storage.size();
    auto untouched = [](const char *from, const char *to) {
      return std::all_of(from, to, [](char byte) { return byte == char(0xAA); });
    };
    return untouched(begin, data) && untouched(data + count * elementBytes, end);
  }
  char *place(int64_t i) { return data + i * elementBytes; }
  double read(int64_t i) {
    auto type = dyn_cast<FloatType>(element);
    uint64_t bits = 0;
    std::memcpy(&bits, place(i), elementBytes);
    if (!type)
      return double(bits);
    bool losesInfo;
    llvm::APFloat value(type.getFloatSemantics(), llvm::APInt(type.getWidth(), bits));
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value.convertToDouble();
  }
  void write(int64_t i, double value) {
    uint64_t bits = uint64_t(int64_t(value));
    if (auto type = dyn_cast<FloatType>(element)) {
      bool losesInfo;
      llvm::APFloat narrow(value);
      narrow.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      bits = narrow.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(place(i), &bits, elementBytes);
  }
};

struct Difference {
  int64_t elements = 0; ///< That differ.
  double error = 0;     ///< The largest, relative to the largest magnitude of the buffer.
};

class Checker {
public:
  Checker(GpuKernels &kernels, const CpuTwins &twins, const CpuOriginals &originals, StringRef mode)
      : kernels(kernels), twins(twins), originals(originals), isVerbose(mode == "-v"), inPairs(mode == "--pairs") {}

  bool run() {
    for (size_t i = 0; i < kernels.kernels.size(); ++i)
      check(i);
    std::cout << kernels.kernels.size() << " kernels: " << equal << " equal bit for bit, " << close
              << " but for the order of sums (largest error " << worst << "), " << wrong << " wrong\n";
    return wrong == 0;
  }

private:
  static constexpr unsigned seed = 42;

  std::vector<Buffer> makeBuffers(KernelOp kernel) {
    std::vector<Buffer> buffers;
    for (Type type : kernel.getInputs().getTypes()) {
      Buffer &buffer = buffers.emplace_back(type);
      std::normal_distribution<double> normal;
      bool isFloat = isa<FloatType>(buffer.element);
      for (int64_t k = 0; k < buffer.count; ++k)
        buffer.write(k, isFloat ? normal(random) : double(random() % (buffer.element.isInteger(1) ? 2 : 7)));
    }
    for (Type type : kernel.getResultTypes())
      buffers.emplace_back(type);
    return buffers;
  }

  /// The buffers after `run` was called with them.
  static std::vector<Buffer> call(const std::vector<Buffer> &given, int64_t scratchBytes,
                                  llvm::function_ref<void(void *const *)> run) {
    std::vector<Buffer> buffers;
    std::vector<void *> pointers;
    buffers.reserve(given.size());
    for (const Buffer &buffer : given) {
      Buffer &copy = buffers.emplace_back(buffer.element, buffer.count);
      std::memcpy(copy.data, buffer.data, buffer.count * buffer.elementBytes);
      pointers.push_back(copy.data);
    }
    Buffer scratch(IntegerType::get(given[0].element.getContext(), 8), scratchBytes);
    pointers.push_back(scratch.data);
    run(pointers.data());
    return buffers;
  }

  /// Whether one of the results is the same as `sum`, which has its length alone.
  static bool holds(std::vector<Buffer> &buffers, size_t firstResult, Buffer &sum) {
    for (size_t i = firstResult; i < buffers.size(); ++i)
      if (buffers[i].count == sum.count)
        return std::memcmp(buffers[i].data, sum.data, sum.count * sum.elementBytes) == 0;
    return false;
  }

  static double toleranceOf(Type element) {
    auto type = dyn_cast<FloatType>(element);
    if (!type)
      return 0;
    return type.getWidth() == 64 ? 1e-12 : type.getWidth() == 32 ? 2e-5 : type.isBF16() ? 2e-2 : 4e-3;
  }

  static Difference compare(Buffer &a, Buffer &b) {
    Difference result;
    double largest = 0;
    for (int64_t i = 0; i < a.count; ++i)
      if (double value = a.read(i); std::isfinite(value))
        largest = std::max(largest, std::abs(value));
    for (int64_t i = 0; i < a.count; ++i) {
      if (std::memcmp(a.place(i), b.place(i), a.elementBytes) == 0)
        continue;
      double x = a.read(i), y = b.read(i);
      if (std::isnan(x) && std::isnan(y))
        continue;
      ++result.elements;
      double error = std::abs(x - y) / largest;
      result.error = std::max(result.error, std::isfinite(error) ? error : 1e30);
    }
    return result;
  }

  void check(size_t i) {
    auto kernel = cast<KernelOp>(kernels.clusters[i]);
    const GpuKernel &made = kernels.kernels[i];
    if (inPairs)
      random.seed(seed);
    std::vector<Buffer> given = makeBuffers(kernel);
    std::vector<Buffer> expected = call(given, originals.scratchBytes[i], [&](void *const *buffers) {
      originals.functions[i](buffers, 0, originals.iterations[i], 0);
    });
    std::vector<Buffer> found = call(given, made.scratchBytes, [&](void *const *buffers) {
      for (auto [launch, twin] : llvm::zip(made.launches, twins.launches[i]))
        twin(buffers, 0, launch.blocks, 0);
    });
    Difference most;
    bool isWrong = false;
    for (size_t b = 0; b < given.size(); ++b) {
      Difference difference = compare(expected[b], found[b]);
      most.elements += difference.elements;
      most.error = std::max(most.error, difference.error);
      isWrong |= difference.error > (made.form == GpuKernel::Form::Points ? 0 : toleranceOf(given[b].element));
      isWrong |= !found[b].isIntact();
    }
    size_t firstResult = kernel.getInputs().size();
    if (inPairs && i % 2 == 1)
      isWrong |= !holds(found, firstResult, before.back()) || !holds(expected, firstResult, beforeOnCpu.back());
    before = std::move(found);
    beforeOnCpu = std::move(expected);
    (isWrong ? wrong : most.elements ? close : equal) += 1;
    worst = std::max(worst, most.error);
    if (isWrong || isVerbose)
      describe(made, most, isWrong);
    if (isWrong)
      kernel.emitRemark("this kernel");
    if (isVerbose && made.form == GpuKernel::Form::Loops)
      kernel.dump();
  }

  static void describe(const GpuKernel &made, const Difference &difference, bool isWrong) {
    std::cout << made.launches[0].symbol << " " << nameOf(made.form).str();
    for (const GpuLaunch &launch : made.launches)
      std::cout << " " << launch.blocks << " x " << launch.threads;
    std::cout << ": " << difference.elements << " elements differ, largest error " << difference.error
              << (isWrong ? ": WRONG\n" : "\n");
  }

  GpuKernels &kernels;
  const CpuTwins &twins;
  const CpuOriginals &originals;
  bool isVerbose, inPairs;
  std::vector<Buffer> before, beforeOnCpu; ///< Those of the kernel before.
  std::mt19937 random{seed};
  int equal = 0, close = 0, wrong = 0;
  double worst = 0;
};

LogicalResult checkStep(ModuleOp module, StringRef mode) {
  FailureOr<func::FuncOp> function = findMainFunction(module, "");
  if (failed(function) || failed(flattenFunction(*function)))
    return failure();
  stripMarks(*function);
  if (failed(importStableHlo(*function)))
    return failure();
  FailureOr<GpuKernels> kernels = lowerKernelsToGpu(*function);
  if (failed(kernels))
    return failure();
  FailureOr<CpuOriginals> originals = compileOriginals(*kernels);
  if (failed(originals) || failed(prepareKernels(*kernels)))
    return failure();
  FailureOr<CpuTwins> twins = compileTwins(*kernels);
  if (failed(twins))
    return failure();
  return success(Checker(*kernels, *twins, *originals, mode).run());
}

} // namespace
} // namespace remat

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: remat-twin-check STEP.mlir [-v | --pairs]\n";
    return 1;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  remat::registerCudaDialects(registry);
  remat::registerExternalModels(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  return module && succeeded(remat::checkStep(*module, argc > 2 ? argv[2] : "")) ? 0 : 1;
}
