//===- BlockBuilder.cpp - The steps of one block --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"

#include "Convolutions.h"
#include "Dots.h"
#include "Inplace.h"

#include "remat/Plan/Arena.h"
#include "remat/Plan/Simulator.h"
#include "remat/Transforms/Extract.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace remat {

using runtime::Buffer;
using runtime::Step;

int64_t tensorBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return tensor.getNumElements() * std::max<int64_t>(1, bits / 8);
}

BlockBuilder::BlockBuilder(ProgramParts &parts, Block &block, BlockBuilder *outer)
    : parts(parts), block(block), outer(outer), graphBuilder("clusters") {
  findReads();
  // The graph's arguments are all that comes from outside, constants too.
  auto addArgument = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()) || graphValues.contains(value))
      return;
    std::string argument = "outside" + std::to_string(graphValueCount);
    auto ofBlock = dyn_cast<BlockArgument>(value);
    auto function = ofBlock ? dyn_cast<func::FuncOp>(ofBlock.getOwner()->getParentOp()) : func::FuncOp();
    bool mayBeOverwritten = outer || (function && isDonated(function, ofBlock.getArgNumber()));
    (void)graphBuilder.addArgument(argument, outer ? 0 : tensorBytes(value.getType()), mayBeOverwritten);
    graphValues[value] = ValueId(graphValueCount++);
  };
  for (Value argument : block.getArguments())
    addArgument(argument);
  for (Operation &op : block)
    for (Value value : readBy(&op))
      if (value.getParentBlock() != &block || isa_and_nonnull<arith::ConstantOp>(value.getDefiningOp()))
        addArgument(value);
}

void BlockBuilder::placeArgument(Value argument, Buffer buffer, bool isCarried) {
  Storage storage{buffer, tensorBytes(argument.getType())};
  storage.isCarried = isCarried;
  storage.lastRead = lastRead.lookup(argument);
  addStorage(argument, storage);
}

void BlockBuilder::donate(Value argument, std::optional<unsigned> result) {
  Storage &storage = storages[storageOf(argument)];
  storage.isDonated = true;
  storage.donatedResult = result;
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

bool takesNoTime(Operation *op) {
  return isa<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractOp, arith::ConstantOp,
             linalg::FillOp>(op) ||
         (op->getNumResults() == 1 && !isa<TensorType>(op->getResult(0).getType())); // A branch's condition.
}

Value branchNumber(scf::IfOp branch) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  auto extract = compare ? compare.getLhs().getDefiningOp<tensor::ExtractOp>() : nullptr;
  return extract && extract.getType().isInteger(32) ? extract.getTensor() : Value();
}

bool isShapeOnly(Value base) {
  return base.getDefiningOp() && isa<tensor::EmptyOp, linalg::FillOp>(base.getDefiningOp());
}

void BlockBuilder::findReads() {
  for (Operation &op : block.without_terminator())
    if (!takesNoTime(&op))
      items.push_back({&op});
  for (auto [i, item] : llvm::enumerate(items))
    for (Value value : readBy(item.op))
      lastRead[value] = i;
  for (Value value : block.getTerminator()->getOperands()) {
    lastRead[findBase(value)] = never;
    // A condition looks at the element of a tensor.
    if (auto extract = value.getDefiningOp<tensor::ExtractOp>())
      lastRead[findBase(extract.getTensor())] = never;
  }
}

SmallVector<Value> BlockBuilder::readBy(Operation *op) {
  llvm::SmallSetVector<Value, 8> read;
  auto add = [&](Operation *reader) {
    for (Value operand : reader->getOperands()) {
      Value base = findBase(operand);
      bool isInside =
          op != base.getParentBlock()->getParentOp() ? op->isAncestor(base.getParentBlock()->getParentOp()) : true;
      if (isa<RankedTensorType>(base.getType()) && !isShapeOnly(base) && !isInside)
        read.insert(base);
    }
  };
  if (isa<scf::WhileOp, scf::IfOp>(op))
    op->walk(add);
  else
    add(op);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    if (Value number = branchNumber(branch))
      read.insert(findBase(number));
  return read.takeVector();
}

/// The last item that reads a value; the current one for a value that nobody reads.
size_t BlockBuilder::lastReadOf(Value value) {
  auto found = lastRead.find(value);
  return found == lastRead.end() ? current : std::max(found->second, current);
}

static std::vector<char> constantBytes(ElementsAttr data) {
  auto dense = cast<DenseElementsAttr>(data);
  int64_t count = dense.getNumElements(), bytes = tensorBytes(dense.getType());
  std::vector<char> result(bytes);
  ArrayRef<char> raw = dense.getRawData();
  if (dense.getElementType().isInteger(1)) {
    for (auto [i, value] : llvm::enumerate(dense.getValues<bool>()))
      result[i] = value;
  } else if (dense.isSplat()) {
    for (int64_t i = 0; i < count; ++i)
      llvm::copy(raw, result.begin() + i * raw.size());
  } else {
    llvm::copy(raw, result.begin());
  }
  return result;
}

