//===- Graph.h - The planner's view of a training step -----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"
#include "remat/Plan/Ids.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace remat {

enum class OpClass : uint8_t {
  Dot,
  Convolution,
  Reduction,
  Elementwise,
  DataMovement,
  View,
  Random,
  Collective,
  Loop,
  Constant,
  Opaque
};

/// The class's name in the JSON format, such as `data-movement`.
std::string_view toString(OpClass opClass);
std::optional<OpClass> parseOpClass(std::string_view text);

enum class Phase : uint8_t { Forward, Backward };
std::string_view toString(Phase phase);

/// One operation. The texts belong to the graph (or, in a builder's argument, to the caller).
struct OpInfo {
  std::string_view name = {}; ///< Unique among the ops.
  std::string_view kind = {}; ///< The operation's name in its dialect, such as `stablehlo.dot_general`.
  OpClass opClass = OpClass::Opaque;
  Phase phase = Phase::Forward;
  bool recomputable = true;   ///< False: executed exactly once, whatever the class.
  double costNs = 0;          ///< Time of one execution, nanoseconds.
  int64_t flops = 0;          ///< Floating-point operations of one execution.
  int64_t workspaceBytes = 0; ///< Scratch bytes alive only while the op runs.
  int32_t dotBatchDims = 0;   ///< Number of batch dimensions of a dot.
  std::string_view checkpointName =
      {}; ///< The user's name for the results (`remat.name`, jax's checkpoint_name); may be empty.
  std::string_view region = {};   ///< Path of user regions from the outside in, such as `outer/inner`; may be empty.
  std::string_view location = {}; ///< Where the op stands in the user's source; may be empty.
};

/// One tensor: an argument of the function or a result of an op.
struct ValueInfo {
  std::string_view name = {}; ///< Unique among arguments and results.
  int64_t bytes = 0;          ///< Bytes of storage of its own; 0 for a view.
  ValueId viewOf = {};        ///< The value whose storage this one shares, if it is a view.
  ValueId inplaceOf = {};     ///< The value that is overwritten to make this one, if any.
  bool donated = false;       ///< An argument whose storage a result may take.
};

/// A user's region that carries a policy of its own.
struct RegionInfo {
  std::string_view name = {};   ///< Full path, as in OpInfo::region.
  std::string_view policy = {}; ///< Policy text, as on the command line.
};

/// An immutable dataflow graph in program order (compressed sparse rows). Values `[0, numArguments())` are the
/// arguments; the results of the ops follow in program order. Every op reads only arguments and results of earlier ops.
class Graph {
public:
  std::string_view name() const { return graphName; }

  size_t numOps() const { return ops.size(); }
  size_t numValues() const { return values.size(); }
  size_t numArguments() const { return argumentCount; }

  const OpInfo &op(OpId id) const { return ops[id.index()]; }
  const ValueInfo &value(ValueId id) const { return values[id.index()]; }

  /// Operands in order, duplicates kept.
  std::span<const ValueId> operands(OpId id) const {
    return {operandList.data() + operandBegin[id.index()], operandList.data() + operandBegin[id.index() + 1]};
  }
  /// Results are consecutive values.
  ValueId resultBegin(OpId id) const { return ValueId(resultStart[id.index()]); }
  size_t numResults(OpId id) const { return resultStart[id.index() + 1] - resultStart[id.index()]; }
  ValueId result(OpId id, size_t i) const { return ValueId(resultStart[id.index()] + i); }

  /// The op that makes the value; invalid for an argument.
  OpId producer(ValueId id) const { return producers[id.index()]; }
  /// The ops that read the value itself (not its views), each once, in program order.
  std::span<const OpId> users(ValueId id) const {
    return {userList.data() + userBegin[id.index()], userList.data() + userBegin[id.index() + 1]};
  }
  /// The value whose storage `id` lives in: itself, or the end of its chain of `viewOf`.
  ValueId base(ValueId id) const { return bases[id.index()]; }
  bool isArgument(ValueId id) const { return id.index() < argumentCount; }
  bool isView(ValueId id) const { return values[id.index()].viewOf.isValid(); }

  /// The function's results in order; one value may stand there several times and may be an argument.
  std::span<const ValueId> results() const { return resultList; }
  std::span<const RegionInfo> regions() const { return regionList; }

  /// Bytes of all arguments.
  int64_t residentBytes() const;

  /// An op that must be executed exactly once: marked so, or random, collective or opaque.
  bool mustRunOnce(OpId id) const;

  std::optional<OpId> findOp(std::string_view opName) const;
  std::optional<ValueId> findValue(std::string_view valueName) const;

private:
  friend class GraphBuilder;
  std::string graphName;
  std::vector<OpInfo> ops;
  std::vector<ValueInfo> values;
  std::vector<uint32_t> operandBegin, resultStart, userBegin;
  std::vector<ValueId> operandList, resultList, bases;
  std::vector<OpId> producers, userList;
  std::vector<RegionInfo> regionList;
  std::unordered_map<std::string_view, OpId> opByName;
  std::unordered_map<std::string_view, ValueId> valueByName;
  size_t argumentCount = 0;
  std::vector<std::unique_ptr<char[]>> texts; ///< What the string views point to.
};

/// Builds a Graph op by op, in program order, and says what is wrong with it. Bytes and FLOPs each add up to 2^60 at
/// most, so that int64 holds them where every op is executed several times.
class GraphBuilder {
public:
  explicit GraphBuilder(std::string_view graphName);

  /// Arguments come before the first op.
  /// Error: a name that is taken, negative bytes, too many bytes.
  Expected<ValueId> addArgument(std::string_view name, int64_t bytes, bool donated = false);

  /// Adds an op after all earlier ones. `results` names and sizes what it makes; `viewOf` and `inplaceOf` name
  /// operands. Error: a name that is taken, negative bytes or cost, too many bytes or FLOPs, an unknown operand, an
  /// operand that was overwritten, `viewOf`/`inplaceOf` that is no operand, a view with bytes of its own, a result that
  /// does not fit in the place it takes. `place` is relative to the op, such as `operands[1]`.
  Expected<OpId> addOp(const OpInfo &info, std::span<const ValueId> operands, std::span<const ValueInfo> results);

  /// Error: a value that was overwritten.
  std::optional<Error> addResult(ValueId value);
  void addRegion(std::string_view name, std::string_view policy);

  std::optional<ValueId> findValue(std::string_view valueName) const { return graph.findValue(valueName); }

  /// Finishes the graph. The builder is empty afterwards.
  Graph finish();

private:
  Graph graph;
  char *nextText = nullptr;
  size_t textRoom = 0;
  std::unordered_set<std::string_view> sharedTexts; ///< Those that many ops have.
  uint64_t totalBytes = 0, totalFlops = 0;          ///< With one more int64 they still fit.
  double totalCostNs = 0;
  /// By value: the last op that overwrote its storage (only where the value is a base), and who that was when the value
  /// was made.
  std::vector<OpId> overwriter, overwriterAtBirth;

  void addValue(const ValueInfo &value, OpId producer);
  std::optional<Error> checkNumbers(const OpInfo &info, std::span<const ValueInfo> results);
  /// Checks whose storage the results of the next op share, and notes what they overwrite.
  std::optional<Error> overwrite(std::span<const ValueInfo> results, std::span<const ValueId> operands);
  std::optional<Error> checkOverwritten(ValueId value) const;
  /// A copy of the text that lives as long as the graph.
  std::string_view keep(std::string_view text);
  /// The same, but one copy for all equal texts.
  std::string_view intern(std::string_view text);
};

} // namespace remat
