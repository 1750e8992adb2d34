//===- CommandLine.h - What the user asked of remat-plan ---------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Planners.h"

namespace remat {

enum class Emit { Plan, Graph };
enum class ReportKind { None, Json, Text };

struct CommandLine {
  std::string input;    ///< The graph file; empty with `generate`.
  std::string generate; ///< What generateGraph reads; empty with `input`.
  std::string planFile; ///< A plan to judge instead of making one.
  PlanOptions planning;
  Emit emit = Emit::Plan;                ///< What `output` gets.
  std::string output, report, emitGraph; ///< Empty: not written.
  ReportKind reportKind = ReportKind::None;
  /// False where only a graph is wanted.
  bool plans = true;
  bool help = false, version = false;
};

/// Error: an unknown flag (nearest named), one of a later version, flags that contradict each other.
Expected<CommandLine> parseCommandLine(std::span<const std::string_view> arguments);

std::string helpText();

} // namespace remat
