//===- GemmKernelsBody.h - Inner loops, for any vector length ----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included once by each instruction set's file, between pragmas that choose the instructions and with vectorBytes and
// tileRows defined. All is in an unnamed namespace: two versions of one function must never meet in the linker.
//
//===----------------------------------------------------------------------===//

namespace {

using namespace remat::runtime;

template <class T>
struct Vectors {
  typedef T Aligned __attribute__((vector_size(vectorBytes)));
  typedef T Any __attribute__((vector_size(vectorBytes), aligned(alignof(T))));
  static constexpr int lanes = vectorBytes / sizeof(T);
};

template <class T, int rows, int vectors, bool panel>
void tile(const T *a, int64_t aStride, const T *b, int64_t bStride, int64_t depth, T *c, const int64_t *cRows,
          bool add) {
  using V = typename Vectors<T>::Aligned;
  using VAny = typename Vectors<T>::Any;
  constexpr int lanes = Vectors<T>::lanes, groups = (rows + 3) / 4, unroll = 4;
  V sum[rows][vectors] = {};
  // One pointer for four rows: more pointers than registers would be reloaded at each depth.
  const T *group[groups];
  for (int g = 0; g < groups; ++g)
    group[g] = a + 4 * g * aStride;
  int64_t tripleStride = 3 * aStride;
  for (int64_t d = 0; d < depth;) {
    int steps = depth - d >= unroll ? unroll : 1;
    // Without these the compiler keeps one pointer for each row after all.
    for (int g = 0; g < groups; ++g)
      asm("" : "+r"(group[g]));
    asm("" : "+r"(tripleStride));
    // Operands that aren't packed lie on another page at each depth, where the processor fetches nothing ahead by
    // itself.
#define REMAT_STEP(s)                                                                                                  \
  {                                                                                                                    \
    V right[vectors];                                                                                                  \
    for (int v = 0; v < vectors; ++v)                                                                                  \
      right[v] = *reinterpret_cast<const VAny *>(b + v * lanes);                                                       \
    for (int v = 0; v < vectors; ++v)                                                                                  \
      __builtin_prefetch(b + 16 * bStride + v * lanes, 0, 3);                                                          \
    b += bStride;                                                                                                      \
    REMAT_UNROLL for (int r = 0; r < rows; ++r) {                                                                      \
      T left;                                                                                                          \
      if constexpr (panel)                                                                                             \
        left = a[r];                                                                                                   \
      else                                                                                                             \
        left = r % 4 == 3 ? group[r / 4][tripleStride + s] : group[r / 4][(r % 4) * aStride + s];                      \
      for (int v = 0; v < vectors; ++v)                                                                                \
        sum[r][v] += (left - V{}) * right[v];                                                                          \
    }                                                                                                                  \
    if constexpr (panel) {                                                                                             \
      __builtin_prefetch(a + 16 * aStride, 0, 3);                                                                      \
      a += aStride;                                                                                                    \
    }                                                                                                                  \
  }
    if (steps == unroll) {
      REMAT_STEP(0) REMAT_STEP(1) REMAT_STEP(2) REMAT_STEP(3)
    } else {
      REMAT_STEP(0)
    }
#undef REMAT_STEP
    for (int g = 0; g < groups; ++g)
      group[g] += steps;
    d += steps;
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      VAny *out = reinterpret_cast<VAny *>(c + cRows[r] + v * lanes);
      *out = add ? *out + sum[r][v] : sum[r][v];
    }
}

/// Copies fewer than 16 elements by two moves that may overlap, more by moves of 16 and one that may overlap.
template <class T>
inline void copyRun(const T *from, T *to, int64_t count) {
  auto ends = [&](auto width) {
    std::memcpy(to, from, width * sizeof(T));
    std::memcpy(to + count - width, from + count - width, width * sizeof(T));
  };
  if (count >= 16) {
    for (int64_t i = 0; i + 16 <= count; i += 16)
      std::memcpy(to + i, from + i, 16 * sizeof(T));
    std::memcpy(to + count - 16, from + count - 16, 16 * sizeof(T));
  } else if (count >= 8)
    ends(std::integral_constant<int, 8>());
  else if (count >= 4)
    ends(std::integral_constant<int, 4>());
  else if (count >= 2)
    ends(std::integral_constant<int, 2>());
  else if (count == 1)
    *to = *from;
}

template <class T, class S>
inline void copyRun(const S *from, int64_t stride, T *to, int64_t count) {
  if constexpr (std::is_same_v<T, S>)
    if (stride == 1)
      return copyRun(from, to, count);
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = T(widen(from[i]));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    to[i] = T(widen(from[i * stride]));
}

template <class T>
inline void zeroRun(T *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = 0;
}

template <class T>
void packRows(const MatrixView &view, int64_t rows, int64_t columns, T *out, int64_t pitch) {
  withFloats(view.type, view.data, [&](auto *from) {
    for (int64_t r = 0; r < rows; ++r)
      copyRun(from + r * view.rowStride, view.columnStride, out + r * pitch, columns);
  });
}

template <int distance, int lanes, int... i>
constexpr auto interleave(std::integer_sequence<int, i...>) {
  return [](auto low, auto high, auto second) {
    // Swaps the off-diagonal blocks of `distance`: one step of a transposition.
    if constexpr (decltype(second)::value)
      return __builtin_shufflevector(low, high, (i & distance ? i + lanes : i + distance)...);
    else
      return __builtin_shufflevector(low, high, (i & distance ? i + lanes - distance : i)...);
  };
}

template <int distance, int lanes, class V>
inline void transposeStep(V (&rows)[lanes]) {
  constexpr auto swap = interleave<distance, lanes>(std::make_integer_sequence<int, lanes>());
  REMAT_UNROLL for (int r = 0; r < lanes; ++r) if (!(r & distance)) {
    V low = swap(rows[r], rows[r + distance], std::false_type());
    V high = swap(rows[r], rows[r + distance], std::true_type());
    rows[r] = low;
    rows[r + distance] = high;
  }
  if constexpr (distance > 1)
    transposeStep<distance / 2, lanes>(rows);
}

/// Rows to columns: out[column × width + row].
template <class T, class S>
inline void transposePanel(const S *from, int64_t rowStride, int64_t rows, int64_t columns, int64_t width, T *out) {
  using V = typename Vectors<T>::Aligned;
  constexpr int lanes = Vectors<T>::lanes;
  int64_t row = 0;
  for (; row + lanes <= rows; row += lanes) {
    int64_t column = 0;
    for (; column + lanes <= columns; column += lanes) {
      V block[lanes];
      for (int r = 0; r < lanes; ++r)
        copyRun(from + (row + r) * rowStride + column, 1, reinterpret_cast<T *>(&block[r]), lanes);
      transposeStep<lanes / 2, lanes>(block);
      for (int r = 0; r < lanes; ++r)
        std::memcpy(out + (column + r) * width + row, &block[r], sizeof(V));
    }
    for (; column < columns; ++column)
      for (int r = 0; r < lanes; ++r)
        out[column * width + row + r] = T(widen(from[(row + r) * rowStride + column]));
  }
  for (; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      out[column * width + row] = T(widen(from[row * rowStride + column]));
}

template <class T, class S>
inline void packPanel(const S *from, int64_t rowStride, int64_t columnStride, int64_t rows, int64_t columns,
                      int64_t width, bool fill, T *out) {
  if (columnStride == 1 && rowStride != 1)
    transposePanel(from, rowStride, rows, columns, width, out);
  else
    for (int64_t column = 0; column < columns; ++column)
      copyRun(from + column * columnStride, rowStride, out + column * width, rows);
  if (fill && rows < width)
    for (int64_t column = 0; column < columns; ++column)
      zeroRun(out + column * width + rows, width - rows);
}

template <class T>
void packPanels(const MatrixView &view, int64_t rows, int64_t columns, const PanelShape &shape, T *out) {
  // Columns that are far from each other lie on pages of their own: a few of them are read for all panels at once.
  int64_t together = view.columnStride == 1 ? columns : 16;
  withFloats(view.type, view.data, [&](auto *from) {
    for (int64_t column = 0; column < columns; column += together, from += together * view.columnStride) {
      int64_t count = std::min(together, columns - column);
      T *panel = out;
      for (int64_t row = 0; row < rows; row += shape.step, panel += shape.pitch) {
        bool last = row + shape.step >= rows;
        int64_t width = last ? shape.lastWidth : shape.width;
        packPanel(from + row * view.rowStride, view.rowStride, view.columnStride, last ? rows - row : shape.step, count,
                  width, shape.fill, panel + column * width);
      }
    }
  });
}

/// Where a gather stands: the offset and the position in each spatial dimension of one place of the outer dimensions.
struct Place {
  int64_t index[8] = {}, offset = 0, position[maxSpatial] = {};

  void move(const GatherDim &dim, int i, int64_t by) {
    index[i] += by;
    offset += by * dim.stride;
    if (dim.spatial >= 0)
      position[dim.spatial] += by * dim.step;
  }
  Place(const Gather &gather, int64_t number) {
    for (int i = gather.outerCount; i-- > 0 && number > 0; number /= gather.outer[i].size)
      move(gather.outer[i], i, number % gather.outer[i].size);
  }
  void advance(const Gather &gather) {
    for (int i = gather.outerCount; i-- > 0;) {
      if (index[i] + 1 < gather.outer[i].size)
        return move(gather.outer[i], i, 1);
      move(gather.outer[i], i, -index[i]);
    }
  }
};

/// Elements of [run.begin, run.end) that aren't padding.
inline std::pair<int64_t, int64_t> validPart(const Gather &gather, const Place &place, const Run &run) {
  for (int s = 0; s < gather.spatialCount; ++s)
    if (s != gather.shape.spatial && uint64_t(place.position[s] + run.position[s]) >= uint64_t(gather.extent[s]))
      return {run.begin, run.begin};
  int inner = gather.shape.spatial;
  if (inner < 0)
    return {run.begin, run.end};
  int64_t first = -(place.position[inner] + run.position[inner]), last = gather.extent[inner] + first;
  if (gather.shape.step != 1) {
    int64_t step = gather.shape.step;
    first = first > 0 ? (first + step - 1) / step : 0;
    last = last > 0 ? (last + step - 1) / step : 0;
  }
  int64_t begin = std::max(run.begin, first * gather.shape.granule);
  int64_t end = std::min(run.end, last * gather.shape.granule);
  return begin < end ? std::pair(begin, end) : std::pair(run.begin, run.begin);
}

template <class T>
void gatherRuns(const Gather &gather, int64_t first, int64_t count, const Run *runs, int64_t runCount, T *out,
                int64_t pitch) {
  withFloats(gather.type, gather.data, [&](auto *from) {
    Place place(gather, first);
    for (int64_t i = 0; i < count; ++i, out += pitch, place.advance(gather)) {
      T *to = out;
      for (const Run *run = runs; run != runs + runCount; ++run) {
        auto [begin, end] = validPart(gather, place, *run);
        zeroRun(to, begin - run->begin);
        copyRun(from + place.offset + run->offset + begin * gather.shape.stride, gather.shape.stride,
                to + (begin - run->begin), end - begin);
        zeroRun(to + (end - run->begin), run->end - end);
        to += run->end - run->begin;
      }
    }
  });
}

template <class T, class A, class B>
inline void accumulateTyped(const A *a, int64_t aStride, const B *b, int64_t bStride, T *sums, int64_t count) {
  if (aStride == 1 && bStride == 1)
    for (int64_t i = 0; i < count; ++i)
      sums[i] += T(widen(a[i])) * T(widen(b[i]));
  else if (aStride == 0 && bStride == 1) {
    T left = T(widen(*a));
    for (int64_t i = 0; i < count; ++i)
      sums[i] += left * T(widen(b[i]));
  } else
    for (int64_t i = 0; i < count; ++i)
      sums[i] += T(widen(a[i * aStride])) * T(widen(b[i * bStride]));
}

template <class T>
void accumulate(ElementType aType, const void *a, int64_t aStride, ElementType bType, const void *b, int64_t bStride,
                T *sums, int64_t count) {
  withFloats(aType, a, [&](auto *left) {
    withFloats(bType, b, [&](auto *right) { accumulateTyped(left, aStride, right, bStride, sums, count); });
  });
}

template <class T>
void scatter(const T *in, int64_t pitch, int64_t rowCount, int64_t columns, const int64_t *rows, int64_t columnStride,
             ElementType type, void *c, bool add) {
  withFloats(type, c, [&](auto *constant) {
    using S = std::remove_const_t<std::remove_pointer_t<decltype(constant)>>;
    S *to = const_cast<S *>(constant);
    for (int64_t r = 0; r < rowCount; ++r)
      for (int64_t j = 0; j < columns; ++j) {
        S &element = to[rows[r] + j * columnStride];
        narrow(add ? T(widen(element)) + in[r * pitch + j] : in[r * pitch + j], element);
      }
  });
}

template <class T, int rows>
constexpr void fillTiles(GemmKernels<T> &table) {
  table.tiles[0][0][rows - 1] = tile<T, rows, 1, false>;
  table.tiles[0][1][rows - 1] = tile<T, rows, 2, false>;
  table.tiles[1][0][rows - 1] = tile<T, rows, 1, true>;
  table.tiles[1][1][rows - 1] = tile<T, rows, 2, true>;
  if constexpr (rows > 1)
    fillTiles<T, rows - 1>(table);
}

template <class T>
constexpr GemmKernels<T> makeKernels() {
  GemmKernels<T> table{Vectors<T>::lanes, tileRows,      {},        packRows<T>, packPanels<T>,
                       gatherRuns<T>,     accumulate<T>, scatter<T>};
  fillTiles<T, tileRows>(table);
  return table;
}

} // namespace
