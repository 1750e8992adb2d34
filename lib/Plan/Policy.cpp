//===- Policy.cpp - Which values a policy saves -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A policy is a predicate on values, a check against the graph and a text. The meanings are those of
// jax.checkpoint_policies: save-dots covers convolutions, save-dots-no-batch-dims does not, and save-any-names-but
// saves no value without a name.
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Policy.h"
#include "Pattern.h"
#include "Text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <set>

namespace remat {

static constexpr std::array<std::string_view, 10> names = {"save-everything",  "save-nothing",
                                                           "save-dots",        "save-dots-no-batch-dims",
                                                           "save-only-names",  "save-any-names-but",
                                                           "save-larger-than", "save-ops",
                                                           "min-cut",          "sqrt-n"};

/// Beginnings of policies that other versions know.
static constexpr std::array<std::string_view, 1> laterNames = {"offload-"};

std::span<const std::string_view> policyNames() { return names; }

static std::string knownPolicies() {
  return "use one of: save-everything, save-nothing, save-dots, save-dots-no-batch-dims, save-only-names=A,B, "
         "save-any-names-but=A,B, save-larger-than=SIZE, save-ops=REGEX, min-cut, min-cut=R, joined by '+', or sqrt-n";
}

Policy::Policy(std::string name, Predicate saves, Check check)
    : text(std::move(name)), predicate(std::move(saves)), checker(std::move(check)) {}

Policy Policy::saveEverything() {
  Policy policy("save-everything", [](const Graph &, ValueId) { return true; });
  policy.everything = true;
  return policy;
}

Policy Policy::saveNothing() {
  return Policy("save-nothing", [](const Graph &, ValueId) { return false; });
}

Policy Policy::minCut(std::optional<double> budgetRatio) {
  Policy policy(budgetRatio ? formatText("min-cut={}", *budgetRatio) : "min-cut",
                [](const Graph &, ValueId) { return false; });
  policy.cuts = true;
  policy.ratio = budgetRatio;
  return policy;
}

std::optional<Error> Policy::check(const Graph &graph) const { return checker ? checker(graph) : std::nullopt; }

bool Policy::saves(const Graph &graph, ValueId value) const { return predicate(graph, value); }

Policy operator+(const Policy &a, const Policy &b) {
  Policy joined(a.text + "+" + b.text, [first = a.predicate, second = b.predicate](const Graph &graph, ValueId value) {
    return first(graph, value) || second(graph, value);
  });
  if (a.checker || b.checker)
    joined.checker = [first = a.checker, second = b.checker](const Graph &graph) -> std::optional<Error> {
      std::optional<Error> error = first ? first(graph) : std::nullopt;
      return error || !second ? error : second(graph);
    };
  joined.everything = a.everything || b.everything;
  joined.cuts = a.cuts || b.cuts;
  joined.ratio = a.ratio ? a.ratio : b.ratio;
  return joined;
}

/// True if the value is a result of an op for which `test` holds.
template <typename Test>
static Policy::Predicate ifProducer(Test test) {
  return [test](const Graph &graph, ValueId value) {
    OpId producer = graph.producer(value);
    return producer && test(graph.op(producer));
  };
}

static std::string joinNames(const std::set<std::string_view> &list) {
  constexpr size_t shown = 20;
  std::string joined;
  size_t count = 0;
  for (std::string_view name : list) {
    if (count == shown)
      return joined + formatText(" and {} more", list.size() - shown);
    joined += (count++ ? ", " : "") + std::string(name);
  }
  return joined;
}

/// The names that forward ops carry.
static std::set<std::string_view> checkpointNames(const Graph &graph) {
  std::set<std::string_view> found;
  for (size_t i = 0; i < graph.numOps(); ++i)
    if (const OpInfo &op = graph.op(OpId(i)); op.phase == Phase::Forward && !op.checkpointName.empty())
      found.insert(op.checkpointName);
  return found;
}

static std::optional<Error> checkNames(const Graph &graph, std::string_view policy,
                                       const std::set<std::string, std::less<>> &wanted) {
  std::set<std::string_view> known = checkpointNames(graph);
  for (const std::string &name : wanted) {
    if (known.contains(name))
      continue;
    std::string message = formatText("policy '{}': no forward op has the checkpoint name '{}'", policy, name);
    if (known.empty())
      return Error{
          message,
          {},
          "the graph holds no checkpoint names at all: raw JAX exports hold no trace of them; mark values with "
          "remat.name, or with \"checkpoint_name\" in the JSON"};
    std::vector<std::string_view> candidates(known.begin(), known.end());
    std::optional<std::string_view> near = nearestName(name, candidates);
    return Error{message,
                 {},
                 (near ? formatText("did you mean '{}'? ", *near) : "") + "the graph's names are: " + joinNames(known)};
  }
  return std::nullopt;
}

namespace {

/// A regular expression for op kinds, remembering its answers: a graph has many ops but few kinds.
class KindPattern {
public:
  explicit KindPattern(Pattern pattern) : pattern(std::move(pattern)) {}

