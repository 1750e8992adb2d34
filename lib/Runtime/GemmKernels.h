//===- GemmKernels.h - Inner loops of dots and convolutions ------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops that depend on the instruction set: the product of two packed panels, the packing, and the writing back.
// There is one table for each instruction set, made from the same source.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Program.h"

namespace remat::runtime {

constexpr int maxSpatial = 3;   ///< Spatial dimensions that the packing loops know.
constexpr int maxTileRows = 14; ///< 28 accumulators of 32 registers, 2 for the right panel, 1 for the left element.
constexpr int64_t maxRowBlock = 224;   ///< Rows of the left operand that are packed together.
constexpr int64_t maxDepthBlock = 320; ///< So that a right panel (two vectors wide) stays in a 48 KiB cache.

/// A matrix somewhere in memory; strides in elements.
struct MatrixView {
  ElementType type;
  const void *data;
  int64_t rowStride, columnStride;
};

/// How packed panels lie: `step` rows of the matrix to a panel, `width` elements for each column of the matrix, and
/// `lastWidth` in the last panel. `pitch`: from a panel to the next. `fill`: with zeros behind the rows of the last.
struct PanelShape {
  int64_t step, width, lastWidth, pitch;
  bool fill;
};

/// The valid elements of a run of memory that is addressed through padding: element e of the run belongs to position
/// `position + e / granule * step` of the spatial dimension `spatial`, and reads as 0 outside [0, extent).
struct RunShape {
  int spatial = -1; ///< -1: all are valid.
  int64_t granule = 1, step = 1, stride = 1;
};
struct Run {
  int64_t offset;               ///< Of element 0, in elements.
  int64_t position[maxSpatial]; ///< Of element 0.
  int64_t begin, end;           ///< Elements to copy.
};
/// One dimension that a gather steps through outside its runs.
struct GatherDim {
  int64_t size, stride;
  int spatial;
  int64_t step;
};
struct Gather {
  ElementType type;
  const void *data;
  const GatherDim *outer; ///< Outermost first.
  int outerCount;
  RunShape shape;
  int spatialCount;
  int64_t extent[maxSpatial];
};

/// Loops for accumulation in `T`, float or double.
template <class T>
struct GemmKernels {
  int64_t lanes;   ///< Of one vector. A right panel is two vectors wide, or one at the edge.
  int64_t maxRows; ///< Of a tile.

  /// c[rows[r] + j] = (add ? the same : 0) + Σ_d left(r, d) × b[d × bStride + j] for r < R, j < V × lanes, in order of
  /// d. left(r, d) is a[r × aStride + d], in panels a[d × aStride + r].
  using Tile = void (*)(const T *a, int64_t aStride, const T *b, int64_t bStride, int64_t depth, T *c,
                        const int64_t *rows, bool add);
  Tile tiles[2][2][maxTileRows]; ///< By [in panels][V - 1][R - 1].

  /// Each row of `view` to a row of `out`.
  void (*packRows)(const MatrixView &view, int64_t rows, int64_t columns, T *out, int64_t pitch);
  void (*packPanels)(const MatrixView &view, int64_t rows, int64_t columns, const PanelShape &shape, T *out);
  /// For `count` places of the outer dimensions, from number `first` on, all runs to one row of `out`.
  void (*gather)(const Gather &gather, int64_t first, int64_t count, const Run *runs, int64_t runCount, T *out,
                 int64_t pitch);
  /// sums[i] += a[i × aStride] × b[i × bStride].
  void (*accumulate)(ElementType aType, const void *a, int64_t aStride, ElementType bType, const void *b,
                     int64_t bStride, T *sums, int64_t count);
  /// c[rows[r] + j × columnStride] = in[r × pitch + j], rounded to the type of c; adds if `add`.
  void (*scatter)(const T *in, int64_t pitch, int64_t rowCount, int64_t columns, const int64_t *rows,
                  int64_t columnStride, ElementType type, void *c, bool add);
};

/// The table for level 0 (any machine), 1 (AVX2) or 2 (AVX-512). Null: this machine or this build hasn't got it.
template <class T>
const GemmKernels<T> *gemmKernelsAt(int level);
/// The best table for this machine.
template <class T>
const GemmKernels<T> &gemmKernels();
/// For tests: what is made from now on uses no table above `level`.
void limitKernelLevel(int level);

} // namespace remat::runtime
