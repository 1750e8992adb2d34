//===- TensorModels.cpp - RematOpInterface for tensor ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "remat/IR/RematOpInterface.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

namespace remat {

namespace {

/// Shows the source under another shape. Expanding and collapsing give other strides to the same bytes.
template <typename Op>
struct ViewModel : RematOpInterface::ExternalModel<ViewModel<Op>, Op> {
  OpClass getOpClass(Operation *) const { return OpClass::View; }
  std::optional<unsigned> getViewedOperand(Operation *, unsigned) const { return 0; }
};

/// A tensor without content yet: bufferization gives its place to the op that fills it.
struct EmptyModel : RematOpInterface::ExternalModel<EmptyModel, tensor::EmptyOp> {
  OpClass getOpClass(Operation *) const { return OpClass::Constant; }
};

/// Copies all of its operands (or all of its result, which is no smaller).
template <typename Op>
struct CopyModel : RematOpInterface::ExternalModel<CopyModel<Op>, Op> {
  OpClass getOpClass(Operation *) const { return OpClass::DataMovement; }
};

/// Reads as much as it makes, whatever the size of the source.
template <typename Op>
struct PickModel : RematOpInterface::ExternalModel<PickModel<Op>, Op> {
  OpClass getOpClass(Operation *) const { return OpClass::DataMovement; }
  int64_t getBytesMoved(Operation *op) const { return multiplyClamped(2, sumBytes(op->getResultTypes())); }
};

/// Writes operand 0 into a destination, operand 1, of which the rest stays.
template <typename Op>
struct UpdateModel : RematOpInterface::ExternalModel<UpdateModel<Op>, Op> {
  OpClass getOpClass(Operation *) const { return OpClass::DataMovement; }
  int64_t getBytesMoved(Operation *op) const { return multiplyClamped(2, bytesOrZero(op->getOperand(0).getType())); }
  std::optional<unsigned> getDestinationOperand(Operation *, unsigned) const { return 1; }
};

/// Computes each element in a region.
struct GenerateModel : RematOpInterface::ExternalModel<GenerateModel, tensor::GenerateOp> {
  OpClass getOpClass(Operation *) const { return OpClass::Elementwise; }
  int64_t getFlops(Operation *op) const {
    int64_t each = 0;
    op->walk([&](Operation *inner) { each = addClamped(each, scalarFlops(inner)); });
    return multiplyClamped(each, elementCount(op->getResult(0).getType()));
  }
};

template <template <typename> typename Model, typename... Ops>
void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>>(*context), ...);
}

} // namespace

void registerTensorModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attach<ViewModel, tensor::BitcastOp, tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
           tensor::ReshapeOp>(context);
    attach<CopyModel, tensor::ConcatOp, tensor::DimOp, tensor::FromElementsOp, tensor::PadOp, tensor::RankOp,
           tensor::SplatOp>(context);
    attach<PickModel, tensor::ExtractOp, tensor::ExtractSliceOp, tensor::GatherOp>(context);
    attach<UpdateModel, tensor::InsertOp, tensor::InsertSliceOp, tensor::ScatterOp>(context);
    tensor::EmptyOp::attachInterface<EmptyModel>(*context);
    tensor::GenerateOp::attachInterface<GenerateModel>(*context);
  });
}

} // namespace remat
