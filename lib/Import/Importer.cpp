//===- Importer.cpp - What the conversions of single ops share ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The function is converted op by op into a new block, which takes the old one's place once everything has worked.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

#include "remat/Import/Import.h"

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

InFlightDiagnostic unsupported(Operation *op, const Twine &what, const Twine &nearest) {
  std::string form = what.str();
  InFlightDiagnostic diag = emitError(op->getLoc())
                            << op->getName().getStringRef() << (form.empty() ? "" : ": ") << form << " isn't supported";
  diag.attachNote() << nearest.str();
  return diag;
}

InFlightDiagnostic malformed(Operation *op, const Twine &what) {
  return emitError(op->getLoc()) << op->getName().getStringRef() << ": " << what.str();
}

LogicalResult expectOperands(Operation *op, unsigned operands, unsigned results) {
  if (op->getNumOperands() != operands)
    return malformed(op, "expected " + Twine(operands) + " operands, found " + Twine(op->getNumOperands()));
  if (op->getNumResults() != results)
    return malformed(op, "expected " + Twine(results) + " results, found " + Twine(op->getNumResults()));
  return success();
}

FailureOr<Ints> requireIntegers(Operation *op, StringRef name, std::optional<size_t> size) {
  Attribute attribute = getHloAttr(op, name);
  if (!attribute)
    return malformed(op, "missing attribute '" + name + "'");
  std::optional<Ints> integers = hloIntegers(attribute);
  if (!integers)
    return malformed(op, "expected a list of integers as '" + name + "'");
  if (size && integers->size() != *size)
    return malformed(op, "expected " + Twine(*size) + " integers in '" + name + "', found " + Twine(integers->size()));
  return *integers;
}

FailureOr<Ints> integersOr(Operation *op, StringRef name, size_t size, int64_t value) {
  return getHloAttr(op, name) ? requireIntegers(op, name, size) : FailureOr<Ints>(Ints(size, value));
}

//===----------------------------------------------------------------------===//
// Types and small pieces of code
//===----------------------------------------------------------------------===//

Type Importer::convertType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(), convertType(tensor.getElementType()));
  return type;
}

RankedTensorType Importer::resultType(Operation *op, unsigned i) {
  return cast<RankedTensorType>(convertType(op->getResult(i).getType()));
}

Type accumulatorType(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32 ? Float32Type::get(type.getContext()) : type;
}

Value castScalar(OpBuilder &builder, Location loc, Value value, Type type, bool isUnsigned) {
  if (value.getType() == type)
    return value;
  bool widens = type.getIntOrFloatBitWidth() > value.getType().getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    return widens ? arith::ExtFOp::create(builder, loc, type, value).getResult()
                  : arith::TruncFOp::create(builder, loc, type, value).getResult();
  if (!widens)
    return arith::TruncIOp::create(builder, loc, type, value);
  return isUnsigned ? arith::ExtUIOp::create(builder, loc, type, value).getResult()
                    : arith::ExtSIOp::create(builder, loc, type, value).getResult();
}

Value Importer::empty(Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
}

Value Importer::fill(Location loc, RankedTensorType type, Value scalar) {
  return linalg::FillOp::create(builder, loc, scalar, empty(loc, type)).getResult(0);
}

Value Importer::scalar(Location loc, Value tensor) {
  if (auto constant = tensor.getDefiningOp<arith::ConstantOp>())
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()); elements && elements.isSplat())
      return arith::ConstantOp::create(builder, loc, elements.getSplatValue<TypedAttr>());
  return tensor::ExtractOp::create(builder, loc, tensor, ValueRange());
}

ValueRange Importer::kernel(Location loc, TypeRange results, ValueRange inputs, ArrayRef<int64_t> inplace,
                            llvm::function_ref<SmallVector<Value>(ValueRange)> body) {
  auto kernel = KernelOp::create(builder, loc, results, inputs,
                                 inplace.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(inplace));
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations(inputs.size(), loc);
  Block *block = builder.createBlock(&kernel.getBody(), {}, inputs.getTypes(), locations);
  SmallVector<Value> values = body(block->getArguments());
  YieldOp::create(builder, loc, values);
  return kernel.getResults();
}

