//===- CommandLine.h - The flags of planning ---------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Transforms/Pipelines.h"

#include "llvm/Support/CommandLine.h"

namespace remat {

/// The tools that plan: remat-opt writes graphs, remat-run compiled steps.
enum class Tool { Opt, Run };

struct CommandLine {
  RematOptions options;
  std::string input = "-", output = "-";
  /// graph-json, object, shared, ptx, cubin or fatbin; of remat-opt also mlir and mlirbc; of remat-run empty where the
  /// step is run.
  std::string emit;
  std::vector<std::string> reports; ///< FILE.json, FILE.txt or `-`; remat-run: FILE.trace.json too.
  std::string planFile, planOut;    ///< `--plan`, `--plan-out`; empty where not given.
  /// Of a step for the CPU; where nothing is said, the processors there are.
  int threads = 1;
  bool threadsGiven = false;
  bool anyPlanningFlag = false;
  /// The first flag, by name, that says how to make a plan; empty where none is given.
  std::string planningFlag;
  /// The first flag that says how a module is printed, so that an unchanged one must be printed too.
  std::string printingFlag;
  /// The first flag that MLIR's own driver takes, such as `--mlir-timing`.
  std::string passFlag;
};

/// Registers the planning flags of the tool (`setTool`); call it before the command line is parsed.
void registerPlanningFlags();
/// What `--help` lists them under.
llvm::cl::OptionCategory &planningCategory();

/// Reads the flags after the command line is parsed. Prints an error and gives nothing for a flag or value that this
/// version doesn't support, or flags that contradict each other.
std::optional<CommandLine> readPlanningFlags();

/// Error: an output would replace the plan or the device profile that is read. A plan may replace a plan. `paths`: the
/// outputs beside the plan.
std::optional<Error> checkFlagFiles(const CommandLine &line, std::vector<std::string> paths);

/// Whose flags are read, and whose name stands in front of errors; remat-opt unless it is said otherwise.
void setTool(Tool tool);
llvm::StringRef toolName();

/// Error: a number that is given and isn't from 1 to `most`.
std::optional<Error> checkRange(const llvm::cl::opt<int> &flag, int most);

/// True for `--report`'s file with the times of a run.
inline bool isTrace(llvm::StringRef report) { return report.ends_with(".trace.json"); }

/// `remat-opt: error: …` and a note on standard error.
void printError(llvm::StringRef message, llvm::StringRef note = {});
void printError(const Error &error);
/// `remat-opt: remark: …` on standard error.
void printRemark(llvm::StringRef message);

} // namespace remat
