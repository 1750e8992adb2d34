//===- Convolutions.cpp - Convolutions as library calls or loops ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convolutions.h"

#include "Dots.h"

#include "remat/Import/Import.h"

using namespace mlir;

namespace remat {

static runtime::TensorType runtimeType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return {toElementType(tensor.getElementType()).value_or(runtime::ElementType::I8), tensor.getShape().vec()};
}

runtime::ConvolutionSpec specOf(ConvolutionOp op) {
  runtime::ConvolutionSpec spec;
  spec.lhs = runtimeType(op.getLhs().getType());
  spec.rhs = runtimeType(op.getRhs().getType());
  spec.result = runtimeType(op.getType());
  spec.strides = op.getStrides().vec();
  spec.padding = op.getPadding().vec();
  spec.lhsDilation = op.getLhsDilation().vec();
  spec.rhsDilation = op.getRhsDilation().vec();
  spec.lhsDims = op.getLhsDims().vec();
  spec.rhsDims = op.getRhsDims().vec();
  spec.resultDims = op.getResultDims().vec();
  for (bool reversed : op.getReversed())
    spec.reversed.push_back(reversed);
  spec.featureGroups = op.getFeatureGroups();
  spec.batchGroups = op.getBatchGroups();
  return spec;
}

void decomposeUnknownConvolutions(func::FuncOp function, const Target &target) {
  decomposeConvolutions(function, [&](ConvolutionOp op) { return !target.convolves(specOf(op)); });
}

} // namespace remat
