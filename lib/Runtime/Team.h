//===- Team.h - Threads that share a step -----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

namespace remat::runtime {

/// Calls `body(data, part)` once for each part from 0 to `parts` - 1, on as many threads at most, and returns when all
/// are done. The calling thread takes part, and does alone what no other thread has begun: a busy machine costs time,
/// but never a wait for a thread that doesn't get to run.
///
/// Every calling thread has helpers of its own, which end with it. The first call with so many parts starts them; no
/// later one allocates.
void runOnTeam(int parts, void (*body)(void *data, int part), void *data);

} // namespace remat::runtime
