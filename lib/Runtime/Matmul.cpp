//===- Matmul.cpp - Dots as contractions ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "remat/Runtime/Types.h"

#include <cstdlib>

using namespace remat::runtime;

static bool isInteger(ElementType type) { return !isFloat(type) && type != ElementType::I1; }

std::string remat::runtime::unsupportedTypes(ElementType a, ElementType b, ElementType c) {
  if (isFloat(a) && isFloat(b) && isFloat(c))
    return "";
  if (isInteger(a) && isInteger(b) && isInteger(c))
    return "";
  std::string types = std::string(spell(a)) + " × " + std::string(spell(b)) + " -> " + std::string(spell(c));
  return "no kernel for " + types + ": the types must be floats, or integers of at least 8 bits; convert first";
}

static std::string checkStrides(const MatmulSpec &spec) {
  size_t rank = spec.batch.size();
  if (spec.aBatchStrides.size() != rank || spec.bBatchStrides.size() != rank || spec.cBatchStrides.size() != rank)
    return "expected " + std::to_string(rank) + " batch strides for each operand and the result, found " +
           std::to_string(spec.aBatchStrides.size()) + ", " + std::to_string(spec.bBatchStrides.size()) + " and " +
           std::to_string(spec.cBatchStrides.size());
  bool writesTwice = (spec.m > 1 && spec.cRowStride == 0) || (spec.n > 1 && spec.cColumnStride == 0);
  for (size_t i = 0; i < rank; ++i)
    writesTwice |= spec.batch[i] > 1 && spec.cBatchStrides[i] == 0;
  return writesTwice ? "the result has a stride of 0: elements would be written twice" : "";
}

/// The product's transpose is the transposes' product. Tiles write rows of C, so its unit stride should be the
/// columns'; and tiles are wide, so the longer side is better there when C doesn't decide.
static bool shouldTranspose(const MatmulSpec &spec) {
  bool rowsUnit = spec.cRowStride == 1, columnsUnit = spec.cColumnStride == 1;
  if (spec.m == 1 || spec.n == 1)
    return spec.m > spec.n && (spec.m > 1 ? rowsUnit : columnsUnit) && spec.aColumnStride != 1;
  return rowsUnit && !columnsUnit;
}

static void transpose(Contraction &c) {
  ContractionDim &row = c.rows[0], &depth = c.depths[0];
  std::swap(c.a, c.b);
  for (ContractionBatch &dim : c.batch)
    std::swap(dim.aStride, dim.bStride);
  std::swap(row.size, c.columns);
  std::swap(row.aStride, c.bColumnStride);
  std::swap(row.otherStride, c.cColumnStride);
  std::swap(depth.aStride, depth.otherStride);
}

namespace {
/// Runs a call whose operands are exchanged.
class Exchanged : public LibraryCall {
public:
  explicit Exchanged(std::unique_ptr<LibraryCall> call) : call(std::move(call)) {}
  int64_t workspaceBytes() const override { return call->workspaceBytes(); }
  void run(const void *a, const void *b, void *c, void *workspace) override { call->run(b, a, c, workspace); }

private:
  std::unique_ptr<LibraryCall> call;
};
} // namespace

std::unique_ptr<LibraryCall> remat::runtime::makeMatmul(const MatmulSpec &spec, int threads, std::string &error) {
  error = unsupportedTypes(spec.a, spec.b, spec.c);
  if (error.empty())
    error = checkStrides(spec);
  if (!error.empty())
    return nullptr;
  Contraction c;
  c.a = spec.a;
  c.b = spec.b;
  c.c = spec.c;
  for (size_t i = 0; i < spec.batch.size(); ++i)
    c.batch.push_back({spec.batch[i], spec.aBatchStrides[i], spec.bBatchStrides[i], spec.cBatchStrides[i]});
  c.rows.push_back({spec.m, spec.aRowStride, spec.cRowStride});
  c.depths.push_back({spec.k, spec.aColumnStride, spec.bRowStride});
  c.columns = spec.n;
  c.bColumnStride = spec.bColumnStride;
  c.cColumnStride = spec.cColumnStride;
  bool exchanged = shouldTranspose(spec);
  if (exchanged)
    transpose(c);
  std::unique_ptr<LibraryCall> call = makeCall({std::move(c)}, threads);
  return exchanged ? std::make_unique<Exchanged>(std::move(call)) : std::move(call);
}
