//===- Generate.h - Graphs made by rule --------------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

namespace remat {

/// Makes a training-step graph from `KIND:key=value,…`:
///   layered:n=1000,seed=1       random layered graph, forward and mirrored backward (n ops in all)
///   transformer:layers=12,…     transformer blocks with attention and MLP
///   chain:n=100,…               a chain and its backward chain
/// Same text, same graph. Error: an unknown kind or key (nearest named), a value out of range.
Expected<Graph> generateGraph(std::string_view text);

} // namespace remat
