//===- Inputs.h - Arguments for a program -----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Error.h"
#include "remat/Runtime/Npz.h"
#include "remat/Runtime/Program.h"

#include <map>

namespace remat::runtime {

/// How the elements of one argument follow from a seed. All integer arithmetic is modulo 2^64:
///
///   G = 0x9E3779B97F4A7C15, mix: splitmix64's finaliser, key = mix(seed + G × (argument + 1)),
///   h = mix(key + G × (e + 1)) for the row-major element e
///   floats: offset + scale × (((h >> 40) - 2^23) × 2^-23); scale is 0 or a power of two, so only the sum rounds
///   integers: ((h >> 32) × max) >> 32
struct RandomRule {
  bool isInteger = false;
  float offset = 0, scale = 0; ///< Floats: uniform in [offset - scale, offset + scale).
  uint64_t max = 0;            ///< Integers: uniform in [0, max); 0 gives zeros.
};

/// Without a file: floats in ±2^-5, integers 0.
RandomRule defaultRule(ElementType element);

/// The rules of a tab-separated table with the columns `io`, `index`, `rule`, `offset`, `scale` and `max`, of the rows
/// whose `io` is `in`, by index. Empty for a table without the column `rule`. Error: a row that can't be read.
Expected<std::map<uint32_t, RandomRule>> parseRules(std::string_view table, const std::string &place);

/// Makes `type.elements()` elements of argument `argument` at `out`. Same seed, same bits, on every machine.
void fillRandom(const TensorType &type, const RandomRule &rule, uint64_t seed, uint32_t argument, void *out);

/// What is left of a result where it is too large to be kept.
struct Checksum {
  double sum = 0, absoluteSum = 0;
  double weightedSum = 0; ///< Each element by a weight of its place: notices permuted elements.
  double max = 0;         ///< The largest magnitude.
};
/// `index` is the result's; sums are in f64.
Checksum computeChecksum(uint32_t index, const TensorType &type, bool isUnsigned, const void *data,
                         uint64_t weightSeed = 7);

/// The data of each argument from the arrays of a file, in the program's order. Keys are `NNNN_name`, argument NNNN;
/// where none has that form, arrays count in the file's order. A float array becomes a bf16, f16 or f8 argument by
/// rounding to nearest, ties to even. Error: an array missing or too much, another shape, another type; `place` names
/// the file.
Expected<std::vector<std::vector<char>>> matchArguments(std::vector<NpzArray> arrays, const Program &program,
                                                        const std::string &place);

/// How far a result is from its reference, relative to the reference's largest magnitude: max |a - b| / max |b|; the
/// plain difference where the reference is 0. NaN in the same places is no difference; elsewhere it is infinite.
double relativeError(const TensorType &type, bool isUnsigned, const void *data, const NpzArray &reference);

/// The references of the results in the program's order, from the arrays of a file. Errors as in `matchArguments`; a
/// bf16 or f8 result has an f32 reference, as numpy stores it.
Expected<std::vector<NpzArray>> matchResults(std::vector<NpzArray> arrays, const Program &program,
                                             const std::string &place);

/// The first NaN or infinity of a float result, by element; nothing where all are finite.
std::optional<int64_t> findNonFinite(const TensorType &type, const void *data);

} // namespace remat::runtime
