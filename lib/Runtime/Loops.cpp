//===- Loops.cpp - Contractions by plain loops ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chunk of columns, or of the innermost batch dimension, is summed at once over all depths, in order. Batches are the
// groups of a convolution: with one feature to a group a panel would be one column wide, but the groups lie side by
// side.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Elements.h"

#include <algorithm>
#include <array>
#include <cstdlib>

using namespace remat::runtime;

/// Columns, or groups, that are summed at once.
constexpr int64_t chunk = 128;

bool remat::runtime::preferLoops(const Contraction &c) {
  for (ElementType type : {c.a, c.b, c.c})
    if (type > ElementType::F8E4M3FN)
      return true;
  bool tiny = c.rowCount() * c.depthCount() <= 8 && c.columns <= chunk;
  if (c.extent.size() > maxSpatial || tiny)
    return true;
  if (c.batch.empty() || c.columns > 4)
    return false;
  const ContractionBatch &inner = c.batch.back();
  return inner.size >= 8 && std::abs(inner.aStride) == 1 && std::abs(inner.bStride) == 1;
}

namespace {

template <class T>
struct LoopKernels {
  static void accumulate(ElementType aType, const void *a, int64_t aStride, ElementType bType, const void *b,
                         int64_t bStride, T *sums, int64_t count) {
    withIntegers(aType, a, [&](auto *left) {
      withIntegers(bType, b, [&](auto *right) {
        for (int64_t i = 0; i < count; ++i)
          sums[i] += T(left[i * aStride]) * T(right[i * bStride]);
      });
    });
  }
  static void write(const T *sums, int64_t count, int64_t stride, ElementType type, void *c) {
    withIntegers(type, c, [&](auto *constant) {
      using S = std::remove_const_t<std::remove_pointer_t<decltype(constant)>>;
      for (int64_t i = 0; i < count; ++i)
        const_cast<S *>(constant)[i * stride] = S(sums[i]);
    });
  }
};

template <class T>
  requires std::is_floating_point_v<T>
struct LoopKernels<T> {
  static void accumulate(ElementType aType, const void *a, int64_t aStride, ElementType bType, const void *b,
                         int64_t bStride, T *sums, int64_t count) {
    gemmKernels<T>().accumulate(aType, a, aStride, bType, b, bStride, sums, count);
  }
  static void write(const T *sums, int64_t count, int64_t stride, ElementType type, void *c) {
    int64_t row = 0;
    gemmKernels<T>().scatter(sums, 0, 1, count, &row, stride, type, c, false);
  }
};

/// A dimension that the loops step through, with all that it moves.
struct LoopDim {
  int64_t size, a, b, c;
  int spatial;
  int64_t step;
};

/// Where the loops stand in some of their dimensions, by mixed radix.
struct Walk {
  const std::vector<LoopDim> &dims;
  std::array<int64_t, 16> index{};
  int64_t a = 0, b = 0, c = 0;
  std::array<int64_t, 8> position{};

  void move(size_t i, int64_t by) {
    const LoopDim &dim = dims[i];
    index[i] += by;
    a += by * dim.a;
    b += by * dim.b;
    c += by * dim.c;
    if (dim.spatial >= 0)
      position[dim.spatial] += by * dim.step;
  }
  Walk(const std::vector<LoopDim> &dims, int64_t number) : dims(dims) {
    for (size_t i = dims.size(); i-- > 0 && number > 0; number /= dims[i].size)
      move(i, number % dims[i].size);
  }
  void advance() {
    for (size_t i = dims.size(); i-- > 0;) {
      if (index[i] + 1 < dims[i].size)
        return move(i, 1);
      move(i, -index[i]);
    }
  }
};

template <class T>
class Loops : public PreparedContraction {
public:
  Loops(const Contraction &contraction, int parts);
  int64_t workspaceBytes() const override { return 0; }
  void run(int part, const void *a, const void *b, void *c, void *workspace) const override;

private:
  void runChunk(const Walk &outer, int64_t first, int64_t count, const char *a, const char *b, char *c) const;

