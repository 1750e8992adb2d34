//===- Convolutions.cpp - convolution -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

using namespace mlir;

namespace remat {

namespace {
/// StableHLO's attributes of a convolution, defaults filled in.
struct ConvAttributes {
  ConvDims dims;
  Ints strides, padding, lhsDilation, rhsDilation, reversed;
  int64_t featureGroups, batchGroups;
};
} // namespace

static FailureOr<ConvAttributes> readAttributes(Operation *op, size_t rank) {
  Expected<ConvDims> dims = parseConvDims(getHloAttr(op, "dimension_numbers"));
  if (!dims)
    return malformed(op, dims.error().message);
  size_t spatial = dims->inputSpatial.size();
  if (spatial + 2 != rank)
    return malformed(op,
                     "'dimension_numbers' are of rank " + Twine(spatial + 2) + ", the operand of rank " + Twine(rank));
  FailureOr<Ints> strides = integersOr(op, "window_strides", spatial, 1),
                  padding = integersOr(op, "padding", 2 * spatial, 0),
                  lhsDilation = integersOr(op, "lhs_dilation", spatial, 1),
                  rhsDilation = integersOr(op, "rhs_dilation", spatial, 1),
                  reversed = integersOr(op, "window_reversal", spatial, 0);
  if (failed(strides) || failed(padding) || failed(lhsDilation) || failed(rhsDilation) || failed(reversed))
    return failure();
  for (const Ints &positive : {*strides, *lhsDilation, *rhsDilation})
    if (llvm::any_of(positive, [](int64_t number) { return number < 1; }))
      return malformed(op, "strides and dilations must be at least 1");
  int64_t featureGroups = hloInteger(getHloAttr(op, "feature_group_count")).value_or(1);
  int64_t batchGroups = hloInteger(getHloAttr(op, "batch_group_count")).value_or(1);
  if (featureGroups < 1 || batchGroups < 1 || (featureGroups > 1 && batchGroups > 1))
    return malformed(op, "expected group counts of at least 1, one of them 1");
  return ConvAttributes{*dims, *strides, *padding, *lhsDilation, *rhsDilation, *reversed, featureGroups, batchGroups};
}

/// Number of places of the kernel along spatial dimension `i`.
static int64_t resultSize(const ConvAttributes &conv, size_t i, int64_t input, int64_t kernel) {
  int64_t dilated = input == 0 ? 0 : (input - 1) * conv.lhsDilation[i] + 1;
  int64_t padded = dilated + conv.padding[2 * i] + conv.padding[2 * i + 1];
  int64_t reach = kernel == 0 ? 0 : (kernel - 1) * conv.rhsDilation[i] + 1;
  return padded < reach || padded < 0 ? 0 : (padded - reach) / conv.strides[i] + 1;
}

static LogicalResult checkShapes(Operation *op, const ConvAttributes &conv, RankedTensorType lhs, RankedTensorType rhs,
                                 RankedTensorType result) {
  const ConvDims &dims = conv.dims;
  auto expectSize = [&](StringRef what, int64_t found, int64_t expected) -> LogicalResult {
    return found == expected ? success()
                             : malformed(op, "expected " + Twine(expected) + " " + what + ", found " + Twine(found));
  };
  int64_t features = lhs.getDimSize(dims.inputFeature), batch = lhs.getDimSize(dims.inputBatch);
  int64_t outputs = rhs.getDimSize(dims.kernelOutputFeature);
  if (features % conv.featureGroups || batch % conv.batchGroups || outputs % (conv.featureGroups * conv.batchGroups))
    return malformed(op, "the number of groups doesn't divide what it groups");
  if (failed(expectSize("input features of the kernel", rhs.getDimSize(dims.kernelInputFeature),
                        features / conv.featureGroups)) ||
      failed(expectSize("features of the result", result.getDimSize(dims.outputFeature), outputs)) ||
      failed(expectSize("batches of the result", result.getDimSize(dims.outputBatch), batch / conv.batchGroups)))
    return failure();
  for (size_t i = 0; i < dims.inputSpatial.size(); ++i) {
    int64_t size = resultSize(conv, i, lhs.getDimSize(dims.inputSpatial[i]), rhs.getDimSize(dims.kernelSpatial[i]));
    if (failed(expectSize(("elements in spatial dimension " + Twine(i) + " of the result").str(),
                          result.getDimSize(dims.outputSpatial[i]), size)))
      return failure();
  }
  return success();
}

/// Products are made in the result's type, or in f32 where that is narrower.
static LogicalResult checkTypes(Operation *op) {
  Type result = oldElementType(op->getResult(0));
  for (Value operand : op->getOperands()) {
    Type type = oldElementType(operand);
    bool fits = isa<FloatType>(type) == isa<FloatType>(result) &&
                type.getIntOrFloatBitWidth() <= result.getIntOrFloatBitWidth() && !type.isInteger(1);
    bool extendsUnsigned = type.isUnsignedInteger() && type != result;
    if (!fits || extendsUnsigned)
      return unsupported(op, "this mix of types", "convert the operands to the result's type first");
  }
  return success();
}

static Ints dimList(int64_t first, int64_t second, const Ints &spatial) {
  Ints list = {first, second};
  llvm::append_range(list, spatial);
  return list;
}

static Converted convertConvolution(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, 2)) || failed(checkTypes(op)))
    return failure();
  auto lhs = cast<RankedTensorType>(op->getOperand(0).getType()),
       rhs = cast<RankedTensorType>(op->getOperand(1).getType());
  RankedTensorType result = importer.resultType(op);
  if (rhs.getRank() != lhs.getRank() || result.getRank() != lhs.getRank())
    return malformed(op, "the operands and the result have different ranks");
  FailureOr<ConvAttributes> conv = readAttributes(op, lhs.getRank());
  if (failed(conv) || failed(checkShapes(op, *conv, lhs, rhs, result)))
    return failure();
  const ConvDims &dims = conv->dims;
  SmallVector<bool> reversed(conv->reversed.begin(), conv->reversed.end());
  return SmallVector<Value>{
      ConvolutionOp::create(importer.builder, op->getLoc(), result, importer.operand(op, 0), importer.operand(op, 1),
                            conv->strides, conv->padding, conv->lhsDilation, conv->rhsDilation,
                            dimList(dims.inputBatch, dims.inputFeature, dims.inputSpatial),
                            dimList(dims.kernelInputFeature, dims.kernelOutputFeature, dims.kernelSpatial),
                            dimList(dims.outputBatch, dims.outputFeature, dims.outputSpatial),
                            llvm::is_contained(reversed, true) ? ArrayRef<bool>(reversed) : ArrayRef<bool>(),
                            conv->featureGroups, conv->batchGroups)};
}

void addConvolutionConversions(ConversionTable &table) { table["stablehlo.convolution"] = convertConvolution; }

} // namespace remat
