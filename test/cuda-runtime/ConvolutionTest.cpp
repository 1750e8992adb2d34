//===- ConvolutionTest.cpp - Convolutions on cuDNN --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionForm.h"
#include "RandomConvolutions.h"
#include "TestCalls.h"

#include <algorithm>
#include <cudnn_graph.h>

using namespace remat::runtime;

namespace {

class CudaConvolutionTest : public CudaTest {
protected:
  /// Runs the spec and returns which of cuDNN's convolutions ran, one word a call.
  static std::string compare(const ConvolutionSpec &spec, const std::string &what) {
    std::string error;
    auto cpu = makeConvolution(spec, 1, error);
    if (!cpu) {
      ADD_FAILURE() << error;
      return "";
    }
    fakecuda::state().convolutions.clear();
    auto workspace = leastCudaWorkspaceBytes(spec);
    if (!workspace) {
      ADD_FAILURE() << workspace.error().str();
      return "";
    }
    compareWithCpu(callProgram(spec, *workspace), *cpu, what);
    std::string kinds;
    for (const std::string &kind : fakecuda::state().convolutions)
      kinds += (kinds.empty() ? "" : " ") + kind.substr(0, kind.find(' '));
    return kinds;
  }
};

/// Channels last: input [2, 13, 12, 4], kernel [3, 3, 4, 6].
ConvolutionSpec image(std::vector<int64_t> strides, std::vector<int64_t> padding) {
  ConvolutionSpec spec = librarycases::imageConvolution({2, 13, 12, 4}, {3, 3, 4, 6}, strides, padding);
  EXPECT_TRUE(librarycases::finish(spec));
  return spec;
}

/// The gradient of `forward` by its input, as JAX writes it: the response is dilated by the strides, the kernel is
/// reversed and its features are exchanged, and the padding is what is left of the window.
ConvolutionSpec dataGradient(const ConvolutionSpec &forward) {
  ConvolutionSpec spec = forward;
  spec.lhs = forward.result;
  spec.result = forward.lhs;
  std::swap(spec.rhsDims[0], spec.rhsDims[1]);
  std::swap(spec.lhsDims, spec.resultDims);
  spec.lhsDilation = forward.strides;
  size_t rank = forward.strides.size();
  spec.strides.assign(rank, 1);
  spec.reversed.assign(rank, 1);
  for (size_t d = 0; d < rank; ++d) {
    int64_t window = (forward.rhs.shape[size_t(forward.rhsDims[d + 2])] - 1) * forward.rhsDilation[d] + 1;
    int64_t size = forward.lhs.shape[size_t(forward.lhsDims[d + 2])];
    int64_t response = (forward.result.shape[size_t(forward.resultDims[d + 2])] - 1) * forward.strides[d] + 1;
    spec.padding[2 * d] = window - 1 - forward.padding[2 * d];
    spec.padding[2 * d + 1] = size + window - 1 - response - spec.padding[2 * d];
  }
  return spec;
}

/// The gradient by its kernel: batch and features change places, and the response is the window, dilated by the
/// strides. Groups of features become groups of batches.
ConvolutionSpec filterGradient(const ConvolutionSpec &forward) {
  ConvolutionSpec spec = forward;
  spec.rhs = forward.result;
  spec.result = forward.rhs;
  spec.rhsDims = forward.resultDims;
  spec.resultDims = forward.rhsDims;
  std::swap(spec.lhsDims[0], spec.lhsDims[1]);
  spec.rhsDilation = forward.strides;
  spec.strides = forward.rhsDilation;
  std::swap(spec.featureGroups, spec.batchGroups);
  for (size_t d = 0; d < forward.strides.size(); ++d) {
    int64_t taps = (forward.rhs.shape[size_t(forward.rhsDims[d + 2])] - 1) * forward.rhsDilation[d] + 1;
    int64_t response = (forward.result.shape[size_t(forward.resultDims[d + 2])] - 1) * forward.strides[d] + 1;
    int64_t size = forward.lhs.shape[size_t(forward.lhsDims[d + 2])];
    spec.padding[2 * d + 1] = taps + response - 1 - size - forward.padding[2 * d];
  }
  return spec;
}

TEST_F(CudaConvolutionTest, runsForwardAndBothGradients) {
  for (std::vector<int64_t> strides : {std::vector<int64_t>{1, 1}, {2, 2}, {3, 2}})
    for (std::vector<int64_t> padding : {std::vector<int64_t>{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 0, 1, 3}}) {
      ConvolutionSpec forward = image(strides, padding);
      EXPECT_EQ(compare(forward, "forward"), "forward");
      EXPECT_EQ(compare(dataGradient(forward), "data gradient"), "data");
      // The least response is (13 - 3) / 3 + 1 = 4 by (12 - 3) / 2 + 1 = 5, more than the kernel's 3 × 3.
      EXPECT_EQ(compare(filterGradient(forward), "filter gradient"), "filter");
    }
}

TEST_F(CudaConvolutionTest, dilatesTheWindow) {
  ConvolutionSpec forward = librarycases::imageConvolution({2, 9, 9, 2}, {3, 3, 2, 3}, {2, 1}, {1, 2, 0, 1});
  forward.rhsDilation = {2, 3};
  ASSERT_TRUE(librarycases::finish(forward));
  EXPECT_EQ(compare(forward, "forward"), "forward");
  EXPECT_EQ(compare(dataGradient(forward), "data"), "data");
  EXPECT_EQ(compare(filterGradient(forward), "filter"), "filter");
}

TEST_F(CudaConvolutionTest, groupsFeatures) {
  // Depthwise: 4 groups of one feature, two responses each; one call.
  ConvolutionSpec forward = librarycases::imageConvolution({2, 7, 8, 4}, {3, 3, 1, 8}, {2, 1}, {1, 1, 1, 1});
  forward.featureGroups = 4;
  ASSERT_TRUE(librarycases::finish(forward));
  EXPECT_EQ(compare(forward, "depthwise"), "forward");
  EXPECT_EQ(compare(filterGradient(forward), "its filter"), "filter");
}

/// The data gradient of a grouped convolution: JAX lays the kernel out as [h, w, K / groups, C], group by group.
TEST_F(CudaConvolutionTest, copiesAKernelWhoseGroupsHaveNoLayout) {
  ConvolutionSpec spec = librarycases::imageConvolution({2, 5, 5, 4}, {3, 3, 2, 6}, {1, 1}, {2, 2, 2, 2});
  spec.featureGroups = 2;
  spec.reversed = {1, 1};
  ASSERT_TRUE(librarycases::finish(spec));
  // With stride 1 it is as well a forward convolution with a flipped kernel, whose groups have a layout.
  EXPECT_EQ(compare(spec, "stride 1"), "forward");
  EXPECT_EQ(*leastCudaWorkspaceBytes(spec), 0);
  spec.lhsDilation = {2, 2};
  ASSERT_TRUE(librarycases::finish(spec));
  EXPECT_EQ(compare(spec, "stride 2"), "data data");
  EXPECT_EQ(fakecuda::countCalls("cuMemcpy2DAsync"), 2);
  auto executable = executableOf(callProgram(spec), {});
  EXPECT_EQ(executable->plan()[0].calls, 4);
  EXPECT_EQ(executable->plan()[0].reason, "groups that cuDNN has no layout for: each one's filter is copied first");
  // One group's kernel has 3 · 3 · 2 · 3 = 54 floats, 216 bytes.
  EXPECT_EQ(*leastCudaWorkspaceBytes(spec), 256);
  auto without = CudaContext::create(executable, fakeOptions());
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().str(), "step 'call.0': the filter is copied for each group, which takes a workspace of 256 "
                                   "bytes; it has 0");
  // One response a group: the group is the response.
  spec = librarycases::imageConvolution({2, 5, 5, 4}, {3, 3, 1, 8}, {1, 1}, {2, 2, 2, 2});
  spec.featureGroups = 4;
  spec.reversed = {1, 1};
  ASSERT_TRUE(librarycases::finish(spec));
  EXPECT_EQ(compare(spec, "depthwise"), "data");
}

