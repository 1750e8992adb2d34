//===- Convolution.cpp - Convolutions as contractions -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dilated input has holes, and which taps of the kernel meet holes depends on the result's position modulo a period.
// So a convolution is one contraction for each phase of that period, over the taps that meet elements: the data
// gradient of a convolution with stride 2 becomes four small convolutions that multiply nothing by zero.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include <numeric>

using namespace remat::runtime;

static std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

static int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

namespace {

/// A tensor's sizes and strides in the order batch, feature, space (input feature, output feature, space of kernels).
struct Ordered {
  std::vector<int64_t> size, stride;
  Ordered(const TensorType &type, const std::vector<int64_t> &dims) {
    std::vector<int64_t> strides = rowMajorStrides(type.shape);
    for (int64_t dim : dims) {
      size.push_back(type.shape[size_t(dim)]);
      stride.push_back(strides[size_t(dim)]);
    }
  }
};

/// One phase of one spatial dimension: results first, first + period, …; taps likewise.
struct Phase {
  int64_t first, period, tap, tapPeriod, position;
};

class Phases {
public:
  explicit Phases(const ConvolutionSpec &spec)
      : spec(spec), lhs(spec.lhs, spec.lhsDims), rhs(spec.rhs, spec.rhsDims), result(spec.result, spec.resultDims),
        rank(spec.strides.size()) {}

  std::vector<Contraction> contractions() {
    std::vector<std::vector<Phase>> choices;
    for (size_t d = 0; d < rank; ++d)
      choices.push_back(phasesOf(d));
    std::vector<Contraction> all;
    std::vector<Phase> chosen(rank);
    choose(choices, chosen, 0, all);
    return all;
  }

private:
  std::vector<Phase> phasesOf(size_t d) const;
  void choose(const std::vector<std::vector<Phase>> &choices, std::vector<Phase> &chosen, size_t d,
              std::vector<Contraction> &all) const;
  Contraction contraction(const std::vector<Phase> &phases) const;
  void addSpace(Contraction &c, size_t d, const Phase &phase) const;

