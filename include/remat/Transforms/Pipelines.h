//===- Pipelines.h - From a module to a rewritten module ---------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Planners.h"
#include "remat/Plan/Simulator.h"
#include "remat/Transforms/Extract.h"
#include "remat/Transforms/TwoFunctions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace remat {

/// What a user may ask for; Options.def describes the fields.
struct RematOptions {
  using Text = std::string;
  using List = std::vector<std::string>;
  using Flag = bool;
  using Number = int64_t;
#define REMAT_OPTION(TYPE, MEMBER, NAME, DEFAULT, VALUE, HELP) TYPE MEMBER{DEFAULT};
#include "remat/Transforms/Options.def"

  /// PlanOptions'.
  const std::atomic<bool> *interrupt = nullptr;
  std::function<void(const SearchProgress &)> progress = {};

  PlanOptions planOptions() const;
};

/// A copy of a module that was made ready for planning, and what the planner is told about it.
struct ExtractedModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;           ///< In `module`; flat, its ops carry `remat.phase`.
  std::optional<JoinedFunctions> joined; ///< Where the step is two functions; `function` is then the joined one.
  ExtractOptions extractOptions;
  ExtractedGraph extracted;
  bool hasBackward = false;
  bool givenPhases = false; ///< The user's ops carried `remat.phase`.
  std::string request;      ///< What the user asked of the planner, as text; noted on what is rewritten.
};

/// The function of the training step: the one that is named, else `main`, else the only public one. Emits an error that
/// lists the functions.
mlir::FailureOr<mlir::func::FuncOp> findMainFunction(mlir::ModuleOp module, llvm::StringRef name);

/// Turns the options that extraction needs into what it takes. Emits an error at `location`: an unknown device, a
/// malformed bound.
mlir::FailureOr<ExtractOptions> makeExtractOptions(const RematOptions &options, mlir::Location location);

/// Copies the module, flattens its main function, finds the phases and extracts the graph. The module itself is left
/// alone. Emits errors.
mlir::FailureOr<ExtractedModule> extractModule(mlir::ModuleOp module, const RematOptions &options);

/// Plans as the options say, with remarks. A function that says it was rewritten by the very same request keeps its
/// order: sqrt-n would find other segments in it, and running the tool on its own output is to change nothing. Emits
/// errors.
mlir::FailureOr<PolicyPlan> planModule(ExtractedModule &module, const RematOptions &options);

/// Runs the plan's steps in the copy and checks that the peak is what was planned. Marks of planning are removed;
/// StableHLO graphs keep no attribute of the remat dialect. Returns what the rewritten function measures, or nothing if
/// the plan is the program order: the caller then drops the copy, for flattening is no change worth keeping. Emits
/// errors. Precondition: the plan is legal.
mlir::FailureOr<std::optional<Simulation>> applyToModule(ExtractedModule &module, const Plan &plan);

/// extractModule, plan, applyToModule on the module itself, with remarks: the pass `remat`. Emits errors. True if
/// anything changed.
mlir::FailureOr<bool> rematerialize(mlir::ModuleOp module, const RematOptions &options);

/// Removes `remat.*` attributes from the function and everything in it; those in `kept` stay.
void stripMarks(mlir::func::FuncOp function, llvm::ArrayRef<llvm::StringRef> kept = {});

/// Emits an error of the planner at `location`, its place in front and its note behind.
mlir::InFlightDiagnostic emitError(mlir::Location location, const Error &error);

/// Emits one remark (category `remat`, mlir/IR/Remarks.h) for every value that is saved, recomputed or moved, with its
/// bytes, the cost of its op and the reason; and a remark for every op name that nothing is known about.
void emitRemarks(mlir::func::FuncOp function, const ExtractedGraph &extracted, const PolicyPlan &planned);

} // namespace remat
