//===- ExecutableImpl.h - What contexts see of an executable -----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "CallLimits.h"
#include "ConvolutionForm.h"
#include "MatmulForm.h"
#include "remat/CudaRuntime/CudaExecutable.h"

namespace remat::runtime {

struct CudaExecutable::Impl {
  Program program;
  CudaCode code;
  std::vector<uint32_t> overwritten;
  /// By library number; nothing where no step makes the call.
  std::vector<std::optional<MatmulForm>> matmuls;
  std::vector<std::optional<ConvolutionForm>> convolutions;
  std::vector<CallLimits> matmulLimits, convolutionLimits;
  std::vector<CudaStepPlan> plan;

  std::optional<Error> findForms();
  void makePlan();
};

/// The step's decision is known when the step is opened: a branch on a constant.
inline bool isDecidedEarly(const Step &step) {
  return step.kind == Step::Kind::Branch && step.buffers[0].space == Buffer::Space::Constant;
}

/// What the steps leave to the algorithm of each dot or convolution, by library number: the least of all that compute
/// the same.
std::vector<CallLimits> findMatmulLimits(const Program &program);
std::vector<CallLimits> findConvolutionLimits(const Program &program);

} // namespace remat::runtime
