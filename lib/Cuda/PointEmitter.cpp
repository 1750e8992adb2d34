//===- PointEmitter.cpp - A cluster's members at one point ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace remat {

using Source = LoopNest::Source;

Value PointEmitter::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

/// Divisions of 64 bits take a GPU dozens of instructions; numbers of elements that fit 32 bits are split in them.
SmallVector<Value> PointEmitter::split(Value number, ArrayRef<int64_t> sizes) {
  SmallVector<Value> indices(sizes.size());
  if (sizes.size() == 1)
    indices[0] = number;
  if (sizes.size() < 2)
    return indices;
  bool isNarrow = product(sizes) <= std::numeric_limits<int32_t>::max();
  Type type = isNarrow ? Type(builder.getI32Type()) : builder.getI64Type();
  Value rest = arith::IndexCastUIOp::create(builder, loc, type, number);
  for (size_t d = sizes.size(); d-- > 0;) {
    Value size = arith::ConstantIntOp::create(builder, loc, type, sizes[d]);
    Value part = d == 0 ? rest : Value(arith::RemUIOp::create(builder, loc, rest, size));
    if (d != 0)
      rest = arith::DivUIOp::create(builder, loc, rest, size);
    indices[d] = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), part);
  }
  return indices;
}

Value PointEmitter::address(const Access &access, const Point &point) {
  Value sum = index(access.offset);
  for (auto [d, stride] : llvm::enumerate(access.strides)) {
    if (stride == 0 || !point.indices[d])
      continue;
    Value step = point.indices[d];
    if (stride != 1)
      step = arith::MulIOp::create(builder, loc, step, index(stride));
    sum = arith::AddIOp::create(builder, loc, sum, step);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Lanes PointEmitter::readBuffer(const Source &source, Type element, Point &point) {
  for (const Point::Loaded &known : point.loaded)
    if (known.buffer == source.buffer && known.access == source.access)
      return known.value;
  LaneBuilder lanes(builder, loc, point.width);
  int64_t laneStride = point.width == 1 ? 0 : source.access.strides.back();
  Lanes value = lanes.load(buffers[source.buffer], element, address(source.access, point), laneStride);
  point.loaded.push_back({source.access, source.buffer, value});
  return value;
}

Lanes PointEmitter::scalar(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
    return {arith::ConstantOp::create(builder, loc, splat.getSplatValue<TypedAttr>())};
  return {arith::ConstantOp::create(builder, loc, constant.getValue())};
}

Lanes PointEmitter::loopIndex(int dim, const Point &point) {
  if (dim < 0)
    return {index(0), {}};
  LaneBuilder lanes(builder, loc, point.width);
  bool isLast = dim + 1 == int(point.indices.size());
  return isLast && point.width != 1 ? lanes.countUp(point.indices[dim]) : Lanes{point.indices[dim], {}};
}

/// The value of an op without operands where `reader` reads it.
Lanes PointEmitter::rebuild(const Member &reader, unsigned input, const Point &point) {
  auto maker = reader.inputs[input].value.getDefiningOp<linalg::GenericOp>();
  AffineMap map = reader.op.getMatchingIndexingMap(reader.op.getDpsInputOperand(input));
  AffineMap written = maker.getMatchingIndexingMap(maker.getDpsInitOperand(0));
  auto indexOf = [&](unsigned loop) -> Lanes {
    for (auto [position, expression] : llvm::enumerate(written.getResults()))
      if (cast<AffineDimExpr>(expression).getPosition() == loop)
        return evaluate(map.getResult(position), reader, point);
    return {index(0), {}};
  };
  BodyInputs inputs;
  inputs.arguments.resize(maker.getBody()->getNumArguments());
  inputs.index = indexOf;
  LaneBuilder lanes(builder, loc, point.width);
  return emitBody(lanes, maker, inputs)[0];
}

Lanes PointEmitter::evaluate(AffineExpr expression, const Member &reader, const Point &point) {
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return loopIndex(reader.dims[dim.getPosition()], point);
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return {index(constant.getValue()), {}};
  auto binary = cast<AffineBinaryOpExpr>(expression);
  if (expression.getKind() == AffineExprKind::Mod) // It never wraps (Access.cpp).
    return evaluate(binary.getLHS(), reader, point);
  LaneBuilder lanes(builder, loc, point.width);
  Lanes a = evaluate(binary.getLHS(), reader, point), b = evaluate(binary.getRHS(), reader, point);
  bool isVector = lanes.varies(a.value) || lanes.varies(b.value);
  Value x = isVector ? lanes.spread(a.value) : a.value, y = isVector ? lanes.spread(b.value) : b.value;
  if (expression.getKind() == AffineExprKind::Mul)
    return {arith::MulIOp::create(builder, loc, x, y), {}};
  Value first;
  if (a.first && !lanes.varies(b.value))
    first = arith::AddIOp::create(builder, loc, a.first, b.value);
  return {arith::AddIOp::create(builder, loc, x, y), first};
}

Lanes PointEmitter::readInput(const Member &member, unsigned input, Point &point) {
  const Source &source = member.inputs[input];
  switch (source.kind) {
  case Source::Kind::Buffer:
    return readBuffer(source, getElementTypeOrSelf(member.op.getDpsInputOperand(input)->get().getType()), point);
  case Source::Kind::Member:
    return value(nest.members[source.member], source.result, point);
  case Source::Kind::Constant:
    return scalar(source.value);
  case Source::Kind::Rebuilt:
    return rebuild(member, input, point);
  }
  llvm_unreachable("every source has a kind");
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

SmallVector<Lanes> PointEmitter::compute(const Member &member, Point &point, ArrayRef<Lanes> accumulators) {
  BodyInputs inputs;
  for (unsigned i = 0; i < member.inputs.size(); ++i)
    inputs.arguments.push_back(readInput(member, i, point));
  llvm::append_range(inputs.arguments, accumulators);
  inputs.arguments.resize(member.op.getBody()->getNumArguments());
  auto indexOf = [&](unsigned loop) { return loopIndex(member.dims[loop], point); };
  auto bufferOf = [&](Value tensor) { return buffers[cast<BlockArgument>(findBase(tensor)).getArgNumber()]; };
  inputs.index = indexOf;
  inputs.buffer = bufferOf;
  LaneBuilder lanes(builder, loc, point.width);
  return emitBody(lanes, member.op, inputs);
}

Lanes PointEmitter::value(const Member &member, unsigned result, Point &point) {
  Value wanted = member.op->getResult(result);
  if (member.perRow || member.reduces)
    return rowValues.lookup(wanted);
  if (auto found = point.values.find(wanted); found != point.values.end())
    return found->second;
  SmallVector<Lanes> initial;
  for (unsigned i = 0; i < member.inits.size(); ++i)
    initial.push_back({initialValue(member, i, point), {}});
  SmallVector<Lanes> results = compute(member, point, initial);
  for (auto [value, lanes] : llvm::zip(member.op->getResults(), results))
    point.values[value] = lanes;
  return results[result];
}

void PointEmitter::computePerRow(const Member &member, Point &point) {
  SmallVector<Lanes> initial;
  for (unsigned i = 0; i < member.inits.size(); ++i)
    initial.push_back({initialValue(member, i, point), {}});
  for (auto [value, lanes] : llvm::zip(member.op->getResults(), compute(member, point, initial)))
    rowValues[value] = lanes;
}

/// What a reduction starts with.
Value PointEmitter::initialValue(const Member &member, unsigned number, Point &point) {
  const Source &source = member.inits[number];
  if (source.kind == Source::Kind::Constant)
    return scalar(source.value).value;
  if (source.kind == Source::Kind::Member)
    return value(nest.members[source.member], source.result, point).value;
  return readBuffer(source, elementType(member, number), point).value;
}

Value PointEmitter::withInitial(const Member &member, Value total, Point &point) {
  auto vector = dyn_cast<VectorType>(total.getType());
  LaneBuilder lanes(builder, loc, vector ? vector.getDimSize(0) : 1);
  return lanes.clone(findCombiner(member.op), {initialValue(member, 0, point), total});
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void PointEmitter::store(unsigned buffer, Value value, Value address, int64_t width) {
  LaneBuilder(builder, loc, width).store(buffers[buffer], value, address, width == 1 ? 0 : 1);
}

/// Results lie row by row.
Access PointEmitter::denseAccess(const Member &member) const {
  ArrayRef<int64_t> space = nest.space;
  Access access;
  access.strides = rowMajorStrides(member.perRow || member.reduces ? space.take_front(nest.outer) : space);
  access.strides.resize(space.size());
  return access;
}

void PointEmitter::computeOutputs(Point &point) {
  for (const Member &member : nest.members)
    if (!member.perRow && !member.reduces)
      for (const LoopNest::Output &output : member.outputs)
        value(member, output.result, point);
}

void PointEmitter::storeOutputs(Point &point) {
  for (const Member &member : nest.members)
    if (!member.perRow && !member.reduces)
      for (const LoopNest::Output &output : member.outputs)
        store(output.buffer, value(member, output.result, point).value, address(denseAccess(member), point),
              point.width);
}

void PointEmitter::storePerRow(const Member &member, Point &point) {
  for (const LoopNest::Output &output : member.outputs)
    store(output.buffer, rowValues.lookup(member.op->getResult(output.result)).value,
          address(denseAccess(member), point), 1);
}

} // namespace remat