Converted Importer::generic(Location loc, ValueRange inputs, ValueRange outs, ArrayRef<AffineMap> maps,
                            ArrayRef<utils::IteratorType> loops, llvm::function_ref<Converted(ValueRange)> body) {
  bool failedBody = false;
  auto generic = linalg::GenericOp::create(
      builder, loc, outs.getTypes(), inputs, outs, maps, loops,
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(builder);
        builder.restoreInsertionPoint(inner.saveInsertionPoint());
        Converted results = body(arguments);
        failedBody = failed(results);
        // The op is dropped after a failure, but until then it has to be whole.
        linalg::YieldOp::create(builder, loc, failedBody ? arguments.take_back(outs.size()) : ValueRange(*results));
      });
  if (failedBody)
    return failure();
  if (!llvm::is_contained(generic.getStaticLoopRanges(), 0))
    return SmallVector<Value>(generic.getResults());
  // Loops that never run leave what they start with.
  generic.erase();
  return llvm::map_to_vector(outs, [&](Value start) { return materialize(loc, start); });
}

/// What a reduction starts with as a tensor that others may read: a fill with an element of a tensor is a broadcast.
Value Importer::materialize(Location loc, Value start) {
  auto fill = start.getDefiningOp<linalg::FillOp>();
  auto element = fill ? fill.getInputs()[0].getDefiningOp<tensor::ExtractOp>() : nullptr;
  if (!element)
    return start;
  auto type = cast<RankedTensorType>(start.getType());
  return view(loc, type, element.getTensor(), AffineMap::get(type.getRank(), 0, builder.getContext()));
}

Value Importer::view(Location loc, RankedTensorType type, Value input, AffineMap map) {
  // No index of the result exists that the map could be checked with.
  if (type.getNumElements() == 0)
    return empty(loc, type);
  AffineMap maps[] = {map, builder.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, type, input, empty(loc, type), maps, loops,
                                   [](OpBuilder &inner, Location loc, ValueRange arguments) {
                                     linalg::YieldOp::create(inner, loc, arguments.front());
                                   })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Importer::Importer(MLIRContext *context) : builder(context) {
  addElementwiseConversions(table);
  addStructuralConversions(table);
  addJoinConversions(table);
  addReductionConversions(table);
  addWindowConversions(table);
  addDotConversions(table);
  addConvolutionConversions(table);
  addGatherConversions(table);
  addSortConversions(table);
  addControlFlowConversions(table);
  addRandomConversions(table);
}

static bool isHlo(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return dialect == "stablehlo" || dialect == "chlo";
}

/// Tensors of static shape whose elements are integers or floats.
static LogicalResult checkType(Operation *op, Type type) {
  auto quote = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << "type '" << type << "'";
    return text;
  };
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return unsupported(op, quote(), "every value must be a tensor; write the elements of a tuple as single values");
  if (!tensor.hasStaticShape())
    return unsupported(op, quote(), "export the step with static shapes, or one step for each shape");
  if (isa<ComplexType>(tensor.getElementType()))
    return unsupported(op, quote(), "write complex numbers as two real tensors");
  if (!isa<IntegerType, FloatType>(tensor.getElementType()))
    return unsupported(op, quote(), "elements must be integers or floats");
  return success();
}

