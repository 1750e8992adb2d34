//===- Contraction.h - What dots and convolutions have in common -*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dot, and a convolution of any kind, is a matrix product whose left operand is addressed by several dimensions, some
// of which run into padding:
//
//   C[batch, row…, column] = Σ_depth… A[batch, row…, depth…] × B[batch, depth…, column]
//
// Rows are batch and space of a result, depths are features and space of a kernel. A filter's gradient is the same
// with the roles of batch and features swapped, as StableHLO writes it; no form needs code of its own.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "GemmKernels.h"
#include "remat/Runtime/Library.h"

#include <algorithm>

namespace remat::runtime {

/// A dimension of rows or of depths. Strides in elements.
struct ContractionDim {
  int64_t size = 1, aStride = 0;
  int64_t otherStride = 0; ///< Of C for rows, of B for depths.
  int spatial = -1;        ///< Moves A's position in this spatial dimension…
  int64_t step = 0;        ///< …by that much.
};
struct ContractionBatch {
  int64_t size = 1, aStride = 0, bStride = 0, cStride = 0;
};

struct Contraction {
  ElementType a = ElementType::F32, b = ElementType::F32, c = ElementType::F32;
  std::vector<ContractionBatch> batch;
  std::vector<ContractionDim> rows, depths; ///< Outermost first.
  int64_t columns = 1, bColumnStride = 0, cColumnStride = 0;
  int64_t aOffset = 0, bOffset = 0, cOffset = 0;
  /// Of each spatial dimension of A: where the first row and depth stand, and the number of elements that aren't
  /// padding. Outside [0, extent) A is 0.
  std::vector<int64_t> position, extent;

  int64_t batchCount() const;
  int64_t rowCount() const;
  int64_t depthCount() const;
  /// Orders dimensions by A's strides, and merges and drops what can be.
  void simplify();
};

/// One contraction on some threads, each with its own part of the result and of the workspace.
class PreparedContraction {
public:
  virtual ~PreparedContraction() = default;
  virtual int64_t workspaceBytes() const = 0; ///< Of one part.
  virtual void run(int part, const void *a, const void *b, void *c, void *workspace) const = 0;
};

/// Packed panels and register tiles; for floats. Precondition: at most maxSpatial spatial dimensions.
std::unique_ptr<PreparedContraction> prepareGemm(const Contraction &contraction, int parts);
/// Plain loops, the innermost of them over columns or the innermost batch dimension: for integers, for tiny problems,
/// and for convolutions with few features to a group.
std::unique_ptr<PreparedContraction> prepareLoops(const Contraction &contraction, int parts);

/// Whether loops are better than panels.
bool preferLoops(const Contraction &contraction);

/// Runs all of `contractions`, which write different parts of one result.
std::unique_ptr<LibraryCall> makeCall(std::vector<Contraction> contractions, int threads);

/// Empty if these types can be multiplied, else why not.
std::string unsupportedTypes(ElementType a, ElementType b, ElementType c);

/// The share [begin, end) of `part` in `count`, in multiples of `multiple`.
struct Share {
  int64_t begin, end;
  Share(int64_t count, int64_t multiple, int part, int parts) {
    int64_t pieces = (count + multiple - 1) / multiple;
    begin = std::min(count, pieces * part / parts * multiple);
    end = std::min(count, pieces * (part + 1) / parts * multiple);
  }
};

/// The digits of a number of batch, row and so on in the mixed radix of its dimensions; not those in front that are 0.
template <class Dims, class Use>
void forDigits(const Dims &dims, int64_t number, Use use) {
  for (size_t i = dims.size(); i-- > 0 && number > 0; number /= dims[i].size)
    use(dims[i], number % dims[i].size);
}

} // namespace remat::runtime
