//===- GpuCalls.cpp - What a step asks of a GPU ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuCalls.h"

#include "JsonMembers.h"
#include "remat/CudaRuntime/CudaExecutable.h"

#include "llvm/Support/JSON.h"

#include <ostream>

namespace remat {

namespace {

using llvm::StringRef;
using runtime::CudaStepPlan;
using runtime::Step;

/// Walks the steps and their plans side by side.
class Counter {
public:
  Counter(const CudaStep &step, const std::vector<CudaStepPlan> &plan) : step(step), plan(plan) {}

  GpuCalls run() {
    count(step.program.steps, 1);
    return std::move(calls);
  }

private:
  void count(const std::vector<Step> &steps, int64_t times) {
    for (const Step &each : steps) {
      const CudaStepPlan &planned = plan[number++];
      countOf(planned.kind) += times * planned.calls;
      calls.clusters += planned.kind == CudaStepPlan::Kind::Launch ? times : 0;
      calls.waits += planned.waits ? times : 0;
      if (std::string reason = reasonOf(each, planned); !reason.empty())
        calls.exceptions.push_back({planned.name, planned.location, planned.calls, times, std::move(reason)});
      calls.openLoops += planned.kind == CudaStepPlan::Kind::Loop && planned.trips < 0 ? times : 0;
      // With a known count the condition is never computed.
      bool knowsTrips = planned.kind == CudaStepPlan::Kind::Loop && planned.trips >= 0;
      for (size_t i = 0; i < each.bodies.size(); ++i)
        count(each.bodies[i], !knowsTrips ? times : i == 0 ? 0 : times * planned.trips);
    }
  }

  int64_t &countOf(CudaStepPlan::Kind kind) {
    switch (kind) {
    case CudaStepPlan::Kind::BlasLt:
      return calls.blasLt;
    case CudaStepPlan::Kind::Cudnn:
      return calls.cudnn;
    case CudaStepPlan::Kind::Copy:
      return calls.copies;
    case CudaStepPlan::Kind::Launch:
    case CudaStepPlan::Kind::Loop:
    case CudaStepPlan::Kind::Branch:
      return calls.launches;
    }
    llvm_unreachable("every kind is counted");
  }

  std::string reasonOf(const Step &each, const CudaStepPlan &planned) const {
    if (planned.kind == CudaStepPlan::Kind::Copy)
      return StringRef(planned.name).starts_with("kernel")
                 ? "a part of a value changes that is read again: it is copied before"
                 : "a loop or branch hands a value on, or begins with one that is read again";
    if (each.kind != Step::Kind::Kernel || planned.calls == 1)
      return planned.reason;
    switch (step.kernels.kernels[each.kernel].form) {
    case GpuKernel::Form::Loops:
      return "loops that have no form of one launch (scatter, sort, windows): each nest is a launch";
    case GpuKernel::Form::Rows:
      return "few rows that are very long: their parts are summed by many blocks, then the parts' sums";
    case GpuKernel::Form::Points:
    case GpuKernel::Form::Columns:
      break;
    }
    return planned.reason;
  }

  const CudaStep &step;
  const std::vector<CudaStepPlan> &plan;
  size_t number = 0;
  GpuCalls calls;
};

} // namespace

Expected<GpuCalls> countGpuCalls(const CudaStep &step) {
  runtime::CudaCode code = step.code;
  // What stands for a binary that isn't made yet.
  code.binary = {0};
  auto executable = runtime::CudaExecutable::create(step.program, std::move(code));
  if (!executable)
    return makeError(executable.error().message, executable.error().place, executable.error().note);
  return Counter(step, (*executable)->plan()).run();
}

void writeGpuCalls(std::ostream &out, const GpuCalls &calls) {
  out << "GPU calls     " << calls.launches << " launches for " << calls.clusters << " clusters, " << calls.blasLt
      << " cuBLASLt, " << calls.cudnn << " cuDNN, " << calls.copies << " copies; the host waits " << calls.waits
      << " times";
  if (calls.openLoops)
    out << "; " << calls.openLoops << (calls.openLoops == 1 ? " loop" : " loops") << " of unknown length counts once";
  out << "\n";
  // By reason: a step of many layers has the same exception in each.
  std::vector<const GpuCalls::Exception *> first;
  for (const GpuCalls::Exception &exception : calls.exceptions)
    if (llvm::none_of(first, [&](const auto *known) { return known->reason == exception.reason; }))
      first.push_back(&exception);
  for (const GpuCalls::Exception *exception : first) {
    int64_t same = 0;
    for (const GpuCalls::Exception &each : calls.exceptions)
      same += each.reason == exception->reason ? each.times : 0;
    out << "  " << same << (same == 1 ? " exception, " : " exceptions, the first is ") << exception->step;
    if (!exception->location.empty())
      out << " (" << exception->location << ")";
    out << " with " << exception->calls << (exception->calls == 1 ? " call: " : " calls: ") << exception->reason
        << "\n";
  }
}

std::string addGpuCalls(std::string reportJson, const GpuCalls &calls) {
  llvm::json::Array exceptions;
  for (const GpuCalls::Exception &exception : calls.exceptions)
    exceptions.push_back(llvm::json::Object{{"step", exception.step},
                                            {"location", exception.location},
                                            {"calls", exception.calls},
                                            {"times", exception.times},
                                            {"reason", exception.reason}});
  llvm::json::Value value = llvm::json::Object{{"clusters", calls.clusters},    {"launches", calls.launches},
                                               {"cublaslt", calls.blasLt},      {"cudnn", calls.cudnn},
                                               {"copies", calls.copies},        {"waits", calls.waits},
                                               {"open_loops", calls.openLoops}, {"exceptions", std::move(exceptions)}};
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return addMembers(std::move(reportJson), "\"gpu_calls\": " + text);
}

} // namespace remat
