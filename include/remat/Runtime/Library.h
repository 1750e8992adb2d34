//===- Library.h - Dots and convolutions -------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Program.h"

#include <memory>
#include <string>

namespace remat::runtime {

/// A dot or convolution that is ready to run: made once, run many times, by one thread at a time.
class LibraryCall {
public:
  virtual ~LibraryCall() = default;
  /// Scratch that a run needs, aligned to 64 bytes.
  virtual int64_t workspaceBytes() const = 0;
  /// A run allocates nothing, and gives the same bits for the same input, whatever `workspace` holds.
  virtual void run(const void *a, const void *b, void *c, void *workspace) = 0;
};

/// Null and `error`: the spec is malformed, or its types are no floats and no integers of at least 8 bits. The bits of
/// the result don't depend on `threads`.
std::unique_ptr<LibraryCall> makeMatmul(const MatmulSpec &spec, int threads, std::string &error);
std::unique_ptr<LibraryCall> makeConvolution(const ConvolutionSpec &spec, int threads, std::string &error);

} // namespace remat::runtime
