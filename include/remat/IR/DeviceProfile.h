//===- DeviceProfile.h - How fast a device is --------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/OpModel.h"
#include "remat/Plan/Error.h"

#include "llvm/ADT/StringRef.h"

namespace remat {

/// Floating-point operations per second by element type.
struct Throughput {
  double f64 = 0, f32 = 0, tf32 = 0, bf16 = 0, f16 = 0, f8 = 0, i8 = 0;
};

/// The speeds a roofline needs. Peak values of data sheets; costs rank plans, they don't predict run times.
struct DeviceProfile {
  std::string name;
  Throughput matrix; ///< Dots and convolutions. tf32 is for information: f32 dots run at f32's rate, as JAX's do.
  Throughput vector; ///< Everything else.
  double bytesPerSecond = 0;     ///< Device memory, reads and writes together.
  double linkBytesPerSecond = 0; ///< To the host and to other devices, one direction.
  double launchNs = 0;           ///< Cost of starting one kernel.
};

/// The profile of a built-in device, `sm_80` (`a100`), `sm_90` (`h100`), `sm_100` (`b200`), `cpu`, or of a JSON file
/// (docs/Formats.md). Error: neither a device (the note names the nearest) nor a readable file; a malformed file
/// (place: `line:column` or the field).
Expected<DeviceProfile> findDevice(llvm::StringRef nameOrPath);

/// Reads a profile from JSON text:
///   { "name": "...", "matrix_flops": { "f32": N, … }, "vector_flops": { "f32": N, … }, "bytes_per_second": N,
///     "link_bytes_per_second": N, "launch_ns": N }
/// Only f32 is required of the types. Of the others, f64 defaults to half of f32, every narrower one to the next wider.
Expected<DeviceProfile> parseDevice(llvm::StringRef json);

/// Names of the built-in devices, for messages and `--help`.
llvm::ArrayRef<std::string_view> deviceNames();

/// Nanoseconds of one execution: max(flops / rate, bytes / bandwidth) + launch. Loops: trips × sum over the body.
/// Collectives: bytes over the link. 0 for views and constants.
double costNs(const OpModel &model, const DeviceProfile &device);

} // namespace remat
