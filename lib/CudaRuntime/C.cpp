//===- C.cpp - Compiled training steps on a GPU, for C ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Runtime/Describe.h"

#include "remat-c/RematCuda.h"
#include "remat/CudaRuntime/CudaExecutable.h"
#include "remat/Runtime/ProgramFile.h"

#include <algorithm>
#include <exception>

using namespace remat::runtime;

struct remat_cuda_program {
  std::shared_ptr<const CudaExecutable> executable;
  CudaOptions options;
  std::unique_ptr<CudaContext> context; ///< Made by the first run.
};

static thread_local std::string lastError;

/// 0 where `act` gives no error. Exceptions (the system is out of memory) end here.
template <typename Act>
static int guarded(Act act) noexcept {
  try {
    lastError.clear();
    std::optional<Error> error = act();
    if (!error)
      return 0;
    lastError = error->str();
  } catch (const std::exception &exception) {
    lastError = exception.what();
  }
  return -1;
}

static CudaOptions optionsOf(const remat_cuda_options *given) {
  CudaOptions options;
  if (!given)
    return options;
  if (given->driver)
    options.libraries.driver = given->driver;
  if (given->blaslt)
    options.libraries.blasLt = given->blaslt;
  if (given->cudnn)
    options.libraries.cudnn = given->cudnn;
  options.device = given->device;
  options.allowTf32 = given->allow_tf32 != 0;
  options.graph = given->graph != 0;
  return options;
}

static std::optional<Error> refuseNull(const void *pointer, const char *what) {
  return pointer ? std::nullopt : std::optional(Error{"the " + std::string(what) + " is null"});
}

/// `what`: `argument` or `result`.
static std::optional<Error> refuseBeyond(const std::vector<Program::Value> &values, size_t index, const char *what) {
  if (index < values.size())
    return std::nullopt;
  return Error{"there is no " + std::string(what) + " " + std::to_string(index) + ": the program has " +
               std::to_string(values.size())};
}

const char *remat_cuda_error(void) { return lastError.c_str(); }

remat_cuda_program *remat_cuda_open(const void *image, size_t image_size, const void *code, size_t code_size,
                                    const remat_cuda_options *options) {
  std::unique_ptr<remat_cuda_program> opened;
  (void)guarded([&]() -> std::optional<Error> {
    if (auto error = refuseNull(image, "image"))
      return error;
    if (auto error = refuseNull(code, "code"))
      return error;
    if (options && options->device < 0)
      return Error{"expected a device's number, found: " + std::to_string(options->device), "",
                   "0 is the first device"};
    Expected<Program> program = readProgram({static_cast<const char *>(image), image_size});
    if (!program)
      return program.error();
    Expected<CudaCode> gpuCode = readCudaCode({static_cast<const char *>(code), code_size});
    if (!gpuCode)
      return gpuCode.error();
    auto executable = CudaExecutable::create(std::move(*program), std::move(*gpuCode));
    if (!executable)
      return executable.error();
    opened = std::make_unique<remat_cuda_program>(std::move(*executable), optionsOf(options));
    return std::nullopt;
  });
  return opened.release();
}

void remat_cuda_close(remat_cuda_program *program) { delete program; }

/// For functions that take a program that may not have been opened.
static std::optional<Error> refuseUnopened(const remat_cuda_program *program) {
  return program ? std::nullopt : std::optional(Error{"the program is null", "", "remat_cuda_open says why"});
}

/// What `read` finds out about a program; `otherwise`, and an error, for none.
template <typename T, typename Read>
static T ask(const remat_cuda_program *program, T otherwise, Read read) {
  T found = otherwise;
  (void)guarded([&]() -> std::optional<Error> {
    if (auto error = refuseUnopened(program))
      return error;
    found = read(*program->executable);
    return std::nullopt;
  });
  return found;
}

size_t remat_cuda_argument_count(const remat_cuda_program *program) {
  return ask(program, size_t(0), [](const CudaExecutable &step) { return step.program().arguments.size(); });
}
size_t remat_cuda_result_count(const remat_cuda_program *program) {
  return ask(program, size_t(0), [](const CudaExecutable &step) { return step.program().results.size(); });
}

