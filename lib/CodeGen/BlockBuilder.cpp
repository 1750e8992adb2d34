//===- BlockBuilder.cpp - The steps of one block --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"

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

static constexpr int64_t alignment = 64;

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

/// The tensor<i32> with the number of the branch that is taken (Clusters.cpp, `numberBranches`); null for anything
/// else.
static Value branchNumber(scf::IfOp branch) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  auto extract = compare ? compare.getLhs().getDefiningOp<tensor::ExtractOp>() : nullptr;
  return extract && extract.getType().isInteger(32) ? extract.getTensor() : Value();
}

/// What a matrix product writes over: it has no bytes.
static bool isShapeOnly(Value base) {
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
  InFlightDiagnostic diag = op->emitError() << "'" << op->getName() << "' has no code for the CPU";
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
  items[current].workspaceBytes += llvm::alignTo(bytes, alignment);
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
    step.buffers.push_back(addWorkspace(emitted.threadScratchBytes * parts.threads));
  else if (emitted.scratchBytes)
    step.buffers.push_back(addWorkspace(emitted.scratchBytes));
  return success();
}

LogicalResult BlockBuilder::addLibraryCall(Operation *op, Step::Kind kind, unsigned number,
                                           std::unique_ptr<runtime::LibraryCall> call, StringRef error) {
  if (!call)
    return op->emitError() << "no code for this " << op->getName().stripDialect() << ": " << error;
  Buffer a = bufferOf(op->getOperand(0)), b = bufferOf(op->getOperand(1));
  Buffer result = storages[placeResult(op->getResult(0), std::nullopt)].buffer;
  Step &step = addStep(kind);
  step.library = number;
  step.bytes = bytesMoved(op);
  step.buffers = {a, b, result};
  if (int64_t bytes = call->workspaceBytes())
    step.buffers.push_back(addWorkspace(bytes));
  return success();
}

LogicalResult BlockBuilder::addMatmul(linalg::GenericOp op) {
  std::optional<runtime::MatmulSpec> spec = findMatmul(op);
  if (!spec)
    return op.emitError() << "these loops have no code for the CPU: they are no matrix product and stand in no kernel";
  parts.program.matmuls.push_back(*spec);
  std::string error;
  auto call = runtime::makeMatmul(*spec, parts.threads, error);
  return addLibraryCall(op, Step::Kind::Matmul, parts.program.matmuls.size() - 1, std::move(call), error);
}

static runtime::TensorType runtimeType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return {toElementType(tensor.getElementType()).value_or(runtime::ElementType::I8), tensor.getShape().vec()};
}

LogicalResult BlockBuilder::addConvolution(ConvolutionOp op) {
  runtime::ConvolutionSpec spec;
  spec.lhs = runtimeType(op.getLhs().getType());
  spec.rhs = runtimeType(op.getRhs().getType());
  spec.result = runtimeType(op.getType());
  spec.strides = op.getStrides().vec();
  spec.padding = op.getPadding().vec();
  spec.lhsDilation = op.getLhsDilation().vec();
  spec.rhsDilation = op.getRhsDilation().vec();
  spec.lhsDims = op.getLhsDims().vec();
  spec.rhsDims = op.getRhsDims().vec();
  spec.resultDims = op.getResultDims().vec();
  for (bool reversed : op.getReversed())
    spec.reversed.push_back(reversed);
  spec.featureGroups = op.getFeatureGroups();
  spec.batchGroups = op.getBatchGroups();
  parts.program.convolutions.push_back(spec);
  std::string error;
  auto call = runtime::makeConvolution(spec, parts.threads, error);
  return addLibraryCall(op, Step::Kind::Convolution, parts.program.convolutions.size() - 1, std::move(call), error);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult BlockBuilder::addLoop(scf::WhileOp loop) {
  Block &before = loop.getBefore().front(), &after = loop.getAfter().front();
  auto condition = cast<scf::ConditionOp>(before.getTerminator());
  if (!llvm::equal(condition.getArgs(), before.getArguments()))
    return loop.emitError() << "this loop's condition hands on other values than it gets; no code for that";
  auto predicate = condition.getCondition().getDefiningOp<tensor::ExtractOp>();
  if (!predicate)
    return loop.emitError() << "this loop's condition is no element of a tensor; no code for that";
  SmallVector<unsigned> carried;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop->getRegions(), captured);
  auto isCaptured = [&](Value init) {
    return llvm::any_of(captured, [&](Value value) {
      return isa<RankedTensorType>(value.getType()) && !isShapeOnly(findBase(value)) &&
             storageOf(value) == storageOf(init);
    });
  };
  for (OpResult result : loop.getResults()) {
    unsigned r = result.getResultNumber();
    bool takesPlace = mayOverwrite(result, r) && !isCaptured(loop.getInits()[r]);
    carried.push_back(placeResult(result, takesPlace ? std::optional(r) : std::nullopt));
  }
  for (auto [init, number] : llvm::zip(loop.getInits(), carried))
    if (storageOf(init) != number)
      addCopy(bufferOf(init), storages[number].buffer, storages[number].bytes);
  Buffer flag = addWorkspace(1);

  BlockBuilder test(parts, before, this), body(parts, after, this);
  for (auto [i, number] : llvm::enumerate(carried)) {
    test.placeArgument(before.getArgument(i), storages[number].buffer, false);
    body.placeArgument(after.getArgument(i), storages[number].buffer, true);
    Value next = after.getTerminator()->getOperand(i);
    if (llvm::count(after.getTerminator()->getOperands(), next) == 1)
      body.wantIn(next, after.getArgument(i));
  }
  if (failed(test.addItems()) || failed(body.addItems()))
    return failure();
  test.addCopies({{predicate.getTensor(), flag}});
  SmallVector<std::pair<Value, Buffer>> moves;
  for (auto [value, argument] : llvm::zip(after.getTerminator()->getOperands(), after.getArguments()))
    moves.push_back({value, body.bufferOf(argument)});
  body.addCopies(moves);
  if (failed(test.finish()) || failed(body.finish()))
    return failure();
  addParts(Step::Kind::While, flag, test, body);
  return success();
}

