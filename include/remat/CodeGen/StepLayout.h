//===- StepLayout.h - A training step in one arena -----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What compiled steps of all devices have in common. Cpu.h and remat/Cuda/Cuda.h compile.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/DeviceProfile.h"
#include "remat/Plan/Plan.h"
#include "remat/Runtime/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <optional>

namespace remat {

/// Lays a step out as a plan of its clusters says, which must be legal (`verify`), and gives the arena's size in bytes.
/// That is less than the plan's peak where results take the place of inputs, and more where lifetimes don't pack; it
/// need not be less than `enoughBytes`. Emits an error for a plan that breaks a rule.
using ArenaMeasure = llvm::function_ref<mlir::FailureOr<int64_t>(const Plan &, int64_t enoughBytes)>;

/// Plans the clusters of a step: every value of the graph is one that is really stored. Emits an error where there is
/// no plan; what it returns must be legal.
/// The graph is named for the function, with `clusterGraphSuffix` behind.
using ClusterPlanner = std::function<mlir::FailureOr<Plan>(const Graph &, ArenaMeasure)>;

inline constexpr llvm::StringLiteral clusterGraphSuffix = " clusters";

struct LayoutOptions {
  /// The function's type before it was imported: it tells which integers are unsigned. Null: none is.
  mlir::FunctionType signature = {};
  /// Null: the clusters run in the order in which they come. Otherwise the function's ops are to carry `remat.phase`.
  ClusterPlanner planClusters = {};
  /// Whose speeds the costs of the planner's graph are made of; null: the built-in `cpu`.
  const DeviceProfile *device = nullptr;
};

struct StepLayout {
  runtime::Program program;
  Graph graph;               ///< The clusters that are really stored, sizes rounded up to 64 bytes.
  int64_t livePeakBytes = 0; ///< Of `graph`; the arena is at least that.
  /// Of the clusters in the order in which they came; nothing where nobody planned them.
  std::optional<int64_t> givenPeakBytes = {};
  bool provenPacking = false; ///< No arena is smaller for these lifetimes.
};

} // namespace remat
