//===- StableHloTable.cpp - The ops of StableHLO, CHLO and MHLO -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table keyed by op name, the same for the three dialects: what MHLO and CHLO share with StableHLO they call the
// same. The ops needn't be registered, so nothing here asks for more than operands, types, attributes and regions.
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "remat/IR/StableHloAttributes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace remat {

namespace {

/// How FLOPs and bytes of an op are counted. Unless a rule says otherwise, bytes are those of all operands and results.
enum class Rule : uint8_t {
  PerElement,       ///< weight × result elements.
  PerInput,         ///< weight × elements of operand 0.
  Map,              ///< body × result elements.
  Free,             ///< No FLOPs and no bytes.
  Copy,             ///< No FLOPs.
  Pick,             ///< No FLOPs; only the picked part of operand 0 is read, the others are indices.
  Update,           ///< Only the updated part of operand 0 is touched, if it can be updated in place (`updateBytes`).
  Scatter,          ///< As Update, and body × elements of the updates.
  Reduce,           ///< body × elements of the inputs.
  ReduceWindow,     ///< body × result elements × window.
  SelectAndScatter, ///< (select × window + scatter) × elements of the source.
  Sort,             ///< comparator × n log2 n.
  Cubic,            ///< A third of n³ for each matrix of operand 0.
  Fft,              ///< 5 n log2 n (the usual count).
  Dot,
  Convolution,
  Bitcast, ///< A view if the width stays, else PerElement.
  Loop,
};

struct Entry {
  StringLiteral names; ///< Separated by spaces.
  OpClass opClass;
  Rule rule;
  int64_t weight = simpleFlops;
};

constexpr Entry entries[] = {
    // Arithmetic. `convert`, `compare` and `select` count as the one simple operation that they are.
    {"abs add and ceil clamp compare complex conj convert count_leading_zeros floor imag is_finite is_inf is_neg_inf "
     "is_pos_inf maximum "
     "minimum multiply negate next_after not or popcnt real reduce_precision round_nearest_afz round_nearest_even "
     "select "
     "shift_left shift_right_arithmetic shift_right_logical sign square subtract uniform_dequantize uniform_quantize "
     "xor",
     OpClass::Elementwise, Rule::PerElement},
    {"broadcast_add broadcast_and broadcast_compare broadcast_complex broadcast_maximum broadcast_minimum "
     "broadcast_multiply "
     "broadcast_next_after broadcast_or broadcast_select broadcast_shift_left broadcast_shift_right_arithmetic "
     "broadcast_shift_right_logical broadcast_subtract broadcast_xor",
     OpClass::Elementwise, Rule::PerElement},
    {"divide remainder sqrt rsqrt cbrt broadcast_divide broadcast_remainder", OpClass::Elementwise, Rule::PerElement,
     divisionFlops},
    {"cosine exponential exponential_minus_one log log_plus_one logistic sine tan tanh erf cosh sinh",
     OpClass::Elementwise, Rule::PerElement, exponentialFlops},
    {"acos acosh asin asin_acos_kernel asinh atan atan2 atanh bessel_i1e broadcast_atan2 broadcast_polygamma "
     "broadcast_power broadcast_zeta digamma "
     "erf_inv erfc lgamma polygamma power zeta",
     OpClass::Elementwise, Rule::PerElement, specialFlops},
    {"map", OpClass::Elementwise, Rule::Map},
    {"bitcast_convert", OpClass::Elementwise, Rule::Bitcast},

    // Views: in StableHLO tensors have no layout, so none of these moves a byte.
    {"reshape optimization_barrier", OpClass::View, Rule::Free},
    {"constant", OpClass::Constant, Rule::Free},

    {"broadcast broadcast_in_dim concatenate copy dynamic_broadcast_in_dim dynamic_iota dynamic_pad dynamic_reshape "
     "constant_like iota pad reverse transpose",
     OpClass::DataMovement, Rule::Copy},
    {"dynamic_gather dynamic_slice gather real_dynamic_slice slice torch_index_select", OpClass::DataMovement,
     Rule::Pick},
    {"dynamic_update_slice", OpClass::DataMovement, Rule::Update},
    {"scatter", OpClass::DataMovement, Rule::Scatter},
    {"sort", OpClass::DataMovement, Rule::Sort},
    {"top_k topk", OpClass::DataMovement, Rule::PerInput},
    {"get_dimension_size", OpClass::DataMovement, Rule::Free},

    {"reduce", OpClass::Reduction, Rule::Reduce},
    {"reduce_window", OpClass::Reduction, Rule::ReduceWindow},
    {"select_and_scatter", OpClass::Reduction, Rule::SelectAndScatter},
    {"batch_norm_inference batch_norm_training batch_norm_grad", OpClass::Reduction, Rule::PerInput, exponentialFlops},
    {"cholesky triangular_solve", OpClass::Reduction, Rule::Cubic},
    {"fft", OpClass::Reduction, Rule::Fft},

    {"dot dot_general ragged_dot", OpClass::Dot, Rule::Dot},
    {"convolution dynamic_conv", OpClass::Convolution, Rule::Convolution},

    // Executed exactly as often as the user wrote.
    {"rng rng_bit_generator rng_uniform rng_normal", OpClass::Random, Rule::PerElement, exponentialFlops},
    {"all_gather all_reduce all_to_all collective_broadcast collective_permute cross-replica-sum partition_id "
     "reduce_scatter replica_id",
     OpClass::Collective, Rule::Copy},
    {"after_all async_done async_start create_token custom_call get_tuple_element infeed outfeed recv send "
     "set_dimension_size tuple",
     OpClass::Opaque, Rule::Copy},

    {"while case if", OpClass::Loop, Rule::Loop},
};

const Entry *lookUp(StringRef name) {
  static const llvm::StringMap<const Entry *> table = [] {
    llvm::StringMap<const Entry *> table;
    for (const Entry &entry : entries) {
      SmallVector<StringRef> names;
      entry.names.split(names, ' ', -1, /*KeepEmpty=*/false);
      for (StringRef each : names)
        table[each] = &entry;
    }
    return table;
  }();
  return table.lookup(name);
}

int64_t operandElements(Operation *op, unsigned index) {
  return index < op->getNumOperands() ? elementCount(op->getOperand(index).getType()) : 0;
}

int64_t operandBytes(Operation *op, unsigned index) {
  return index < op->getNumOperands() ? bytesOrZero(op->getOperand(index).getType()) : 0;
}

int64_t resultElements(Operation *op) { return op->getNumResults() ? elementCount(op->getResult(0).getType()) : 0; }

/// Bytes of the operands from number `first` on.
int64_t operandBytesFrom(Operation *op, unsigned first) {
  return sumBytes(op->getOperands().drop_front(std::min(first, op->getNumOperands())).getTypes());
}

/// Elements of a window; 1 where the attribute is missing, as for a window that doesn't slide over a dimension.
int64_t windowSize(Operation *op) {
  std::optional<Ints> window = hloIntegers(getHloAttr(op, "window_dimensions"));
  return window ? std::max<int64_t>(0, productClamped(*window)) : 1;
}

/// Calls of a comparator or butterfly over `elements`, in groups of `group`.
int64_t linearLogarithmic(int64_t elements, int64_t group) {
  return multiplyClamped(elements, group > 1 ? llvm::Log2_64_Ceil(group) : 0);
}

/// Bytes of writing `updateBytes` into operand 0. XLA and bufferization write in place if nobody else reads the operand
/// (in a loop, where it counts, it is carried around); otherwise operand 0 is copied first.
int64_t updateBytes(Operation *op, int64_t touched, int64_t indices) {
  Value target = op->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(target);
  bool ofLoop = argument && lookUpHloClass(argument.getOwner()->getParentOp()) == OpClass::Loop;
  bool inPlace = target.hasOneUse() && (!argument || ofLoop);
  int64_t copied = inPlace ? 0 : multiplyClamped(2, bytesOrZero(target.getType()));
  return addClamped(addClamped(copied, multiplyClamped(2, touched)), indices);
}

/// FLOPs of the ops in one region, executed once.
int64_t regionFlops(Region &region) {
  int64_t sum = 0;
  for (Block &block : region)
    for (Operation &inner : block)
      if (!isBlockTerminator(&inner))
        sum = addClamped(sum, describeOp(&inner).flops);
  return sum;
}

int64_t countFlops(Operation *op, const Entry &entry, int64_t bodyFlops) {
  switch (entry.rule) {
  case Rule::PerElement:
    return multiplyClamped(entry.weight, resultElements(op));
  case Rule::PerInput:
    return multiplyClamped(entry.weight, operandElements(op, 0));
  case Rule::Map:
    return multiplyClamped(bodyFlops, resultElements(op));
  case Rule::Reduce:
    return multiplyClamped(bodyFlops, operandElements(op, 0));
  case Rule::ReduceWindow:
    return multiplyClamped(bodyFlops, multiplyClamped(resultElements(op), windowSize(op)));
  case Rule::SelectAndScatter: {
    if (op->getNumRegions() != 2)
      return 0;
    int64_t select = multiplyClamped(regionFlops(op->getRegion(0)), windowSize(op));
    return multiplyClamped(addClamped(select, regionFlops(op->getRegion(1))), operandElements(op, 1));
  }
  case Rule::Scatter: // Operands: inputs, indices, updates.
    return multiplyClamped(bodyFlops, operandElements(op, op->getNumOperands() - 1));
  case Rule::Sort: {
    ArrayRef<int64_t> shape = op->getNumOperands() ? dimensions(op->getOperand(0).getType()) : ArrayRef<int64_t>();
    int64_t at = hloInteger(getHloAttr(op, "dimension")).value_or(-1);
    at += at < 0 ? static_cast<int64_t>(shape.size()) : 0;
    if (at < 0 || at >= static_cast<int64_t>(shape.size()))
      return 0;
    return multiplyClamped(std::max<int64_t>(1, bodyFlops), linearLogarithmic(operandElements(op, 0), shape[at]));
  }
  case Rule::Cubic: {
    ArrayRef<int64_t> shape = op->getNumOperands() ? dimensions(op->getOperand(0).getType()) : ArrayRef<int64_t>();
    return shape.empty() ? 0 : multiplyClamped(operandElements(op, 0), shape.back()) / 3;
  }
  case Rule::Fft: {
    std::optional<Ints> lengths = hloIntegers(getHloAttr(op, "fft_length"));
    int64_t points = lengths ? std::max<int64_t>(0, productClamped(*lengths)) : 0;
    return multiplyClamped(5, linearLogarithmic(operandElements(op, 0), points));
  }
  default:
    return 0;
  }
}

int64_t countBytes(Operation *op, Rule rule) {
  int64_t results = sumBytes(op->getResultTypes());
  switch (rule) {
  case Rule::Free:
  case Rule::Loop:
    return 0;
  case Rule::Pick:
    return addClamped(multiplyClamped(2, results), operandBytesFrom(op, 1));
  case Rule::Update:
    return updateBytes(op, operandBytes(op, 1), operandBytesFrom(op, 2));
  case Rule::Scatter: {
    // Inputs, one tensor of indices, as many updates as inputs; what is touched is read and written.
    unsigned inputs = op->getNumOperands() / 2;
    if (inputs == 0)
      return 0;
    int64_t updates = operandBytesFrom(op, inputs + 1);
    return updateBytes(op, updates, addClamped(updates, operandBytes(op, inputs)));
  }
  default:
    return addClamped(sumBytes(op->getOperandTypes()), results);
  }
}

/// A bitcast between types of the same shape and width shows the same bytes under another type.
bool isSameWidthBitcast(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return false;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  return dimensions(from) == dimensions(to) && typeBytes(from) == typeBytes(to);
}

/// Operands that every form of the op has; malformed input must not reach code that counts on them.
unsigned leastOperands(Rule rule) {
  switch (rule) {
  case Rule::Dot:
  case Rule::Convolution:
  case Rule::Update:
    return 2;
  case Rule::Scatter:
  case Rule::SelectAndScatter:
    return 3;
  case Rule::Copy:
  case Rule::Free:
  case Rule::Loop:
  case Rule::PerElement:
    return 0;
  default:
    return 1;
  }
}

} // namespace