TEST_F(CudaConvolutionTest, hasEveryType) {
  for (ElementType element : {ElementType::F64, ElementType::F16, ElementType::BF16}) {
    ConvolutionSpec spec = image({1, 1}, {1, 1, 1, 1});
    spec.lhs.element = spec.rhs.element = spec.result.element = element;
    EXPECT_EQ(compare(spec, std::string(spell(element))), "forward");
  }
}

TEST_F(CudaConvolutionTest, runsConvolutionsOfEveryForm) {
  librarycases::Random random(1);
  int forward = 0, data = 0, filter = 0, several = 0, cleared = 0;
  for (int i = 0; i < 3000; ++i) {
    ConvolutionSpec spec;
    if (!randomConvolution(random, spec))
      continue;
    auto form = findConvolutionForm(spec);
    ASSERT_TRUE(form) << form.error().str();
    std::string kinds = compare(spec, "convolution " + std::to_string(i));
    ASSERT_FALSE(HasFailure()) << i;
    forward += kinds.starts_with("forward");
    data += kinds.starts_with("data");
    filter += kinds.starts_with("filter");
    several += form->calls > 1;
    cleared += form->clearFirst;
    fakecuda::reset();
  }
  EXPECT_GT(std::min({forward, data, filter, several, cleared}), 20)
      << forward << " " << data << " " << filter << " " << several << " " << cleared;
}

