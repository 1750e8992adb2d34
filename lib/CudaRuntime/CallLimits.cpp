//===- CallLimits.cpp - What algorithms may rely on ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library picks another algorithm, which gives other bits, where a workspace is smaller or an address less aligned.
// So equal calls have equal limits: a dot that is computed again gives the original's bits.
//
//===----------------------------------------------------------------------===//

#include "ExecutableImpl.h"
#include "WalkSteps.h"
#include "remat/Runtime/Types.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace remat::runtime;

static auto fields(const MatmulSpec &spec) {
  return std::tie(spec.a, spec.b, spec.c, spec.batch, spec.m, spec.n, spec.k, spec.aBatchStrides, spec.bBatchStrides,
                  spec.cBatchStrides, spec.aRowStride, spec.aColumnStride, spec.bRowStride, spec.bColumnStride,
                  spec.cRowStride, spec.cColumnStride);
}
static auto fields(const ConvolutionSpec &spec) {
  return std::tie(spec.lhs.element, spec.lhs.shape, spec.rhs.element, spec.rhs.shape, spec.result.element,
                  spec.result.shape, spec.strides, spec.padding, spec.lhsDilation, spec.rhsDilation, spec.lhsDims,
                  spec.rhsDims, spec.resultDims, spec.reversed, spec.featureGroups, spec.batchGroups);
}

/// The bytes of the slot that the step takes for its workspace; 0 where it takes none.
static int64_t workspaceBytes(const Program &program, const Step &step) {
  if (step.buffers.size() < 4 || step.buffers[3].space != Buffer::Space::Arena)
    return 0;
  for (uint32_t slot : step.taken)
    if (program.slots[slot].offset == step.buffers[3].offset)
      return program.slots[slot].bytes;
  return 0;
}

static void lower(CallLimits &limits, const CallLimits &by) {
  limits.workspaceBytes = std::min(limits.workspaceBytes, by.workspaceBytes);
  for (size_t i = 0; i < 3; ++i)
    limits.alignment[i] = std::min(limits.alignment[i], by.alignment[i]);
}

template <typename Spec>
static std::vector<CallLimits> findLimits(const Program &program, Step::Kind kind, const std::vector<Spec> &specs) {
  std::vector<CallLimits> limits(specs.size());
  for (CallLimits &limit : limits)
    limit.workspaceBytes = std::numeric_limits<int64_t>::max();
  walkSteps(program.steps, [&](const Step &step, int) {
    if (step.kind != kind)
      return;
    CallLimits found;
    found.workspaceBytes = workspaceBytes(program, step);
    for (size_t i = 0; i < 3; ++i)
      found.alignment[i] = commonAlignment(found.alignment[i], step.buffers[i].offset);
    lower(limits[step.library], found);
  });
  // Few are distinct: sorting by fields makes equal ones neighbours.
  std::vector<size_t> order(specs.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::ranges::sort(order, [&](size_t i, size_t j) { return fields(specs[i]) < fields(specs[j]); });
  for (size_t begin = 0, end; begin < order.size(); begin = end) {
    CallLimits least = limits[order[begin]];
    for (end = begin + 1; end < order.size() && fields(specs[order[end]]) == fields(specs[order[begin]]); ++end)
      lower(least, limits[order[end]]);
    for (size_t i = begin; i < end; ++i)
      limits[order[i]] = least;
  }
  return limits;
}

std::vector<CallLimits> remat::runtime::findMatmulLimits(const Program &program) {
  return findLimits(program, Step::Kind::Matmul, program.matmuls);
}
std::vector<CallLimits> remat::runtime::findConvolutionLimits(const Program &program) {
  return findLimits(program, Step::Kind::Convolution, program.convolutions);
}
