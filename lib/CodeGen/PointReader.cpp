//===- PointReader.cpp - A cluster's members at one point -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace remat {

Value PointReader::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value PointReader::address(const Access &access, const Point &point) {
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

Access PointReader::denseAccess(const Member &member) const {
  ArrayRef<int64_t> space = nest.space;
  Access access;
  access.strides = rowMajorStrides(member.perRow || member.reduces ? space.take_front(nest.outer) : space);
  access.strides.resize(space.size());
  return access;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Lanes PointReader::readBuffer(const Source &source, Type element, Point &point) {
  for (const Point::Loaded &known : point.loaded)
    if (known.buffer == source.buffer && known.access == source.access)
      return known.value;
  LaneBuilder lanes(builder, loc, point.width);
  int64_t laneStride = point.width == 1 ? 0 : source.access.strides.back();
  Lanes value = lanes.load(buffers[source.buffer], element, address(source.access, point), laneStride);
  point.loaded.push_back({source.access, source.buffer, value});
  return value;
}

Lanes PointReader::scalar(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
    return {arith::ConstantOp::create(builder, loc, splat.getSplatValue<TypedAttr>())};
  return {arith::ConstantOp::create(builder, loc, constant.getValue())};
}

Lanes PointReader::loopIndex(int dim, const Point &point) {
  if (dim < 0)
    return {index(0), {}};
  LaneBuilder lanes(builder, loc, point.width);
  bool isLast = dim + 1 == int(point.indices.size());
  return isLast && point.width != 1 ? lanes.countUp(point.indices[dim]) : Lanes{point.indices[dim], {}};
}

/// The value of an op without operands where `reader` reads it.
Lanes PointReader::rebuild(const Member &reader, unsigned input, const Point &point) {
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

Lanes PointReader::evaluate(AffineExpr expression, const Member &reader, const Point &point) {
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

Lanes PointReader::readInput(const Member &member, unsigned input, Point &point) {
  const Source &source = member.inputs[input];
  switch (source.kind) {
  case Source::Kind::Buffer:
    return readBuffer(source, getElementTypeOrSelf(member.op.getDpsInputOperand(input)->get().getType()), point);
  case Source::Kind::Member:
    return readMember(source, point);
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

SmallVector<Lanes> PointReader::compute(const Member &member, Point &point, ArrayRef<Lanes> accumulators) {
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

SmallVector<Lanes> PointReader::computeAlone(const Member &member, Point &point) {
  SmallVector<Lanes> initial;
  for (unsigned i = 0; i < member.inits.size(); ++i)
    initial.push_back({initialValue(member, i, point), {}});
  return compute(member, point, initial);
}

/// What a reduction starts with.
Value PointReader::initialValue(const Member &member, unsigned number, Point &point) {
  const Source &source = member.inits[number];
  if (source.kind == Source::Kind::Constant)
    return scalar(source.value).value;
  if (source.kind == Source::Kind::Member)
    return readMember(source, point).value;
  return readBuffer(source, elementType(member, number), point).value;
}

Value PointReader::withInitial(const Member &member, Value total, Point &point) {
  auto vector = dyn_cast<VectorType>(total.getType());
  LaneBuilder lanes(builder, loc, vector ? vector.getDimSize(0) : 1);
  return lanes.clone(findCombiner(member.op), {initialValue(member, 0, point), total});
}

} // namespace remat