TEST_F(CudaConvolutionTest, refusesWhatCudnnDoesntHave) {
  auto errorOf = [](const ConvolutionSpec &spec) {
    auto executable = CudaExecutable::create(callProgram(spec), {});
    return executable ? "" : executable.error().str();
  };
  ConvolutionSpec spec = image({1, 1}, {0, 0, 0, 0});
  spec.reversed = {1, 0};
  EXPECT_EQ(errorOf(spec), "step 'call.0': cuDNN has no convolution that reverses some dimensions of the window and "
                           "not others");
  spec = image({2, 2}, {0, 0, 0, 0});
  spec.lhsDilation = {2, 1};
  EXPECT_EQ(errorOf(spec), "step 'call.0': cuDNN has no convolution with both strides and a dilated input");
  spec = image({1, 1}, {0, 0, 0, 0});
  spec.rhs.element = ElementType::I8;
  EXPECT_EQ(errorOf(spec), "step 'call.0': cuDNN has no convolution f32 × i8 -> f32 (convert the operands and the "
                           "result to one of f64, f32, bf16 and f16)");
}

TEST_F(CudaConvolutionTest, picksADeterministicEngineWithinTheWorkspace) {
  // Atomics; TF32; too large; refused; two that will do.
  fakecuda::state().engines = {{{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, 0, false},
                               {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 0, false},
                               {{}, 1088, false},
                               {{}, 0, true},
                               {{CUDNN_NUMERICAL_NOTE_FFT}, 1024, false},
                               {{}, 0, false}};
  auto executable = executableOf(callProgram(image({1, 1}, {0, 0, 0, 0}), 1024), {});
  auto engineOf = [&](bool allowTf32) {
    CudaOptions options = fakeOptions();
    options.allowTf32 = allowTf32;
    auto context = contextOf(executable, options);
    std::vector<float> x(2 * 13 * 12 * 4), w(3 * 3 * 4 * 6);
    auto error = context->run({{upload(x), upload(w)}});
    EXPECT_FALSE(error) << error->str();
    return fakecuda::state().convolutions.back();
  };
  EXPECT_EQ(engineOf(false), "forward 4");
  EXPECT_EQ(engineOf(true), "forward 1");
  fakecuda::state().engines.resize(4);
  auto context = CudaContext::create(executable, fakeOptions());
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().str(), "step 'call.0': cuDNN has no deterministic engine within a workspace of 1024 bytes "
                                   "(allow the library more workspace, or TF32)");
}

TEST_F(CudaConvolutionTest, reportsWhatTheLibrarySays) {
  auto executable = executableOf(callProgram(image({1, 1}, {0, 0, 0, 0})), {});
  for (const char *call : {"cudnnCreate", "cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
                           "cudnnBackendFinalize", "cudnnBackendGetAttribute"}) {
    fakecuda::failCall(call, 1, int(CUDNN_STATUS_BAD_PARAM));
    auto context = CudaContext::create(executable, fakeOptions());
    ASSERT_FALSE(context) << call;
    EXPECT_EQ(context.error().str(), "step 'call.0': " + std::string(call) + ": CUDNN_STATUS_BAD_PARAM (2000)");
  }
  auto context = contextOf(executable);
  std::vector<float> x(2 * 13 * 12 * 4), w(3 * 3 * 4 * 6);
  fakecuda::failCall("cudnnBackendExecute", 1, int(CUDNN_STATUS_EXECUTION_FAILED));
  EXPECT_EQ(context->run({{upload(x), upload(w)}})->str(),
            "step 'call.0': cudnnBackendExecute: CUDNN_STATUS_EXECUTION_FAILED (5000)");
}

TEST_F(CudaConvolutionTest, isCapturedInAGraph) {
  CudaOptions options = fakeOptions();
  options.graph = true;
  auto context = contextOf(executableOf(callProgram(image({1, 1}, {0, 0, 0, 0})), {}), options);
  std::vector<float> x(2 * 13 * 12 * 4, 1), w(3 * 3 * 4 * 6, 1);
  DevicePointer arguments[] = {upload(x), upload(w)};
  for (int i = 0; i < 2; ++i)
    ASSERT_FALSE(context->run(arguments));
  // 3 · 3 · 4 products of ones.
  EXPECT_EQ(floatsAt(context->result(0))[0], 36);
  EXPECT_EQ(fakecuda::countCalls("cudnnBackendExecute"), 1);
  EXPECT_EQ(fakecuda::state().convolutions.size(), 2u);
}

} // namespace
