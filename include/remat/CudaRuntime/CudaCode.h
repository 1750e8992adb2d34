//===- CudaCode.h - The code that a program runs on a GPU --------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Program says what runs and where its buffers lie, for every device. What a GPU needs besides is here: machine code,
// and how each kernel is launched. The compiler fills it; the runtime only reads it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Runtime/Error.h"
#include "remat/Runtime/Program.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace remat::runtime {

/// A parameter of a GPU function.
struct CudaParameter {
  enum class Kind : uint8_t {
    Buffer, ///< 8 bytes: the device address of the step's buffer `value`.
    Int32,  ///< 4 bytes: `value`.
    Int64   ///< 8 bytes: `value`.
  };
  Kind kind = Kind::Buffer;
  int64_t value = 0;
};

/// One launch of a function of the binary. Neither size may be 0; CUDA's limits hold: 1024 threads a block, 2^31 - 1
/// blocks along x and 65535 along y and z.
struct CudaLaunch {
  std::string symbol;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}; ///< Blocks, threads of a block: x, y, z.
  uint32_t sharedBytes = 0;                                    ///< Dynamic shared memory of a block.
  std::vector<CudaParameter> parameters;
};

/// What a program needs to run on a GPU.
struct CudaCode {
  /// By kernel, as `Program::kernels` numbers them: the launches of a kernel step, one after the other on one stream.
  /// A kernel of no launches is one that has nothing to do.
  std::vector<std::vector<CudaLaunch>> kernels;
  /// How often the body of each While step runs, by the steps in preorder: negative where only the device knows, which
  /// costs a copy back for every iteration. With a count, bodies[0] and the flag are left out: bodies[0] must compute
  /// nothing but the condition. Empty: no count is known.
  std::vector<int64_t> tripCounts;
  /// Where the op of each step stands in the user's file, by steps in preorder, for errors. Empty: nowhere.
  std::vector<std::string> locations;
  /// A cubin, a fat binary, or PTX that ends with a 0. Empty where no kernel has a launch.
  std::vector<char> binary;
};

/// What holds for legal code of a legal program: a list of launches for every kernel, sizes within CUDA's limits,
/// parameters that name buffers of every step that runs the kernel, as many trip counts and locations as there are
/// loops and steps, or none. Error: the first kernel or step that breaks it.
std::optional<Error> checkCudaCode(const Program &program, const CudaCode &code);

/// The code as bytes, to stand beside a program's image. Same code, same bytes.
std::vector<char> writeCudaCode(const CudaCode &code);

/// Reads what `writeCudaCode` wrote. Error: cut off, corrupt or of another version.
Expected<CudaCode> readCudaCode(std::span<const char> bytes);

} // namespace remat::runtime
