//===- ClusterPrepare.cpp - What clusters a block stands on -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClusterPrepare.h"

#include "ClusterForm.h"
#include "Dots.h"

#include "remat/IR/RematDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace remat {

/// An op whose result's elements are elements of its only input.
static bool onlyMoves(linalg::GenericOp op) {
  Block *body = op.getBody();
  return op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 && op.getNumReductionLoops() == 0 &&
         llvm::hasSingleElement(*body) && body->getTerminator()->getOperand(0) == body->getArgument(0) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         op.getDpsInputOperand(0)->get().getType() != op.getResultTypes()[0];
}

/// Lets a matrix product write its result the way its only reader, a transpose, wants it.
static void absorbTransposes(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto mover = dyn_cast<linalg::GenericOp>(op);
    if (!mover || !onlyMoves(mover))
      continue;
    AffineMap read = mover.getMatchingIndexingMap(mover.getDpsInputOperand(0));
    auto dot = mover.getDpsInputOperand(0)->get().getDefiningOp<linalg::GenericOp>();
    if (!read.isPermutation() || !dot || !dot->hasOneUse() || !findMatmul(dot))
      continue;
    AffineMap written = dot.getMatchingIndexingMap(dot.getDpsInitOperand(0));
    SmallVector<AffineExpr> results(written.getNumResults());
    for (auto [from, to] : llvm::zip(written.getResults(), read.getResults()))
      results[cast<AffineDimExpr>(to).getPosition()] = from;
    SmallVector<AffineMap> maps = dot.getIndexingMapsArray();
    maps.back() = AffineMap::get(written.getNumDims(), 0, results, dot.getContext());
    auto fill = dot.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
    if (!fill)
      continue;
    OpBuilder builder(dot);
    auto type = cast<RankedTensorType>(mover.getResultTypes()[0]);
    Value empty = tensor::EmptyOp::create(builder, dot.getLoc(), type.getShape(), type.getElementType());
    Value start = linalg::FillOp::create(builder, dot.getLoc(), fill.getInputs()[0], empty).getResult(0);
    auto turned = linalg::GenericOp::create(builder, dot.getLoc(), type, dot.getInputs(), start, maps,
                                            dot.getIteratorTypesArray());
    IRMapping mapping;
    dot.getRegion().cloneInto(&turned.getRegion(), mapping);
    mover.getResult(0).replaceAllUsesWith(turned.getResult(0));
    mover.erase();
    dot.erase();
  }
}

/// The loops' sizes must follow from the operands' shapes.
static bool determinesLoops(ArrayRef<AffineMap> maps) {
  llvm::SmallBitVector seen(maps.front().getNumDims());
  for (AffineMap map : maps)
    for (AffineExpr expression : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expression))
        seen.set(dim.getPosition());
  return seen.all();
}

/// Lets readers of moved data read it where it came from. A matrix product must stay one.
static void absorbMovement(Block &block) {
  for (Operation &inner : block) {
    auto reader = dyn_cast<linalg::GenericOp>(inner);
    if (!reader)
      continue;
    bool isMatmul = findMatmul(reader).has_value();
    for (OpOperand *input : reader.getDpsInputOperands())
      while (auto mover = input->get().getDefiningOp<linalg::GenericOp>()) {
        if (!onlyMoves(mover))
          break;
        SmallVector<AffineMap> maps = reader.getIndexingMapsArray(), before = maps;
        unsigned number = input->getOperandNumber();
        maps[number] = mover.getMatchingIndexingMap(mover.getDpsInputOperand(0)).compose(maps[number]);
        Value moved = input->get();
        if (!determinesLoops(maps))
          break;
        reader.setIndexingMapsAttr(Builder(reader.getContext()).getAffineMapArrayAttr(maps));
        input->set(mover.getDpsInputOperand(0)->get());
        if (!findAccess(reader, *input) || (isMatmul && !findMatmul(reader))) {
          reader.setIndexingMapsAttr(Builder(reader.getContext()).getAffineMapArrayAttr(before));
          input->set(moved);
          break;
        }
      }
  }
}

bool hasNoInputs(linalg::GenericOp op) {
  bool reads = op.getNumDpsInputs() != 0;
  op.getBody()->walk([&](tensor::ExtractOp) { reads = true; });
  return !reads && op.getNumReductionLoops() == 0;
}

bool isRebuilt(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue()) || !isa<ShapedType>(value.getType());
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return isRebuilt(fill.getInputs()[0]);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return isa<tensor::EmptyOp>(op) || (generic && hasNoInputs(generic));
}

/// Gives every reader of a reshape one of its own.
static void splitReshapes(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      while (!op.use_empty() && !op.hasOneUse()) {
        Operation *copy = OpBuilder(&op).clone(op);
        op.getResult(0).getUses().begin()->set(copy->getResult(0));
      }
}