StringRef hloName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  for (StringRef dialect : {"stablehlo.", "mhlo.", "chlo."})
    if (name.consume_front(dialect))
      return name;
  return {};
}

std::optional<OpClass> lookUpHloClass(Operation *op) {
  const Entry *entry = lookUp(hloName(op));
  return entry ? std::optional(entry->opClass) : std::nullopt;
}

int64_t describeRegionBodies(Operation *op, bool &recomputable) {
  int64_t flops = 0;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block) {
        if (isBlockTerminator(&inner))
          continue;
        OpModel model = describeOp(&inner);
        flops = addClamped(flops, model.flops);
        recomputable &= model.recomputable;
      }
  return flops;
}

bool describeHloOp(Operation *op, OpModel &model) {
  const Entry *entry = lookUp(hloName(op));
  if (!entry)
    return false;
  model.opClass = entry->opClass;
  model.recomputable =
      entry->opClass != OpClass::Random && entry->opClass != OpClass::Collective && entry->opClass != OpClass::Opaque;
  if (op->getNumOperands() < leastOperands(entry->rule)) {
    model.problem = "expected at least " + std::to_string(leastOperands(entry->rule)) + " operands, but found " +
                    std::to_string(op->getNumOperands());
    return true;
  }
  if (entry->rule == Rule::Loop) {
    bool isWhile = hloName(op) == "while";
    model.tripCount = isWhile ? tripCount(op) : std::optional<int64_t>(1);
    return true;
  }
  // All-reduce and the like have bodies too; what stands in them changes nothing.
  int64_t bodyFlops = describeRegionBodies(op, model.recomputable);
  model.flops = countFlops(op, *entry, bodyFlops);
  model.bytesMoved = countBytes(op, entry->rule);
  if (op->getNumOperands() + op->getNumResults() != 0) {
    Type first = op->getNumOperands() ? op->getOperand(0).getType() : op->getResult(0).getType();
    model.computeType = getElementTypeOrSelf(first);
  }
  if (entry->rule == Rule::Bitcast) {
    bool view = isSameWidthBitcast(op);
    model.opClass = view ? OpClass::View : OpClass::Elementwise;
    model.flops = view ? 0 : resultElements(op);
    model.bytesMoved = view ? 0 : model.bytesMoved;
  }
  if (model.opClass == OpClass::View)
    for (unsigned i = 0; i < std::min<size_t>(model.viewOf.size(), op->getNumOperands()); ++i)
      model.viewOf[i] = i;
  if (entry->rule == Rule::Dot)
    describeHloDot(op, model);
  if (entry->rule == Rule::Convolution)
    describeHloConvolution(op, model);
  if (entry->rule == Rule::Update || entry->rule == Rule::Scatter)
    model.inplaceOperands.push_back(0);
  if (model.opClass != OpClass::Convolution)
    model.convFlopsValid = model.flops;
  return true;
}

} // namespace remat
