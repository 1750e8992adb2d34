//===- ClusterForm.cpp - Which loops can run as one -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClusterForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace remat {

Operation *findCombiner(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1)
    return nullptr;
  Block *body = op.getBody();
  Value accumulator = body->getArguments().back();
  Operation *combiner = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getBlock() != body || !accumulator.hasOneUse() ||
      *accumulator.getUsers().begin() != combiner)
    return nullptr;
  bool known =
      isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(
          combiner);
  return known ? combiner : nullptr;
}

/// Bodies are made of ops that work on scalars and vectors alike.
static bool hasPlainBody(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    if (inner.getNumRegions() != 0)
      return false;
    return isa<linalg::IndexOp, tensor::ExtractOp>(inner) ||
           isa<arith::ArithDialect, math::MathDialect>(inner.getDialect());
  });
}

static Sizes pick(ArrayRef<int64_t> values, ArrayRef<unsigned> which) {
  Sizes picked;
  for (unsigned i : which)
    picked.push_back(values[i]);
  return picked;
}

std::optional<unsigned> ClusterForm::findMember(Value value) const {
  auto found = makers.find(findBase(value));
  if (found == makers.end())
    return std::nullopt;
  return found->second;
}

bool ClusterForm::tryAdd(linalg::GenericOp op) {
  ClusterForm before = *this;
  if (add({op, false, op.getNumReductionLoops() != 0, realLoops(op)}))
    return true;
  *this = std::move(before);
  return false;
}

/// The `outs` of a member are written row by row, without holes.
static bool writesDensely(linalg::GenericOp op, ArrayRef<unsigned> loops, ArrayRef<bool> reduced,
                          ArrayRef<int64_t> loopSizes) {
  Sizes kept;
  for (auto [size, isReduced] : llvm::zip(loopSizes, reduced))
    if (!isReduced)
      kept.push_back(size);
  Sizes strides = rowMajorStrides(kept);
  for (OpOperand &out : op.getDpsInitsMutable()) {
    std::optional<Access> access = findAccess(op, out);
    if (!access || access->offset != 0)
      return false;
    size_t next = 0;
    for (auto [loop, isReduced] : llvm::zip(loops, reduced))
      if (access->strides[loop] != (isReduced ? 0 : strides[next++]))
        return false;
  }
  return true;
}

bool ClusterForm::add(Member member) {
  linalg::GenericOp op = member.op;
  if (!op.hasPureTensorSemantics() || !hasPlainBody(op))
    return false;
  for (OpOperand &operand : op->getOpOperands())
    if (!findAccess(op, operand))
      return false;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<bool> reduced;
  for (unsigned loop : member.loops)
    reduced.push_back(iterators[loop] == utils::IteratorType::reduction);
  member.reduces = llvm::is_contained(reduced, true);
  Sizes loopSizes = pick(op.getStaticLoopRanges(), member.loops);
  if (product(loopSizes) == 0 || !writesDensely(op, member.loops, reduced, loopSizes))
    return false;
  // A reduction over loops of one iteration is element-wise but for the value that it starts with.
  if (!member.reduces && op.getNumReductionLoops() != 0 && !findCombiner(op))
    return false;
  bool fits = member.reduces ? addReduction(member, loopSizes, reduced) : addElementwise(member, loopSizes);
  if (!fits || !readsFit(member))
    return false;
  for (Value result : op->getResults())
    makers[result] = list.size();
  list.push_back(std::move(member));
  return true;
}

bool ClusterForm::addElementwise(Member &member, ArrayRef<int64_t> loopSizes) {
  if (list.empty()) {
    sizes.assign(loopSizes.begin(), loopSizes.end());
    return true;
  }
  if (loopSizes == ArrayRef(sizes))
    return true;
  if (rows && loopSizes == ArrayRef(sizes).take_front(*rows)) {
    member.perRow = true;
    return true;
  }
  return growTo(loopSizes);
}

/// What was the whole space becomes the rows of a larger one.
bool ClusterForm::growTo(ArrayRef<int64_t> loopSizes) {
  constexpr int64_t leastRows = 16, leastRowLength = 4;
  if (rows || columns || loopSizes.size() <= sizes.size() || loopSizes.take_front(sizes.size()) != ArrayRef(sizes))
    return false;
  int64_t rowCount = product(sizes);
  if (rowCount < leastRows || product(loopSizes) < leastRowLength * rowCount)
    return false;
  rows = sizes.size();
  sizes.assign(loopSizes.begin(), loopSizes.end());
  for (Member &member : list)
    member.perRow = true;
  return true;
}

bool ClusterForm::addReduction(Member &member, ArrayRef<int64_t> loopSizes, ArrayRef<bool> reduced) {
  if (!findCombiner(member.op))
    return false;
  unsigned begin = llvm::find(reduced, true) - reduced.begin(), end = begin;
  while (end < reduced.size() && reduced[end])
    ++end;
  if (llvm::count(reduced, true) != end - begin)
    return false;
  if (list.empty())
    sizes.assign(loopSizes.begin(), loopSizes.end());
  else if (loopSizes != ArrayRef(sizes) && !growTo(loopSizes))
    return false;
  if (end == reduced.size()) {
    if (columns || (rows && *rows != begin))
      return false;
    rows = begin;
    return true;
  }
  if (rows || (columns && *columns != std::pair(begin, end)))
    return false;
  columns = std::pair(begin, end);
  return true;
}

bool ClusterForm::readsFit(const Member &member) {
  for (OpOperand *input : member.op.getDpsInputOperands())
    if (read(member, *input) == Reading::Unfit)
      return false;
  // What the body reads by computed indices must be there before the cluster runs.
  bool fits = true;
  member.op.getBody()->walk([&](tensor::ExtractOp extract) { fits &= !findMember(extract.getTensor()); });
  return fits;
}

ClusterForm::Reading ClusterForm::read(const Member &member, OpOperand &operand) {
  std::optional<unsigned> number = findMember(operand.get());
  if (!number)
    return Reading::Outside;
  const Member &maker = list[*number];
  if (columns && maker.reduces)
    return Reading::Unfit;
  std::optional<Access> access = findAccess(member.op, operand);
  Sizes strides = pick(access->strides, member.loops);
  bool isPerRow = maker.perRow || maker.reduces;
  if (member.perRow && !isPerRow)
    return Reading::Unfit;
  Sizes expected = rowMajorStrides(isPerRow ? ArrayRef(sizes).take_front(*rows) : ArrayRef(sizes));
  expected.resize(strides.size(), 0);
  return access->offset == 0 && strides == expected ? Reading::Fits : Reading::Unfit;
}

} // namespace remat
