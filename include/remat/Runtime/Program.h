//===- Program.h - A compiled training step as data --------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is a list of steps over buffers at fixed places of one arena, and a table of kernels: functions that were
// compiled elsewhere. It holds no pointers, so it can be written to a file and read back.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace remat::runtime {

/// Signed and unsigned integers have one type; what reads them knows. I1 takes a byte that is 0 or 1.
enum class ElementType : uint8_t { F64, F32, F16, BF16, F8E5M2, F8E4M3FN, I64, I32, I16, I8, I1 };

struct TensorType {
  ElementType element = ElementType::F32;
  std::vector<int64_t> shape;

  int64_t elementBytes() const;
  int64_t elements() const;
  int64_t bytes() const { return elements() * elementBytes(); }
};

/// A place: in the arena, in the caller's argument `index`, or in the program's constants. `offset` in bytes.
struct Buffer {
  enum class Space : uint8_t { Arena, Argument, Constant };
  Space space = Space::Arena;
  uint32_t index = 0;
  int64_t offset = 0;
};

/// Computes the iterations [begin, end) of a kernel. Iterations are independent of each other, and what they compute
/// doesn't depend on how they are split. `thread`, from 0 to the program's threads - 1, picks the part of a workspace.
using KernelFunction = void (*)(void *const *buffers, int64_t begin, int64_t end, int64_t thread);

/// C = A × B for matrices with any strides, batched: C[b, m, n] = Σ_k A[b, m, k] × B[b, k, n]. Strides in elements.
/// bf16 and f16 accumulate in f32. `beta`: adds to C instead of overwriting it.
struct MatmulSpec {
  ElementType a = ElementType::F32, b = ElementType::F32, c = ElementType::F32;
  std::vector<int64_t> batch; ///< Sizes of batch dimensions; may be empty.
  int64_t m = 1, n = 1, k = 1;
  std::vector<int64_t> aBatchStrides, bBatchStrides, cBatchStrides; ///< As long as `batch`.
  int64_t aRowStride = 0, aColumnStride = 0;                        ///< Of m and k.
  int64_t bRowStride = 0, bColumnStride = 0;                        ///< Of k and n.
  int64_t cRowStride = 0, cColumnStride = 0;                        ///< Of m and n.
};

/// StableHLO's convolution; see `remat.convolution` for the fields. Tensors are row-major and dense.
struct ConvolutionSpec {
  TensorType lhs, rhs, result;
  std::vector<int64_t> strides, padding, lhsDilation, rhsDilation;
  std::vector<int64_t> lhsDims, rhsDims, resultDims;
  std::vector<uint8_t> reversed; ///< By spatial dimension: the kernel is flipped. Empty: none.
  int64_t featureGroups = 1, batchGroups = 1;
};

/// A part of the arena that holds one value, or a workspace, for some steps.
struct Slot {
  std::string name;
  int64_t offset = 0, bytes = 0;
};

/// One step. `buffers` are what the kind says.
struct Step {
  enum class Kind : uint8_t {
    Kernel,      ///< Runs kernel `kernel`; `buffers` as it was compiled for.
    Matmul,      ///< `library` numbers the spec; buffers: A, B, C, workspace (if it takes one).
    Convolution, ///< `library` numbers the spec; buffers: input, kernel, result, workspace (if it takes one).
    Copy,        ///< `bytes` from buffers[0] to buffers[1], which don't overlap unless they are the same.
    While, ///< Runs bodies[0], reads the byte at buffers[0]; while it isn't 0 runs bodies[1], then bodies[0] again.
    Branch ///< Runs bodies[i], i the int32 at buffers[0], clamped to the last body if it is out of range.
  };
  Kind kind = Kind::Kernel;
  std::string name; ///< The op, for profiles and errors.
  uint32_t kernel = 0, library = 0;
  int64_t iterations = 1; ///< Of a kernel, shared by the threads.
  int64_t grain = 1;      ///< The least iterations that are worth a thread.
  int64_t bytes = 0;      ///< Of a copy; of other steps: bytes read and written, for profiles.
  std::vector<Buffer> buffers;
  std::vector<std::vector<Step>> bodies;
  std::vector<uint32_t> taken;    ///< Slots that come into use with this step.
  std::vector<uint32_t> released; ///< Slots that nobody reads behind this step.
};

struct Program {
  struct Value {
    std::string name;
    TensorType type;
    bool isUnsigned = false; ///< An integer that files and reports take as unsigned.
  };
  std::string name;
  int threads = 1;
  std::vector<Value> arguments, results;
  std::vector<Buffer> resultBuffers; ///< Where the results lie after the last step.
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<MatmulSpec> matmuls;
  std::vector<ConvolutionSpec> convolutions;
  std::vector<std::string> kernels; ///< Symbols, by number.
  /// What a processor must have to run the kernels (Processor.h).
  std::vector<std::string> features;
  std::vector<char> constants;  ///< To be placed at an address that is a multiple of 64.
  int64_t arenaBytes = 0;       ///< Alignment 64.
  int64_t plannedPeakBytes = 0; ///< Peak of the slots' bytes (rounded up to 64) that are alive together.
};

} // namespace remat::runtime
