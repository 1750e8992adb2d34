//===- LoopNest.cpp - A cluster as loops over strided buffers -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace remat {

namespace {

class Analysis {
public:
  explicit Analysis(KernelOp kernel) : kernel(kernel), body(kernel.getBody().front()) {}

  std::optional<LoopNest> run() {
    if (!replay() || !findOutputs())
      return std::nullopt;
    nest.space.assign(form.space().begin(), form.space().end());
    nest.columns = form.columnReduction();
    nest.byRows = form.rowDims().has_value();
    nest.outer = form.rowDims().value_or(0);
    for (unsigned i = 0; i < form.members().size(); ++i)
      if (!describe(i))
        return std::nullopt;
    assignPasses();
    // A row of scratch holds one value.
    if (llvm::any_of(nest.members,
                     [](LoopNest::Member &member) { return member.isScratch && member.op->getNumResults() > 1; }))
      return std::nullopt;
    joinDims();
    return std::move(nest);
  }

private:
  static bool isRebuilt(linalg::GenericOp op) {
    bool reads = op.getNumDpsInputs() != 0 || op.getNumReductionLoops() != 0;
    op.getBody()->walk([&](tensor::ExtractOp) { reads = true; });
    return !reads;
  }

  bool replay() {
    bool onlyOp = llvm::count_if(body.getOperations(), [](Operation &op) { return isa<linalg::GenericOp>(op); }) == 1;
    for (Operation &op : body.without_terminator()) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        if (isRebuilt(generic) && !onlyOp && !isYielded(generic))
          continue;
        if (!form.tryAdd(generic))
          return false;
      } else if (!isa<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, arith::ConstantOp,
                      linalg::FillOp>(op) &&
                 !isScalarRead(&op)) {
        return false;
      }
    }
    return !form.members().empty();
  }

  bool isYielded(linalg::GenericOp op) { return llvm::is_contained(op->getUsers(), body.getTerminator()); }

  /// The value that a fill takes from a 0-d buffer.
  static bool isScalarRead(Operation *op) {
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    return extract && extract.getIndices().empty() && isa<BlockArgument>(extract.getTensor());
  }

  bool findOutputs() {
    nest.members.resize(form.members().size());
    unsigned inputs = kernel.getInputs().size();
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      std::optional<unsigned> member = form.findMember(value);
      if (!member)
        return false;
      auto result = cast<OpResult>(findBase(value));
      nest.members[*member].outputs.push_back({result.getResultNumber(), inputs + unsigned(i)});
    }
    return true;
  }

  bool describe(unsigned number) {
    const ClusterForm::Member &from = form.members()[number];
    LoopNest::Member &member = nest.members[number];
    member.op = from.op;
    member.perRow = from.perRow;
    member.reduces = from.reduces;
    member.dims.assign(from.op.getNumLoops(), -1);
    for (auto [dim, loop] : llvm::enumerate(from.loops))
      member.dims[loop] = dim;
    for (OpOperand *input : from.op.getDpsInputOperands()) {
      std::optional<LoopNest::Source> source = findSource(member, *input);
      if (!source)
        return false;
      member.inputs.push_back(*source);
    }
    for (OpOperand &init : from.op.getDpsInitsMutable()) {
      // Without a reduction nobody reads it.
      if (from.op.getNumReductionLoops() == 0)
        continue;
      std::optional<LoopNest::Source> source = findSource(member, init);
      if (!source)
        return false;
      member.inits.push_back(*source);
    }
    return true;
  }

  std::optional<LoopNest::Source> findSource(const LoopNest::Member &member, OpOperand &operand) {
    LoopNest::Source source;
    Value base = findBase(operand.get());
    if (std::optional<unsigned> maker = form.findMember(base)) {
      source.kind = LoopNest::Source::Kind::Member;
      source.member = *maker;
      source.result = cast<OpResult>(base).getResultNumber();
      return source;
    }
    std::optional<Access> access = findAccess(member.op, operand);
    source.access.offset = access->offset;
    source.access.strides.resize(form.space().size());
    for (auto [loop, dim] : llvm::enumerate(member.dims))
      if (dim >= 0)
        source.access.strides[dim] = access->strides[loop];
    source.value = base;
    if (auto argument = dyn_cast<BlockArgument>(base); argument && argument.getOwner() == &body) {
      source.buffer = argument.getArgNumber();
      return source;
    }
    if (auto fill = base.getDefiningOp<linalg::FillOp>())
      return scalarSource(fill.getInputs()[0]);
    if (auto constant = base.getDefiningOp<arith::ConstantOp>())
      return isa<SplatElementsAttr>(constant.getValue()) ? std::optional(scalarSource(base)) : std::nullopt;
    if (base.getDefiningOp<linalg::GenericOp>() && base == operand.get()) {
      source.kind = LoopNest::Source::Kind::Rebuilt;
      return source;
    }
    return std::nullopt;
  }

  LoopNest::Source scalarSource(Value value) {
    LoopNest::Source source;
    if (auto extract = value.getDefiningOp<tensor::ExtractOp>()) {
      source.buffer = cast<BlockArgument>(extract.getTensor()).getArgNumber();
      source.access.strides.resize(form.space().size());
      return source;
    }
    source.kind = LoopNest::Source::Kind::Constant;
    source.value = value;
    return source;
  }

  //===--------------------------------------------------------------------===//
  // Passes
  //===--------------------------------------------------------------------===//

  void assignPasses() {
    auto ready = [&](const LoopNest::Member &member) { return member.pass + (member.reduces ? 1 : 0); };
    for (LoopNest::Member &member : nest.members)
      forEachMaker(member, [&](LoopNest::Member &maker) { member.pass = std::max(member.pass, ready(maker)); });
    // As late as the first reader: fewer values wait in scratch. What leaves the kernel or is summed stays early.
    for (size_t i = nest.members.size(); i-- > 0;) {
      LoopNest::Member &member = nest.members[i];
      if (member.perRow || member.reduces || !member.outputs.empty())
        continue;
      unsigned first = ~0u;
      for (LoopNest::Member &reader : nest.members)
        forEachMaker(reader, [&](LoopNest::Member &maker) {
          if (&maker == &member)
            first = std::min(first, reader.pass);
        });
      if (first != ~0u)
        member.pass = first;
    }
    for (LoopNest::Member &reader : nest.members) {
      nest.passes = std::max(nest.passes, reader.pass + 1);
      forEachMaker(reader, [&](LoopNest::Member &maker) {
        if (!maker.perRow && !maker.reduces && maker.pass != reader.pass)
          maker.isScratch = true;
      });
    }
  }

  template <typename Visit>
  void forEachMaker(LoopNest::Member &member, Visit visit) {
    for (auto *sources : {&member.inputs, &member.inits})
      for (LoopNest::Source &source : *sources)
        if (source.kind == LoopNest::Source::Kind::Member)
          visit(nest.members[source.member]);
  }

  //===--------------------------------------------------------------------===//
  // Joining loops
  //===--------------------------------------------------------------------===//

  /// Whether the loops `d` and `d + 1` can run as one.
  bool canJoin(unsigned d) {
    if (nest.byRows && d + 1 == nest.outer)
      return false;
    // The order of a sum must not depend on what else is in the cluster, and so on whether that lets loops be joined.
    if (nest.byRows && d >= nest.outer &&
        llvm::any_of(nest.members, [](const LoopNest::Member &member) { return member.reduces; }))
      return false;
    if (nest.columns)
      for (unsigned border : {nest.columns->first, nest.columns->second})
        if (d + 1 == border)
          return false;
    for (const LoopNest::Member &member : nest.members) {
      if (usesIndex(member, d) || usesIndex(member, d + 1))
        return false;
      for (auto *sources : {&member.inputs, &member.inits})
        for (const LoopNest::Source &source : *sources) {
          if (source.kind == LoopNest::Source::Kind::Rebuilt)
            return false;
          const Sizes &strides = source.access.strides;
          if (source.kind == LoopNest::Source::Kind::Buffer && strides[d] != strides[d + 1] * nest.space[d + 1])
            return false;
        }
    }
    return true;
  }

  static bool usesIndex(const LoopNest::Member &member, int dim) {
    bool uses = false;
    member.op.getBody()->walk([&](linalg::IndexOp index) { uses |= member.dims[index.getDim()] == dim; });
    return uses;
  }

  void joinDims() {
    for (unsigned d = nest.space.size(); d-- > 1;)
      if (canJoin(d - 1))
        join(d - 1);
  }

  void join(unsigned d) {
    auto remove = [&](unsigned &border) { border -= border > d; };
    nest.space[d + 1] *= nest.space[d];
    nest.space.erase(nest.space.begin() + d);
    if (nest.byRows)
      remove(nest.outer);
    if (nest.columns) {
      remove(nest.columns->first);
      remove(nest.columns->second);
    }
    for (LoopNest::Member &member : nest.members) {
      for (int &dim : member.dims)
        dim -= dim > int(d);
      for (auto *sources : {&member.inputs, &member.inits})
        for (LoopNest::Source &source : *sources)
          if (source.kind == LoopNest::Source::Kind::Buffer)
            source.access.strides.erase(source.access.strides.begin() + d);
    }
  }

  KernelOp kernel;
  Block &body;
  ClusterForm form;
  LoopNest nest;
};

} // namespace

std::optional<LoopNest> analyzeKernel(KernelOp kernel) { return Analysis(kernel).run(); }

} // namespace remat
