//===- Contraction.cpp - What dots and convolutions have in common ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include "Team.h"

#include <algorithm>
#include <cstdlib>

using namespace remat::runtime;

template <class Dims>
static int64_t product(const Dims &dims) {
  int64_t count = 1;
  for (const auto &dim : dims)
    count *= dim.size;
  return count;
}
int64_t Contraction::batchCount() const { return product(batch); }
int64_t Contraction::rowCount() const { return product(rows); }
int64_t Contraction::depthCount() const { return product(depths); }

/// Forgets spatial dimensions in which no row and depth meet padding.
static void dropSpatial(Contraction &c) {
  for (size_t s = 0; s < c.extent.size();) {
    int64_t last = c.position[s];
    for (auto *dims : {&c.rows, &c.depths})
      for (const ContractionDim &dim : *dims)
        if (dim.spatial == int(s))
          last += dim.step * (dim.size - 1);
    if (c.position[s] < 0 || last >= c.extent[s]) {
      ++s;
      continue;
    }
    c.position.erase(c.position.begin() + s);
    c.extent.erase(c.extent.begin() + s);
    for (auto *dims : {&c.rows, &c.depths})
      for (ContractionDim &dim : *dims)
        dim.spatial = dim.spatial == int(s) ? -1 : dim.spatial - (dim.spatial > int(s));
  }
}

static void simplifyDims(std::vector<ContractionDim> &dims, const ContractionDim &none) {
  std::erase_if(dims, [](const ContractionDim &dim) { return dim.size == 1; });
  std::sort(dims.begin(), dims.end(), [](const ContractionDim &x, const ContractionDim &y) {
    return std::pair(std::abs(x.aStride), std::abs(x.otherStride)) >
           std::pair(std::abs(y.aStride), std::abs(y.otherStride));
  });
  for (size_t i = 1; i < dims.size();) {
    ContractionDim &outer = dims[i - 1], &inner = dims[i];
    bool plain = outer.spatial < 0 && inner.spatial < 0;
    if (plain && outer.aStride == inner.aStride * inner.size && outer.otherStride == inner.otherStride * inner.size) {
      inner.size *= outer.size;
      dims.erase(dims.begin() + i - 1);
    } else
      ++i;
  }
  if (dims.empty())
    dims.push_back(none);
}

void Contraction::simplify() {
  if (depthCount() == 0) {
    // Nothing is read: sums of no terms.
    depths = {{0, 1, 1}};
    extent.clear();
    position.clear();
    for (ContractionDim &row : rows)
      row.spatial = -1;
  }
  dropSpatial(*this);
  simplifyDims(rows, {1, 0, 0});
  simplifyDims(depths, {1, 1, 1});
  std::erase_if(batch, [](const ContractionBatch &dim) { return dim.size == 1; });
}

namespace {

class ContractionCall : public LibraryCall {
public:
  ContractionCall(const std::vector<Contraction> &contractions, int threads) {
    int64_t work = 0;
    for (const Contraction &c : contractions)
      work += c.batchCount() * c.rowCount() * (c.depthCount() * c.columns + c.columns);
    // Waking a thread costs about what 2^15 multiplications do.
    parts = int(std::clamp<int64_t>(work >> 15, 1, threads));
    for (const Contraction &c : contractions) {
      bool loops = preferLoops(c);
      prepared.push_back(loops ? prepareLoops(c, parts) : prepareGemm(c, parts));
      partBytes = std::max(partBytes, (prepared.back()->workspaceBytes() + 63) & ~int64_t(63));
    }
  }
  int64_t workspaceBytes() const override { return partBytes * parts; }

  void run(const void *a, const void *b, void *c, void *workspace) override {
    Buffers buffers{this, a, b, c, static_cast<char *>(workspace)};
    runOnTeam(parts, runPart, &buffers);
  }

private:
  struct Buffers {
    const ContractionCall *call;
    const void *a, *b;
    void *c;
    char *workspace;
  };
  static void runPart(void *data, int part) {
    const Buffers &buffers = *static_cast<const Buffers *>(data);
    char *own = buffers.workspace + buffers.call->partBytes * part;
    for (const auto &contraction : buffers.call->prepared)
      contraction->run(part, buffers.a, buffers.b, buffers.c, own);
  }

  std::vector<std::unique_ptr<PreparedContraction>> prepared;
  int64_t partBytes = 0;
  int parts = 1;
};

} // namespace

std::unique_ptr<LibraryCall> remat::runtime::makeCall(std::vector<Contraction> contractions, int threads) {
  for (Contraction &contraction : contractions)
    contraction.simplify();
  return std::make_unique<ContractionCall>(contractions, threads);
}