  /// The whole kind matches, with or without the dialect before its first dot.
  bool matches(std::string_view kind) const {
    std::lock_guard lock(mutex);
    auto known = answers.find(kind);
    if (known == answers.end())
      known = answers.emplace(kind, pattern.matchesWhole(kind) || pattern.matchesWhole(kind.substr(kind.find('.') + 1)))
                  .first;
    return known->second;
  }

private:
  Pattern pattern;
  mutable std::mutex mutex;
  mutable std::map<std::string, bool, std::less<>> answers;
};

/// One policy's text, cut at its `=`.
struct PolicyText {
  std::string_view whole, name;
  std::optional<std::string_view> argument;
};

} // namespace

static Expected<std::set<std::string, std::less<>>> parseNames(const PolicyText &text) {
  std::set<std::string, std::less<>> list;
  std::string_view rest = *text.argument;
  while (true) {
    size_t comma = rest.find(',');
    if (rest.substr(0, comma).empty())
      return makeError(formatText("policy '{}': a name is empty", text.whole), {},
                       "write names separated by commas, such as save-only-names=a,b");
    list.emplace(rest.substr(0, comma));
    if (comma == std::string_view::npos)
      return list;
    rest.remove_prefix(comma + 1);
  }
}

namespace {

/// What a parsed policy consists of.
struct PolicyParts {
  Policy::Predicate saves;
  Policy::Check check;
};

} // namespace

static Expected<PolicyParts> namesPolicy(const PolicyText &text, bool listedAreSaved) {
  auto list = parseNames(text);
  if (!list)
    return list.error();
  PolicyParts parts;
  parts.saves = ifProducer([list = *list, listedAreSaved](const OpInfo &op) {
    return !op.checkpointName.empty() && list.contains(op.checkpointName) == listedAreSaved;
  });
  parts.check = [list = *list, whole = std::string(text.whole)](const Graph &graph) {
    return checkNames(graph, whole, list);
  };
  return parts;
}

static Expected<PolicyParts> sizePolicy(const PolicyText &text) {
  Expected<int64_t> size = parseSize(*text.argument);
  if (!size)
    return makeError(formatText("policy '{}': {}", text.whole, size.error().message), {}, size.error().note);
  return PolicyParts{[size = *size](const Graph &graph, ValueId value) { return graph.value(value).bytes > size; },
                     nullptr};
}

static Expected<PolicyParts> opsPolicy(const PolicyText &text) {
  Expected<Pattern> regex = Pattern::parse(*text.argument, formatText("policy '{}'", text.whole));
  if (!regex)
    return regex.error();
  auto pattern = std::make_shared<const KindPattern>(std::move(*regex));
  PolicyParts parts;
  parts.saves = ifProducer([pattern](const OpInfo &op) { return pattern->matches(op.kind); });
  parts.check = [pattern, whole = std::string(text.whole)](const Graph &graph) -> std::optional<Error> {
    std::set<std::string_view> kinds;
    for (size_t i = 0; i < graph.numOps(); ++i)
      if (const OpInfo &op = graph.op(OpId(i)); op.phase == Phase::Forward) {
        if (pattern->matches(op.kind))
          return std::nullopt;
        kinds.insert(op.kind);
      }
    return Error{
        formatText("policy '{}': no forward op matches", whole), {}, "the forward ops are: " + joinNames(kinds)};
  };
  return parts;
}

static Error unknownPolicy(const PolicyText &text) {
  if (text.name == "sqrt-n")
    return makeError("policy 'sqrt-n' decides alone what is saved and cannot be joined with others", {},
                     "write --policy=sqrt-n");
  if (std::ranges::find(names, text.name) != names.end())
    return text.argument ? makeError(formatText("policy '{}' takes no '='", text.name))
                         : makeError(formatText("policy '{}' needs an argument", text.name), {}, knownPolicies());
  if (std::ranges::any_of(laterNames, [&](std::string_view later) { return text.name.starts_with(later); }))
    return makeError(formatText("policy '{}' is not supported by this version", text.whole), {}, knownPolicies());
  std::optional<std::string_view> near = nearestName(text.name, names);
  return makeError(formatText("unknown policy '{}'", text.whole), {},
                   near ? formatText("did you mean '{}'?", *near) : knownPolicies());
}

static Expected<PolicyParts> parseParts(const PolicyText &text) {
  if (!text.argument) {
    if (text.name == "save-dots")
      return PolicyParts{
          ifProducer([](const OpInfo &op) { return op.opClass == OpClass::Dot || op.opClass == OpClass::Convolution; }),
          nullptr};
    if (text.name == "save-dots-no-batch-dims")
      return PolicyParts{
          ifProducer([](const OpInfo &op) { return op.opClass == OpClass::Dot && op.dotBatchDims == 0; }), nullptr};
    return unknownPolicy(text);
  }
  if (text.name == "save-only-names")
    return namesPolicy(text, true);
  if (text.name == "save-any-names-but")
    return namesPolicy(text, false);
  if (text.name == "save-larger-than")
    return sizePolicy(text);
  if (text.name == "save-ops")
    return opsPolicy(text);
  return unknownPolicy(text);
}

static Expected<Policy> parseMinCut(const PolicyText &text) {
  if (!text.argument)
    return Policy::minCut();
  double ratio = 0;
  const char *end = text.argument->data() + text.argument->size();
  auto [read, error] = std::from_chars(text.argument->data(), end, ratio);
  if (error != std::errc() || read != end || !(ratio >= 0 && ratio <= 1))
    return makeError(
        formatText("policy '{}': expected a number from 0 to 1", text.whole), {},
        "min-cut=1 allows the peak of min-cut, min-cut=0 asks for the lowest known; --memory-limit=N% bounds the "
        "peak by a share of the original one");
  return Policy::minCut(ratio);
}

static Expected<Policy> parseOne(const PolicyText &text) {
  if (text.whole == "save-everything")
    return Policy::saveEverything();
  if (text.whole == "save-nothing")
    return Policy::saveNothing();
  if (text.name == "min-cut")
    return parseMinCut(text);
  Expected<PolicyParts> parts = parseParts(text);
  if (!parts)
    return parts.error();
  return Policy(std::string(text.whole), std::move(parts->saves), std::move(parts->check));
}

/// Where the first policy of `P1+P2` ends. A `+` in a regular expression belongs to it unless a policy's name follows.
static size_t endOfFirst(std::string_view text) {
  bool inRegex = text.starts_with("save-ops=");
  auto startsPolicy = [](std::string_view rest) {
    auto isPrefix = [&](std::string_view name) { return rest.starts_with(name); };
    return rest.starts_with("save-") || std::ranges::any_of(names, isPrefix) ||
           std::ranges::any_of(laterNames, isPrefix);
  };
  for (size_t plus = text.find('+'); plus != std::string_view::npos; plus = text.find('+', plus + 1))
    if (!inRegex || startsPolicy(text.substr(plus + 1)))
      return plus;
  return std::string_view::npos;
}

Expected<Policy> Policy::parse(std::string_view text) {
  std::optional<Policy> joined;
  for (std::string_view rest = text;;) {
    size_t end = endOfFirst(rest);
    PolicyText one{rest.substr(0, end), rest.substr(0, std::min(end, rest.find('='))), std::nullopt};
    if (one.name.size() < one.whole.size())
      one.argument = one.whole.substr(one.name.size() + 1);
    if (one.whole.empty())
      return makeError(text.empty() ? "the policy is empty" : formatText("policy '{}': a part is empty", text), {},
                       knownPolicies());
    Expected<Policy> policy = parseOne(one);
    if (!policy)
      return policy.error();
    if (joined && joined->takesMinCut() && policy->takesMinCut())
      return makeError(formatText("policy '{}': min-cut stands there twice", text), {}, "write it once");
    joined = joined ? *joined + *policy : *policy;
    if (end == std::string_view::npos)
      return *joined;
    rest.remove_prefix(end + 1);
  }
}

} // namespace remat
