/*===- Remat.h - Compiled training steps for C --------------------*- C -*-===*\
|* Part of the Remat project, under the Apache License v2.0 with LLVM          *|
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception         *|
\*===----------------------------------------------------------------------===*/
/*
 * `remat-run step.mlir --emit=object -o step.o` writes an object with the compiled step in it, and step.h beside it,
 * which declares the object's one function:
 *
 *   remat_program *step_open(void);
 *
 * The object holds three things: an image (the program: its steps, buffers and constants as bytes), a table of kernels,
 * and that function, which is
 *
 *   return remat_program_open(image, sizeof image, kernels, sizeof kernels / sizeof *kernels);
 *
 * Link it with libRematRuntime and the C++ library;
 * --emit=shared has done so already. Then
 *
 *   remat_program *program = step_open();
 *   remat_context *context = remat_context_create(program, NULL, 0);
 *   if (!context || remat_run(context, arguments) != 0)
 *     fprintf(stderr, "%s\n", remat_error());
 *   const float *loss = remat_result_data(context, 0);
 *
 * A program may be used by several threads at a time, a context by one. No function throws or ends the process.
 */
#ifndef REMAT_C_REMAT_H
#define REMAT_C_REMAT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled step. */
typedef struct remat_program remat_program;
/* An arena and what else one thread needs to run a program. */
typedef struct remat_context remat_context;
/* Computes the iterations [begin, end); what compiled code exports. */
typedef void (*remat_kernel)(void *const *buffers, int64_t begin, int64_t end, int64_t thread);

typedef enum remat_element {
  REMAT_F64,
  REMAT_F32,
  REMAT_F16,
  REMAT_BF16,
  REMAT_F8E5M2,
  REMAT_F8E4M3FN,
  REMAT_I64,
  REMAT_I32,
  REMAT_I16,
  REMAT_I8,
  REMAT_I1 /* A byte that is 0 or 1. */
} remat_element;

/* An argument or a result: dense, row-major. The pointers live as long as the program. */
typedef struct remat_tensor {
  const char *name;
  remat_element element;
  int is_unsigned;
  size_t rank;
  const int64_t *shape;
  int64_t bytes;
} remat_tensor;

/* The text of the last error of the calling thread; "" where there was none. Valid until its next call of this API. */
const char *remat_error(void);

/* Opens a program from its image and its kernels, which are copied. NULL: an error. */
remat_program *remat_program_open(const void *image, size_t size, const remat_kernel *kernels, size_t count);
/* Contexts may outlive it. NULL is allowed. */
void remat_program_close(remat_program *program);

size_t remat_argument_count(const remat_program *program);
size_t remat_result_count(const remat_program *program);
/* 0, or -1 for an index beyond the last. */
int remat_argument(const remat_program *program, size_t index, remat_tensor *tensor);
int remat_result(const remat_program *program, size_t index, remat_tensor *tensor);
/* 1 where a run overwrites the argument, because a result takes its place. */
int remat_argument_is_overwritten(const remat_program *program, size_t index);
/* Bytes that a context's arena takes, at a multiple of 64. */
int64_t remat_arena_bytes(const remat_program *program);
/* The planned peak: bytes of the arena that are in use together. */
int64_t remat_peak_bytes(const remat_program *program);
/* Threads that a run computes with. */
int remat_threads(const remat_program *program);

/* `arena` of `arena_bytes` is the caller's memory at a multiple of 64 and outlives the context; NULL: the context takes
   its own from the system. NULL: an error. */
remat_context *remat_context_create(const remat_program *program, void *arena, size_t arena_bytes);
/* NULL is allowed. */
void remat_context_destroy(remat_context *context);

/* Runs the step on as many arguments as the program has. Allocates nothing behind the first run. 0, or -1: an error. */
int remat_run(remat_context *context, const void *const *arguments);
/* Where a result of the last run lies: in the arena until the next run, or in an argument. NULL for an index beyond the
   last. */
const void *remat_result_data(const remat_context *context, size_t index);

#ifdef __cplusplus
}
#endif

#endif
