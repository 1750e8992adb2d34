//===- MatmulForm.cpp - Matrix products as cuBLASLt takes them -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulForm.h"

#include "remat/Runtime/Types.h"

#include <algorithm>
#include <limits>

using namespace remat::runtime;

using Matrix = MatmulForm::Matrix;

int64_t MatmulForm::calls() const {
  int64_t count = 1;
  for (const Outer &loop : outer)
    count *= loop.size;
  return count;
}

static std::optional<Error> checkTypes(const MatmulSpec &spec) {
  ElementType in = spec.a, out = spec.c;
  bool isHalf = in == ElementType::F16 || in == ElementType::BF16;
  bool isWide = in == ElementType::F32 || in == ElementType::F64;
  if (in == spec.b && ((isWide && out == in) || (isHalf && (out == in || out == ElementType::F32))))
    return std::nullopt;
  return Error{"cuBLASLt has no product " + std::string(spell(spec.a)) + " × " + std::string(spell(spec.b)) + " -> " +
                   std::string(spell(spec.c)),
               "", "convert the operands to one of f64, f32, bf16 and f16 first"};
}

/// The matrix as column-major, or its transpose. Of a vector both are, and the one that lies densely is taken: fast
/// kernels ask for columns at multiples of 16 bytes.
static std::optional<Matrix> layOut(ElementType element, int64_t rows, int64_t columns, int64_t rowStride,
                                    int64_t columnStride) {
  auto columnMajor = [&](int64_t rows, int64_t columns, int64_t rowStride, int64_t columnStride) {
    int64_t leading = columns > 1 ? columnStride : std::max<int64_t>(rows, 1);
    bool fits = (rows <= 1 || rowStride == 1) && leading >= std::max<int64_t>(rows, 1);
    return fits ? std::optional(Matrix{element, rows, columns, leading}) : std::nullopt;
  };
  std::optional<Matrix> plain = columnMajor(rows, columns, rowStride, columnStride);
  std::optional<Matrix> turned = columnMajor(columns, rows, columnStride, rowStride);
  if (turned)
    turned->transposed = true;
  if (plain && turned)
    return plain->rows >= turned->rows ? plain : turned;
  return plain ? plain : turned;
}

/// The product's transpose is the transposes' product.
static MatmulSpec transposed(const MatmulSpec &spec) {
  MatmulSpec other = spec;
  std::swap(other.a, other.b);
  std::swap(other.m, other.n);
  std::swap(other.aBatchStrides, other.bBatchStrides);
  other.aRowStride = spec.bColumnStride;
  other.aColumnStride = spec.bRowStride;
  other.bRowStride = spec.aColumnStride;
  other.bColumnStride = spec.aRowStride;
  other.cRowStride = spec.cColumnStride;
  other.cColumnStride = spec.cRowStride;
  return other;
}

/// One loop for batch dimensions that lie evenly, outermost first by the result's stride.
static std::vector<MatmulForm::Outer> joinBatch(const MatmulSpec &spec) {
  std::vector<MatmulForm::Outer> loops;
  for (size_t i = 0; i < spec.batch.size(); ++i)
    if (spec.batch[i] != 1)
      loops.push_back({spec.batch[i], spec.aBatchStrides[i], spec.bBatchStrides[i], spec.cBatchStrides[i]});
  std::ranges::sort(loops, [](const auto &x, const auto &y) { return x.cStride > y.cStride; });
  for (size_t i = 1; i < loops.size();) {
    MatmulForm::Outer &outer = loops[i - 1], &inner = loops[i];
    if (outer.aStride == inner.aStride * inner.size && outer.bStride == inner.bStride * inner.size &&
        outer.cStride == inner.cStride * inner.size) {
      inner.size *= outer.size;
      loops.erase(loops.begin() + std::ptrdiff_t(i) - 1);
    } else
      ++i;
  }
  return loops;
}

static Error stridesError(const char *what, int64_t rowStride, int64_t columnStride) {
  return {"cuBLASLt needs neighbouring elements in the rows or columns of " + std::string(what) +
              ", found strides of " + std::to_string(rowStride) + " and " + std::to_string(columnStride),
          "", "transpose or copy the operand before the product"};
}

static std::optional<Error> checkBatch(const MatmulSpec &spec) {
  size_t rank = spec.batch.size();
  if (spec.aBatchStrides.size() != rank || spec.bBatchStrides.size() != rank || spec.cBatchStrides.size() != rank)
    return Error{"expected " + std::to_string(rank) + " batch strides for each operand and the result"};
  for (size_t i = 0; i < rank; ++i)
    if (spec.batch[i] > 1 && spec.cBatchStrides[i] == 0)
      return Error{"the result has a stride of 0: elements would be written twice"};
  return std::nullopt;
}

/// A batch is counted in 32 bits: its loop must not be longer.
static size_t pickBatch(const std::vector<MatmulForm::Outer> &loops) {
  size_t best = loops.size();
  for (size_t i = 0; i < loops.size(); ++i)
    if (loops[i].size <= std::numeric_limits<int32_t>::max() &&
        (best == loops.size() || loops[i].size > loops[best].size))
      best = i;
  return best;
}

Expected<MatmulForm> remat::runtime::findMatmulForm(const MatmulSpec &given) {
  if (auto error = checkTypes(given))
    return *error;
  if (auto error = checkBatch(given))
    return *error;
  MatmulForm form;
  form.depth = given.k;
  form.c.element = given.c;
  // Strides of what has no elements mean nothing.
  if (given.m == 0 || given.n == 0 || std::ranges::count(given.batch, 0) > 0) {
    form.c.rows = 0;
    return form;
  }
  std::optional<Matrix> c = layOut(given.c, given.m, given.n, given.cRowStride, given.cColumnStride);
  if (!c)
    return stridesError("the result", given.cRowStride, given.cColumnStride);
  form.exchanged = c->transposed;
  form.c = *c;
  form.c.transposed = false;
  MatmulSpec spec = form.exchanged ? transposed(given) : given;
  if (spec.k > 0) {
    std::optional<Matrix> a = layOut(spec.a, spec.m, spec.k, spec.aRowStride, spec.aColumnStride);
    if (!a)
      return stridesError("an operand", spec.aRowStride, spec.aColumnStride);
    std::optional<Matrix> b = layOut(spec.b, spec.k, spec.n, spec.bRowStride, spec.bColumnStride);
    if (!b)
      return stridesError("an operand", spec.bRowStride, spec.bColumnStride);
    form.a = *a;
    form.b = *b;
  }
  form.outer = joinBatch(spec);
  if (size_t best = pickBatch(form.outer); best < form.outer.size()) {
    form.batch = form.outer[best].size;
    form.a.batchStride = form.outer[best].aStride;
    form.b.batchStride = form.outer[best].bStride;
    form.c.batchStride = form.outer[best].cStride;
    form.outer.erase(form.outer.begin() + std::ptrdiff_t(best));
  }
  return form;
}
