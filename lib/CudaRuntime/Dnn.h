//===- Dnn.h - Convolutions by cuDNN -----------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Call.h"
#include "ConvolutionForm.h"

namespace remat::runtime {

class Dnn;

/// Loads cuDNN without a handle, which is enough to describe an operation. Error: no library.
Expected<std::shared_ptr<Dnn>> openDnn(const std::string &file);
/// The same with a handle for the current context. Error also: what the library says.
Expected<std::shared_ptr<Dnn>> loadDnn(const std::string &file);

/// The heuristic's first engine that is deterministic, within the workspace, and does without TF32 unless the limits
/// allow it. `resultBytes` are those of the result's buffer; `driver` outlives the call. Error: there is none.
Expected<std::unique_ptr<CudaCall>> makeDnnCall(std::shared_ptr<Dnn> dnn, const Driver &driver,
                                                const ConvolutionForm &form, int64_t resultBytes,
                                                const CallLimits &limits);

} // namespace remat::runtime
