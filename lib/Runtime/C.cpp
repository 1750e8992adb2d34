//===- C.cpp - Compiled training steps for C -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"

#include "remat/Runtime/Executable.h"
#include "remat/Runtime/ProgramFile.h"

#include <algorithm>
#include <new>

using namespace remat::runtime;

static_assert(int(REMAT_I1) == int(ElementType::I1), "the two enumerations are one");

struct remat_program {
  std::shared_ptr<const Executable> executable;
};
struct remat_context {
  std::unique_ptr<Context> context;
};

static thread_local std::string lastError;

static void setError(const Error &error) { lastError = error.str(); }

/// What `make` gives, or null and an error: exceptions (the system is out of memory) end here.
template <typename Make>
static auto guarded(Make make) noexcept -> decltype(make()) {
  try {
    lastError.clear();
    return make();
  } catch (const std::exception &exception) {
    setError({exception.what()});
  }
  return nullptr;
}

const char *remat_error(void) { return lastError.c_str(); }

remat_program *remat_program_open(const void *image, size_t size, const remat_kernel *kernels, size_t count) {
  return guarded([&]() -> remat_program * {
    Expected<Program> program = readProgram({static_cast<const char *>(image), size});
    if (!program)
      return setError(program.error()), nullptr;
    auto executable = Executable::create(std::move(*program), {kernels, kernels + count});
    if (!executable)
      return setError(executable.error()), nullptr;
    return new remat_program{std::move(*executable)};
  });
}

void remat_program_close(remat_program *program) { delete program; }

size_t remat_argument_count(const remat_program *program) { return program->executable->program().arguments.size(); }
size_t remat_result_count(const remat_program *program) { return program->executable->program().results.size(); }
int remat_argument(const remat_program *program, size_t index, remat_tensor *tensor) {
  return describe(program->executable->program().arguments, index, tensor);
}
int remat_result(const remat_program *program, size_t index, remat_tensor *tensor) {
  return describe(program->executable->program().results, index, tensor);
}
int remat_argument_is_overwritten(const remat_program *program, size_t index) {
  return std::ranges::binary_search(program->executable->overwrittenArguments(), index);
}
int64_t remat_arena_bytes(const remat_program *program) { return program->executable->program().arenaBytes; }
int64_t remat_peak_bytes(const remat_program *program) { return program->executable->program().plannedPeakBytes; }
int remat_threads(const remat_program *program) { return program->executable->program().threads; }

remat_context *remat_context_create(const remat_program *program, void *arena, size_t arena_bytes) {
  return guarded([&]() -> remat_context * {
    ContextOptions options;
    options.arena = arena;
    options.arenaBytes = int64_t(arena_bytes);
    auto context = Context::create(program->executable, options);
    if (!context)
      return setError(context.error()), nullptr;
    return new remat_context{std::move(*context)};
  });
}

void remat_context_destroy(remat_context *context) { delete context; }

int remat_run(remat_context *context, const void *const *arguments) {
  size_t count = context->context->executable().program().arguments.size();
  auto error = context->context->run({arguments, count});
  if (error)
    setError(*error);
  return error ? -1 : 0;
}

const void *remat_result_data(const remat_context *context, size_t index) {
  bool exists = index < context->context->executable().program().results.size();
  return exists ? context->context->result(index) : nullptr;
}
