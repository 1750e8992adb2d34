//===- RematDialect.cpp - The remat dialect and its ops -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/IR/RematDialect.h"

#include "remat/IR/OpModel.h"
#include "remat/Plan/Policy.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace remat;

#include "remat/IR/RematDialect.cpp.inc"

#include "remat/IR/RematOpInterface.cpp.inc"

#define GET_OP_CLASSES
#include "remat/IR/RematOps.cpp.inc"

void RematDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "remat/IR/RematOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

static constexpr std::string_view knownAttributes[] = {
    attr::phase,   attr::region,  attr::checkpointName, attr::loss,           attr::plan,  attr::clone,
    attr::regions, attr::inplace, attr::residuals,      attr::recomputations, attr::policy};

static LogicalResult unknownAttribute(Operation *op, StringRef name) {
  InFlightDiagnostic diag = op->emitError() << "unknown attribute '" << name << "'";
  if (auto nearest = nearestName({name.data(), name.size()}, knownAttributes))
    diag << ", did you mean '" << StringRef(*nearest) << "'?";
  return diag;
}

static LogicalResult wrongValue(Operation *op, NamedAttribute attribute, StringRef expected) {
  return op->emitError() << "'" << attribute.getName().getValue() << "' must be " << expected << ", but is "
                         << attribute.getValue();
}

/// A path of region names, such as `outer/inner`: no name is empty.
static bool isRegionPath(StringRef text) {
  SmallVector<StringRef> names;
  text.split(names, '/');
  return llvm::none_of(names, [](StringRef name) { return name.empty(); });
}

/// Attributes whose value is a string that `accepts`.
static LogicalResult verifyString(Operation *op, NamedAttribute attribute, StringRef expected,
                                  llvm::function_ref<bool(StringRef)> accepts) {
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  return text && accepts(text.getValue()) ? success() : wrongValue(op, attribute, expected);
}

/// A function says which of its results is the loss by number, an op that it makes the loss by the attribute alone.
static LogicalResult verifyLoss(Operation *op, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return isa<UnitAttr>(attribute.getValue()) ? success() : wrongValue(op, attribute, "a unit attribute");
  auto number = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!number || !number.getType().isSignlessInteger(64) || number.getInt() < 0 ||
      number.getInt() >= static_cast<int64_t>(function.getNumResults()))
    return wrongValue(op, attribute, "the i64 number of a result of the function");
  return success();
}

/// Attributes that stand on functions alone.
static LogicalResult verifyFunctionAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (!isa<FunctionOpInterface>(op))
    return op->emitError() << "'" << name << "' belongs on a function";
  if (name == attr::plan)
    return isa<DenseI64ArrayAttr>(attribute.getValue()) ? success() : wrongValue(op, attribute, "an array<i64>");
  if (name == attr::policy)
    return isa<StringAttr>(attribute.getValue()) ? success() : wrongValue(op, attribute, "a string");
  if (name == attr::regions)
    return isa<DictionaryAttr>(attribute.getValue()) ? success() : wrongValue(op, attribute, "a dictionary");
  auto number = dyn_cast<IntegerAttr>(attribute.getValue());
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0
             ? success()
             : wrongValue(op, attribute, "an i64 that is not negative");
}

LogicalResult RematDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto notEmpty = [](StringRef text) { return !text.empty(); };
  if (name == attr::phase)
    return verifyString(op, attribute, "\"forward\" or \"backward\"",
                        [](StringRef text) { return text == "forward" || text == "backward"; });
  if (name == attr::region)
    return verifyString(op, attribute, "a path of region names such as \"outer/inner\"", isRegionPath);
  if (name == attr::checkpointName || name == attr::clone)
    return verifyString(op, attribute, "a string that is not empty", notEmpty);
  if (name == attr::loss)
    return verifyLoss(op, attribute);
  if (name == attr::inplace)
    return isa<DenseI64ArrayAttr, UnitAttr>(attribute.getValue()) ? success()
                                                                  : wrongValue(op, attribute, "an array<i64>");
  if (llvm::is_contained({attr::plan, attr::policy, attr::regions, attr::residuals, attr::recomputations}, name))
    return verifyFunctionAttribute(op, attribute);
  return unknownAttribute(op, name);
}

LogicalResult RematDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (!llvm::is_contained(knownAttributes, std::string_view(name.data(), name.size())))
    return unknownAttribute(op, name);
  return op->emitError() << "'" << name << "' does not belong on an argument";
}

LogicalResult RematDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == attr::loss)
    return isa<UnitAttr>(attribute.getValue()) ? success() : wrongValue(op, attribute, "a unit attribute");
  if (!llvm::is_contained(knownAttributes, std::string_view(name.data(), name.size())))
    return unknownAttribute(op, name);
  return op->emitError() << "'" << name << "' does not belong on a result";
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult NameOp::verify() {
  if (getName().empty())
    return emitOpError("must have a name that is not empty");
  return success();
}