static void dropBarriers(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isa<BarrierOp, NameOp>(op)) {
      op.getResult(0).replaceAllUsesWith(op.getOperand(0));
      op.erase();
    }
}

/// Removes what nobody reads any more; such ops have no effects in the imported form.
static void dropDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!op.hasTrait<OpTrait::IsTerminator>() && isOpTriviallyDead(&op))
      op.erase();
}

/// Whether an operand is only looked at for its shape, or is an element that is read when the program is made.
static bool needsNoBuffer(OpOperand &operand) {
  Operation *reader = operand.getOwner();
  if (auto generic = dyn_cast<linalg::GenericOp>(reader))
    return generic.isDpsInit(&operand);
  return isa<linalg::FillOp, tensor::ExtractOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reader);
}

/// A kernel that fills a buffer, for the readers that need one: loops, results, libraries.
static void materializeFills(Block &block) {
  constexpr int64_t mostConstantElements = 4096;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.getNumResults() != 1 || !isa<linalg::FillOp, tensor::EmptyOp, arith::ConstantOp>(op) ||
        !isRebuilt(op.getResult(0)))
      continue;
    auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    if (!type || (isa<arith::ConstantOp>(op) && type.getNumElements() <= mostConstantElements))
      continue;
    if (llvm::all_of(op.getUses(), needsNoBuffer))
      continue;
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(&op);
    auto kernel = KernelOp::create(builder, op.getLoc(), TypeRange(type), ValueRange(), nullptr);
    Block *body = builder.createBlock(&kernel.getBody());
    Value scalar;
    if (auto fill = dyn_cast<linalg::FillOp>(op))
      scalar = builder.clone(*fill.getInputs()[0].getDefiningOp())->getResult(0);
    else if (auto constant = dyn_cast<arith::ConstantOp>(op))
      scalar = arith::ConstantOp::create(builder, op.getLoc(),
                                         cast<SplatElementsAttr>(constant.getValue()).getSplatValue<TypedAttr>());
    Value filled = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(), type.getElementType());
    if (scalar)
      filled = linalg::FillOp::create(builder, op.getLoc(), scalar, filled).getResult(0);
    YieldOp::create(builder, op.getLoc(), filled);
    (void)body;
    op.getResult(0).replaceUsesWithIf(kernel.getResult(0), [](OpOperand &use) {
      return !needsNoBuffer(use) && !isa<KernelOp>(use.getOwner()->getParentOp());
    });
  }
}

/// Copies the scalar ops that `value` is made of, and their 0-d tensors as arguments of `body`.
static Value copyScalar(OpBuilder &builder, Value value, Block *body, SmallVectorImpl<Value> &inputs,
                        IRMapping &mapping) {
  if (mapping.contains(value))
    return mapping.lookup(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands()) {
    if (mapping.contains(operand))
      continue;
    if (isa<RankedTensorType>(operand.getType())) {
      inputs.push_back(operand);
      mapping.map(operand, body->addArgument(operand.getType(), operand.getLoc()));
    } else {
      copyScalar(builder, operand, body, inputs, mapping);
    }
  }
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// A program takes a branch by a number in a buffer: 0 for `then`, 1 for `else`. A kernel makes it of the condition.
static void numberBranches(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch || !branch.getCondition().getDefiningOp())
      continue;
    OpBuilder builder(branch);
    Location loc = branch.getLoc();
    auto type = RankedTensorType::get({}, builder.getI32Type());
    auto region = std::make_unique<Region>();
    auto *body = new Block();
    region->push_back(body);
    builder.setInsertionPointToStart(body);
    SmallVector<Value> inputs;
    IRMapping mapping;
    Value condition = copyScalar(builder, branch.getCondition(), body, inputs, mapping);
    Value zero = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
    Value one = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 1);
    Value number = arith::SelectOp::create(builder, loc, condition, zero, one);
    Value tensor = tensor::FromElementsOp::create(builder, loc, type, number);
    YieldOp::create(builder, loc, tensor);
    builder.setInsertionPoint(branch);
    auto kernel = KernelOp::create(builder, loc, TypeRange(type), inputs, nullptr);
    kernel.getBody().takeBody(*region);
    Value taken = tensor::ExtractOp::create(builder, loc, kernel.getResult(0), ValueRange());
    Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, taken,
                                         arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0));
    branch.getConditionMutable().assign(isZero);
  }
}

void prepareBlock(Block &block) {
  numberBranches(block);
  dropBarriers(block);
  absorbTransposes(block);
  absorbMovement(block);
  dropDead(block);
  splitReshapes(block);
}

void finishBlock(Block &block) {
  materializeFills(block);
  dropDead(block);
}

} // namespace remat
