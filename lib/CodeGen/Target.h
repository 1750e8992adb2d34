//===- Target.h - What a device gives to its programs -------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is laid out the same way for every device: its steps, slots and lifetimes. What differs is here: the code
// of kernels, and the workspaces that libraries take.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Kernels.h"

#include "remat/Runtime/Program.h"

#include "llvm/ADT/StringMap.h"

namespace remat {

class Target {
public:
  virtual ~Target() = default;

  /// `CPU`, for errors.
  virtual llvm::StringRef device() const = 0;
  /// Threads of the host that share a step.
  virtual int threads() const { return 1; }

  /// Emits the kernel's code; `number` makes its symbol its own. Buffers are the kernel's inputs, then its results,
  /// then scratch if it takes any. Emits an error where it can't.
  virtual mlir::FailureOr<EmittedKernel> emit(KernelOp kernel, unsigned number) = 0;
  /// Removes the code of a kernel that no step runs.
  virtual void erase(const EmittedKernel &kernel) = 0;

  /// Whether the library has the product; a kernel of loops computes it otherwise.
  virtual bool multiplies(const runtime::MatmulSpec &) const { return true; }
  /// Whether the library has the convolution; kernels of loops compute it otherwise.
  virtual bool convolves(const runtime::ConvolutionSpec &) const { return true; }
  /// Bytes of workspace for a library call, a function of the spec alone. Emits an error at `op` where the library
  /// can't compute it.
  virtual mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op, const runtime::MatmulSpec &spec) = 0;
  virtual mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op, const runtime::ConvolutionSpec &spec) = 0;
};

/// The kernels of a program, equal ones once. A function that is laid out twice (before and after it is planned) emits
/// each kernel once if both use one table.
class KernelTable {
public:
  explicit KernelTable(Target &target) : target(target) {}

  /// The kernel's number; emits its code if no kernel like it came before. Emits an error where there is none.
  mlir::FailureOr<unsigned> number(KernelOp kernel);

  /// Erases the kernels that no step of the program runs, and renumbers the others in the table and the program. The
  /// table takes no more kernels then.
  void keepOnlyThoseOf(runtime::Program &program);

  Target &target;
  llvm::SmallVector<EmittedKernel, 0> kernels; ///< By number.

private:
  llvm::StringMap<unsigned> numbers;
};

/// Calls `visit` for every step, those of loops and branches behind theirs.
void forEachStep(std::vector<runtime::Step> &steps, llvm::function_ref<void(runtime::Step &)> visit);

} // namespace remat
