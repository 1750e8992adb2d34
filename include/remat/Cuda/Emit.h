//===- Emit.h - GPU kernels as PTX, cubin and fat binary ---------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Cuda/Cuda.h"
#include "remat/Plan/Error.h"

#include <string>
#include <vector>

namespace remat {

/// What code is made for: `sm_80`, `sm_90` or `sm_100`.
inline constexpr llvm::StringLiteral cudaTargets[] = {"sm_80", "sm_90", "sm_100"};

/// Writes what `math` and `arith` ops stand for with ops that every target has: the CPU's polynomials for exp, log,
/// tanh and erf, so that all devices agree; libdevice is left with what those don't cover. The kernels are then in the
/// form that the CPU twin is made of.
mlir::LogicalResult prepareKernels(GpuKernels &kernels);

/// PTX of all kernels. Needs no CUDA toolkit but for functions that only libdevice has (sine, power, …); emits an
/// error that names the toolkit then. `kernels` must be prepared; it is left alone.
mlir::FailureOr<std::string> emitPtx(GpuKernels &kernels, llvm::StringRef target);

/// The machine code that `ptxas` makes of PTX, and what it says about registers and spills. Kernels that got a stack
/// are made again with all registers of a multiprocessor for one block. Error: no ptxas in $CUDA_HOME/bin or PATH, or
/// what it complains about.
struct Assembled {
  std::string cubin;
  std::string log;
};
Expected<Assembled> assemble(llvm::StringRef ptx, llvm::StringRef target);

/// One file with the machine code for several targets, by `fatbinary`. Errors as those of `assemble`.
struct CubinFor {
  std::string target, cubin;
};
Expected<std::string> emitFatbin(llvm::ArrayRef<CubinFor> cubins);

/// What `kind` asks for: `ptx` or `cubin` for one target, or `fatbin`, which holds them all. Emits errors.
mlir::FailureOr<std::string> emitKernels(GpuKernels &kernels, llvm::StringRef kind, llvm::StringRef target);

/// Makes the binary of the step's code: machine code for one target (`cubin`), or a `fatbin` for all. Emits errors.
mlir::LogicalResult addBinary(CudaStep &step, llvm::StringRef kind, llvm::StringRef target = {});

/// An object file for this machine's CPU that holds the step, its code and `ENTRY_open`, which takes the options
/// (remat-c/RematCuda.h). Precondition: the code has its binary. Emits errors.
mlir::FailureOr<std::vector<char>> emitCudaObject(const CudaStep &step, llvm::StringRef entry, mlir::Location location);

} // namespace remat
