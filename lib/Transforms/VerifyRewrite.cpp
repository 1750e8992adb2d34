//===- VerifyRewrite.cpp - The promised peak, measured again --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Simulator.h"
#include "remat/Transforms/Apply.h"

using namespace mlir;

namespace remat {

FailureOr<Simulation> verifyRewrite(func::FuncOp function, int64_t plannedPeakBytes, const ExtractOptions &options) {
  ExtractOptions again = options;
  again.boundsMustMatch = false;
  FailureOr<ExtractedGraph> rewritten = extractGraph(function, again);
  if (failed(rewritten))
    return failure();
  Simulation measured = simulate(rewritten->graph, programOrder(rewritten->graph));
  if (measured.peakBytes == plannedPeakBytes)
    return measured;
  InFlightDiagnostic diag = emitError(function.getLoc())
                            << "the rewritten function needs " << measured.peakBytes << " bytes at its peak, but "
                            << plannedPeakBytes << " were planned";
  if (measured.peakStep < rewritten->ops.size())
    diag.attachNote(rewritten->ops[measured.peakStep]->getLoc()) << "the peak is here";
  diag.attachNote() << "this is a mistake of remat, please report it with the input";
  return diag;
}

} // namespace remat