/// Describes one of the program's `values`; `what` they are.
static int describeValue(const remat_cuda_program *program, std::vector<Program::Value> Program::*values, size_t index,
                         remat_tensor *tensor, const char *what) {
  return guarded([&]() -> std::optional<Error> {
    if (auto error = refuseUnopened(program))
      return error;
    const std::vector<Program::Value> &list = program->executable->program().*values;
    if (auto error = refuseBeyond(list, index, what))
      return error;
    if (auto error = refuseNull(tensor, "tensor"))
      return error;
    (void)describe(list, index, tensor);
    return std::nullopt;
  });
}

int remat_cuda_argument(const remat_cuda_program *program, size_t index, remat_tensor *tensor) {
  return describeValue(program, &Program::arguments, index, tensor, "argument");
}
int remat_cuda_result(const remat_cuda_program *program, size_t index, remat_tensor *tensor) {
  return describeValue(program, &Program::results, index, tensor, "result");
}

int remat_cuda_argument_is_overwritten(const remat_cuda_program *program, size_t index) {
  int found = 0;
  (void)guarded([&]() -> std::optional<Error> {
    if (auto error = refuseUnopened(program))
      return error;
    const CudaExecutable &step = *program->executable;
    if (auto error = refuseBeyond(step.program().arguments, index, "argument"))
      return error;
    found = int(std::ranges::binary_search(step.overwrittenArguments(), index));
    return std::nullopt;
  });
  return found;
}

int64_t remat_cuda_arena_bytes(const remat_cuda_program *program) {
  return ask(program, int64_t(-1), [](const CudaExecutable &step) { return step.program().arenaBytes; });
}
int64_t remat_cuda_peak_bytes(const remat_cuda_program *program) {
  return ask(program, int64_t(-1), [](const CudaExecutable &step) { return step.program().plannedPeakBytes; });
}
int remat_cuda_can_be_captured(const remat_cuda_program *program) {
  return ask(program, 0, [](const CudaExecutable &step) { return int(step.canBeCaptured()); });
}

static std::optional<Error> load(remat_cuda_program &program) {
  if (program.context)
    return std::nullopt;
  auto context = CudaContext::create(program.executable, program.options);
  if (!context)
    return context.error();
  program.context = std::move(*context);
  return std::nullopt;
}

int remat_cuda_load(remat_cuda_program *program) {
  return guarded([&]() -> std::optional<Error> {
    if (auto error = refuseUnopened(program))
      return error;
    return load(*program);
  });
}

int remat_cuda_run(remat_cuda_program *program, const remat_device_pointer *arguments, remat_device_pointer *results,
                   remat_device_pointer arena, void *stream) {
  return guarded([&]() -> std::optional<Error> {
    if (auto error = refuseUnopened(program))
      return error;
    size_t count = program->executable->program().arguments.size();
    if (count > 0)
      if (auto error = refuseNull(arguments, "list of arguments"))
        return error;
    if (auto error = load(*program))
      return error;
    if (auto error = program->context->run({arguments, count}, arena, stream))
      return error;
    for (size_t i = 0; results && i < program->executable->program().results.size(); ++i)
      results[i] = program->context->result(i);
    return std::nullopt;
  });
}

int remat_cuda_memory_used(const remat_cuda_program *program, remat_cuda_memory *memory) {
  return guarded([&]() -> std::optional<Error> {
    if (auto error = refuseUnopened(program))
      return error;
    if (auto error = refuseNull(memory, "memory to fill in"))
      return error;
    if (!program->context)
      return Error{"the program isn't loaded", "", "run it, or call remat_cuda_load, first"};
    Expected<CudaMemory> found = program->context->memory();
    if (!found)
      return found.error();
    *memory = {found->arenaBytes, found->constantBytes, found->usedBefore, found->usedAfter};
    return std::nullopt;
  });
}