  const ConvolutionSpec &spec;
  Ordered lhs, rhs, result;
  size_t rank;
};

std::vector<Phase> Phases::phasesOf(size_t d) const {
  int64_t stride = spec.strides[d], dilation = spec.lhsDilation[d], kernelDilation = spec.rhsDilation[d];
  int64_t period = dilation / std::gcd(stride, dilation), tapPeriod = dilation / std::gcd(kernelDilation, dilation);
  std::vector<Phase> phases;
  for (int64_t first = 0; first < std::min(period, result.size[d + 2]); ++first) {
    int64_t at = first * stride - spec.padding[2 * d], tap = 0;
    while (tap < tapPeriod && (at + tap * kernelDilation) % dilation != 0)
      ++tap;
    // No tap of this phase meets an element: there is none from the kernel's end on.
    if (tap == tapPeriod)
      phases.push_back({first, period, rhs.size[d + 2], tapPeriod, 0});
    else
      phases.push_back({first, period, tap, tapPeriod, (at + tap * kernelDilation) / dilation});
  }
  return phases;
}

void Phases::choose(const std::vector<std::vector<Phase>> &choices, std::vector<Phase> &chosen, size_t d,
                    std::vector<Contraction> &all) const {
  if (d == rank) {
    all.push_back(contraction(chosen));
    return;
  }
  for (const Phase &phase : choices[d]) {
    chosen[d] = phase;
    choose(choices, chosen, d + 1, all);
  }
}

void Phases::addSpace(Contraction &c, size_t d, const Phase &phase) const {
  int64_t step = phase.period * spec.strides[d] / spec.lhsDilation[d];
  int64_t tapStep = phase.tapPeriod * spec.rhsDilation[d] / spec.lhsDilation[d];
  int64_t kernel = rhs.size[d + 2], tapStride = rhs.stride[d + 2];
  bool reversed = !spec.reversed.empty() && spec.reversed[d];
  int64_t rows = ceilDivide(result.size[d + 2] - phase.first, phase.period);
  int64_t taps = std::max<int64_t>(0, ceilDivide(kernel - phase.tap, phase.tapPeriod));
  c.rows.push_back({rows, step * lhs.stride[d + 2], phase.period * result.stride[d + 2], int(d), step});
  c.depths.push_back(
      {taps, tapStep * lhs.stride[d + 2], phase.tapPeriod * (reversed ? -tapStride : tapStride), int(d), tapStep});
  c.aOffset += phase.position * lhs.stride[d + 2];
  c.bOffset += (reversed ? kernel - 1 - phase.tap : phase.tap) * tapStride;
  c.cOffset += phase.first * result.stride[d + 2];
  c.position.push_back(phase.position);
  c.extent.push_back(lhs.size[d + 2]);
}

Contraction Phases::contraction(const std::vector<Phase> &phases) const {
  Contraction c;
  c.a = spec.lhs.element;
  c.b = spec.rhs.element;
  c.c = spec.result.element;
  int64_t batch = lhs.size[0] / spec.batchGroups, features = rhs.size[0];
  c.columns = rhs.size[1] / (spec.featureGroups * spec.batchGroups);
  c.bColumnStride = rhs.stride[1];
  c.cColumnStride = result.stride[1];
  c.batch.push_back({spec.batchGroups, batch * lhs.stride[0], c.columns * rhs.stride[1], c.columns * result.stride[1]});
  c.batch.push_back(
      {spec.featureGroups, features * lhs.stride[1], c.columns * rhs.stride[1], c.columns * result.stride[1]});
  c.rows.push_back({batch, lhs.stride[0], result.stride[0]});
  c.depths.push_back({features, lhs.stride[1], rhs.stride[0]});
  for (size_t d = 0; d < rank; ++d)
    addSpace(c, d, phases[d]);
  return c;
}

std::string spelled(const std::vector<int64_t> &list) {
  std::string text = "[";
  for (int64_t value : list)
    text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

bool isPermutation(std::vector<int64_t> dims, size_t rank) {
  std::sort(dims.begin(), dims.end());
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != int64_t(i))
      return false;
  return dims.size() == rank;
}

/// What all else relies on: list lengths and dimension numbers. Empty if they are right.
std::string checkLists(const ConvolutionSpec &spec) {
  size_t rank = spec.strides.size();
  if (spec.padding.size() != 2 * rank || spec.lhsDilation.size() != rank || spec.rhsDilation.size() != rank ||
      (!spec.reversed.empty() && spec.reversed.size() != rank))
    return "expected padding, dilations and reversals for " + std::to_string(rank) + " spatial dimensions";
  for (const auto *list : {&spec.strides, &spec.lhsDilation, &spec.rhsDilation})
    for (int64_t value : *list)
      if (value < 1)
        return "strides and dilations must be at least 1, found " + spelled(*list);
  for (auto [type, dims] :
       {std::pair(&spec.lhs, &spec.lhsDims), {&spec.rhs, &spec.rhsDims}, {&spec.result, &spec.resultDims}})
    if (type->shape.size() != rank + 2 || !isPermutation(*dims, rank + 2))
      return "dimension numbers " + spelled(*dims) + " don't fit a tensor of shape " + spelled(type->shape);
  if (spec.featureGroups < 1 || spec.batchGroups < 1)
    return "group counts must be at least 1";
  return "";
}

std::string checkShapes(const ConvolutionSpec &spec) {
  Ordered lhs(spec.lhs, spec.lhsDims), rhs(spec.rhs, spec.rhsDims), result(spec.result, spec.resultDims);
  int64_t groups = spec.featureGroups * spec.batchGroups;
  if (lhs.size[0] % spec.batchGroups || lhs.size[1] != rhs.size[0] * spec.featureGroups || rhs.size[1] % groups)
    return "groups don't divide batch " + std::to_string(lhs.size[0]) + " and features " + std::to_string(lhs.size[1]) +
           " × " + std::to_string(rhs.size[0]) + " -> " + std::to_string(rhs.size[1]);
  std::vector<int64_t> expected{lhs.size[0] / spec.batchGroups, rhs.size[1]};
  for (size_t d = 0; d < spec.strides.size(); ++d) {
    auto dilated = [](int64_t size, int64_t by) { return size == 0 ? 0 : (size - 1) * by + 1; };
    int64_t space = dilated(lhs.size[d + 2], spec.lhsDilation[d]) + spec.padding[2 * d] + spec.padding[2 * d + 1];
    int64_t window = dilated(rhs.size[d + 2], spec.rhsDilation[d]);
    expected.push_back(space < window ? 0 : (space - window) / spec.strides[d] + 1);
  }
  if (result.size != expected)
    return "expected a result of batch, feature and space " + spelled(expected) + ", found " + spelled(result.size);
  return "";
}

} // namespace

std::unique_ptr<LibraryCall> remat::runtime::makeConvolution(const ConvolutionSpec &spec, int threads,
                                                             std::string &error) {
  error = unsupportedTypes(spec.lhs.element, spec.rhs.element, spec.result.element);
  if (error.empty())
    error = checkLists(spec);
  if (error.empty())
    error = checkShapes(spec);
  if (!error.empty())
    return nullptr;
  return makeCall(Phases(spec).contractions(), threads);
}
