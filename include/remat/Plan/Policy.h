//===- Policy.h - Which values a policy saves --------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Graph.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace remat {

/// Says of every value whether it is saved from forward to backward. Policies are values: they can be copied and
/// joined.
class Policy {
public:
  /// A user's own rule. Called for values that own storage (never for views or arguments).
  using Predicate = std::function<bool(const Graph &, ValueId)>;

  /// Finds a name or pattern of the policy that matches nothing in a graph.
  using Check = std::function<std::optional<Error>(const Graph &)>;

  Policy(std::string name, Predicate saves, Check check = nullptr);

  static Policy saveEverything();
  static Policy saveNothing();
  /// Besides what is saved anyway, the fewest bytes from which fusible ops rebuild the rest. `budgetRatio` in [0, 1]:
  /// less than that, see docs/Planning.md.
  static Policy minCut(std::optional<double> budgetRatio = {});

  /// Reads `P1+P2+…`, saved if any of them saves it. Names: save-everything, save-nothing, save-dots,
  /// save-dots-no-batch-dims, save-only-names=a,b, save-any-names-but=a,b, save-larger-than=SIZE, save-ops=REGEX,
  /// min-cut, min-cut=R. Error: an unknown policy (the note names the nearest), a bad SIZE, REGEX or R, min-cut twice.
  static Expected<Policy> parse(std::string_view text);

  /// Error: a name or pattern of this policy that matches nothing in the graph.
  std::optional<Error> check(const Graph &graph) const;

  /// What the policy says of the value alone. What min-cut saves depends on the whole graph and is not among it.
  bool saves(const Graph &graph, ValueId value) const;
  const std::string &name() const { return text; }
  /// True for save-everything: nothing is moved or recomputed.
  bool isSaveEverything() const { return everything; }
  /// True if min-cut is part of the policy.
  bool takesMinCut() const { return cuts; }
  /// R of `min-cut=R`.
  std::optional<double> budgetRatio() const { return ratio; }

  /// Saved if either saves it.
  friend Policy operator+(const Policy &a, const Policy &b);

private:
  std::string text;
  Predicate predicate;
  Check checker;
  bool everything = false;
  bool cuts = false;
  std::optional<double> ratio;
};

/// Names of all policies that `parse` (and the tools: sqrt-n) know, for messages and `--help`.
std::span<const std::string_view> policyNames();

/// Bytes of `8GiB`, `8GB`, `512`, `1.5MiB`; kB/MB/GB are powers of 1000, KiB/MiB/GiB of 1024.
/// Error: no number, an unknown unit, negative, beyond 2^63-1.
Expected<int64_t> parseSize(std::string_view text);

/// The candidate nearest to `text` by edit distance, if it is near enough to be what was meant.
std::optional<std::string_view> nearestName(std::string_view text, std::span<const std::string_view> candidates);

} // namespace remat
