//===- EmitBody.cpp - The scalar body of a loop for many lanes ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What doesn't depend on the lane stays scalar; a vector is made where both meet.
//
//===----------------------------------------------------------------------===//

#include "EmitBody.h"

#include "Access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

bool LaneBuilder::varies(Value value) const { return isa<VectorType>(value.getType()); }

Type LaneBuilder::laneType(Type scalar) const { return width == 1 ? scalar : VectorType::get({width}, scalar); }

Value LaneBuilder::spread(Value value) {
  if (width == 1 || varies(value))
    return value;
  return vector::BroadcastOp::create(builder, loc, laneType(value.getType()), value);
}

Value LaneBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

Lanes LaneBuilder::countUp(Value first) {
  if (width == 1)
    return {first, first};
  SmallVector<int64_t> steps(width);
  std::iota(steps.begin(), steps.end(), 0);
  auto type = VectorType::get({width}, builder.getIndexType());
  Value counts = arith::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, ArrayRef(steps)));
  return {arith::AddIOp::create(builder, loc, spread(first), counts), first};
}

static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

bool isFloat8(Type type) {
  auto floatType = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return floatType && floatType.getWidth() == 8;
}

Type memoryType(Type element) {
  if (element.isInteger(1) || isFloat8(element))
    return IntegerType::get(element.getContext(), 8);
  return element.isIndex() ? Type(IntegerType::get(element.getContext(), 64)) : element;
}

static int64_t elementBytes(Type element) { return std::max(1u, element.getIntOrFloatBitWidth() / 8); }

Value LaneBuilder::elementPointer(Value pointer, Type element, Value address) {
  Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer, ValueRange(wide));
}

