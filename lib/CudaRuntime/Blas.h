//===- Blas.h - Dots by cuBLASLt ---------------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Call.h"
#include "MatmulForm.h"

namespace remat::runtime {

class Blas;

/// Loads cuBLASLt without a handle, which is enough to describe a product. Error: no library.
Expected<std::shared_ptr<Blas>> openBlas(const std::string &file);
/// The same with a handle for the current context. Error also: what the library says.
Expected<std::shared_ptr<Blas>> loadBlas(const std::string &file);

/// The heuristic's first algorithm within the limits. `driver` outlives the call. Error: there is none.
Expected<std::unique_ptr<CudaCall>> makeBlasCall(std::shared_ptr<Blas> blas, const Driver &driver,
                                                 const MatmulForm &form, const CallLimits &limits);

} // namespace remat::runtime
