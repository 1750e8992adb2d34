//===- Generators.h - What the generators share ------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

namespace remat {

/// One setting of a generator, with its default and its range, both ends included.
struct Knob {
  std::string_view name;
  double value;
  double least, most;
  bool isInteger = true;
};

struct Knobs {
  std::vector<Knob> knobs;

  /// Reads `key=value,…`. Error: an unknown key, a key twice, a value that is no number or out of range.
  std::optional<Error> read(std::string_view text);
  int64_t integer(std::string_view name) const { return int64_t(find(name).value); }
  double real(std::string_view name) const { return find(name).value; }

private:
  const Knob &find(std::string_view name) const;
  std::string nearestNote(std::string_view key) const;
};

/// A result that a StepBuilder makes. A view has the `bytes` that it shows.
struct NewValue {
  std::string name;
  int64_t bytes;
  ValueId viewOf = {};
};

/// Builds a graph from names that are known to be new, and times the ops by the roofline.
class StepBuilder {
public:
  explicit StepBuilder(std::string_view graphName) : builder(graphName) {}

  ValueId argument(std::string name, int64_t bytes);
  OpId op(const OpInfo &info, std::span<const ValueId> operands, std::span<const NewValue> results);
  /// A result of the last op.
  ValueId result(size_t i) const { return ValueId(firstResult.index() + i); }
  int64_t bytes(ValueId value) const { return sizes[value.index()]; }

  /// Error: numbers that add up to too much.
  Expected<Graph> finish(std::span<const ValueId> results) {
    if (error)
      return std::move(*error);
    for (ValueId value : results)
      builder.addResult(value);
    return builder.finish();
  }

private:
  static constexpr double flopsPerNs = 19500, bytesPerNs = 1500;

  GraphBuilder builder;
  std::optional<Error> error; ///< The first.
  std::vector<int64_t> sizes;
  ValueId firstResult;
};

Knobs layeredKnobs();
Expected<Graph> generateLayered(std::string_view graphName, const Knobs &knobs);

Knobs transformerKnobs();
Expected<Graph> generateTransformer(std::string_view graphName, const Knobs &knobs);

} // namespace remat
