//===- Expectation.h - What the results should be ---------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"
#include "remat/Runtime/Inputs.h"

#include <functional>
#include <memory>
#include <optional>

namespace remat {

/// How far a result is from what was expected.
struct OutputError {
  std::string name;
  double error = 0; ///< Relative to the result's largest magnitude, or of checksums to the sum of magnitudes.
  double tolerance = 0;
};

/// Where nothing is said: 1e-5; 2e-2 where a float argument or result is narrower than f32.
double defaultTolerance(const runtime::Program &program);

/// The data of result `index`.
using ResultData = std::function<const void *(size_t index)>;

/// Compares all results with `path`: an .npz file with keys NNNN_name, or a .json file with checksums
/// (docs/Formats.md). There `noise` of an output, 30 times, widens the default tolerance. Error: a file that can't be
/// read or doesn't fit the program. Too large errors are the caller's to judge.
Expected<std::vector<OutputError>> compareResults(const std::string &path, std::optional<double> tolerance,
                                                  const runtime::Program &program, const ResultData &result);

} // namespace remat
