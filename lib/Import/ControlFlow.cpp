//===- ControlFlow.cpp - Loops, branches and barriers ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

#include "remat/IR/OpModel.h"
#include "remat/Transforms/ImportedMarks.h"

using namespace mlir;

namespace remat {

/// What the last op of a converted block returned, as new values. `arguments` are what the old block takes.
static Converted convertRegion(Importer &importer, Operation *op, Region &region, ValueRange arguments,
                               TypeRange results) {
  if (!region.hasOneBlock() || region.front().empty() ||
      region.front().back().getName().getStringRef() != "stablehlo.return")
    return malformed(op, "expected regions of one block that ends with 'stablehlo.return'");
  Block &block = region.front();
  if (block.getNumArguments() != arguments.size())
    return malformed(op, "a region takes " + Twine(block.getNumArguments()) + " arguments, expected " +
                             Twine(arguments.size()));
  for (auto [old, argument] : llvm::zip(block.getArguments(), arguments)) {
    if (Importer::convertType(old.getType()) != argument.getType())
      return malformed(op, "a region's arguments have other types than the operands");
    importer.set(old, argument);
  }
  if (failed(importer.convertBlock(block)))
    return failure();
  SmallVector<Value> values =
      llvm::map_to_vector(block.back().getOperands(), [&](Value old) { return importer.get(old); });
  if (ValueRange(values).getTypes() != results)
    return malformed(op, "a region returns other types than expected");
  return values;
}

static SmallVector<Type> convertedResultTypes(Operation *op) {
  return llvm::map_to_vector(op->getResultTypes(), [](Type type) { return Importer::convertType(type); });
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

static Converted convertWhile(Importer &importer, Operation *op) {
  if (op->getNumRegions() != 2)
    return malformed(op, "expected a condition and a body");
  OpBuilder &builder = importer.builder;
  Location loc = op->getLoc();
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value old) { return importer.get(old); });
  SmallVector<Type> types = convertedResultTypes(op);
  if (ValueRange(operands).getTypes() != TypeRange(types))
    return malformed(op, "the operands have other types than the results");
  auto loop = scf::WhileOp::create(builder, loc, types, operands);
  SmallVector<Location> locations(types.size(), loc);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locations);
  Type condition = RankedTensorType::get({}, builder.getI1Type());
  Converted goesOn = convertRegion(importer, op, op->getRegion(0), before->getArguments(), condition);
  if (failed(goesOn))
    return failure();
  scf::ConditionOp::create(builder, loc, importer.scalar(loc, goesOn->front()), before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, locations);
  Converted next = convertRegion(importer, op, op->getRegion(1), after->getArguments(), types);
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, *next);
  if (std::optional<int64_t> trips = tripCount(op))
    loop->setAttr(tripCountMark, builder.getI64IntegerAttr(*trips));
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// if and case
//===----------------------------------------------------------------------===//

static LogicalResult fillBranch(Importer &importer, Operation *op, Region &old, Region &branch) {
  OpBuilder::InsertionGuard guard(importer.builder);
  importer.builder.createBlock(&branch);
  Converted values = convertRegion(importer, op, old, {}, convertedResultTypes(op));
  if (failed(values))
    return failure();
  scf::YieldOp::create(importer.builder, op->getLoc(), *values);
  return success();
}

static Converted convertIf(Importer &importer, Operation *op) {
  Type i1 = IntegerType::get(op->getContext(), 1);
  if (op->getNumOperands() != 1 || op->getNumRegions() != 2 ||
      op->getOperand(0).getType() != Type(RankedTensorType::get({}, i1)))
    return malformed(op, "expected a condition of type 'tensor<i1>' and two branches");
  Value condition = importer.scalar(op->getLoc(), importer.operand(op, 0));
  auto branches = scf::IfOp::create(importer.builder, op->getLoc(), convertedResultTypes(op), condition,
                                    /*addThenBlock=*/false, /*addElseBlock=*/false);
  if (failed(fillBranch(importer, op, op->getRegion(0), branches.getThenRegion())) ||
      failed(fillBranch(importer, op, op->getRegion(1), branches.getElseRegion())))
    return failure();
  return SmallVector<Value>(branches.getResults());
}

/// Branches from `first` on: `index == first ? this one : the rest`. The last one takes every index that is left,
/// negative ones too.
static LogicalResult convertBranches(Importer &importer, Operation *op, Value index, unsigned first,
                                     SmallVectorImpl<Value> &results) {
  OpBuilder &builder = importer.builder;
  Location loc = op->getLoc();
  SmallVector<Type> types = convertedResultTypes(op);
  if (first + 1 == op->getNumRegions()) {
    Converted values = convertRegion(importer, op, op->getRegion(first), {}, types);
    if (failed(values))
      return failure();
    results = *values;
    return success();
  }
  Value number = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(first));
  Value isThis = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, index, number);
  auto branches = scf::IfOp::create(builder, loc, types, isThis, /*addThenBlock=*/false, /*addElseBlock=*/false);
  if (failed(fillBranch(importer, op, op->getRegion(first), branches.getThenRegion())))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&branches.getElseRegion());
  SmallVector<Value> others;
  if (failed(convertBranches(importer, op, index, first + 1, others)))
    return failure();
  scf::YieldOp::create(builder, loc, others);
  results.assign(branches.getResults().begin(), branches.getResults().end());
  return success();
}

static Converted convertCase(Importer &importer, Operation *op) {
  Type i32 = IntegerType::get(op->getContext(), 32);
  if (op->getNumOperands() != 1 || op->getNumRegions() == 0 ||
      op->getOperand(0).getType() != Type(RankedTensorType::get({}, i32)))
    return malformed(op, "expected an index of type 'tensor<i32>' and at least one branch");
  SmallVector<Value> results;
  Value index = importer.scalar(op->getLoc(), importer.operand(op, 0));
  if (failed(convertBranches(importer, op, index, 0, results)))
    return failure();
  return results;
}

//===----------------------------------------------------------------------===//
// optimization_barrier
//===----------------------------------------------------------------------===//

/// One barrier for each result that is read. The first one stands after all operands, the others after the first, so
/// that all of them stand after all operands as the old op did, with few operands.
static Converted convertBarrier(Importer &importer, Operation *op) {
  if (failed(expectOperands(op, op->getNumResults(), op->getNumResults())))
    return failure();
  SmallVector<Value> values = llvm::map_to_vector(op->getOperands(), [&](Value old) { return importer.get(old); });
  SmallVector<Value> results = values;
  std::optional<unsigned> first;
  for (OpResult result : op->getResults()) {
    unsigned i = result.getResultNumber();
    if (importer.resultType(op, i) != values[i].getType())
      return malformed(op, "operand " + Twine(i) + " and its result have different types");
    if (result.use_empty())
      continue;
    SmallVector<Value> after;
    if (first)
      after.push_back(results[*first]);
    else
      for (Value other : values)
        if (other != values[i])
          after.push_back(other);
    results[i] = BarrierOp::create(importer.builder, op->getLoc(), values[i].getType(), values[i], after,
                                   importer.builder.getI64IntegerAttr(importer.nextBarrierId++), StringAttr());
    if (!first)
      first = i;
  }
  return results;
}

void addControlFlowConversions(ConversionTable &table) {
  table["stablehlo.while"] = convertWhile;
  table["stablehlo.if"] = convertIf;
  table["stablehlo.case"] = convertCase;
  table["stablehlo.optimization_barrier"] = convertBarrier;
}

} // namespace remat
