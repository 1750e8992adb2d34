//===- Gemm.cpp - Contractions by packed panels and register tiles ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocking after Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (TOMS 2008): blocks of B
// for the second cache, a block of A for each of its row blocks, and tiles of C that stay in registers over a block's
// depths. Two things differ. A part of the result is one thread's from start to end, so that threads never wait for
// each other; and most operands are read where they lie, by loops that fetch ahead, instead of being packed.
//
// An element of C is a sum in order of depth inside a depth block, and over the blocks in order. Blocks of depth are a
// function of the number of depths alone: the bits don't depend on threads, tiles or the place of the row or column.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include <algorithm>
#include <array>
#include <type_traits>

using namespace remat::runtime;

static int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t roundUp(int64_t a, int64_t b) { return ceilDivide(a, b) * b; }
/// The least number of equal blocks of at most `most`, as the size of a block in multiples of `multiple`.
static int64_t evenBlock(int64_t count, int64_t most, int64_t multiple) {
  return roundUp(ceilDivide(count, std::max<int64_t>(1, ceilDivide(count, most))), multiple);
}

namespace {

/// How a block of the left operand gets to the tiles.
enum class Left { Rows, Panels, PackRows, PackPanels, GatherRows, GatherPanels };

/// Elements of B that are packed together: 1 MiB of floats, half of the second cache.
constexpr int64_t maxRightElements = 1 << 18;
constexpr int64_t maxColumnBlock = 1024, minColumnBlock = 256;

template <class T>
class Gemm : public PreparedContraction {
public:
  Gemm(const Contraction &contraction, int parts);
  int64_t workspaceBytes() const override;
  void run(int part, const void *a, const void *b, void *c, void *workspace) const override;

private:
  /// One part's pointers and place; blocks are narrowed to it step by step.
  struct Block {
    const char *a, *b;
    char *c;
    T *packedA, *packedB, *sums;
    int64_t rowBegin, rowEnd, columnBegin, columnEnd, depthBegin, depthEnd;
  };
  void choose();
  void chooseGather();
  void split(int parts);
  void runBatch(Block block) const;
  void runColumns(Block block, int64_t outerRows) const;
  template <class Use>
  void forEachDepthBlock(Block block, int64_t begin, int64_t end, Use use) const;
  void packB(const Block &block) const;
  void packA(const Block &block) const;
  void gatherA(const Block &block) const;
  int buildRuns(int64_t begin, int64_t end, Run *runs) const;
  void runTiles(const Block &block, bool add) const;
  void runEdge(const Block &block, typename GemmKernels<T>::Tile tile, const T *left, int64_t leftStride,
               const T *right, int64_t rightStride, const int64_t *rows, int64_t tileRows, int64_t column,
               bool add) const;
  void rowOffsets(int64_t begin, int64_t end, int64_t *offsets) const;
  void writeSums(const Block &block) const;
  MatrixView leftView(const Block &block) const;
  int64_t panelColumns() const { return 2 * kernels.lanes; }
  /// Of packed panels of B: all, or those that a vector would read behind the columns of.
  int64_t rightElements() const {
    return packsB ? columnBlock * depthGroup : n % kernels.lanes ? panelColumns() * depthGroup : 0;
  }