Value LaneBuilder::fromMemory(Value value, Type element) {
  if (isFloat8(element))
    return arith::BitcastOp::create(builder, loc, withElement(value.getType(), element), value);
  if (!element.isInteger(1))
    return value;
  TypedAttr zero =
      isa<VectorType>(value.getType())
          ? TypedAttr(DenseElementsAttr::get(cast<VectorType>(value.getType()), builder.getI8IntegerAttr(0)))
          : TypedAttr(builder.getI8IntegerAttr(0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                               arith::ConstantOp::create(builder, loc, zero));
}

Lanes LaneBuilder::load(Value pointer, Type element, Value address, int64_t laneStride) {
  Type stored = memoryType(element);
  unsigned alignment = elementBytes(stored);
  if (width == 1 || laneStride == 0 || laneStride == 1) {
    Type type = laneStride == 1 ? laneType(stored) : stored;
    Value value = LLVM::LoadOp::create(builder, loc, type, elementPointer(pointer, stored, address), alignment);
    return {fromMemory(value, element)};
  }
  SmallVector<int64_t> steps(width);
  for (int64_t i = 0; i < width; ++i)
    steps[i] = i * laneStride;
  SmallVector<Value> elements;
  for (int64_t step : steps)
    elements.push_back(LLVM::LoadOp::create(
        builder, loc, stored,
        elementPointer(pointer, stored, arith::AddIOp::create(builder, loc, address, index(step))), alignment));
  Value value = vector::FromElementsOp::create(builder, loc, VectorType::get({width}, stored), elements);
  return {fromMemory(value, element)};
}

void LaneBuilder::store(Value pointer, Value value, Value address, int64_t laneStride) {
  Type element = getElementTypeOrSelf(value.getType());
  Type stored = memoryType(element);
  value = spread(value);
  if (element.isInteger(1))
    value = arith::ExtUIOp::create(builder, loc, laneType(stored), value);
  if (isFloat8(element))
    value = arith::BitcastOp::create(builder, loc, laneType(stored), value);
  unsigned alignment = elementBytes(stored);
  if (width == 1 || laneStride == 1) {
    LLVM::StoreOp::create(builder, loc, value, elementPointer(pointer, stored, address), alignment);
    return;
  }
  for (int64_t i = 0; i < width; ++i) {
    Value place = arith::AddIOp::create(builder, loc, address, index(i * laneStride));
    LLVM::StoreOp::create(builder, loc, vector::ExtractOp::create(builder, loc, value, i),
                          elementPointer(pointer, stored, place), alignment);
  }
}

Value LaneBuilder::gather(Value pointer, Type element, Value addresses) {
  Type stored = memoryType(element);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < width; ++i) {
    Value address = vector::ExtractOp::create(builder, loc, addresses, i);
    elements.push_back(
        LLVM::LoadOp::create(builder, loc, stored, elementPointer(pointer, stored, address), elementBytes(stored)));
  }
  return fromMemory(vector::FromElementsOp::create(builder, loc, VectorType::get({width}, stored), elements), element);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool isNarrow(Type type) {
  auto floatType = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return floatType && floatType.getWidth() < 32;
}

/// The same op on what the operands are: scalars or vectors.
Value LaneBuilder::cloneWide(Operation *op, ValueRange operands) {
  bool isVector = llvm::any_of(operands, [&](Value operand) { return varies(operand); });
  SmallVector<Value> inputs;
  for (Value operand : operands)
    inputs.push_back(isVector ? spread(operand) : operand);
  Type element = op->getResult(0).getType();
  bool allFloats = llvm::all_of(inputs, [](Value input) { return isa<FloatType>(getElementTypeOrSelf(input)); });
  if (isNarrow(element) && !inputs.empty() && allFloats && !isa<arith::BitcastOp, arith::ExtFOp, arith::TruncFOp>(op))
    element = builder.getF32Type();
  OperationState state(loc, op->getName());
  state.addOperands(inputs);
  state.addTypes(isVector ? Type(VectorType::get({width}, element)) : element);
  state.propertiesAttr = op->getPropertiesAsAttribute();
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  return builder.create(state)->getResult(0);
}

Value LaneBuilder::clone(Operation *op, ValueRange operands) {
  bool keepsTypes = isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, arith::SelectOp, arith::ConstantOp>(op);
  Type resultType = op->getResult(0).getType();
  bool isNarrowOp =
      isNarrow(resultType) || llvm::any_of(op->getOperandTypes(), [](Type type) { return isNarrow(type); });
  if (keepsTypes || !isNarrowOp)
    return cloneWide(op, operands);
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(
        isNarrow(operand.getType())
            ? Value(arith::ExtFOp::create(builder, loc, withElement(operand.getType(), builder.getF32Type()), operand))
            : operand);
  Value value;
  if (isNarrow(resultType) && isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    Type type = withElement(wide[0].getType(), builder.getF32Type());
    value = isa<arith::SIToFPOp>(op) ? Value(arith::SIToFPOp::create(builder, loc, type, wide[0]))
                                     : Value(arith::UIToFPOp::create(builder, loc, type, wide[0]));
  } else {
    value = cloneWide(op, wide);
  }
  if (!isNarrow(resultType))
    return value;
  return arith::TruncFOp::create(builder, loc, withElement(value.getType(), resultType), value);
}

Value LaneBuilder::combineLanes(Operation *combiner, Value value) {
  if (!varies(value))
    return value;
  int64_t lanes = cast<VectorType>(value.getType()).getDimSize(0);
  while (lanes > 1) {
    lanes /= 2;
    Value lower = vector::ExtractStridedSliceOp::create(builder, loc, value, ArrayRef<int64_t>{0},
                                                        ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
    Value upper = vector::ExtractStridedSliceOp::create(builder, loc, value, ArrayRef<int64_t>{lanes},
                                                        ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
    LaneBuilder half(builder, loc, lanes);
    if (lanes == 1) {
      LaneBuilder one(builder, loc, 1);
      return one.clone(combiner, {vector::ExtractOp::create(builder, loc, lower, 0),
                                  vector::ExtractOp::create(builder, loc, upper, 0)});
    }
    value = half.clone(combiner, {lower, upper});
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static bool isUniform(LaneBuilder &lanes, ArrayRef<Lanes> values) {
  return llvm::none_of(values, [&](const Lanes &each) { return lanes.varies(each.value); });
}

static Lanes emitExtract(LaneBuilder &lanes, tensor::ExtractOp op, ArrayRef<Lanes> indices, Value buffer) {
  auto type = cast<RankedTensorType>(op.getTensor().getType());
  OpBuilder &builder = lanes.builder;
  Sizes strides = rowMajorStrides(type.getShape());
  auto address = [&](auto pick) {
    Value sum = lanes.index(0);
    for (auto [index, stride] : llvm::zip(indices, strides)) {
      Value factor = lanes.index(stride), picked = pick(index);
      bool isVector = lanes.varies(picked) || lanes.varies(sum);
      if (isVector)
        sum = lanes.spread(sum), picked = lanes.spread(picked), factor = lanes.spread(factor);
      sum = arith::AddIOp::create(builder, lanes.loc, sum, arith::MulIOp::create(builder, lanes.loc, picked, factor));
    }
    return sum;
  };
  if (isUniform(lanes, indices))
    return lanes.load(buffer, type.getElementType(), address([](const Lanes &index) { return index.value; }), 0);
  if (isUniform(lanes, indices.drop_back()) && indices.back().first)
    return lanes.load(buffer, type.getElementType(),
                      address([](const Lanes &index) { return index.first ? index.first : index.value; }), 1);
  return {lanes.gather(buffer, type.getElementType(), address([](const Lanes &index) { return index.value; }))};
}

/// `then` under the condition and `otherwise` elsewhere, both of `type`.
static Value emitIf(LaneBuilder &lanes, Type type, Value condition, function_ref<Value()> then,
                    function_ref<Value()> otherwise) {
  auto branch = scf::IfOp::create(lanes.builder, lanes.loc, type, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(lanes.builder);
  lanes.builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(lanes.builder, lanes.loc, then());
  lanes.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(lanes.builder, lanes.loc, otherwise());
  return branch.getResult(0);
}

/// An element that is read only where a condition holds. Most vectors lie inside of what is read or outside as a whole:
/// the one take one load, the other none. What lies across an end is read lane by lane.
static Lanes emitMasked(LaneBuilder &lanes, tensor::ExtractOp op, ArrayRef<Lanes> indices, Value buffer,
                        Value condition, Value otherwise) {
  OpBuilder &builder = lanes.builder;
  auto read = [&](ArrayRef<Lanes> at) { return emitExtract(lanes, op, at, buffer).value; };
  if (!lanes.varies(condition)) {
    bool isScalar = isUniform(lanes, indices) && !lanes.varies(otherwise);
    auto widen = [&](Value value) { return isScalar ? value : lanes.spread(value); };
    Type element = otherwise.getType();
    return {emitIf(
        lanes, isScalar ? element : lanes.laneType(getElementTypeOrSelf(element)), condition,
        [&] { return widen(read(indices)); }, [&] { return widen(otherwise); })};
  }
  otherwise = lanes.spread(otherwise);
  auto select = [&](Value element) -> Value {
    return arith::SelectOp::create(builder, lanes.loc, condition, lanes.spread(element), otherwise);
  };
  auto readSome = [&]() -> Value {
    Value any = vector::ReductionOp::create(builder, lanes.loc, vector::CombiningKind::OR, condition);
    return emitIf(lanes, otherwise.getType(), any, [&] { return select(read(indices)); }, [&] { return otherwise; });
  };
  const Lanes &last = indices.back();
  if (!last.unclampedFirst || last.most < lanes.width - 1 || !isUniform(lanes, indices.drop_back()))
    return {readSome()};
  Value isWhole = arith::CmpIOp::create(builder, lanes.loc, arith::CmpIPredicate::ule, last.unclampedFirst,
                                        lanes.index(last.most - (lanes.width - 1)));
  auto readWhole = [&] {
    SmallVector<Lanes> dense(indices);
    dense.back() = {lanes.spread(last.unclampedFirst), last.unclampedFirst};
    return select(read(dense));
  };
  return {emitIf(lanes, otherwise.getType(), isWhole, readWhole, readSome)};
}

/// The select that alone reads the element, where its condition holds.
static arith::SelectOp findMask(tensor::ExtractOp op) {
  auto select = op->hasOneUse() ? dyn_cast<arith::SelectOp>(*op->getUsers().begin()) : nullptr;
  bool isTaken = select && select->getBlock() == op->getBlock() && select.getTrueValue() == op.getResult();
  return isTaken && select.getCondition().getType().isInteger(1) ? select : nullptr;
}

/// Counting up survives adding what all lanes share, and conversions of indices.
static Value firstLane(LaneBuilder &lanes, Operation *op, ArrayRef<Lanes> operands) {
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && operands[0].first)
    return lanes.cloneWide(op, {operands[0].first});
  if (isa<arith::AddIOp>(op))
    for (unsigned i : {0, 1})
      if (operands[i].first && !lanes.varies(operands[1 - i].value))
        return arith::AddIOp::create(lanes.builder, lanes.loc, operands[i].first, operands[1 - i].value);
  return {};
}

/// Where lanes that count up are clamped, what they were before.
static void noteClamp(LaneBuilder &lanes, Operation *op, ArrayRef<Lanes> operands, Lanes &result) {
  if (!isa<arith::MinUIOp>(op) || !op->getResult(0).getType().isIndex())
    return;
  for (unsigned i : {0, 1}) {
    std::optional<int64_t> most = getConstantIntValue(op->getOperand(1 - i));
    if (!operands[i].first || !most)
      continue;
    result.unclampedFirst = operands[i].first;
    result.most = *most;
  }
}

/// What `tensor.extract` or the select that masks one gives; null where the select is to read. None for other ops.
static std::optional<Lanes> emitRead(LaneBuilder &lanes, Operation &op, const BodyInputs &inputs,
                                     function_ref<Lanes(Value)> get) {
  auto select = dyn_cast<arith::SelectOp>(op);
  auto extract = select ? select.getTrueValue().getDefiningOp<tensor::ExtractOp>() : dyn_cast<tensor::ExtractOp>(op);
  if (!extract)
    return std::nullopt;
  arith::SelectOp mask = findMask(extract);
  if (mask != select)
    return select ? std::nullopt : std::optional(Lanes());
  Value buffer = inputs.buffer(extract.getTensor());
  SmallVector<Lanes> indices = llvm::map_to_vector(extract.getIndices(), get);
  if (!mask)
    return emitExtract(lanes, extract, indices, buffer);
  return emitMasked(lanes, extract, indices, buffer, get(mask.getCondition()).value, get(mask.getFalseValue()).value);
}

SmallVector<Lanes> emitBody(LaneBuilder &lanes, linalg::GenericOp op, const BodyInputs &inputs) {
  DenseMap<Value, Lanes> values;
  for (auto [argument, value] : llvm::zip(op.getBody()->getArguments(), inputs.arguments))
    values[argument] = value;
  auto get = [&](Value value) -> Lanes {
    if (auto found = values.find(value); found != values.end())
      return found->second;
    // A scalar constant from outside the body.
    Operation *constant = value.getDefiningOp();
    return {lanes.builder.clone(*constant)->getResult(0)};
  };
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (std::optional<Lanes> read = emitRead(lanes, inner, inputs, get)) {
      values[inner.getResult(0)] = *read;
      continue;
    }
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      values[index.getResult()] = inputs.index(index.getDim());
      continue;
    }
    SmallVector<Lanes> operands;
    SmallVector<Value> plain;
    for (Value operand : inner.getOperands()) {
      operands.push_back(get(operand));
      plain.push_back(operands.back().value);
    }
    Lanes result{lanes.clone(&inner, plain)};
    if (lanes.width != 1) {
      result.first = firstLane(lanes, &inner, operands);
      noteClamp(lanes, &inner, operands, result);
    }
    values[inner.getResult(0)] = result;
  }
  SmallVector<Lanes> yielded;
  for (Value value : op.getBody()->getTerminator()->getOperands())
    yielded.push_back(get(value));
  return yielded;
}

TypedAttr neutralElement(Operation *combiner, Type type) {
  Builder builder(type.getContext());
  auto floating = [&](double value) { return builder.getFloatAttr(type, value); };
  auto integer = [&](APInt value) { return IntegerAttr::get(type, value); };
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  // What a type without infinity has instead.
  auto extreme = [&](bool isNegative) {
    const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
    return builder.getFloatAttr(type, APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics, isNegative)
                                                                          : APFloat::getLargest(semantics, isNegative));
  };
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      // Adding -0 changes no value; adding 0 would turn -0 into 0.
      .Case<arith::AddFOp>([&](auto) { return floating(-0.0); })
      .Case<arith::MulFOp>([&](auto) { return floating(1); })
      .Case<arith::MaximumFOp>([&](auto) { return extreme(/*isNegative=*/true); })
      .Case<arith::MinimumFOp>([&](auto) { return extreme(/*isNegative=*/false); })
      .Case<arith::MulIOp>([&](auto) { return integer(APInt(width, 1)); })
      .Case<arith::MaxSIOp>([&](auto) { return integer(APInt::getSignedMinValue(width)); })
      .Case<arith::MinSIOp>([&](auto) { return integer(APInt::getSignedMaxValue(width)); })
      .Case<arith::MinUIOp, arith::AndIOp>([&](auto) { return integer(APInt::getAllOnes(width)); })
      .Default([&](auto) { return integer(APInt::getZero(width)); });
}

SmallVector<Value> emitFor(OpBuilder &builder, Location loc, Value begin, Value end, int64_t step, ValueRange carried,
                           function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Value by = arith::ConstantIndexOp::create(builder, loc, step);
  auto loop = scf::ForOp::create(builder, loc, begin, end, by, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty()) // Without, the loop came with its terminator.
    scf::YieldOp::create(builder, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

} // namespace remat
