//===- OpModel.cpp - What an op is, costs and needs -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/IR/OpModel.h"

#include "ModelParts.h"
#include "remat/IR/RematDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Bytes and counts
//===----------------------------------------------------------------------===//

int64_t addClamped(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t multiplyClamped(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t productClamped(ArrayRef<int64_t> factors) {
  // A zero wins over an overflow of the others.
  if (llvm::is_contained(factors, 0))
    return 0;
  int64_t product = 1;
  for (int64_t factor : factors)
    product = multiplyClamped(product, factor);
  return product;
}

/// Bytes of one element; a dialect's own types (quantized ones, say) have none that we know.
static std::optional<int64_t> elementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    std::optional<int64_t> part = elementBytes(complex.getElementType());
    return part ? std::optional(2 * *part) : std::nullopt;
  }
  if (isa<IndexType>(type))
    return 8;
  if (isa<FloatTF32Type>(type)) // 19 bits wide as a type, but stored like f32.
    return 4;
  if (type.isIntOrFloat())
    return std::max<int64_t>(1, (type.getIntOrFloatBitWidth() + 7) / 8);
  return std::nullopt;
}

std::optional<int64_t> typeBytes(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return 0;
  if (!shaped.hasStaticShape())
    return std::nullopt;
  std::optional<int64_t> element = elementBytes(shaped.getElementType());
  return element ? std::optional(multiplyClamped(productClamped(shaped.getShape()), *element)) : std::nullopt;
}

int64_t bytesOrZero(Type type) { return typeBytes(type).value_or(0); }

int64_t sumBytes(TypeRange types) {
  int64_t sum = 0;
  for (Type type : types)
    sum = addClamped(sum, bytesOrZero(type));
  return sum;
}

ArrayRef<int64_t> dimensions(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasStaticShape() ? shaped.getShape() : ArrayRef<int64_t>();
}

int64_t elementCount(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && !shaped.hasStaticShape())
    return 0;
  return productClamped(dimensions(type));
}

//===----------------------------------------------------------------------===//
// Defaults of RematOpInterface
//===----------------------------------------------------------------------===//

OpClass askOpClass(Operation *op) { return cast<RematOpInterface>(op).getOpClass(); }

int64_t askFlops(Operation *op) { return cast<RematOpInterface>(op).getFlops(); }

int64_t defaultFlops(Operation *op, OpClass opClass) {
  switch (opClass) {
  case OpClass::View:
  case OpClass::Constant:
  case OpClass::DataMovement:
  case OpClass::Collective:
  case OpClass::Loop:
  case OpClass::Opaque:
    return 0;
  default:
    break;
  }
  int64_t largest = 0;
  for (Type type : op->getOperandTypes())
    largest = std::max(largest, elementCount(type));
  for (Type type : op->getResultTypes())
    largest = std::max(largest, elementCount(type));
  return largest;
}

int64_t defaultBytesMoved(Operation *op, OpClass opClass) {
  if (opClass == OpClass::View || opClass == OpClass::Constant)
    return 0;
  return addClamped(sumBytes(op->getOperandTypes()), sumBytes(op->getResultTypes()));
}

bool defaultIsRecomputable(Operation *op, OpClass opClass) {
  if (opClass == OpClass::Random || opClass == OpClass::Collective || opClass == OpClass::Opaque)
    return false;
  // A loop's ops are asked one by one (describeLoop), so that ops of dialects that MLIR knows nothing of may stand in
  // it.
  return opClass == OpClass::Loop || isMemoryEffectFree(op);
}

Type defaultComputeType(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (auto shaped = dyn_cast<ShapedType>(type))
        return shaped.getElementType();
  return op->getNumResults() ? op->getResult(0).getType() : Type();
}

//===----------------------------------------------------------------------===//
// describeOp
//===----------------------------------------------------------------------===//

static void describeByInterface(RematOpInterface op, OpModel &model) {
  model.opClass = op.getOpClass();
  model.recomputable = op.isRecomputable();
  model.dotBatchDims = op.getDotBatchDims();
  model.computeType = op.getComputeType();
  for (auto [i, view] : llvm::enumerate(model.viewOf))
    view = op.getViewedOperand(i);
  for (auto [i, destination] : llvm::enumerate(model.destinationOf))
    destination = op.getDestinationOperand(i);
  if (model.opClass == OpClass::Loop) {
    model.tripCount = op.getTripCount();
    return;
  }
  model.flops = op.getFlops();
  model.convFlopsValid = model.opClass == OpClass::Convolution ? op.getValidConvFlops() : model.flops;
  model.bytesMoved = op.getBytesMoved();
  model.workspaceBytes = op.getWorkspaceBytes();
}

/// An element-wise op may write over an operand that it reads element by element in the same places.
static void findInplaceOperands(Operation *op, OpModel &model) {
  if (model.opClass != OpClass::Elementwise || op->getNumResults() != 1 || model.destinationOf[0])
    return;
  Type result = op->getResult(0).getType();
  if (!isa<RankedTensorType>(result))
    return;
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (isa<RankedTensorType>(type) && dimensions(type) == dimensions(result) && typeBytes(type) == typeBytes(result))
      model.inplaceOperands.push_back(i);
}

/// The first type of the op that has no static size, as an error message.
static std::string findDynamicType(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (!typeBytes(type)) {
        std::string text;
        llvm::raw_string_ostream(text) << "type without a static size: '" << type << "'";
        return text;
      }
  return {};
}

/// A model that promises nothing; `problem` says why.
static void makeOpaque(Operation *op, OpModel &model) {
  std::string problem = std::move(model.problem);
  model = OpModel();
  model.problem = std::move(problem);
  model.viewOf.assign(op->getNumResults(), std::nullopt);
  model.destinationOf.assign(op->getNumResults(), std::nullopt);
  model.bytesMoved = addClamped(sumBytes(op->getOperandTypes()), sumBytes(op->getResultTypes()));
  model.computeType = defaultComputeType(op);
}

OpModel describeOp(Operation *op) {
  OpModel model;
  model.viewOf.assign(op->getNumResults(), std::nullopt);
  model.destinationOf.assign(op->getNumResults(), std::nullopt);
  model.known = true;
  if (auto described = dyn_cast<RematOpInterface>(op)) {
    describeByInterface(described, model);
  } else if (isBlockTerminator(op)) {
    model.opClass = OpClass::View;
  } else if (!describeHloOp(op, model)) {
    makeOpaque(op, model);
    return model;
  }
  if (model.problem.empty())
    model.problem = findDynamicType(op);
  if (!model.problem.empty()) {
    makeOpaque(op, model);
    return model;
  }
  if (model.opClass == OpClass::Loop)
    describeLoop(op, model);
  findInplaceOperands(op, model);
  return model;
}

bool isBlockTerminator(Operation *op) {
  if (op->isRegistered())
    return op->hasTrait<OpTrait::IsTerminator>();
  return hloName(op) == "return";
}

bool isStorageOfConstant(Operation *op) {
  if (auto described = dyn_cast<RematOpInterface>(op))
    return described.getOpClass() == OpClass::Constant;
  return lookUpHloClass(op) == OpClass::Constant;
}

void registerExternalModels(DialectRegistry &registry) {
  registerArithModels(registry);
  registerLinalgModels(registry);
  registerScfModels(registry);
  registerTensorModels(registry);
  registerTosaModels(registry);
}

} // namespace remat
