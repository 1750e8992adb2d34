//===- RunOptions.h - What the user asked of a run --------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace remat {

/// What an output that isn't finite means.
enum class NanPolicy { Allow, Error };

/// The flags of remat-run beside those of planning.
struct RunOptions {
  std::string program = "-"; ///< The file with the step.
  std::string output;        ///< `-o`, of `--emit`.
  std::string inputs;        ///< An .npz file; empty with `randomSeed`.
  std::optional<uint64_t> randomSeed;
  std::string expect;  ///< References: .npz, or .json with checksums; empty: none.
  std::string outputs; ///< An .npz file to write; empty: none.
  int repeat = 1;
  bool verify = false;     ///< Run the original too, and compare bit for bit.
  bool profile = false;    ///< Time every step.
  std::string profileFile; ///< A Chrome trace to write; empty: none.
  bool measure = true;     ///< One more run, first, that counts what is in use.
  NanPolicy nanPolicy = NanPolicy::Allow;
  std::optional<double> tolerance; ///< Largest error against `expect`; nothing: by the types, see `defaultTolerance`.
  int64_t arenaLimitBytes = 0;     ///< 0: none.
  bool cudaGraph = false;          ///< On a GPU: capture the step as a graph.
  bool allowTf32 = false;          ///< On a GPU: dots and convolutions of f32 may round their inputs.
};

/// Registers the flags, PROGRAM and -o among them; call it before the command line is parsed. `--emit`, `--report` and
/// the flags of planning are remat-opt's.
void registerRunFlags();

/// Reads the flags after the command line is parsed. `runs`: false where the program is only emitted, which needs `-o`
/// and takes no flag of a run. Error: flags that contradict each other, values out of range, no inputs.
Expected<RunOptions> readRunFlags(bool runs = true);

} // namespace remat
