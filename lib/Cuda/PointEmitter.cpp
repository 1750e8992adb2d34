//===- PointEmitter.cpp - A GPU thread at one point -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace remat {

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

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

Lanes PointEmitter::readMember(const Source &source, Point &point) {
  return value(nest.members[source.member], source.result, point);
}

Lanes PointEmitter::value(const Member &member, unsigned result, Point &point) {
  Value wanted = member.op->getResult(result);
  if (member.perRow || member.reduces)
    return rowValues.lookup(wanted);
  if (auto found = point.values.find(wanted); found != point.values.end())
    return found->second;
  SmallVector<Lanes> results = computeAlone(member, point);
  for (auto [value, lanes] : llvm::zip(member.op->getResults(), results))
    point.values[value] = lanes;
  return results[result];
}

void PointEmitter::computePerRow(const Member &member, Point &point) {
  for (auto [value, lanes] : llvm::zip(member.op->getResults(), computeAlone(member, point)))
    rowValues[value] = lanes;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void PointEmitter::store(unsigned buffer, Value value, Value address, int64_t width) {
  LaneBuilder(builder, loc, width).store(buffers[buffer], value, address, width == 1 ? 0 : 1);
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