/// A step with two blocks, which run one after the other, or one of them, in the same place.
void BlockBuilder::addParts(Step::Kind kind, Buffer decision, BlockBuilder &first, BlockBuilder &second) {
  uint32_t arena = parts.addSlot(name("arena"), std::max(first.arenaBytes, second.arenaBytes));
  slots.push_back(arena);
  for (BlockBuilder *part : {&first, &second})
    for (uint32_t slot : part->slots)
      if (parts.parents[slot] < 0)
        parts.parents[slot] = arena;
  items[current].innerArena = arena;
  items[current].workspaceBytes += std::max(first.livePeakBytes, second.livePeakBytes);
  Step &step = addStep(kind);
  step.buffers = {decision};
  step.bodies = {std::move(first.steps), std::move(second.steps)};
}

LogicalResult BlockBuilder::addBranch(scf::IfOp branch) {
  Value number = branchNumber(branch);
  if (!number || branch.getElseRegion().empty())
    return branch.emitError() << "this branch's condition is no element of a tensor; no code for that";
  Buffer decision = bufferOf(number);
  SmallVector<Buffer> places;
  for (OpResult result : branch.getResults())
    places.push_back(storages[placeResult(result, std::nullopt)].buffer);
  BlockBuilder then(parts, branch.getThenRegion().front(), this),
      otherwise(parts, branch.getElseRegion().front(), this);
  for (BlockBuilder *part : {&then, &otherwise}) {
    if (failed(part->addItems()))
      return failure();
    SmallVector<std::pair<Value, Buffer>> copies;
    for (auto [value, place] : llvm::zip(part->block.getTerminator()->getOperands(), places))
      copies.push_back({value, place});
    part->addCopies(copies);
    if (failed(part->finish()))
      return failure();
  }
  addParts(Step::Kind::Branch, decision, then, otherwise);
  return success();
}

static bool isSame(const Buffer &a, const Buffer &b) {
  return a.space == b.space && a.index == b.index && a.offset == b.offset;
}

void BlockBuilder::addCopies(ArrayRef<std::pair<Value, Buffer>> copies) {
  items.push_back({nullptr});
  current = items.size() - 1;
  items[current].firstStep = steps.size();
  struct Move {
    Buffer from, to;
    int64_t bytes;
  };
  SmallVector<Move> moves;
  SmallVector<Value> read;
  for (auto &[value, to] : copies) {
    Storage storage = storages[storageOf(value)];
    if (isSame(storage.buffer, to))
      continue;
    // What comes from another carried place may be gone before it is copied: it waits in a workspace.
    if (storage.isCarried) {
      Buffer place = addWorkspace(storage.bytes);
      addCopy(storage.buffer, place, storage.bytes);
      storage.buffer = place;
    }
    moves.push_back({storage.buffer, to, storage.bytes});
    read.push_back(findBase(value));
  }
  for (const Move &move : moves)
    addCopy(move.from, move.to, move.bytes);
  // Nothing of the block outlives it but the places that were copied to.
  for (Storage &storage : storages)
    if (storage.isOwn && storage.lastRead == never)
      storage.lastRead = current;
  if (moves.empty())
    items.pop_back();
  else
    addToGraph({}, read);
}

