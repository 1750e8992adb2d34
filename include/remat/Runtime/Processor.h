//===- Processor.h - What this processor can do -----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remat::runtime {

/// The instruction sets of this processor that kernels may be compiled for, as LLVM calls them. Only such as can be
/// looked up wherever a step is loaded are among them, and what every processor of the architecture has is left out.
std::vector<std::string> processorFeatures();

/// The first of `needed` that this processor lacks, or that this runtime has never heard of; empty: none.
std::string_view findMissingFeature(std::span<const std::string> needed);

} // namespace remat::runtime
