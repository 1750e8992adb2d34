//===- ClusterGraph.cpp - Clusters as a planner graph ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"
#include "ClusterPlan.h"

#include "remat/Transforms/Extract.h"
#include "remat/Transforms/ImportedMarks.h"
#include "remat/Transforms/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// What the op or the ops in it say; nothing if none of them does.
static std::optional<Phase> statedPhase(Operation *op) {
  std::optional<Phase> phase;
  op->walk([&](Operation *inner) {
    auto text = inner->getAttrOfType<StringAttr>(attr::phase);
    if (!text)
      return WalkResult::advance();
    phase = text.getValue() == "backward" ? Phase::Backward : Phase::Forward;
    return *phase == Phase::Backward ? WalkResult::interrupt() : WalkResult::advance();
  });
  return phase;
}

ClusterPhases takePhases(func::FuncOp function) {
  ClusterPhases phases;
  for (Operation &op : function.front().without_terminator()) {
    std::optional<Phase> phase = statedPhase(&op);
    if (!phase) {
      bool readsBackward = llvm::any_of(op.getOperands(), [&](Value operand) {
        return operand.getDefiningOp() && phases.lookup(operand.getDefiningOp()) == Phase::Backward;
      });
      phase = readsBackward ? Phase::Backward : Phase::Forward;
    }
    phases[&op] = *phase;
  }
  stripMarks(function);
  return phases;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static int64_t bytesOf(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes += typeBytes(type).value_or(0);
  return bytes;
}

/// What decides how a policy and a report see a kernel: the heaviest of its members.
static OpClass heavier(OpClass a, OpClass b) {
  constexpr OpClass order[] = {OpClass::Dot, OpClass::Convolution, OpClass::Reduction, OpClass::Elementwise};
  for (OpClass each : order)
    if (a == each || b == each)
      return each;
  return OpClass::DataMovement;
}

/// Members cost their arithmetic; memory is read and written at the kernel's edge alone.
static OpModel describeKernel(KernelOp kernel) {
  OpModel model;
  model.opClass = OpClass::DataMovement;
  for (Operation &member : kernel.getBody().front().without_terminator()) {
    OpModel part = describeOp(&member);
    model.flops += part.flops;
    if (part.known && !part.isFree())
      model.opClass = heavier(model.opClass, part.opClass);
  }
  if (kernel->hasAttr(randomMark))
    model.opClass = OpClass::Random;
  model.bytesMoved = bytesOf(kernel->getOperandTypes()) + bytesOf(kernel->getResultTypes());
  model.recomputable = model.opClass != OpClass::Random;
  return model;
}

/// Every element of the result meets the kernel's spatial elements and input features.
static OpModel describeConvolution(ConvolutionOp op) {
  OpModel model;
  model.opClass = OpClass::Convolution;
  auto filter = cast<RankedTensorType>(op.getRhs().getType());
  int64_t outputs = std::max<int64_t>(1, filter.getDimSize(op.getRhsDims()[1]));
  model.flops = 2 * cast<RankedTensorType>(op.getType()).getNumElements() * (filter.getNumElements() / outputs);
  model.convFlopsValid = model.flops;
  model.bytesMoved = bytesOf(op->getOperandTypes()) + bytesOf(op->getResultTypes());
  model.recomputable = true;
  return model;
}

static OpModel describeItem(Operation *op) {
  OpModel model;
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    model = describeKernel(kernel);
  } else if (auto convolution = dyn_cast<ConvolutionOp>(op)) {
    model = describeConvolution(convolution);
  } else if (isa<scf::WhileOp, scf::IfOp>(op)) {
    model.opClass = OpClass::Loop;
    auto trips = op->getAttrOfType<IntegerAttr>(tripCountMark);
    model.tripCount = trips ? trips.getInt() : 1;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.front().without_terminator())
        if (!takesNoTime(&inner)) {
          model.body.push_back(describeItem(&inner));
          model.flops += *model.tripCount * model.body.back().flops;
        }
    return model;
  } else {
    model = describeOp(op);
  }
  for (Type type : op->getResultTypes())
    model.computeType = getElementTypeOrSelf(type);
  return model;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

namespace {

class ClusterGraphBuilder {
public:
  ClusterGraphBuilder(func::FuncOp function, const DeviceProfile &device)
      : function(function), device(device), builder((function.getName() + clusterGraphSuffix).str()) {
    for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
      (void)builder.addArgument("arg" + std::to_string(i), tensorBytes(argument.getType()));
      addId(argument);
    }
  }

  void add(const BuiltItem &item, Phase phase) {
    Operation *op = item.op;
    OpModel model = describeItem(op);
    std::string name = op->getName().stripDialect().str() + "." + std::to_string(result.ops.size());
    std::string kind = op->getName().getStringRef().str(), location = describeLocation(op->getLoc());
    OpInfo info{.name = name, .kind = kind, .opClass = model.opClass, .phase = phase};
    info.recomputable = model.recomputable;
    info.costNs = costNs(model, device);
    info.flops = model.flops;
    info.workspaceBytes = item.workspaceBytes;
    info.dotBatchDims = model.dotBatchDims;
    info.location = location;
    SmallVector<std::string> names;
    SmallVector<ValueInfo> values;
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      names.push_back(op->getNumResults() == 1 ? name : name + "#" + std::to_string(i));
    for (auto [valueName, type] : llvm::zip(names, op->getResultTypes()))
      values.push_back({.name = valueName, .bytes = slotBytes(type)});
    SmallVector<ValueId> operands = readBy(op);
    auto id = builder.addOp(info, {operands.data(), operands.size()}, {values.data(), values.size()});
    assert(id && "the layout has placed every value that is read");
    (void)id;
    for (Value value : op->getResults())
      addId(value);
    result.ops.push_back(op);
  }

  ClusterGraph finish() {
    for (Value value : function.front().getTerminator()->getOperands())
      if (auto found = ids.find(findBase(value)); found != ids.end())
        builder.addResult(found->second);
    result.graph = builder.finish();
    return std::move(result);
  }

private:
  void addId(Value value) {
    size_t count = ids.size();
    ids[value] = ValueId(count);
  }

  /// What the op and the ops in it read of the function's block; constants are no values of the graph.
  SmallVector<ValueId> readBy(Operation *op) {
    llvm::SetVector<Value> bases;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        collect(operand, bases);
    });
    return llvm::map_to_vector(bases, [&](Value base) { return ids.lookup(base); });
  }

  /// Through everything that takes no time, the conditions of branches among it.
  void collect(Value value, llvm::SetVector<Value> &bases) {
    if (ids.contains(value)) {
      bases.insert(value);
      return;
    }
    Operation *maker = value.getDefiningOp();
    if (maker && maker->getBlock() == &function.front() && takesNoTime(maker))
      for (Value operand : maker->getOperands())
        collect(operand, bases);
  }

  func::FuncOp function;
  const DeviceProfile &device;
  GraphBuilder builder;
  ClusterGraph result;
  DenseMap<Value, ValueId> ids;
};

} // namespace

ClusterGraph makeClusterGraph(func::FuncOp function, ArrayRef<BuiltItem> items, const ClusterPhases &phases,
                              const DeviceProfile &device) {
  ClusterGraphBuilder builder(function, device);
  for (const BuiltItem &item : items)
    builder.add(item, phases.lookup(item.op));
  return builder.finish();
}

} // namespace remat
