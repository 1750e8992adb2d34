//===- Cpu.h - A training step for the CPU -----------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/IR/DeviceProfile.h"
#include "remat/Plan/Plan.h"
#include "remat/Runtime/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <memory>
#include <vector>

namespace remat {

/// Plans the clusters of a step: every value of the graph is one that is really stored. Emits an error where there is
/// no plan; what it returns must be legal (`verify`).
/// The graph is named for the function, with `clusterGraphSuffix` behind.
using ClusterPlanner = std::function<mlir::FailureOr<Plan>(const Graph &)>;

inline constexpr llvm::StringLiteral clusterGraphSuffix = " clusters";

struct CpuOptions {
  int threads = 1;
  /// The function's type before it was imported: it tells which integers are unsigned. Null: none is.
  mlir::FunctionType signature = {};
  /// Not empty: the object also holds the program's image, the table of its kernels and the function
  /// `remat_program *ENTRY_open(void)`, the only one that is seen from outside (remat-c/Remat.h), so it is for a file,
  /// not for `loadKernels`.
  std::string entry = {};
  /// Null: the clusters run in the order in which they come. Otherwise the function's ops are to carry `remat.phase`.
  ClusterPlanner planClusters = {};
  /// Whose speeds the costs of the planner's graph are made of; null: the built-in `cpu`.
  const DeviceProfile *device = nullptr;
};

/// A step as a program and object files that hold its kernels.
struct CpuStep {
  runtime::Program program;
  std::vector<std::vector<char>> objects; ///< One where CpuOptions has an entry.
  Graph graph;                            ///< The clusters that are really stored, sizes rounded up to 64 bytes.
  int64_t livePeakBytes = 0;              ///< Of `graph`; the arena is at least that.
  /// Of the clusters in the order in which they came; nothing where nobody planned them.
  std::optional<int64_t> givenPeakBytes = {};
  bool provenPacking = false; ///< No arena is smaller for these lifetimes.
};

/// Compiles a flat function of StableHLO or upstream ops, which is imported and clustered on the way. Its order of ops
/// is kept as far as clusters allow; with `planClusters` it is the plan's, and what the plan recomputes is computed
/// again. The live peak is then at most the plan's, for results take the place of inputs. Emits an error at an op that
/// has no code.
mlir::FailureOr<CpuStep> compileForCpu(mlir::func::FuncOp function, const CpuOptions &options);

/// The graph that `CpuOptions::planClusters` is asked to plan; nothing is compiled. The function's ops are to carry
/// `remat.phase`; it is left joined into clusters. Emits errors.
mlir::FailureOr<Graph> extractClusters(mlir::func::FuncOp function, const CpuOptions &options);

/// The live peak that compiling would find: clusters the function, lays it out and compiles nothing.
mlir::FailureOr<int64_t> findClusterPeak(mlir::func::FuncOp function, const CpuOptions &options);

/// The kernels of a compiled step, loaded into this process.
struct LoadedKernels {
  std::vector<runtime::KernelFunction> functions;
  std::shared_ptr<void> code;
};
mlir::FailureOr<LoadedKernels> loadKernels(const CpuStep &step, mlir::Location location);

/// Dialects that compiling needs.
void registerCodeGenDialects(mlir::DialectRegistry &registry);

/// Registers `remat-cluster`.
void registerCodeGenPasses();

} // namespace remat
