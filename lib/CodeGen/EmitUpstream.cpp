//===- EmitUpstream.cpp - Any kernel by upstream's passes -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The buffers become memrefs that the results are materialized in; one-shot bufferization finds out what can be written
// straight into them. What it has to allocate becomes a part of the kernel's scratch.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace remat {

static bool isEmpty(Type tensor) { return cast<RankedTensorType>(tensor).getNumElements() == 0; }

/// Upstream finds no strides for some shapes without elements, and so passes no bare pointer to them: here they all
/// have one dimension.
static MemRefType bufferType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(isEmpty(type) ? ArrayRef<int64_t>(0) : type.getShape(), type.getElementType());
}

/// The kernel as a function on memrefs: inputs, then results.
static func::FuncOp makeFunction(ModuleOp module, KernelOp kernel, StringRef name) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  for (Type type : kernel.getInputs().getTypes())
    types.push_back(bufferType(type));
  for (Type type : kernel.getResultTypes())
    types.push_back(bufferType(type));
  Location loc = kernel.getLoc();
  auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  IRMapping mapping;
  size_t inputs = kernel.getInputs().size();
  ArrayRef<int64_t> inplace = kernel.getInplace().value_or(ArrayRef<int64_t>());
  Block &body = kernel.getBody().front();
  for (size_t i = 0; i < inputs; ++i) {
    // A result in place is written to the input's buffer, which is also the result's.
    bool isWritten = llvm::is_contained(inplace, int64_t(i));
    auto type = cast<RankedTensorType>(body.getArgument(i).getType());
    if (isEmpty(type)) {
      mapping.map(body.getArgument(i), tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType()));
      continue;
    }
    mapping.map(body.getArgument(i),
                bufferization::ToTensorOp::create(builder, loc, type, entry->getArgument(i), /*restrict=*/true,
                                                  /*writable=*/isWritten));
  }
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    if (isEmpty(value.getType()))
      continue;
    bool isInplace = i < inplace.size() && inplace[i] >= 0;
    Value target = entry->getArgument(isInplace ? inplace[i] : inputs + i);
    bufferization::MaterializeInDestinationOp::create(builder, loc, Type(), mapping.lookup(value), target,
                                                      /*restrict=*/true, /*writable=*/true);
  }
  func::ReturnOp::create(builder, loc);
  return function;
}

/// Writes every allocation as a view of one last argument; gives its bytes.
static FailureOr<int64_t> collectScratch(func::FuncOp function) {
  SmallVector<memref::AllocOp> allocations;
  function.walk([&](memref::AllocOp alloc) { allocations.push_back(alloc); });
  function.walk([](memref::DeallocOp dealloc) { dealloc.erase(); });
  int64_t bytes = 0;
  SmallVector<int64_t> offsets;
  for (memref::AllocOp alloc : allocations) {
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity())
      return alloc.emitError() << "a temporary of type " << type << " has no size that is known";
    offsets.push_back(bytes);
    int64_t elementBits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
    // What has no elements has a place all the same.
    bytes += llvm::alignTo(std::max<int64_t>(1, type.getNumElements() * std::max<int64_t>(1, elementBits / 8)), 64);
  }
  if (bytes == 0)
    return bytes;
  Block &entry = function.front();
  auto scratchType = MemRefType::get({bytes}, IntegerType::get(function.getContext(), 8));
  if (failed(function.insertArgument(function.getNumArguments(), scratchType, {}, function.getLoc())))
    return failure();
  Value scratch = entry.getArguments().back();
  for (auto [alloc, offset] : llvm::zip(allocations, offsets)) {
    OpBuilder builder(alloc);
    Value place = arith::ConstantIndexOp::create(builder, alloc.getLoc(), offset);
    Value view = memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), scratch, place, ValueRange());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
  return bytes;
}

/// Upstream copies strided memrefs by calling a library; a loop does it here.
static void expandStridedCopies(func::FuncOp function) {
  function.walk([](memref::CopyOp copy) {
    if (copy.getSource() == copy.getTarget())
      return copy.erase();
    auto source = cast<MemRefType>(copy.getSource().getType()), target = cast<MemRefType>(copy.getTarget().getType());
    if (source.getLayout().isIdentity() && target.getLayout().isIdentity() && source.hasStaticShape())
      return;
    OpBuilder builder(copy);
    linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  });
}

/// Whether the maps other than the given one name every loop, so that its operand needs no shape.
static bool hasShapeWithout(linalg::GenericOp op, OpOperand &operand) {
  llvm::SmallBitVector seen(op.getNumLoops());
  for (OpOperand &other : op->getOpOperands())
    if (&other != &operand)
      for (AffineExpr expression : op.getMatchingIndexingMap(&other).getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expression))
          seen.set(dim.getPosition());
  return seen.all();
}

/// Bufferization makes a global of a constant tensor, which would stay behind in the temporary module. A splat is read
/// as a scalar where an elementwise op reads it, and is a fill anywhere else.
static LogicalResult rebuildConstants(func::FuncOp function) {
  SmallVector<arith::ConstantOp> constants;
  function.walk([&](arith::ConstantOp constant) {
    if (isa<RankedTensorType>(constant.getType()))
      constants.push_back(constant);
  });
  for (arith::ConstantOp constant : constants) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat)
      return constant.emitError() << "a constant of type " << constant.getType()
                                  << " inside a kernel has more than one value; expected it as an input of the kernel";
    auto type = cast<RankedTensorType>(constant.getType());
    OpBuilder builder(constant);
    Location loc = constant.getLoc();
    Value scalar = arith::ConstantOp::create(builder, loc, splat.getSplatValue<TypedAttr>());
    for (OpOperand &use : llvm::make_early_inc_range(constant->getUses())) {
      auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!reader || !reader.isDpsInput(&use) || !hasShapeWithout(reader, use))
        continue;
      SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
      maps[use.getOperandNumber()] = AffineMap::get(reader.getNumLoops(), 0, reader.getContext());
      reader.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
      use.set(scalar);
    }
    if (!constant->use_empty()) {
      Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
      constant->getResult(0).replaceAllUsesWith(linalg::FillOp::create(builder, loc, scalar, empty).getResult(0));
    }
    constant.erase();
  }
  return success();
}

static LogicalResult bufferize(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = false;
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  manager.addPass(createCanonicalizerPass());
  return manager.run(module);
}

FailureOr<EmittedKernel> emitUpstream(ModuleOp module, KernelOp kernel, StringRef symbol) {
  EmittedKernel result;
  result.symbol = symbol.str();
  OwningOpRef<ModuleOp> own = ModuleOp::create(kernel.getLoc());
  func::FuncOp function = makeFunction(*own, kernel, (symbol + "_body").str());
  if (failed(rebuildConstants(function)) || failed(bufferize(*own)))
    return failure();
  expandStridedCopies(function);
  FailureOr<int64_t> scratch = collectScratch(function);
  if (failed(scratch))
    return failure();
  result.scratchBytes = *scratch;
  // Loops instead of linalg here, so that only the small module is looked at.
  PassManager manager(module.getContext());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  if (failed(manager.run(*own)))
    return failure();
  function->remove();
  module.push_back(function);
  return result;
}

} // namespace remat