LogicalResult RegionOp::verify() {
  // A name is one component of the path that `remat.region` attributes hold.
  if (getName().empty() || getName().contains('/'))
    return emitOpError("must have a name that is not empty and holds no '/', but has \"") << getName() << "\"";
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getOperandTypes() != getResultTypes())
    return emitOpError("has results of types (")
           << getResultTypes() << "), but its body yields (" << yield.getOperandTypes() << ")";
  return success();
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("has inputs of types (")
           << getInputs().getTypes() << "), but its body takes (" << body.getArgumentTypes() << ")";
  auto yield = cast<YieldOp>(body.getTerminator());
  if (yield.getOperandTypes() != getResultTypes())
    return emitOpError("has results of types (")
           << getResultTypes() << "), but its body yields (" << yield.getOperandTypes() << ")";
  if (auto inplace = getInplace()) {
    if (inplace->size() != getNumResults())
      return emitOpError("names inputs for ") << inplace->size() << " of its " << getNumResults() << " results";
    for (auto [result, input] : llvm::enumerate(*inplace))
      if (input < -1 || input >= int64_t(getInputs().size()))
        return emitOpError("has no input ") << input << ", which result " << result << " is to be written into";
  }
  return success();
}

LogicalResult ConvolutionOp::verify() {
  int64_t rank = getLhs().getType().getRank(), spatial = rank - 2;
  auto expectSize = [&](StringRef name, int64_t size, int64_t expected) -> LogicalResult {
    if (size == expected)
      return success();
    return emitOpError("has ") << size << " numbers in '" << name << "', expected " << expected;
  };
  if (spatial < 0 || getRhs().getType().getRank() != rank || getResult().getType().getRank() != rank)
    return emitOpError("needs three tensors of one rank, at least 2");
  if (failed(expectSize("strides", getStrides().size(), spatial)) ||
      failed(expectSize("padding", getPadding().size(), 2 * spatial)) ||
      failed(expectSize("lhs_dilation", getLhsDilation().size(), spatial)) ||
      failed(expectSize("rhs_dilation", getRhsDilation().size(), spatial)) ||
      failed(expectSize("lhs_dims", getLhsDims().size(), rank)) ||
      failed(expectSize("rhs_dims", getRhsDims().size(), rank)) ||
      failed(expectSize("result_dims", getResultDims().size(), rank)))
    return failure();
  if (!getReversed().empty() && failed(expectSize("reversed", getReversed().size(), spatial)))
    return failure();
  for (ArrayRef<int64_t> dims : {getLhsDims(), getRhsDims(), getResultDims()})
    for (int64_t i = 0; i < rank; ++i)
      if (!llvm::is_contained(dims, i))
        return emitOpError("must name every dimension of a tensor once, but ") << i << " is missing";
  return success();
}

//===----------------------------------------------------------------------===//
// RematOpInterface
//===----------------------------------------------------------------------===//

OpClass BarrierOp::getOpClass() { return OpClass::View; }
bool BarrierOp::isRecomputable() { return true; }
std::optional<unsigned> BarrierOp::getViewedOperand(unsigned) { return 0; }

OpClass NameOp::getOpClass() { return OpClass::View; }
bool NameOp::isRecomputable() { return true; }
std::optional<unsigned> NameOp::getViewedOperand(unsigned) { return 0; }

// Regions are dissolved before planning; one that is still there is a loop of one trip.
OpClass RegionOp::getOpClass() { return OpClass::Loop; }
std::optional<int64_t> RegionOp::getTripCount() { return 1; }

//===----------------------------------------------------------------------===//
// BufferizableOpInterface
//===----------------------------------------------------------------------===//

// The result shares `input`'s buffer and nothing is read or written, so a writer of the result that would spoil a later
// reader of `input` is seen by the analysis as a conflict, and the barrier itself leaves no trace.
template <typename IdentityOp>
static LogicalResult bufferizeIdentity(IdentityOp op, RewriterBase &rewriter,
                                       const bufferization::BufferizationOptions &options,
                                       bufferization::BufferizationState &state) {
  FailureOr<Value> buffer = bufferization::getBuffer(rewriter, op.getInput(), options, state);
  if (failed(buffer))
    return failure();
  bufferization::replaceOpWithBufferizedValues(rewriter, op, *buffer);
  return success();
}

static bufferization::AliasingValueList identityAliases(OpOperand &operand, Value result) {
  if (operand.getOperandNumber() == 0)
    return {{result, bufferization::BufferRelation::Equivalent}};
  return {};
}

bool BarrierOp::bufferizesToMemoryRead(OpOperand &, const bufferization::AnalysisState &) { return false; }
bool BarrierOp::bufferizesToMemoryWrite(OpOperand &, const bufferization::AnalysisState &) { return false; }
bool BarrierOp::mustBufferizeInPlace(OpOperand &operand, const bufferization::AnalysisState &) {
  return operand.getOperandNumber() == 0;
}
bufferization::AliasingValueList BarrierOp::getAliasingValues(OpOperand &operand,
                                                              const bufferization::AnalysisState &) {
  return identityAliases(operand, getResult());
}
LogicalResult BarrierOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                   bufferization::BufferizationState &state) {
  return bufferizeIdentity(*this, rewriter, options, state);
}

bool NameOp::bufferizesToMemoryRead(OpOperand &, const bufferization::AnalysisState &) { return false; }
bool NameOp::bufferizesToMemoryWrite(OpOperand &, const bufferization::AnalysisState &) { return false; }
bool NameOp::mustBufferizeInPlace(OpOperand &, const bufferization::AnalysisState &) { return true; }
bufferization::AliasingValueList NameOp::getAliasingValues(OpOperand &operand, const bufferization::AnalysisState &) {
  return identityAliases(operand, getResult());
}
LogicalResult NameOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                bufferization::BufferizationState &state) {
  return bufferizeIdentity(*this, rewriter, options, state);
}
