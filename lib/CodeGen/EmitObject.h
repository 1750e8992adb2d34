//===- EmitObject.h - A compiled step as one object --------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace remat {

/// Makes lowered kernels (Lower.h) self-contained: adds the program as an image, the table of its kernels and
/// `remat_program *ENTRY_open(void)`, as remat-c/Remat.h describes them. Nothing but that function is seen from
/// outside. Precondition: `module` has a function for each of the program's kernels.
void addEntryPoint(mlir::ModuleOp module, const runtime::Program &program, llvm::StringRef entry);

/// The same for a GPU: a module of its own with the program as an image, its GPU code as bytes (CudaCode.h) and
/// `remat_cuda_program *ENTRY_open(const remat_cuda_options *)`, as remat-c/RematCuda.h describes them.
mlir::OwningOpRef<mlir::ModuleOp> makeGpuEntryPoint(mlir::Location location, const runtime::Program &program,
                                                    llvm::ArrayRef<char> code, llvm::StringRef entry);

} // namespace remat
