//===- CommandLine.h - The flags of remat-opt --------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Transforms/Pipelines.h"

namespace remat {

struct CommandLine {
  RematOptions options;
  std::string input = "-", output = "-";
  std::string emit = "mlir";        ///< mlir, mlirbc or graph-json.
  std::vector<std::string> reports; ///< FILE.json, FILE.txt or `-`.
  std::string planFile, planOut;    ///< `--plan`, `--plan-out`; empty where not given.
  bool anyPlanningFlag = false;
  /// A flag says how to print, so that an unchanged module must be printed too.
  bool anyPrintingFlag = false;
  /// A flag asks something of MLIR's pass manager, such as `--mlir-timing`.
  bool anyPassFlag = false;
};

/// Registers the planning flags; call it before the command line is parsed.
void registerPlanningFlags();

/// Reads the flags after the command line is parsed. Prints an error and gives nothing for a flag or value that this
/// version doesn't support, or flags that contradict each other.
std::optional<CommandLine> readPlanningFlags();

/// Whose name stands in front of errors; `remat-opt` unless it is said otherwise. The text must live on.
void setToolName(llvm::StringRef name);

/// `remat-opt: error: …` and a note on standard error.
void printError(llvm::StringRef message, llvm::StringRef note = {});
void printError(const Error &error);

} // namespace remat
