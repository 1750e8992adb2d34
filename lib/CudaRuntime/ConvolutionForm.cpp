//===- ConvolutionForm.cpp - Convolutions as cuDNN takes them --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionForm.h"

#include "remat/Runtime/Types.h"

#include <algorithm>

using namespace remat::runtime;

using Result = ConvolutionForm::Result;
using Tensor = ConvolutionForm::Tensor;

namespace {

/// Sizes and strides in the order of dimension numbers.
Tensor ordered(unsigned operand, const TensorType &type, const std::vector<int64_t> &dims) {
  std::vector<int64_t> rowMajor(type.shape.size(), 1);
  for (size_t i = rowMajor.size(); i-- > 1;)
    rowMajor[i - 1] = rowMajor[i] * type.shape[i];
  Tensor tensor;
  tensor.operand = operand;
  for (int64_t dim : dims) {
    tensor.sizes.push_back(type.shape[size_t(dim)]);
    tensor.strides.push_back(rowMajor[size_t(dim)]);
  }
  return tensor;
}

/// Splits dimension `dim` into equal parts, one a call.
void split(Tensor &tensor, size_t dim, int64_t parts) {
  tensor.sizes[dim] /= parts;
  tensor.callStride += tensor.sizes[dim] * tensor.strides[dim];
}

void exchangeFirst(Tensor &tensor) {
  std::swap(tensor.sizes[0], tensor.sizes[1]);
  std::swap(tensor.strides[0], tensor.strides[1]);
}

class Finder {
public:
  explicit Finder(const ConvolutionSpec &spec)
      : spec(spec), rank(spec.strides.size()), lhs(ordered(0, spec.lhs, spec.lhsDims)),
        rhs(ordered(1, spec.rhs, spec.rhsDims)), out(ordered(2, spec.result, spec.resultDims)) {}

  Expected<ConvolutionForm> find();

private:
  std::optional<Error> checkKind();
  Result kind() const;
  void makeResponse();
  void makeImage();
  void makeFilter();
  void packFilter();
  void padToPlane();
  bool hasImageLayout() const;
  /// Leaves out `count` elements at the begin, or at the end, of the image in space.
  void cutFront(size_t d, int64_t count) {
    form.x.offset += count * form.x.strides[d + 2];
    form.x.sizes[d + 2] -= count;
  }
  void cutBack(size_t d, int64_t count) { form.x.sizes[d + 2] -= count; }
  void pad(size_t d, int64_t pre, int64_t post);
  bool isReversed(size_t d) const { return !spec.reversed.empty() && spec.reversed[d]; }

