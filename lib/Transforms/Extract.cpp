//===- Extract.cpp - From a function to a planner graph -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Transforms/Extract.h"

#include "Inplace.h"

#include "remat/IR/OpModel.h"
#include "remat/IR/RematDialect.h"
#include "remat/Transforms/DynamicDims.h"

#include "mlir/IR/Location.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace remat {

static std::string_view view(StringRef text) { return {text.data(), text.size()}; }

/// The op's name without its dialect, and its number.
static std::string nameOp(Operation *op, size_t number) {
  return op->getName().stripDialect().str() + "." + std::to_string(number);
}

/// The name that the location of an argument gives, such as `a[0]` in JAX's exports.
static StringRef givenName(BlockArgument argument) {
  auto name = dyn_cast<NameLoc>(argument.getLoc());
  return name ? name.getName().getValue() : StringRef();
}

namespace {

class Extractor {
public:
  Extractor(func::FuncOp function, const ExtractOptions &options)
      : function(function), body(function.getBody().front()), options(options), builder(view(function.getSymName())) {}

  FailureOr<ExtractedGraph> run() {
    nameAll();
    BoundedTypes bounded(function, options.dimensionBounds, argumentNames, opNames, options.boundsMustMatch);
    if (bounded.anyUnknown() || failed(addArguments()))
      return failure();
    for (Operation *op : result.ops)
      models.push_back(describeOp(op));
    places = findInplace(function, models);
    for (size_t i = 0; i < result.ops.size(); ++i)
      if (failed(addOp(i)))
        return failure();
    for (Value value : body.getTerminator()->getOperands())
      if (auto error = builder.addResult(ids.lookup(value)))
        return report(function.getLoc(), *error);
    addRegions();
    result.graph = builder.finish();
    return std::move(result);
  }

private:
  /// Names are unique and the same for the same graph: arguments get their given name if nothing else could have it.
  void nameAll() {
    llvm::StringMap<unsigned> uses;
    llvm::StringSet<> taken;
    for (Operation &op : body.without_terminator()) {
      opNames.push_back(nameOp(&op, result.ops.size()));
      taken.insert(opNames.back());
      result.ops.push_back(&op);
    }
    for (BlockArgument argument : body.getArguments()) {
      ++uses[givenName(argument)];
      taken.insert("arg" + std::to_string(argument.getArgNumber()));
    }
    for (BlockArgument argument : body.getArguments()) {
      StringRef given = givenName(argument);
      bool isUsable = !given.empty() && uses[given] == 1 && !taken.contains(given.split('#').first);
      argumentNames.push_back(isUsable ? given.str() : "arg" + std::to_string(argument.getArgNumber()));
    }
  }

  LogicalResult addArguments() {
    for (BlockArgument argument : body.getArguments()) {
      unsigned i = argument.getArgNumber();
      std::optional<int64_t> bytes = typeBytes(argument.getType());
      if (!bytes)
        return unknownSize(function.getLoc(), "argument " + std::to_string(i) + " ('" + argumentNames[i] + "')",
                           argument.getType());
      auto id = builder.addArgument(argumentNames[i], *bytes, isDonated(function, i));
      if (!id)
        return report(function.getLoc(), id.error());
      remember(argument, *id);
    }
    return success();
  }

  /// Places in an error of the builder are fields of JSON; the location says it better.
  static LogicalResult report(Location location, const Error &error) {
    InFlightDiagnostic diag = emitError(location) << error.message;
    if (!error.note.empty())
      diag.attachNote() << error.note;
    return diag;
  }

  static LogicalResult unknownSize(Location location, const std::string &what, Type type) {
    return emitError(location) << "size of " << what << " is not known: its type is " << type;
  }

  void remember(Value value, ValueId id) {
    ids[value] = id;
    result.values.push_back(value);
  }

  LogicalResult addOp(size_t number) {
    Operation *op = result.ops[number];
    const OpModel &model = models[number];
    OpInfo info;
    std::string location = describeLocation(op->getLoc());
    info.name = opNames[number];
    info.kind = view(op->getName().getStringRef());
    info.opClass = model.opClass;
    info.recomputable = model.recomputable;
    info.costNs = costNs(model, options.device);
    info.flops = model.flops;
    info.workspaceBytes = model.workspaceBytes;
    info.dotBatchDims = model.dotBatchDims;
    info.checkpointName = text(op, attr::checkpointName);
    info.region = text(op, attr::region);
    info.location = location;
    auto phase = parsePhase(op);
    if (failed(phase))
      return failure();
    info.phase = *phase;

    SmallVector<ValueId> operands = readValues(op);
    SmallVector<std::string> names;
    SmallVector<ValueInfo> values;
    if (failed(describeResults(op, number, names, values)))
      return failure();
    auto id = builder.addOp(info, {operands.data(), operands.size()}, {values.data(), values.size()});
    if (!id)
      return report(op->getLoc(), id.error());
    for (OpResult value : op->getResults())
      remember(value, ValueId(result.values.size()));
    return success();
  }