//===----------------------------------------------------------------------===//
// Graph, packing, events
//===----------------------------------------------------------------------===//

ValueId BlockBuilder::graphValue(Value value) {
  auto found = graphValues.find(value);
  assert(found != graphValues.end() && "a value is read before its op");
  return found->second;
}

void BlockBuilder::addToGraph(ValueRange results, ArrayRef<Value> read) {
  OpInfo info;
  std::string opName = name();
  info.name = opName;
  info.kind = items[current].op ? std::string_view(items[current].op->getName().getStringRef()) : "copy";
  info.opClass = OpClass::Elementwise;
  info.workspaceBytes = items[current].workspaceBytes;
  SmallVector<ValueId> operands;
  for (Value value : read)
    operands.push_back(graphValue(value));
  SmallVector<std::string> names;
  for (size_t i = 0; i < results.size(); ++i)
    names.push_back(opName + "#" + std::to_string(i));
  SmallVector<ValueInfo> infos;
  for (auto [i, result] : llvm::enumerate(results)) {
    ValueInfo value{.name = names[i]};
    Value over = overwritten.lookup(result);
    if (!over)
      value.bytes = llvm::alignTo(tensorBytes(result.getType()), alignment);
    else if (llvm::is_contained(operands, graphValue(findBase(over))))
      value.viewOf = value.inplaceOf = graphValue(findBase(over));
    infos.push_back(value);
  }
  auto id = graphBuilder.addOp(info, {operands.data(), operands.size()}, {infos.data(), infos.size()});
  assert(id && "the graph is made of what was placed");
  (void)id;
  for (Value result : results)
    graphValues[result] = ValueId(graphValueCount++);
}

LogicalResult BlockBuilder::finish() {
  if (!outer)
    for (Value value : block.getTerminator()->getOperands())
      if (auto found = graphValues.find(findBase(value)); found != graphValues.end())
        graphBuilder.addResult(found->second);
  graph = graphBuilder.finish();
  livePeakBytes = simulate(graph, programOrder(graph)).peakBytes;

  std::vector<ArenaBuffer> buffers;
  std::vector<uint32_t> packed;
  auto add = [&](uint32_t slot, size_t begin, size_t last) {
    int64_t end = last == never ? int64_t(items.size()) : int64_t(last) + 1;
    buffers.push_back({int64_t(begin), end, int64_t(llvm::alignTo(parts.program.slots[slot].bytes, alignment))});
    packed.push_back(slot);
  };
  for (const Storage &storage : storages)
    if (storage.isOwn)
      add(storage.buffer.index, storage.firstItem, storage.lastRead);
  for (auto [i, item] : llvm::enumerate(items)) {
    for (uint32_t slot : item.workspaces)
      add(slot, i, i);
    if (item.innerArena)
      add(*item.innerArena, i, i);
  }
  Expected<ArenaPlan> plan = packArena(buffers, ArenaOptions());
  if (!plan)
    return emitError(block.getParentOp()->getLoc()) << plan.error().message;
  for (auto [slot, offset] : llvm::zip(packed, plan->offsets))
    parts.program.slots[slot].offset = offset;
  arenaBytes = plan->bytes;
  parts.provenPacking &= plan->provenOptimal;
  noteEvents();
  return success();
}

void BlockBuilder::noteEvents() {
  // An item without steps (a loop always has one) takes and releases with its neighbours.
  if (steps.empty())
    return;
  auto firstStep = [&](size_t item) { return std::min(items[item].firstStep, steps.size() - 1); };
  auto lastStep = [&](size_t item) {
    size_t end = item + 1 < items.size() ? items[item + 1].firstStep : steps.size();
    return end == 0 ? 0 : end - 1;
  };
  for (const Storage &storage : storages)
    if (storage.isOwn) {
      steps[firstStep(storage.firstItem)].taken.push_back(storage.buffer.index);
      if (storage.lastRead != never)
        steps[lastStep(storage.lastRead)].released.push_back(storage.buffer.index);
    }
  for (auto [i, item] : llvm::enumerate(items))
    for (uint32_t slot : item.workspaces) {
      steps[firstStep(i)].taken.push_back(slot);
      steps[lastStep(i)].released.push_back(slot);
    }
}

} // namespace remat