  const ConvolutionSpec &spec;
  size_t rank;
  Tensor lhs, rhs, out;
  bool allReversed = true, noneReversed = true; ///< Both where the filter has one element.
  ConvolutionForm form;
};

bool anyAbove1(const std::vector<int64_t> &list) {
  return std::ranges::any_of(list, [](int64_t value) { return value > 1; });
}

/// The filter's groups fit one stride where it is taken for that of an image's gradient.
bool Finder::hasImageLayout() const {
  int64_t groups = spec.featureGroups, inner = rhs.sizes[0];
  return groups == 1 || inner == 1 || rhs.sizes[1] / groups * rhs.strides[1] == inner * rhs.strides[0];
}

Result Finder::kind() const {
  bool isStrided = anyAbove1(spec.strides);
  if (anyAbove1(spec.lhsDilation) || (allReversed && !noneReversed && !isStrided && hasImageLayout()))
    return Result::Image;
  // The window of a filter gradient is the response, which is larger than the filter that comes out.
  int64_t window = 1, found = 1;
  for (size_t d = 0; d < rank; ++d) {
    window *= rhs.sizes[d + 2];
    found *= out.sizes[d + 2];
  }
  bool isFilter = noneReversed && spec.featureGroups == 1 && (spec.batchGroups > 1 || window > found);
  return isFilter ? Result::Filter : Result::Response;
}

std::optional<Error> Finder::checkKind() {
  if (rank > 3)
    return Error{"cuDNN has no convolution in " + std::to_string(rank) + " dimensions of space, 3 at most"};
  ElementType e = spec.lhs.element;
  bool isKnown = e == ElementType::F32 || e == ElementType::F64 || e == ElementType::F16 || e == ElementType::BF16;
  if (!isKnown || spec.rhs.element != e || spec.result.element != e)
    return Error{"cuDNN has no convolution " + std::string(spell(e)) + " × " + std::string(spell(spec.rhs.element)) +
                     " -> " + std::string(spell(spec.result.element)),
                 "", "convert the operands and the result to one of f64, f32, bf16 and f16"};
  for (size_t d = 0; d < rank; ++d)
    if (rhs.sizes[d + 2] > 1)
      (isReversed(d) ? noneReversed : allReversed) = false;
  if (!allReversed && !noneReversed)
    return Error{"cuDNN has no convolution that reverses some dimensions of the window and not others"};
  if (anyAbove1(spec.lhsDilation) && anyAbove1(spec.strides))
    return Error{"cuDNN has no convolution with both strides and a dilated input"};
  if (spec.featureGroups > 1 && spec.batchGroups > 1)
    return Error{"a convolution has groups of features or of batches, not both"};
  return std::nullopt;
}

/// cuDNN pads by nothing or more.
void Finder::pad(size_t d, int64_t pre, int64_t post) {
  if (pre < 0)
    cutFront(d, -pre);
  if (post < 0)
    cutBack(d, -post);
  form.prePadding.push_back(std::max<int64_t>(pre, 0));
  form.postPadding.push_back(std::max<int64_t>(post, 0));
}

void Finder::makeResponse() {
  form.x = lhs;
  form.w = rhs;
  form.y = out;
  exchangeFirst(form.w);
  form.strides = spec.strides;
  form.dilations = spec.rhsDilation;
  form.flipped = allReversed && !noneReversed;
  for (size_t d = 0; d < rank; ++d)
    pad(d, spec.padding[2 * d], spec.padding[2 * d + 1]);
  if (spec.batchGroups > 1) {
    form.calls = spec.batchGroups;
    split(form.x, 0, form.calls);
    split(form.w, 0, form.calls);
    split(form.y, 1, form.calls);
  }
}

/// The padding that the forward convolution has behind the image, given what it has before: from `exact`, where the
/// last window ends with the padding, to `exact` + stride - 1.
static int64_t roundedUpToZero(int64_t exact, int64_t stride) {
  return exact < 0 && exact + stride - 1 >= 0 ? 0 : exact;
}

/// x = Σ y · w where o · stride + t · dilation - pre = i: the input that StableHLO dilates is the response.
void Finder::makeImage() {
  form.y = lhs;
  form.w = rhs;
  form.x = out;
  form.strides = spec.lhsDilation;
  form.dilations = spec.rhsDilation;
  form.flipped = !allReversed;
  for (size_t d = 0; d < rank; ++d) {
    int64_t window = (rhs.sizes[d + 2] - 1) * spec.rhsDilation[d] + 1;
    int64_t pre = window - 1 - spec.padding[2 * d];
    int64_t exact = (lhs.sizes[d + 2] - 1) * spec.lhsDilation[d] + window - out.sizes[d + 2] - pre;
    int64_t post = roundedUpToZero(exact, spec.lhsDilation[d]);
    // What no window meets stays zero.
    form.clearFirst |= pre < 0 || post < 0;
    pad(d, pre, post);
  }
  // w [K, C / groups], with the K of all groups: rhs has K / groups in its input features, and C in its output
  // features.
  int64_t groups = spec.featureGroups, inner = rhs.sizes[0];
  if (groups > 1 && hasImageLayout()) {
    form.w.sizes[0] = inner * groups;
    form.w.sizes[1] /= groups;
    form.w.strides[0] = inner == 1 ? form.w.sizes[1] * rhs.strides[1] : rhs.strides[0];
  } else if (groups > 1) {
    form.calls = groups;
    split(form.y, 1, groups);
    split(form.w, 1, groups);
    split(form.x, 1, groups);
  }
  if (spec.batchGroups > 1) {
    form.calls = spec.batchGroups;
    split(form.y, 0, form.calls);
    split(form.w, 1, form.calls);
    split(form.x, 1, form.calls);
  }
}

/// w[t] = Σ x[o · stride + t · dilation - pre] · y[o]: StableHLO sums over the batch as if it were the features.
void Finder::makeFilter() {
  form.x = lhs;
  form.y = rhs;
  form.w = out;
  exchangeFirst(form.x);
  exchangeFirst(form.w);
  form.strides = spec.rhsDilation;
  form.dilations = spec.strides;
  for (size_t d = 0; d < rank; ++d) {
    int64_t window = (out.sizes[d + 2] - 1) * spec.strides[d] + 1, pre = spec.padding[2 * d];
    int64_t exact = (rhs.sizes[d + 2] - 1) * spec.rhsDilation[d] + window - lhs.sizes[d + 2] - pre;
    pad(d, pre, roundedUpToZero(exact, spec.rhsDilation[d]));
  }
}

/// The filter of a call is a part of the output features: where these aren't outermost, it has gaps.
void Finder::packFilter() {
  int64_t count = 1, span = 1;
  for (size_t i = 0; i < form.w.sizes.size(); ++i) {
    count *= form.w.sizes[i];
    span += (form.w.sizes[i] - 1) * form.w.strides[i];
  }
  if (form.calls == 1 || span == count)
    return;
  int64_t pitch = rhs.sizes[1] * rhs.strides[1];
  form.pack = {spec.rhs.elements() / pitch, pitch / form.calls, pitch};
  for (int64_t &stride : form.w.strides)
    if (stride >= pitch)
      stride /= form.calls;
}

/// cuDNN convolves in two or three dimensions of space: further ones of one element come first, so that an order of
/// channels last stays one.
void Finder::padToPlane() {
  for (size_t missing = rank < 2 ? 2 - rank : 0; missing > 0; --missing) {
    for (Tensor *tensor : {&form.x, &form.w, &form.y}) {
      int64_t stride = tensor->sizes.size() > 2 ? tensor->sizes[2] * tensor->strides[2] : 1;
      tensor->sizes.insert(tensor->sizes.begin() + 2, 1);
      tensor->strides.insert(tensor->strides.begin() + 2, stride);
    }
    for (auto [list, value] :
         {std::pair(&form.prePadding, 0), {&form.postPadding, 0}, {&form.strides, 1}, {&form.dilations, 1}})
      list->insert(list->begin(), value);
  }
}

Expected<ConvolutionForm> Finder::find() {
  if (auto error = checkKind())
    return *error;
  form.element = spec.lhs.element;
  form.isEmpty = spec.result.elements() == 0;
  if (form.isEmpty)
    return form;
  form.isZero = spec.lhs.elements() == 0 || spec.rhs.elements() == 0;
  if (form.isZero)
    return form;
  form.result = kind();
  switch (form.result) {
  case Result::Response:
    makeResponse();
    break;
  case Result::Image:
    makeImage();
    break;
  case Result::Filter:
    makeFilter();
    break;
  }
  // All of the image is cut off.
  form.isZero = std::ranges::any_of(form.x.sizes, [](int64_t size) { return size <= 0; });
  packFilter();
  padToPlane();
  return form;
}

} // namespace

int64_t remat::runtime::packedBytes(const ConvolutionForm &form) {
  int64_t bytes = form.pack.rows * form.pack.width * TensorType{form.element, {}}.elementBytes();
  return (bytes + 255) / 256 * 256;
}

Expected<ConvolutionForm> remat::runtime::findConvolutionForm(const ConvolutionSpec &spec) {
  return Finder(spec).find();
}
