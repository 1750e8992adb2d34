//===- StableHloDots.cpp - What dots and convolutions compute -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "remat/IR/StableHloAttributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;

namespace remat {

/// A dot may say that its operands are rounded to a narrower type first (`algorithm = #stablehlo.dot_algorithm<…>`).
static Type algorithmType(Operation *op, Type elementType) {
  Attribute algorithm = getHloAttr(op, "algorithm");
  if (!algorithm)
    return elementType;
  Expected<HloRecord> record = parseHloRecord(hloAttributeText(algorithm));
  // Several operations on narrow types together emulate a wide one; then the wide one is the better guess.
  if (!record || record->integer("num_primitive_operations").value_or(1) != 1)
    return elementType;
  MLIRContext *context = op->getContext();
  std::string type = record->words["lhs_precision_type"];
  if (type == "tf32")
    return FloatTF32Type::get(context);
  if (type == "bf16")
    return BFloat16Type::get(context);
  if (type == "f16")
    return Float16Type::get(context);
  return elementType;
}

static std::string toText(const Error &error) {
  return error.place.empty() ? error.message : error.message + " at " + error.place;
}

void describeHloDot(Operation *op, OpModel &model) {
  StringRef name = hloName(op);
  ArrayRef<int64_t> lhs = dimensions(op->getOperand(0).getType());
  int64_t results = op->getNumResults() ? elementCount(op->getResult(0).getType()) : 0;
  model.computeType = algorithmType(op, getElementTypeOrSelf(op->getOperand(0).getType()));
  if (name == "dot") {
    model.flops = productClamped({2, results, lhs.empty() ? 1 : lhs.back()});
    return;
  }
  StringRef attribute = name == "ragged_dot" ? "ragged_dot_dimension_numbers" : "dot_dimension_numbers";
  Expected<DotDims> dims = parseDotDims(getHloAttr(op, attribute));
  if (!dims) {
    model.problem = toText(dims.error());
    return;
  }
  int64_t contracted = 1;
  for (int64_t dimension : dims->lhsContracting) {
    if (dimension < 0 || dimension >= static_cast<int64_t>(lhs.size())) {
      model.problem = "contracting dimension " + std::to_string(dimension) +
                      " is out of range for an operand of rank " + std::to_string(lhs.size());
      return;
    }
    contracted = multiplyClamped(contracted, lhs[dimension]);
  }
  model.flops = productClamped({2, results, contracted});
  model.dotBatchDims = static_cast<int32_t>(dims->lhsBatching.size());
}

namespace {

/// A window along one spatial dimension.
struct Window {
  int64_t inputSize, kernelSize, outputSize, stride, padLow, inputDilation, kernelDilation;
};

/// Pairs of an output position and a kernel tap that meet an element of the input: not padding, and not a hole that
/// dilation made. Position o and tap k meet position o·stride + k·kernelDilation − padLow of the dilated input.
/// O(kernelSize × inputDilation).
int64_t countMeetings(const Window &window) {
  int64_t dilatedSize = (window.inputSize - 1) * window.inputDilation + 1, count = 0;
  if (window.inputSize <= 0)
    return 0;
  for (int64_t k = 0; k < window.kernelSize; ++k) {
    int64_t offset = k * window.kernelDilation - window.padLow;
    // Output positions [first, last] meet the dilated input at all.
    int64_t first = offset >= 0 ? 0 : (-offset + window.stride - 1) / window.stride;
    int64_t last = dilatedSize - 1 < offset ? -1 : (dilatedSize - 1 - offset) / window.stride;
    last = std::min(last, window.outputSize - 1);
    // Which of them meet an element repeats with this period.
    int64_t period = window.inputDilation / std::gcd(window.stride, window.inputDilation);
    for (int64_t o = first; o <= std::min(last, first + period - 1); ++o)
      if ((o * window.stride + offset) % window.inputDilation == 0) {
        count += (last - o) / period + 1;
        break;
      }
  }
  return count;
}

/// Attribute of one integer per spatial dimension (two for padding), or the default.
Ints windowAttribute(Operation *op, StringRef name, size_t count, int64_t byDefault) {
  std::optional<Ints> values = hloIntegers(getHloAttr(op, name));
  return values ? *values : Ints(count, byDefault);
}

bool inRange(ArrayRef<int64_t> indices, ArrayRef<int64_t> shape) {
  return llvm::all_of(indices, [&](int64_t i) { return i >= 0 && i < static_cast<int64_t>(shape.size()); });
}

} // namespace

/// The windows of a convolution, or what is wrong with them.
static Expected<SmallVector<Window>> readWindows(Operation *op, const ConvDims &dims, ArrayRef<int64_t> input,
                                                 ArrayRef<int64_t> kernel, ArrayRef<int64_t> output) {
  size_t count = dims.inputSpatial.size();
  Ints strides = windowAttribute(op, "window_strides", count, 1),
       padding = windowAttribute(op, "padding", 2 * count, 0);
  Ints inputDilation = windowAttribute(op, "lhs_dilation", count, 1),
       kernelDilation = windowAttribute(op, "rhs_dilation", count, 1);
  if (strides.size() != count || padding.size() != 2 * count || inputDilation.size() != count ||
      kernelDilation.size() != count)
    return makeError("window attributes don't fit " + std::to_string(count) + " spatial dimensions");
  auto sane = [](int64_t value) { return value >= 1 && value <= INT32_MAX; };
  auto saneSize = [](int64_t value) { return value >= 0 && value <= INT32_MAX; };
  auto sanePadding = [](int64_t value) { return value >= -INT32_MAX && value <= INT32_MAX; };
  if (!llvm::all_of(strides, sane) || !llvm::all_of(inputDilation, sane) || !llvm::all_of(kernelDilation, sane) ||
      !llvm::all_of(padding, sanePadding))
    return makeError("window strides and dilations must be positive and below 2^31");
  SmallVector<Window> windows;
  for (size_t i = 0; i < count; ++i) {
    windows.push_back({input[dims.inputSpatial[i]], kernel[dims.kernelSpatial[i]], output[dims.outputSpatial[i]],
                       strides[i], padding[2 * i], inputDilation[i], kernelDilation[i]});
    if (!saneSize(windows.back().inputSize) || !saneSize(windows.back().kernelSize) ||
        !saneSize(windows.back().outputSize))
      return makeError("spatial dimensions must be below 2^31");
  }
  return windows;
}

void describeHloConvolution(Operation *op, OpModel &model) {
  Expected<ConvDims> dims = parseConvDims(getHloAttr(op, "dimension_numbers"));
  if (!dims) {
    model.problem = toText(dims.error());
    return;
  }
  ArrayRef<int64_t> input = dimensions(op->getOperand(0).getType()), kernel = dimensions(op->getOperand(1).getType());
  ArrayRef<int64_t> output = op->getNumResults() ? dimensions(op->getResult(0).getType()) : ArrayRef<int64_t>();
  if (!inRange(dims->inputSpatial, input) || !inRange(dims->kernelSpatial, kernel) ||
      !inRange(dims->outputSpatial, output) || !inRange({dims->kernelInputFeature}, kernel)) {
    model.problem = "convolution dimensions are out of range for its operands";
    return;
  }
  Expected<SmallVector<Window>> windows = readWindows(op, *dims, input, kernel, output);
  if (!windows) {
    model.problem = toText(windows.error());
    return;
  }
  int64_t perPosition = multiplyClamped(2, kernel[dims->kernelInputFeature]), taps = 1, valid = 1;
  for (auto [i, size] : llvm::enumerate(output))
    if (!llvm::is_contained(dims->outputSpatial, static_cast<int64_t>(i)))
      valid = multiplyClamped(valid, size);
  for (const Window &window : *windows) {
    taps = multiplyClamped(taps, window.kernelSize);
    valid = multiplyClamped(valid, countMeetings(window));
  }
  model.flops = productClamped({perPosition, taps, productClamped(output)});
  model.convFlopsValid = multiplyClamped(perPosition, valid);
}

} // namespace remat
