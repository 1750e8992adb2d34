/*===- RematCuda.h - Compiled training steps on a GPU, for C ------*- C -*-===*\
|* Part of the Remat project, under the Apache License v2.0 with LLVM          *|
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception         *|
\*===----------------------------------------------------------------------===*/
/*
 * A step for a GPU is an image (the program: its steps, buffers and constants as bytes) and code (how its kernels are
 * launched, and a fat binary). `remat-opt step.mlir --emit=object --device=h100 -o step.o` writes an object that holds
 * both, and step.h beside it, which declares the object's one function:
 *
 *   remat_cuda_program *step_open(const remat_cuda_options *options);
 *
 * It is remat_cuda_open of the two. Link the object with libRematCudaRuntime, libRematCudaProgram, libRematRuntime and
 * the C++ library; --emit=shared has done so already. The CUDA driver, cuBLASLt and cuDNN are loaded when a step first
 * runs. Opening a step and asking for sizes need none of them.
 *
 *   remat_cuda_options options = {.graph = 1};
 *   remat_cuda_program *program = step_open(&options);
 *   if (program)
 *     cuMemAlloc(&arena, remat_cuda_arena_bytes(program));
 *   if (!program || remat_cuda_run(program, arguments, results, arena, stream) != 0)
 *     fprintf(stderr, "%s\n", remat_cuda_error());
 *
 * A program is used by one thread at a time. No function throws or ends the process. A null pointer that isn't allowed
 * here and a number out of range are errors, which remat_cuda_error tells; what is counted or asked is then 0, bytes
 * are -1.
 */
#ifndef REMAT_C_REMATCUDA_H
#define REMAT_C_REMATCUDA_H

#include "remat-c/Remat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled step for a GPU. */
typedef struct remat_cuda_program remat_cuda_program;
/* An address in the device's memory: a CUdeviceptr. */
typedef uint64_t remat_device_pointer;

/* All zero is the default. */
typedef struct remat_cuda_options {
  /* What dlopen loads; NULL: libcuda.so.1, libcublasLt.so.13 and libcudnn.so.9. Copied. */
  const char *driver, *blaslt, *cudnn;
  /* The device whose primary context is used where the thread has no current context; not negative. */
  int device;
  /* 1: dots and convolutions of f32 may round their inputs to TF32. */
  int allow_tf32;
  /* 1: the step is captured as a CUDA graph on its first run and replayed; with other pointers the graph is updated. */
  int graph;
} remat_cuda_options;

/* What a program holds of the device's memory, in bytes. */
typedef struct remat_cuda_memory {
  int64_t arena_bytes;    /* Of the program's own arena; 0 where the caller gives one. */
  int64_t constant_bytes; /* Of the program's constants. */
  int64_t used_before;    /* Used on the device before the program was loaded, by cuMemGetInfo. */
  int64_t used_after;     /* Used on the device now. */
} remat_cuda_memory;

/* The text of the last error of the calling thread; "" where there was none. Valid until its next call of this API. */
const char *remat_cuda_error(void);

/* Opens a program from its image and its code, which are copied. `options` may be NULL. Needs no driver. NULL: an
   error. */
remat_cuda_program *remat_cuda_open(const void *image, size_t image_size, const void *code, size_t code_size,
                                    const remat_cuda_options *options);
/* Waits for nothing: what was enqueued must have ended. NULL is allowed. */
void remat_cuda_close(remat_cuda_program *program);

size_t remat_cuda_argument_count(const remat_cuda_program *program);
size_t remat_cuda_result_count(const remat_cuda_program *program);
/* 0, or -1: an error, as of an index beyond the last. */
int remat_cuda_argument(const remat_cuda_program *program, size_t index, remat_tensor *tensor);
int remat_cuda_result(const remat_cuda_program *program, size_t index, remat_tensor *tensor);
/* 1 where a run overwrites the argument, because a result takes its place. */
int remat_cuda_argument_is_overwritten(const remat_cuda_program *program, size_t index);
/* Bytes of the arena, which lies at a multiple of 256. Needs no driver. */
int64_t remat_cuda_arena_bytes(const remat_cuda_program *program);
/* The planned peak: bytes of the arena that are in use together. Needs no driver. */
int64_t remat_cuda_peak_bytes(const remat_cuda_program *program);
/* 1 where a run never waits for the device: it can be captured as a graph, by the caller's own capture too, once it
   has run before. Needs no driver. */
int remat_cuda_can_be_captured(const remat_cuda_program *program);

/* Loads driver, code and libraries now, which the first run does otherwise. 0, or -1: an error. */
int remat_cuda_load(remat_cuda_program *program);

/* Enqueues the step on `stream` (a CUstream or cudaStream_t; NULL: the default stream). `arguments` has as many device
   addresses, at multiples of 16, as the program has arguments. `results` may be NULL; otherwise it gets the address of
   every result: in the arena until the next run, or in an argument. `arena` 0: the program allocates its own, once.
   0, or -1: an error. */
int remat_cuda_run(remat_cuda_program *program, const remat_device_pointer *arguments, remat_device_pointer *results,
                   remat_device_pointer arena, void *stream);

/* 0, or -1: an error: the program hasn't been loaded, or what the driver says. */
int remat_cuda_memory_used(const remat_cuda_program *program, remat_cuda_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