LogicalResult Importer::convertOp(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (failed(checkType(op, type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(checkType(op, type)))
      return failure();
  Conversion conversion = table.lookup(op->getName().getStringRef());
  if (!conversion)
    return unsupported(op, "",
                       "write it with the ops that are: element-wise ops, broadcast_in_dim, reshape, transpose, slice, "
                       "pad, concatenate, reduce, reduce_window, dot_general, convolution, gather, scatter, sort, "
                       "while, if, case");
  Converted converted = conversion(*this, op);
  if (failed(converted))
    return failure();
  for (auto [old, value] : llvm::zip_equal(op->getResults(), *converted))
    set(old, value);
  return success();
}

LogicalResult Importer::cloneOp(Operation *op) {
  Operation *clone = op->cloneWithoutRegions(values);
  builder.insert(clone);
  for (OpResult result : clone->getResults())
    result.setType(convertType(result.getType()));
  for (auto [region, into] : llvm::zip(op->getRegions(), clone->getRegions())) {
    if (region.empty())
      continue;
    if (!region.hasOneBlock())
      return unsupported(op, "a region of several blocks", "write branches as 'stablehlo.if' or 'scf.if'");
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&into);
    for (BlockArgument argument : region.getArguments())
      set(argument, block->addArgument(convertType(argument.getType()), argument.getLoc()));
    if (failed(convertBlock(region.front())))
      return failure();
    if (!region.front().empty() && region.front().back().hasTrait<OpTrait::IsTerminator>() &&
        failed(cloneOp(&region.front().back())))
      return failure();
  }
  return success();
}

LogicalResult Importer::convertBlock(Block &block) {
  for (Operation &op : block) {
    // The last op of an unregistered dialect doesn't say that it is a terminator; StableHLO's only one is `return`.
    if (op.hasTrait<OpTrait::IsTerminator>() || op.getName().getStringRef() == "stablehlo.return")
      break;
    Operation *before = builder.getInsertionPoint() == builder.getInsertionBlock()->begin()
                            ? nullptr
                            : &*std::prev(builder.getInsertionPoint());
    if (failed(isHlo(&op) ? convertOp(&op) : cloneOp(&op)))
      return failure();
    if (!isHlo(&op))
      continue;
    Operation *made = before ? before->getNextNode() : &builder.getInsertionBlock()->front();
    for (auto end = builder.getInsertionPoint(); made && Block::iterator(made) != end; made = made->getNextNode())
      for (NamedAttribute attribute : op.getDiscardableAttrs())
        if (attribute.getName().strref().starts_with("remat."))
          made->setDiscardableAttr(attribute.getName(), attribute.getValue());
  }
  return success();
}

FailureOr<SmallVector<Value>> Importer::convertScalarBlock(Block &block, ValueRange arguments) {
  if (block.getNumArguments() != arguments.size())
    return malformed(block.getParentOp(), "expected " + Twine(arguments.size()) + " arguments of its body, found " +
                                              Twine(block.getNumArguments()));
  IRMapping scalars;
  scalars.map(block.getArguments(), arguments);
  for (Operation &op : block) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      Value scalar = scalars.lookupOrNull(operand);
      if (!scalar)
        return unsupported(
            &op, "a value from outside in the body of '" + block.getParentOp()->getName().getStringRef() + "'",
            "make it an operand, or a constant in the body");
      operands.push_back(scalar);
    }
    if (op.getName().getStringRef() == "stablehlo.return")
      return operands;
    for (Type type : op.getResultTypes())
      if (failed(checkType(&op, type)))
        return failure();
    FailureOr<Value> value = emitScalar(builder, &op, operands);
    if (failed(value))
      return failure();
    if (!*value)
      return unsupported(&op, "in the body of '" + block.getParentOp()->getName().getStringRef() + "'",
                         "bodies may hold element-wise ops on 0-d tensors and constants");
    scalars.map(op.getResult(0), *value);
  }
  return malformed(block.getParentOp(), "its body doesn't end with 'stablehlo.return'");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// One more than the ids of the barriers that are there.
static int64_t firstFreeBarrierId(func::FuncOp function) {
  int64_t next = 0;
  function.walk([&](BarrierOp barrier) { next = std::max(next, int64_t(barrier.getId()) + 1); });
  return next;
}

LogicalResult importStableHlo(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return emitError(function.getLoc()) << "expected one block in '" << function.getSymName() << "', found "
                                        << function.getBody().getBlocks().size();
  Importer importer(function.getContext());
  importer.nextBarrierId = firstFreeBarrierId(function);
  Block &old = function.getBody().front();
  Region region(function);
  Block *block = importer.builder.createBlock(&region);
  for (BlockArgument argument : old.getArguments())
    importer.set(argument, block->addArgument(Importer::convertType(argument.getType()), argument.getLoc()));
  if (failed(importer.convertBlock(old)))
    return failure();
  Operation *terminator = old.getTerminator();
  SmallVector<Value> results =
      llvm::map_to_vector(terminator->getOperands(), [&](Value value) { return importer.get(value); });
  func::ReturnOp::create(importer.builder, terminator->getLoc(), results);
  function.getBody().takeBody(region);
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
  return success();
}

} // namespace remat