  static std::string_view text(Operation *op, StringRef name) {
    auto attribute = op->getAttrOfType<StringAttr>(name);
    return attribute ? view(attribute.getValue()) : std::string_view();
  }

  static FailureOr<Phase> parsePhase(Operation *op) {
    std::string_view phase = text(op, attr::phase);
    if (phase == "forward")
      return Phase::Forward;
    if (phase == "backward")
      return Phase::Backward;
    emitError(op->getLoc()) << "op has no 'remat.phase'";
    return failure();
  }

  /// Operands in order, then what the regions capture.
  SmallVector<ValueId> readValues(Operation *op) {
    SmallVector<ValueId> read;
    for (Value operand : op->getOperands())
      read.push_back(ids.lookup(operand));
    if (op->getNumRegions() == 0)
      return read;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      read.push_back(ids.lookup(value));
    return read;
  }

  LogicalResult describeResults(Operation *op, size_t number, SmallVectorImpl<std::string> &names,
                                SmallVectorImpl<ValueInfo> &values) {
    const OpModel &model = models[number];
    bool isConstant = model.opClass == OpClass::Constant || isStorageOfConstant(op);
    names.reserve(op->getNumResults());
    for (OpResult value : op->getResults()) {
      unsigned i = value.getResultNumber();
      names.push_back(op->getNumResults() == 1 ? opNames[number] : opNames[number] + "#" + std::to_string(i));
      ValueInfo info{.name = names.back()};
      if (i < model.viewOf.size() && model.viewOf[i]) {
        info.viewOf = ids.lookup(op->getOperand(*model.viewOf[i]));
      } else if (auto place = places.find(value); place != places.end()) {
        info.viewOf = info.inplaceOf = ids.lookup(op->getOperand(place->second));
      } else if (!isConstant) {
        std::optional<int64_t> bytes = typeBytes(value.getType());
        if (!bytes)
          return unknownSize(op->getLoc(), "the result of '" + names.back() + "'", value.getType());
        info.bytes = *bytes;
      }
      values.push_back(info);
    }
    return success();
  }

  void addRegions() {
    if (auto regions = function->getAttrOfType<DictionaryAttr>(attr::regions))
      for (NamedAttribute region : regions)
        if (auto policy = dyn_cast<StringAttr>(region.getValue()))
          builder.addRegion(view(region.getName().getValue()), view(policy.getValue()));
  }

  func::FuncOp function;
  Block &body;
  const ExtractOptions &options;
  GraphBuilder builder;
  SmallVector<std::string> argumentNames, opNames;
  SmallVector<OpModel> models;
  DenseMap<Value, unsigned> places;
  DenseMap<Value, ValueId> ids;
  ExtractedGraph result;
};

} // namespace

FailureOr<ExtractedGraph> extractGraph(func::FuncOp function, const ExtractOptions &options) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return emitError(function.getLoc()) << "function '" << function.getSymName()
                                        << "' must have one block; flatten it first";
  return Extractor(function, options).run();
}

void recordInplace(func::FuncOp function, const ExtractedGraph &extracted) {
  MLIRContext *context = function.getContext();
  function->setAttr(attr::inplace, UnitAttr::get(context));
  for (size_t i = 0; i < extracted.ops.size(); ++i) {
    OpId id(i);
    std::span<const ValueId> operands = extracted.graph.operands(id);
    SmallVector<int64_t> places(extracted.graph.numResults(id), -1);
    for (size_t r = 0; r < places.size(); ++r)
      if (ValueId place = extracted.graph.value(extracted.graph.result(id, r)).inplaceOf)
        places[r] = llvm::find(operands, place) - operands.begin();
    if (llvm::any_of(places, [](int64_t place) { return place >= 0; }))
      extracted.ops[i]->setAttr(attr::inplace, DenseI64ArrayAttr::get(context, places));
  }
}

} // namespace remat
