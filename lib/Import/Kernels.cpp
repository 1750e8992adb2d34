//===- Kernels.cpp - Kernels made of loops over indices -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value IndexMath::multiply(Value a, int64_t b) const {
  return b == 1 ? a : arith::MulIOp::create(builder, loc, a, constant(b)).getResult();
}

Value IndexMath::fromInteger(Value integer, Type old) const {
  Type index = builder.getIndexType();
  if (!old.isUnsignedInteger() && !old.isInteger(1))
    return arith::IndexCastOp::create(builder, loc, index, integer);
  Value value = arith::IndexCastUIOp::create(builder, loc, index, integer);
  if (old.getIntOrFloatBitWidth() < 64)
    return value;
  return arith::MinUIOp::create(builder, loc, value, constant(std::numeric_limits<int64_t>::max()));
}

//===----------------------------------------------------------------------===//
// Kernels and loops
//===----------------------------------------------------------------------===//

static bool isConstantOfOneElement(Value value) {
  return value.getDefiningOp<arith::ConstantOp>() && cast<RankedTensorType>(value.getType()).getNumElements() == 1;
}

Converted buildKernel(Importer &importer, Location loc, TypeRange results, ValueRange inputs, ArrayRef<int64_t> inplace,
                      KernelBody body) {
  SmallVector<Value> kept;
  SmallVector<int64_t> numberOf(inputs.size(), -1);
  for (auto [i, input] : llvm::enumerate(inputs))
    if (!isConstantOfOneElement(input)) {
      numberOf[i] = kept.size();
      kept.push_back(input);
    }
  SmallVector<int64_t> placed =
      llvm::map_to_vector(inplace, [&](int64_t input) { return input < 0 ? input : numberOf[input]; });
  bool ok = true;
  ValueRange made = importer.kernel(loc, results, kept, placed, [&](ValueRange arguments) -> SmallVector<Value> {
    SmallVector<Value> values;
    for (auto [input, number] : llvm::zip_equal(inputs, numberOf))
      values.push_back(number < 0 ? importer.builder.clone(*input.getDefiningOp())->getResult(0) : arguments[number]);
    Converted converted = body(values);
    ok = succeeded(converted);
    return ok ? *converted : SmallVector<Value>();
  });
  if (!ok)
    return failure();
  return llvm::to_vector(made);
}

Converted buildLoops(Importer &importer, Location loc, ArrayRef<LoopRange> ranges, ValueRange carried, LoopBody body) {
  OpBuilder &builder = importer.builder;
  SmallVector<Value> indices;
  auto nest = [&](auto &self, ValueRange carried) -> Converted {
    if (indices.size() == ranges.size())
      return body(indices, carried);
    LoopRange range = ranges[indices.size()];
    Value lower = getValueOrCreateConstantIndexOp(builder, loc, range.lower);
    std::optional<int64_t> first = getConstantIntValue(range.lower), end = getConstantIntValue(range.upper);
    if (first && end && *end - *first == 1) {
      indices.push_back(lower);
      Converted result = self(self, carried);
      indices.pop_back();
      return result;
    }
    Value upper = getValueOrCreateConstantIndexOp(builder, loc, range.upper);
    Value step = arith::ConstantIndexOp::create(builder, loc, 1);
    auto loop = scf::ForOp::create(builder, loc, lower, upper, step, carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    indices.push_back(loop.getInductionVar());
    Converted next = self(self, loop.getRegionIterArgs());
    indices.pop_back();
    if (failed(next))
      return failure();
    scf::YieldOp::create(builder, loc, *next);
    return llvm::to_vector(ValueRange(loop.getResults()));
  };
  return nest(nest, carried);
}

Converted buildLoops(Importer &importer, Location loc, ArrayRef<int64_t> sizes, ValueRange carried, LoopBody body) {
  SmallVector<LoopRange> ranges = llvm::map_to_vector(sizes, [&](int64_t size) {
    return LoopRange{importer.builder.getIndexAttr(0), importer.builder.getIndexAttr(size)};
  });
  return buildLoops(importer, loc, ranges, carried, body);
}

Converted buildIf(Importer &importer, Location loc, Value condition, ValueRange otherwise,
                  llvm::function_ref<Converted()> body) {
  OpBuilder &builder = importer.builder;
  auto branch = scf::IfOp::create(builder, loc, otherwise.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Converted values = body();
  if (failed(values))
    return failure();
  scf::YieldOp::create(builder, loc, *values);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, otherwise);
  return llvm::to_vector(ValueRange(branch.getResults()));
}

//===----------------------------------------------------------------------===//
// What nobody has checked where StableHLO isn't registered
//===----------------------------------------------------------------------===//

FailureOr<Block *> requireBody(Operation *op, unsigned i, unsigned arguments) {
  if (i >= op->getNumRegions() || !op->getRegion(i).hasOneBlock())
    return malformed(op, "expected a body of one block as region " + Twine(i));
  Block &block = op->getRegion(i).front();
  if (block.getNumArguments() != arguments)
    return malformed(op, "expected " + Twine(arguments) + " arguments of its body, found " +
                             Twine(block.getNumArguments()));
  return &block;
}

bool isAddition(Block &body) {
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return false;
  Operation &add = body.front(), &end = body.back();
  return add.getName().getStringRef() == "stablehlo.add" && add.getNumOperands() == 2 && add.getNumResults() == 1 &&
         llvm::all_of(body.getArguments(),
                      [&](Value argument) { return llvm::is_contained(add.getOperands(), argument); }) &&
         end.getNumOperands() == 1 && end.getOperand(0) == add.getResult(0);
}

LogicalResult expectDims(Operation *op, StringRef name, ArrayRef<int64_t> dims, int64_t rank) {
  for (auto [position, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= rank)
      return malformed(op, "expected dimensions of a tensor of rank " + Twine(rank) + " in '" + name + "', found " +
                               Twine(dim));
    if (llvm::is_contained(dims.take_front(position), dim))
      return malformed(op, "dimension " + Twine(dim) + " stands twice in '" + name + "'");
  }
  return success();
}

} // namespace remat