  const Contraction x;
  const GemmKernels<T> &kernels;
  Left left = Left::Rows;
  bool packsB = true; ///< Otherwise only a last panel that isn't full.
  bool direct = true; ///< Direct: tiles add to C itself, not to sums.
  int64_t m, n, k, rowBlock = 1, columnBlock = 1, depthBlock = 1, depthGroup = 1, tileRows = 1, rowPitch = 0;
  int batchParts = 1, rowParts = 1, columnParts = 1;
  std::vector<ContractionDim> bDepths; ///< The depths as B sees them, merged where they can be.
  std::vector<GatherDim> gatherOuter;  ///< Dimensions that a gather steps through…
  std::vector<ContractionDim> runDims; ///< …those that number its runs…
  RunShape runShape;                   ///< …and the elements of a run.
  int64_t runElements = 1;
};

template <class T>
Gemm<T>::Gemm(const Contraction &contraction, int parts)
    : x(contraction), kernels(gemmKernels<T>()), m(x.rowCount()), n(x.columns), k(x.depthCount()) {
  for (const ContractionDim &dim : x.depths) {
    if (!bDepths.empty() && bDepths.back().otherStride == dim.otherStride * dim.size) {
      bDepths.back().size *= dim.size;
      bDepths.back().otherStride = dim.otherStride;
    } else
      bDepths.push_back(dim);
  }
  split(parts);
  choose();
}

/// Shares out batches first: they have nothing in common. Then rows and columns so that the least is packed twice.
template <class T>
void Gemm<T>::split(int parts) {
  int64_t batches = x.batchCount();
  if (batches >= parts) {
    batchParts = parts;
    return;
  }
  int64_t best = INT64_MAX;
  for (int rows = 1; rows <= parts; ++rows) {
    int columns = parts / rows;
    if (rows * columns != parts)
      continue;
    // Time is that of the largest tile; packing is worth about 8 rows or columns.
    int64_t height = roundUp(ceilDivide(m, rows), 4), width = roundUp(ceilDivide(n, columns), panelColumns());
    int64_t cost = (height + 8) * (width + 8);
    if (cost < best) {
      best = cost;
      rowParts = rows;
      columnParts = columns;
    }
  }
}

/// Operands are read where they lie. A copy is made of what needs a conversion or a gather, and of lines at distances
/// of powers of two, which fall into the same few places of a cache.
template <class T>
void Gemm<T>::choose() {
  constexpr bool isFloat = std::is_same_v<T, float>;
  constexpr ElementType own = isFloat ? ElementType::F32 : ElementType::F64;
  int64_t partRows = ceilDivide(m, rowParts), partColumns = roundUp(ceilDivide(n, columnParts), panelColumns());
  direct = x.c == own && x.cColumnStride == 1;
  depthBlock = std::max<int64_t>(1, evenBlock(k, maxDepthBlock, k > maxDepthBlock ? 8 : 1));
  tileRows = std::max<int64_t>(1, evenBlock(std::min(partRows, maxRowBlock), kernels.maxRows, 1));
  rowBlock = std::max(tileRows, std::min(partRows, maxRowBlock / tileRows * tileRows));
  // Several depth blocks are packed together, so that C's block is written while it is in the second cache.
  int64_t mostColumns = std::clamp(maxRightElements / std::max<int64_t>(k, 1), minColumnBlock, maxColumnBlock);
  columnBlock =
      std::max(panelColumns(), evenBlock(partColumns, mostColumns / panelColumns() * panelColumns(), panelColumns()));
  int64_t mostDepths = std::max<int64_t>(1, maxRightElements / (columnBlock * depthBlock)) * depthBlock;
  depthGroup = std::max<int64_t>(1, evenBlock(k, mostDepths, depthBlock));

  const ContractionDim &row = x.rows.back(), &depth = x.depths.back();
  bool matrix = x.rows.size() == 1 && x.depths.size() == 1 && x.extent.empty();
  bool rowUnit = std::abs(row.aStride) == 1 && m > 1 && std::abs(depth.aStride) != 1;
  if (!matrix) {
    left = rowUnit || (row.aStride < depth.aStride && m > 1 && row.aStride) ? Left::GatherPanels : Left::GatherRows;
    chooseGather();
  } else if (rowUnit || depth.aStride != 1) {
    bool apart = depth.aStride * int64_t(sizeof(T)) % 2048 != 0 || k <= 16;
    left = !rowUnit ? Left::PackRows : x.a == own && row.aStride == 1 && apart ? Left::Panels : Left::PackPanels;
  } else {
    // A packed copy pays from 3 panels of B on.
    bool collide = row.aStride * int64_t(sizeof(T)) % 2048 == 0 && m > 4 && partColumns > 2 * panelColumns();
    left = x.a == own && !collide ? Left::Rows : Left::PackRows;
  }
  bool panels = left == Left::PackPanels || left == Left::GatherPanels;
  // Never a power of two: rows would share cache lines.
  rowPitch = roundUp(panels ? rowBlock : depthBlock, 16) + 16;
  // What few rows of A meet is read too seldom to be copied.
  bool readsB = x.b == own && x.bColumnStride == 1 && bDepths.size() == 1;
  bool collides = bDepths.back().otherStride * int64_t(sizeof(T)) % 2048 == 0 && partRows > 6 * kernels.maxRows;
  packsB = !readsB || collides;
}

/// The dimension along which A's elements are nearest to each other makes the runs, with the spatial dimension around
/// it if that continues it.
template <class T>
void Gemm<T>::chooseGather() {
  bool panels = left == Left::GatherPanels;
  const std::vector<ContractionDim> &outer = panels ? x.depths : x.rows;
  for (const ContractionDim &dim : outer)
    gatherOuter.push_back({dim.size, dim.aStride, dim.spatial, dim.step});
  runDims = panels ? x.rows : x.depths;
  ContractionDim inner = runDims.back();
  runDims.pop_back();
  runElements = inner.size;
  runShape = {inner.spatial, 1, inner.step, inner.aStride};
  if (inner.spatial >= 0 || runDims.empty())
    return;
  ContractionDim around = runDims.back();
  if (around.spatial >= 0 && around.aStride == inner.aStride * inner.size) {
    runDims.pop_back();
    runElements *= around.size;
    runShape = {around.spatial, inner.size, around.step, inner.aStride};
  }
}

template <class T>
int64_t Gemm<T>::workspaceBytes() const {
  bool panels = left == Left::PackPanels || left == Left::GatherPanels;
  bool direct = left == Left::Rows || left == Left::Panels;
  int64_t elements = direct ? 0 : (panels ? depthBlock : rowBlock) * rowPitch;
  elements += rightElements();
  if (!this->direct)
    elements += rowBlock * columnBlock;
  return elements * int64_t(sizeof(T));
}

template <class T>
void Gemm<T>::run(int part, const void *a, const void *b, void *c, void *workspace) const {
  int batchPart = part / (rowParts * columnParts), rest = part % (rowParts * columnParts);
  if (batchPart >= batchParts)
    return;
  Share batches(x.batchCount(), 1, batchPart, batchParts);
  Share rows(m, rowParts > 1 ? 4 : 1, rest / columnParts, rowParts);
  Share columns(n, panelColumns(), rest % columnParts, columnParts);
  if (rows.begin == rows.end || columns.begin == columns.end)
    return;
  int64_t aBytes = TensorType{x.a, {}}.elementBytes(), bBytes = TensorType{x.b, {}}.elementBytes(),
          cBytes = TensorType{x.c, {}}.elementBytes();
  T *space = static_cast<T *>(workspace);
  Block block{};
  block.packedB = space;
  block.sums = space + rightElements();
  block.packedA = block.sums + (direct ? 0 : rowBlock * columnBlock);
  block.rowBegin = rows.begin;
  block.rowEnd = rows.end;
  block.columnBegin = columns.begin;
  block.columnEnd = columns.end;
  for (int64_t number = batches.begin; number < batches.end; ++number) {
    int64_t aAt = x.aOffset, bAt = x.bOffset, cAt = x.cOffset;
    forDigits(x.batch, number, [&](const ContractionBatch &dim, int64_t digit) {
      aAt += digit * dim.aStride;
      bAt += digit * dim.bStride;
      cAt += digit * dim.cStride;
    });
    block.a = static_cast<const char *>(a) + aAt * aBytes;
    block.b = static_cast<const char *>(b) + bAt * bBytes;
    block.c = static_cast<char *>(c) + cAt * cBytes;
    runBatch(block);
  }
}

template <class T>
void Gemm<T>::runBatch(Block block) const {
  int64_t end = block.columnEnd;
  for (int64_t column = block.columnBegin; column < end; column += columnBlock) {
    block.columnBegin = column;
    block.columnEnd = std::min(end, column + columnBlock);
    runColumns(block, direct ? block.rowEnd - block.rowBegin : rowBlock);
  }
}

/// Calls `use` for the depth blocks of a group, with their parts of the packed panels; once if there are no depths.
template <class T>
template <class Use>
void Gemm<T>::forEachDepthBlock(Block block, int64_t begin, int64_t end, Use use) const {
  int64_t depth = begin;
  do {
    block.depthBegin = depth;
    block.depthEnd = std::min(end, depth + depthBlock);
    use(block);
    block.packedB += depthBlock * (packsB ? columnBlock : panelColumns());
    depth += depthBlock;
  } while (depth < end);
}

template <class T>
void Gemm<T>::runColumns(Block block, int64_t outerRows) const {
  int64_t begin = block.rowBegin, end = block.rowEnd;
  for (int64_t outer = begin; outer < end; outer += outerRows) {
    int64_t outerEnd = std::min(end, outer + outerRows);
    for (int64_t group = 0; group == 0 || group < k; group += depthGroup) {
      int64_t groupEnd = std::min(k, group + depthGroup);
      forEachDepthBlock(block, group, groupEnd, [&](const Block &inner) { packB(inner); });
      for (int64_t row = outer; row < outerEnd; row += rowBlock) {
        block.rowBegin = row;
        block.rowEnd = std::min(outerEnd, row + rowBlock);
        forEachDepthBlock(block, group, groupEnd, [&](const Block &inner) {
          packA(inner);
          runTiles(inner, inner.depthBegin > 0);
        });
      }
    }
    if (!direct)
      writeSums(block);
  }
}

template <class T>
void Gemm<T>::packB(const Block &block) const {
  int64_t columns = block.columnEnd - block.columnBegin, depths = block.depthEnd - block.depthBegin;
  int64_t width = panelColumns(), rest = columns % width;
  int64_t lastWidth = rest > 0 && rest <= kernels.lanes ? kernels.lanes : width;
  int64_t bytes = TensorType{x.b, {}}.elementBytes(), inner = bDepths.back().size;
  int64_t before = (columns - 1) / width * width; // Columns of the panels but the last.
  if (!packsB && columns % kernels.lanes == 0)
    return;
  T *lastPanel = block.packedB + (packsB ? before * depths : 0);
  for (int64_t depth = block.depthBegin; depth < block.depthEnd;) {
    int64_t offset = 0;
    forDigits(bDepths, depth, [&](const ContractionDim &dim, int64_t digit) { offset += digit * dim.otherStride; });
    int64_t count = std::min(inner - depth % inner, block.depthEnd - depth), done = depth - block.depthBegin;
    const char *from = block.b + (offset + block.columnBegin * x.bColumnStride) * bytes;
    MatrixView view{x.b, from, x.bColumnStride, bDepths.back().otherStride};
    if (packsB && before > 0)
      kernels.packPanels(view, before, count, {width, width, width, width * depths, true},
                         block.packedB + done * width);
    view.data = from + before * x.bColumnStride * bytes;
    kernels.packPanels(view, columns - before, count, {width, lastWidth, lastWidth, 0, true},
                       lastPanel + done * lastWidth);
    depth += count;
  }
}

template <class T>
MatrixView Gemm<T>::leftView(const Block &block) const {
  const ContractionDim &row = x.rows.back(), &depth = x.depths.back();
  int64_t at = block.rowBegin * row.aStride + block.depthBegin * depth.aStride;
  return {x.a, block.a + at * TensorType{x.a, {}}.elementBytes(), row.aStride, depth.aStride};
}

template <class T>
void Gemm<T>::packA(const Block &block) const {
  int64_t rows = block.rowEnd - block.rowBegin, depths = block.depthEnd - block.depthBegin;
  switch (left) {
  case Left::Rows:
  case Left::Panels:
    return;
  case Left::PackRows:
    return kernels.packRows(leftView(block), rows, depths, block.packedA, rowPitch);
  case Left::PackPanels:
    return kernels.packPanels(leftView(block), rows, depths, {rows, rowPitch, rowPitch, 0, false}, block.packedA);
  case Left::GatherRows:
  case Left::GatherPanels:
    return gatherA(block);
  }
}

/// The runs that make up the elements [begin, end) of the numbered dimensions.
template <class T>
int Gemm<T>::buildRuns(int64_t begin, int64_t end, Run *runs) const {
  int count = 0;
  while (begin < end) {
    int64_t first = begin % runElements, last = std::min(runElements, first + end - begin);
    Run &run = runs[count++];
    run = {0, {}, first, last};
    forDigits(runDims, begin / runElements, [&](const ContractionDim &dim, int64_t digit) {
      run.offset += digit * dim.aStride;
      if (dim.spatial >= 0)
        run.position[dim.spatial] += digit * dim.step;
    });
    for (size_t s = 0; s < x.position.size(); ++s)
      run.position[s] += x.position[s];
    begin += last - first;
  }
  return count;
}

template <class T>
void Gemm<T>::gatherA(const Block &block) const {
  Gather gather{x.a, block.a, gatherOuter.data(), int(gatherOuter.size()), runShape, int(x.extent.size()), {}};
  std::copy(x.extent.begin(), x.extent.end(), gather.extent);
  int64_t rows = block.rowEnd - block.rowBegin, depths = block.depthEnd - block.depthBegin;
  if (left == Left::GatherRows) {
    std::array<Run, maxDepthBlock + 8> runs;
    int count = buildRuns(block.depthBegin, block.depthEnd, runs.data());
    return kernels.gather(gather, block.rowBegin, rows, runs.data(), count, block.packedA, rowPitch);
  }
  std::array<Run, maxRowBlock + 8> runs;
  int count = buildRuns(block.rowBegin, block.rowEnd, runs.data());
  kernels.gather(gather, block.depthBegin, depths, runs.data(), count, block.packedA, rowPitch);
}

template <class T>
void Gemm<T>::rowOffsets(int64_t begin, int64_t end, int64_t *offsets) const {
  const ContractionDim &inner = x.rows.back();
  for (int64_t row = begin; row < end;) {
    int64_t offset = 0;
    forDigits(x.rows, row, [&](const ContractionDim &dim, int64_t digit) { offset += digit * dim.otherStride; });
    for (int64_t last = std::min(end, row + inner.size - row % inner.size); row < last; ++row, ++offsets) {
      *offsets = offset;
      offset += inner.otherStride;
    }
  }
}

template <class T>
void Gemm<T>::runTiles(const Block &block, bool add) const {
  int64_t rows = block.rowEnd - block.rowBegin, depths = block.depthEnd - block.depthBegin, width = panelColumns();
  std::array<int64_t, maxRowBlock + maxTileRows> offsets;
  if (direct)
    rowOffsets(block.rowBegin, block.rowEnd, offsets.data());
  else
    for (int64_t row = 0; row < rows; ++row)
      offsets[row] = row * columnBlock;
  bool panels = left == Left::Panels || left == Left::PackPanels || left == Left::GatherPanels;
  bool packed = left != Left::Rows && left != Left::Panels;
  const T *leftBase = packed ? block.packedA : static_cast<const T *>(leftView(block).data);
  int64_t leftStride = packed ? rowPitch : (panels ? x.depths[0] : x.rows[0]).aStride;
  int64_t tileStride = panels ? tileRows : tileRows * leftStride;
  T *c = direct ? reinterpret_cast<T *>(block.c) : block.sums - block.columnBegin;
  for (int64_t column = block.columnBegin; column < block.columnEnd; column += width) {
    int64_t columns = std::min(width, block.columnEnd - column), vectors = columns > kernels.lanes ? 2 : 1;
    int64_t done = column - block.columnBegin;
    bool copied = packsB || columns % kernels.lanes != 0;
    int64_t rightStride = copied ? vectors * kernels.lanes : bDepths.back().otherStride;
    const T *right = copied ? block.packedB + (packsB ? done * depths : 0)
                            : reinterpret_cast<const T *>(block.b) + block.depthBegin * rightStride + column;
    for (int64_t row = 0, number = 0; row < rows; row += tileRows, ++number) {
      int64_t count = std::min(tileRows, rows - row);
      auto tile = kernels.tiles[panels][vectors - 1][count - 1];
      const T *leftTile = leftBase + number * tileStride;
      if (direct && columns < vectors * kernels.lanes)
        runEdge(block, tile, leftTile, leftStride, right, rightStride, &offsets[row], count, column, add);
      else
        tile(leftTile, leftStride, right, rightStride, depths, c + column, &offsets[row], add);
    }
  }
}

/// A tile that sticks out of C goes to a copy first.
template <class T>
void Gemm<T>::runEdge(const Block &block, typename GemmKernels<T>::Tile tile, const T *left, int64_t leftStride,
                      const T *right, int64_t rightStride, const int64_t *rows, int64_t tileRows, int64_t column,
                      bool add) const {
  constexpr int64_t pitch = 32;
  alignas(64) T sums[maxTileRows * pitch];
  int64_t own[maxTileRows];
  for (int64_t row = 0; row < tileRows; ++row)
    own[row] = row * pitch;
  tile(left, leftStride, right, rightStride, block.depthEnd - block.depthBegin, sums, own, false);
  kernels.scatter(sums, pitch, tileRows, block.columnEnd - column, rows, 1, x.c,
                  reinterpret_cast<T *>(block.c) + column, add);
}

/// Only the last row block's sums exist: without `direct` there is one to each pass over the depths.
template <class T>
void Gemm<T>::writeSums(const Block &block) const {
  std::array<int64_t, maxRowBlock + maxTileRows> offsets;
  rowOffsets(block.rowBegin, block.rowEnd, offsets.data());
  char *c = block.c + block.columnBegin * x.cColumnStride * TensorType{x.c, {}}.elementBytes();
  kernels.scatter(block.sums, columnBlock, block.rowEnd - block.rowBegin, block.columnEnd - block.columnBegin,
                  offsets.data(), x.cColumnStride, x.c, c, false);
}

} // namespace

std::unique_ptr<PreparedContraction> remat::runtime::prepareGemm(const Contraction &contraction, int parts) {
  for (ElementType type : {contraction.a, contraction.b, contraction.c})
    if (type == ElementType::F64)
      return std::make_unique<Gemm<double>>(contraction, parts);
  return std::make_unique<Gemm<float>>(contraction, parts);
}
