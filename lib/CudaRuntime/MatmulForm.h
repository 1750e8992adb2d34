//===- MatmulForm.h - Matrix products as cuBLASLt takes them -----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Error.h"
#include "remat/Runtime/Program.h"

namespace remat::runtime {

/// C = op(A) × op(B) for column-major matrices, batched with one stride; what one batch dimension can't say is left to
/// loops of the host.
struct MatmulForm {
  struct Matrix {
    ElementType element = ElementType::F32;
    int64_t rows = 1, columns = 1; ///< As stored, before the transpose.
    int64_t leading = 1;           ///< Elements between columns; at least `rows`.
    int64_t batchStride = 0;
    bool transposed = false;
  };
  /// One loop of the host; strides in elements.
  struct Outer {
    int64_t size = 1, aStride = 0, bStride = 0, cStride = 0;
  };
  Matrix a, b, c; ///< `c` is never transposed.
  /// The product is that of the transposes: `a` is the spec's B, and `b` its A.
  bool exchanged = false;
  int64_t depth = 1; ///< Summed elements; 0: the result is zeros.
  int64_t batch = 1;
  std::vector<Outer> outer;

  int64_t calls() const;
  bool isEmpty() const { return c.rows * c.columns * batch * calls() == 0; }
};

/// Error: types or strides that cuBLASLt doesn't have.
Expected<MatmulForm> findMatmulForm(const MatmulSpec &spec);

} // namespace remat::runtime
