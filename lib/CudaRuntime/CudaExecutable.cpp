//===- CudaExecutable.cpp - A compiled step for a GPU ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/CudaRuntime/CudaExecutable.h"

#include "ExecutableImpl.h"
#include "WalkSteps.h"
#include "remat/Runtime/Executable.h"

#include <algorithm>

using namespace remat::runtime;

CudaExecutable::CudaExecutable(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
CudaExecutable::~CudaExecutable() = default;
const Program &CudaExecutable::program() const { return impl->program; }
const CudaCode &CudaExecutable::code() const { return impl->code; }
const std::vector<uint32_t> &CudaExecutable::overwrittenArguments() const { return impl->overwritten; }
const std::vector<CudaStepPlan> &CudaExecutable::plan() const { return impl->plan; }
bool CudaExecutable::canBeCaptured() const { return std::ranges::none_of(impl->plan, &CudaStepPlan::waits); }

Expected<std::shared_ptr<const CudaExecutable>> CudaExecutable::create(Program program, CudaCode code) {
  if (auto error = checkProgram(program))
    return *error;
  if (auto error = checkCudaCode(program, code))
    return *error;
  auto impl = std::make_unique<Impl>();
  impl->overwritten = findOverwrittenArguments(program);
  impl->program = std::move(program);
  impl->code = std::move(code);
  if (auto error = impl->findForms())
    return *error;
  impl->makePlan();
  return std::shared_ptr<const CudaExecutable>(new CudaExecutable(std::move(impl)));
}

std::optional<Error> remat::runtime::checkCudaMatmul(const MatmulSpec &spec) {
  Expected<MatmulForm> form = findMatmulForm(spec);
  return form ? std::nullopt : std::optional(form.error());
}

Expected<int64_t> remat::runtime::leastCudaWorkspaceBytes(const ConvolutionSpec &spec) {
  Expected<ConvolutionForm> form = findConvolutionForm(spec);
  if (!form)
    return form.error();
  return packedBytes(*form);
}

std::optional<Error> CudaExecutable::Impl::findForms() {
  matmuls.resize(program.matmuls.size());
  convolutions.resize(program.convolutions.size());
  matmulLimits = findMatmulLimits(program);
  convolutionLimits = findConvolutionLimits(program);
  std::optional<Error> failure;
  auto find = [&](const Step &step, const auto &specs, auto &forms, auto findForm) {
    if (failure || forms[step.library])
      return;
    auto form = findForm(specs[step.library]);
    if (form) {
      forms[step.library] = std::move(*form);
      return;
    }
    failure = form.error();
    failure->place = "step '" + step.name + "'";
  };
  walkSteps(program.steps, [&](const Step &step, int) {
    if (step.kind == Step::Kind::Matmul)
      find(step, program.matmuls, matmuls, findMatmulForm);
    else if (step.kind == Step::Kind::Convolution)
      find(step, program.convolutions, convolutions, findConvolutionForm);
  });
  return failure;
}

static void planMatmul(const MatmulForm &form, CudaStepPlan &plan) {
  plan.kind = CudaStepPlan::Kind::BlasLt;
  plan.calls = form.isEmpty() ? 0 : form.calls() * (form.depth == 0 ? form.batch : 1);
  if (form.isEmpty())
    plan.reason = "the result has no elements";
  else if (form.depth == 0)
    plan.reason = "a sum of no terms: the result is cleared";
  else if (plan.calls > 1)
    plan.reason = "batch dimensions that don't lie evenly";
}

static void planConvolution(const ConvolutionForm &form, CudaStepPlan &plan) {
  plan.kind = CudaStepPlan::Kind::Cudnn;
  plan.calls = form.isEmpty ? 0 : form.isZero ? 1 : form.calls * (form.pack.rows > 0 ? 2 : 1) + form.clearFirst;
  if (form.isEmpty)
    plan.reason = "the result has no elements";
  else if (form.isZero)
    plan.reason = "a sum of no terms: the result is cleared";
  else if (form.calls > 1)
    plan.reason = form.pack.rows > 0 ? "groups that cuDNN has no layout for: each one's filter is copied first"
                                     : "groups that cuDNN has no layout for";
  else if (form.clearFirst)
    plan.reason = "elements that no window meets are cleared first";
}

void CudaExecutable::Impl::makePlan() {
  size_t loops = 0;
  walkSteps(program.steps, [&](const Step &step, int depth) {
    CudaStepPlan entry;
    entry.name = step.name;
    if (!code.locations.empty())
      entry.location = code.locations[plan.size()];
    entry.depth = depth;
    switch (step.kind) {
    case Step::Kind::Kernel:
      entry.calls = int64_t(code.kernels[step.kernel].size());
      if (entry.calls != 1)
        entry.reason = "its kernel has " + std::to_string(entry.calls) + " launches";
      break;
    case Step::Kind::Matmul:
      planMatmul(*matmuls[step.library], entry);
      break;
    case Step::Kind::Convolution:
      planConvolution(*convolutions[step.library], entry);
      break;
    case Step::Kind::Copy:
      entry.kind = CudaStepPlan::Kind::Copy;
      entry.calls = step.bytes > 0;
      break;
    case Step::Kind::While:
      entry.kind = CudaStepPlan::Kind::Loop;
      entry.calls = 0;
      entry.trips = code.tripCounts.empty() ? -1 : code.tripCounts[loops];
      entry.waits = entry.trips < 0;
      ++loops;
      break;
    case Step::Kind::Branch:
      entry.kind = CudaStepPlan::Kind::Branch;
      entry.calls = 0;
      entry.waits = !isDecidedEarly(step);
      break;
    }
    plan.push_back(std::move(entry));
  });
}
