//===- LayOut.h - From a function to a program ---------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Target.h"

#include "remat/CodeGen/StepLayout.h"

namespace remat {

/// A step that is laid out, and where its steps come from.
struct LaidOutStep : StepLayout {
  std::vector<mlir::Operation *> origins; ///< By step in preorder: the op that it is a part of.
  /// The function that the plan made, if it changes anything; `origins` are its ops then.
  mlir::OwningOpRef<mlir::func::FuncOp> planned;
};

/// Joins the loops of an imported function into clusters (Clusters.h); a product that the target's library doesn't have
/// is one of its own.
void formClustersFor(mlir::func::FuncOp function, const Target &target);

/// Clusters an imported function, plans it where the options ask for that, and lays it out. `kernels` is left with the
/// kernels of the program. Emits errors.
mlir::FailureOr<LaidOutStep> layOutStep(mlir::func::FuncOp function, const LayoutOptions &options,
                                        KernelTable &kernels);

/// The graph that `LayoutOptions::planClusters` is asked to plan. The function's ops are to carry `remat.phase`; it is
/// left joined into clusters. Emits errors.
mlir::FailureOr<Graph> extractClusters(mlir::func::FuncOp function, const LayoutOptions &options, Target &target);

/// The live peak of the function as it comes, which is left joined into clusters.
mlir::FailureOr<int64_t> findClusterPeak(mlir::func::FuncOp function, Target &target);

} // namespace remat
