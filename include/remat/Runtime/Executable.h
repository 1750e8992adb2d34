//===- Executable.h - Runs a compiled training step -------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//   auto executable = Executable::create(std::move(program), kernels, code);
//   auto context = Context::create(*executable);
//   if (auto error = (*context)->run(arguments)) …
//   const void *loss = (*context)->result(0);
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Error.h"
#include "remat/Runtime/Measure.h"
#include "remat/Runtime/Profile.h"
#include "remat/Runtime/Program.h"

#include <memory>
#include <optional>
#include <span>

namespace remat::runtime {

/// What holds for every legal program: indices in range, buffers inside the arena, the constants or their argument,
/// as many buffers and bodies as each kind of step takes, slots at multiples of 64 within the arena. Error: the first
/// step or slot that breaks it.
std::optional<Error> checkProgram(const Program &program);

/// The numbers of the arguments whose places results take, each once, ascending.
std::vector<uint32_t> findOverwrittenArguments(const Program &program);

/// A program and its code. Immutable: threads share it, each with a context of its own.
class Executable {
public:
  /// `kernels` are in the order of `program.kernels`; `code` lives as long as the executable. Error: a program that
  /// isn't legal, a kernel too many, too few or null, or code for another processor.
  static Expected<std::shared_ptr<const Executable>> create(Program program, std::vector<KernelFunction> kernels,
                                                            std::shared_ptr<void> code = nullptr);
  ~Executable();

  /// `constants` is empty here: they lie in memory of their own.
  const Program &program() const;
  /// Arguments that a run overwrites, because a result lies in them.
  const std::vector<uint32_t> &overwrittenArguments() const;

private:
  friend class Context;
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

struct ContextOptions {
  /// The caller's memory, aligned to 64 bytes, for the arena; it outlives the context. Null: the context's own.
  void *arena = nullptr;
  int64_t arenaBytes = 0; ///< Of the caller's memory.
  /// A larger arena is an error. 0: no limit.
  int64_t arenaLimitBytes = 0;
};

/// What one thread needs to run an executable: an arena, library calls. Several contexts of one executable may run at
/// the same time; one context runs on one thread at a time.
class Context {
public:
  /// Error: too little memory, or a dot or convolution that the library doesn't have.
  static Expected<std::unique_ptr<Context>> create(std::shared_ptr<const Executable> executable,
                                                   const ContextOptions &options = {});
  ~Context();

  const Executable &executable() const;

  /// Runs the step. `arguments` are in the program's order, dense and row-major; they are only read, but for the
  /// executable's `overwrittenArguments`. Allocates nothing behind the first run. Error: not as many arguments as the
  /// program has, or a null one.
  std::optional<Error> run(std::span<const void *const> arguments);

  /// As `run`, and watches the arena: poisons it first, and a slot whenever it is released. Error also: a slot that is
  /// taken while it, or another one that overlaps it, is in use; one that is released without being in use; a step or a
  /// result that touches a place in no slot that is in use.
  Expected<Measurement> measure(std::span<const void *const> arguments);

  /// As `run`, and times every step.
  Expected<Profile> profile(std::span<const void *const> arguments);

  /// Where result `index` of the last run lies: in the arena until the next run, in an argument, or a constant. Null
  /// where it lies in an argument and nothing has run.
  const void *result(size_t index) const;

private:
  struct Impl;
  explicit Context(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace remat::runtime