  const Contraction x;
  const int parts;
  std::vector<LoopDim> outer, depths;
  int64_t outerCount = 1, depthCount, aBytes, bBytes, cBytes;
  LoopDim inner;
};

template <class T>
Loops<T>::Loops(const Contraction &contraction, int parts)
    : x(contraction), parts(parts), depthCount(x.depthCount()), aBytes(TensorType{x.a, {}}.elementBytes()),
      bBytes(TensorType{x.b, {}}.elementBytes()), cBytes(TensorType{x.c, {}}.elementBytes()) {
  for (const ContractionBatch &dim : x.batch)
    outer.push_back({dim.size, dim.aStride, dim.bStride, dim.cStride, -1, 0});
  inner = {x.columns, 0, x.bColumnStride, x.cColumnStride, -1, 0};
  if (!outer.empty() && outer.back().size > inner.size)
    std::swap(inner, outer.back());
  for (const ContractionDim &dim : x.rows)
    outer.push_back({dim.size, dim.aStride, 0, dim.otherStride, dim.spatial, dim.step});
  for (const ContractionDim &dim : x.depths)
    depths.push_back({dim.size, dim.aStride, dim.otherStride, 0, dim.spatial, dim.step});
  for (const LoopDim &dim : outer)
    outerCount *= dim.size;
}

template <class T>
void Loops<T>::run(int part, const void *a, const void *b, void *c, void *) const {
  // Chunks are shared too: a depthwise filter's gradient has few rows.
  int64_t chunks = (inner.size + chunk - 1) / chunk;
  Share share(outerCount * chunks, 1, part, parts);
  if (share.begin == share.end)
    return;
  const char *aBase = static_cast<const char *>(a) + x.aOffset * aBytes;
  const char *bBase = static_cast<const char *>(b) + x.bOffset * bBytes;
  char *cBase = static_cast<char *>(c) + x.cOffset * cBytes;
  Walk place(outer, share.begin / chunks);
  int64_t number = share.begin % chunks;
  for (int64_t i = share.begin; i < share.end; ++i) {
    runChunk(place, number * chunk, std::min(chunk, inner.size - number * chunk), aBase, bBase, cBase);
    if (++number == chunks) {
      number = 0;
      place.advance();
    }
  }
}

template <class T>
void Loops<T>::runChunk(const Walk &outer, int64_t first, int64_t count, const char *a, const char *b, char *c) const {
  std::array<T, chunk> sums;
  std::fill_n(sums.begin(), count, T(0));
  Walk depth(depths, 0);
  for (int64_t k = 0; k < depthCount; ++k, depth.advance()) {
    bool valid = true;
    for (size_t s = 0; s < x.extent.size(); ++s)
      valid &= uint64_t(x.position[s] + outer.position[s] + depth.position[s]) < uint64_t(x.extent[s]);
    if (valid)
      LoopKernels<T>::accumulate(x.a, a + (outer.a + depth.a + first * inner.a) * aBytes, inner.a, x.b,
                                 b + (outer.b + depth.b + first * inner.b) * bBytes, inner.b, sums.data(), count);
  }
  LoopKernels<T>::write(sums.data(), count, inner.c, x.c, c + (outer.c + first * inner.c) * cBytes);
}

} // namespace

std::unique_ptr<PreparedContraction> remat::runtime::prepareLoops(const Contraction &contraction, int parts) {
  std::array types{contraction.a, contraction.b, contraction.c};
  auto has = [&](ElementType type) { return std::find(types.begin(), types.end(), type) != types.end(); };
  if (has(ElementType::I64) || has(ElementType::I32) || has(ElementType::I16) || has(ElementType::I8))
    return std::make_unique<Loops<int64_t>>(contraction, parts);
  if (has(ElementType::F64))
    return std::make_unique<Loops<double>>(contraction, parts);
  return std::make_unique<Loops<float>>(contraction, parts);
}
