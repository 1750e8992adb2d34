//===- LibraryCases.h - What the tests of dots and convolutions share -*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every form is compared with the definition, summed in doubles. A sum of k products of floats is right within
// k · 2^-23 of the sum of their magnitudes; results in 16 bits are rounded once more.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Library.h"
#include "remat/Runtime/Types.h"

#include <cmath>
#include <cstring>
#include <random>

namespace librarycases {

using namespace remat::runtime;

using Dims = std::vector<int64_t>;

/// Elements of any type at an address that is a multiple of 64, with their values as doubles beside them.
class Array {
public:
  Array(ElementType type, int64_t count) : type(type), count(count), values(size_t(count)), bytes(byteCount() + 64) {}
  void fill(std::mt19937 &random) {
    std::vector<float> floats(static_cast<size_t>(count));
    for (float &x : floats)
      x = float(int32_t(random())) * 0x1p-30f;
    if (isFloat(type))
      fromFloats(floats.data(), count, type, data());
    else
      for (int64_t i = 0; i < count; ++i) {
        int64_t integer = int64_t(floats[size_t(i)] * 8);
        std::memcpy(static_cast<char *>(data()) + i * elementBytes(), &integer, size_t(elementBytes()));
      }
    read();
  }
  void read() { toDoubles(type, false, data(), count, values.data()); }
  void poison() { std::memset(data(), 0xff, size_t(byteCount())); }
  void *data() const {
    uintptr_t address = reinterpret_cast<uintptr_t>(bytes.data());
    return const_cast<char *>(bytes.data()) + (64 - address % 64) % 64;
  }
  int64_t elementBytes() const { return TensorType{type, {}}.elementBytes(); }
  int64_t byteCount() const { return count * elementBytes(); }
  double at(int64_t i) const { return values[size_t(i)]; }

private:
  ElementType type;
  int64_t count;
  std::vector<double> values;
  std::vector<char> bytes;
};

struct Expected {
  double sum = 0, magnitude = 0;
  int64_t terms = 0;
  void add(double product) {
    sum += product;
    magnitude += std::fabs(product);
    ++terms;
  }
  double tolerance(ElementType type) const {
    double sums = type == ElementType::F64 ? 0x1p-52 : 0x1p-23;
    double rounding = type == ElementType::BF16     ? 0x1p-8
                      : type == ElementType::F16    ? 0x1p-11
                      : type == ElementType::F8E5M2 ? 0x1p-2
                                                    : 0;
    return isFloat(type) ? double(terms) * sums * magnitude + rounding * std::fabs(sum) + (rounding ? 0x1p-20 : 0) : 0;
  }
};

struct Random {
  std::mt19937 engine;
  explicit Random(unsigned seed) : engine(seed) {}
  int64_t below(int64_t n) { return int64_t(engine() % uint64_t(n)); }
  int64_t pick(std::initializer_list<int64_t> list) { return list.begin()[below(int64_t(list.size()))]; }
};

/// Runs `call` on `threads` of its own memory; the workspace and the result are NaN before.
inline std::vector<char> runFresh(LibraryCall &call, const Array &a, const Array &b, Array &c) {
  Array workspace(ElementType::I8, call.workspaceBytes());
  workspace.poison();
  c.poison();
  call.run(a.data(), b.data(), c.data(), workspace.data());
  c.read();
  return std::vector<char>(static_cast<char *>(c.data()), static_cast<char *>(c.data()) + c.byteCount());
}

/// Sets the shapes' result from all else. False: the window doesn't fit.
inline bool finish(ConvolutionSpec &spec) {
  size_t rank = spec.strides.size();
  spec.result.shape.assign(rank + 2, 0);
  spec.result.shape[size_t(spec.resultDims[0])] = spec.lhs.shape[size_t(spec.lhsDims[0])] / spec.batchGroups;
  spec.result.shape[size_t(spec.resultDims[1])] = spec.rhs.shape[size_t(spec.rhsDims[1])];
  for (size_t d = 0; d < rank; ++d) {
    int64_t in = (spec.lhs.shape[size_t(spec.lhsDims[d + 2])] - 1) * spec.lhsDilation[d] + 1 + spec.padding[2 * d] +
                 spec.padding[2 * d + 1];
    int64_t window = (spec.rhs.shape[size_t(spec.rhsDims[d + 2])] - 1) * spec.rhsDilation[d] + 1;
    if (in < window)
      return false;
    spec.result.shape[size_t(spec.resultDims[d + 2])] = (in - window) / spec.strides[d] + 1;
  }
  return true;
}

inline ConvolutionSpec imageConvolution(Dims lhs, Dims rhs, Dims strides, Dims padding) {
  ConvolutionSpec spec;
  spec.lhs.shape = lhs;
  spec.rhs.shape = rhs;
  spec.strides = strides;
  spec.padding = padding;
  spec.lhsDilation = spec.rhsDilation = {1, 1};
  spec.lhsDims = spec.resultDims = {0, 3, 1, 2};
  spec.rhsDims = {2, 3, 0, 1};
  return spec;
}

} // namespace librarycases
