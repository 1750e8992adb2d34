//===- Arguments.h - The arguments of a run ---------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "RunOptions.h"
#include "remat/Runtime/Inputs.h"
#include "remat/Runtime/Memory.h"

#include <span>
#include <vector>

namespace remat {

/// The data of a program's arguments, each at a multiple of 64.
class Arguments {
public:
  /// From `--inputs` or `--random-inputs`. `overwritten`: the arguments that a run destroys; they are kept twice.
  /// Error: a file that can't be read or doesn't fit the program, too little memory.
  static Expected<Arguments> load(const RunOptions &options, const runtime::Program &program,
                                  const std::vector<uint32_t> &overwritten);

  /// The arguments as they were loaded.
  std::span<const void *const> fresh();
  int64_t bytes() const { return total; }

private:
  std::optional<Error> fromFile(const std::string &path, const runtime::Program &program);
  std::optional<Error> fromSeed(const RunOptions &options, const runtime::Program &program);

  runtime::Pages memory;
  std::vector<void *> pointers;
  std::vector<std::pair<uint32_t, std::vector<char>>> kept;
  int64_t total = 0;
};

/// The table of rules beside a program: for `a/gpt2.bench.raw.generic.mlir` the first of
/// `a/gpt2.bench.raw.generic.args.tsv`, `a/gpt2.bench.raw.args.tsv`, … that is there; empty: none.
std::string findRules(const std::string &program);

/// The runtime's errors as the tools print them.
inline Error toError(runtime::Error error) {
  return makeError(std::move(error.message), std::move(error.place), std::move(error.note));
}

} // namespace remat