unsigned BlockBuilder::storageOf(Value value) {
  Value base = findBase(value);
  if (auto found = storageNumbers.find(base); found != storageNumbers.end())
    return found->second;
  Storage storage;
  storage.bytes = tensorBytes(base.getType());
  if (auto constant = base.getDefiningOp<arith::ConstantOp>()) {
    auto data = cast<ElementsAttr>(constant.getValue());
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(data))
      storage.buffer = {Buffer::Space::Constant, 0, parts.addConstant(resource.getData())};
    else
      storage.buffer = {Buffer::Space::Constant, 0, parts.addConstant(constantBytes(data))};
  } else {
    assert(outer && "a value is used before its op");
    storage.buffer = outer->bufferOf(base);
  }
  return addStorage(base, storage);
}

unsigned BlockBuilder::addStorage(Value value, Storage storage) {
  storages.push_back(storage);
  return storageNumbers[value] = storages.size() - 1;
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

LogicalResult BlockBuilder::addItems() {
  for (current = 0; current < items.size(); ++current) {
    items[current].firstStep = steps.size();
    if (failed(addItem()))
      return failure();
    Operation *op = items[current].op;
    addToGraph(op->getResults(), readBy(op));
  }
  return success();
}

SmallVector<BuiltItem, 0> BlockBuilder::builtItems() const {
  return llvm::map_to_vector<0>(items, [](const Item &item) { return BuiltItem{item.op, item.workspaceBytes}; });
}

LogicalResult BlockBuilder::addItem() {
  Operation *op = items[current].op;
  if (auto kernel = dyn_cast<KernelOp>(op))
    return addKernel(kernel);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return addMatmul(generic);
  if (auto convolution = dyn_cast<ConvolutionOp>(op))
    return addConvolution(convolution);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return addLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return addBranch(branch);
  InFlightDiagnostic diag = op->emitError()
                            << "'" << op->getName() << "' has no code for the " << parts.kernels.target.device();
  diag.attachNote() << "write it with StableHLO, or with linalg.generic on tensors";
  return diag;
}

std::string BlockBuilder::name(StringRef what) {
  Operation *op = items[current].op;
  std::string text = op ? op->getName().stripDialect().str() : "carry";
  text += "." + std::to_string(current);
  return what.empty() ? text : text + " " + what.str();
}

Step &BlockBuilder::addStep(Step::Kind kind) {
  steps.emplace_back();
  steps.back().kind = kind;
  steps.back().name = name();
  origins.push_back(items[current].op ? items[current].op : block.getTerminator());
  return steps.back();
}

void BlockBuilder::addCopy(Buffer from, Buffer to, int64_t bytes) {
  Step &step = addStep(Step::Kind::Copy);
  step.buffers = {from, to};
  step.bytes = bytes;
}

Buffer BlockBuilder::addWorkspace(int64_t bytes) {
  uint32_t slot = parts.addSlot(name("workspace"), bytes);
  slots.push_back(slot);
  items[current].workspaces.push_back(slot);
  items[current].workspaceBytes += llvm::alignTo(bytes, slotAlignment);
  return {Buffer::Space::Arena, slot, 0};
}

unsigned BlockBuilder::countOperands(Operation *op, unsigned storage) {
  return llvm::count_if(op->getOperands(), [&](Value operand) {
    return isa<RankedTensorType>(operand.getType()) && !isShapeOnly(findBase(operand)) && storageOf(operand) == storage;
  });
}

bool BlockBuilder::mayOverwrite(OpResult result, unsigned operand) {
  Operation *op = result.getOwner();
  unsigned number = storageOf(op->getOperand(operand));
  const Storage &storage = storages[number];
  if (storage.bytes != tensorBytes(result.getType()) || storage.lastRead != current || countOperands(op, number) != 1)
    return false;
  if (storage.isOwn || mayTakeDonated(result, storage))
    return true;
  // Into a carried place belongs only what the next iteration finds there.
  auto carried = wanted.find(result);
  return storage.isCarried && carried != wanted.end() && storageOf(carried->second) == number;
}

/// A carried place is free once nobody reads the old value.
bool BlockBuilder::mayTakeCarried(OpResult result) {
  auto carried = wanted.find(result);
  if (carried == wanted.end())
    return false;
  auto read = lastRead.find(carried->second);
  return (read == lastRead.end() || (read->second != never && read->second < current)) &&
         countOperands(result.getOwner(), storageOf(carried->second)) == 0;
}

/// Only what the function returns lies in an argument; what is returned twice can't lie in two.
bool BlockBuilder::mayTakeDonated(OpResult result, const Storage &storage) {
  if (!storage.isDonated)
    return false;
  std::optional<unsigned> place;
  for (OpOperand &returned : block.getTerminator()->getOpOperands())
    if (findBase(returned.get()) == result) {
      if (place)
        return false;
      place = returned.getOperandNumber();
    }
  return place && (!storage.donatedResult || storage.donatedResult == place);
}

unsigned BlockBuilder::placeResult(OpResult result, std::optional<unsigned> over) {
  if (over || mayTakeCarried(result)) {
    Value place = over ? result.getOwner()->getOperand(*over) : wanted[result];
    unsigned number = storageOf(place);
    storageNumbers[result] = number;
    Storage &storage = storages[number];
    storage.lastRead = std::max(storage.lastRead, lastReadOf(result));
    storage.isDonated = false;
    overwritten[result] = place;
    return number;
  }
  Storage storage;
  storage.bytes = tensorBytes(result.getType());
  uint32_t slot = parts.addSlot(name(), storage.bytes);
  slots.push_back(slot);
  storage.buffer = {Buffer::Space::Arena, slot, 0};
  storage.isOwn = true;
  storage.firstItem = current;
  storage.lastRead = lastReadOf(result);
  return addStorage(result, storage);
}

static int64_t bytesMoved(Operation *op) {
  int64_t bytes = 0;
  for (Value value : op->getOperands())
    if (isa<RankedTensorType>(value.getType()) && !isShapeOnly(findBase(value)))
      bytes += tensorBytes(value.getType());
  for (Type type : op->getResultTypes())
    if (isa<RankedTensorType>(type))
      bytes += tensorBytes(type);
  return bytes;
}

LogicalResult BlockBuilder::addKernel(KernelOp kernel) {
  FailureOr<unsigned> number = parts.kernels.number(kernel);
  if (failed(number))
    return failure();
  const EmittedKernel &emitted = parts.kernels.kernels[*number];
  ArrayRef<int64_t> inplace = kernel.getInplace().value_or(ArrayRef<int64_t>());
  SmallVector<SmallVector<unsigned>> overwritable(kernel.getNumResults());
  if (inplace.empty())
    overwritable = findOverwritable(kernel);
  std::vector<Buffer> inputs, results;
  for (Value input : kernel.getInputs())
    inputs.push_back(bufferOf(input));
  for (OpResult result : kernel.getResults()) {
    unsigned r = result.getResultNumber();
    std::optional<unsigned> over;
    bool isInplace = r < inplace.size() && inplace[r] >= 0;
    if (isInplace && mayOverwrite(result, inplace[r]))
      over = inplace[r];
    // A donated argument first: the caller's memory costs nothing.
    for (unsigned candidate : overwritable[r])
      if (!isInplace && mayOverwrite(result, candidate) &&
          (!over || storages[storageOf(kernel.getInputs()[candidate])].isDonated))
        over = candidate;
    unsigned place = placeResult(result, over);
    results.push_back(storages[place].buffer);
    if (isInplace) {
      // The kernel changes a part of what it finds in the result's place.
      if (!over)
        addCopy(inputs[inplace[r]], results.back(), storages[place].bytes);
      inputs[inplace[r]] = results.back();
    }
  }
  Step &step = addStep(Step::Kind::Kernel);
  step.kernel = *number;
  step.iterations = emitted.iterations;
  step.grain = emitted.grain;
  step.bytes = bytesMoved(kernel);
  step.buffers = inputs;
  step.buffers.insert(step.buffers.end(), results.begin(), results.end());
  if (emitted.threadScratchBytes)
    step.buffers.push_back(addWorkspace(emitted.threadScratchBytes * parts.program.threads));
  else if (emitted.scratchBytes)
    step.buffers.push_back(addWorkspace(emitted.scratchBytes));
  return success();
}

void BlockBuilder::addLibraryCall(Operation *op, Step::Kind kind, unsigned number, int64_t workspaceBytes) {
  Buffer a = bufferOf(op->getOperand(0)), b = bufferOf(op->getOperand(1));
  Buffer result = storages[placeResult(op->getResult(0), std::nullopt)].buffer;
  Step &step = addStep(kind);
  step.library = number;
  step.bytes = bytesMoved(op);
  step.buffers = {a, b, result};
  if (workspaceBytes)
    step.buffers.push_back(addWorkspace(workspaceBytes));
}

LogicalResult BlockBuilder::addMatmul(linalg::GenericOp op) {
  std::optional<runtime::MatmulSpec> spec = findMatmul(op);
  if (!spec)
    return op.emitError() << "these loops have no code: they are no matrix product and stand in no kernel";
  FailureOr<int64_t> workspaceBytes = parts.kernels.target.workspaceBytes(op, *spec);
  if (failed(workspaceBytes))
    return failure();
  parts.program.matmuls.push_back(*spec);
  addLibraryCall(op, Step::Kind::Matmul, parts.program.matmuls.size() - 1, *workspaceBytes);
  return success();
}

LogicalResult BlockBuilder::addConvolution(ConvolutionOp op) {
  runtime::ConvolutionSpec spec = specOf(op);
  FailureOr<int64_t> workspaceBytes = parts.kernels.target.workspaceBytes(op, spec);
  if (failed(workspaceBytes))
    return failure();
  parts.program.convolutions.push_back(spec);
  addLibraryCall(op, Step::Kind::Convolution, parts.program.convolutions.size() - 1, *workspaceBytes);
  return success();
}

} // namespace remat
