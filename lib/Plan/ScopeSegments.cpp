//===- ScopeSegments.cpp - Segments by name scope -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A location holds name stacks such as `jit(f)/transpose(jvp(h00))/attn/dot_general`: scopes from the outside in, then
// the op. Transformations wrap scopes and are looked through. An inlined op can carry several stacks (its own and its
// call sites'), separated by blanks or quotes. A source line `FILE:LINE:COLUMN` may follow the first blank, or be all
// there is; its folders are no scopes.
//
//===----------------------------------------------------------------------===//

#include "Pattern.h"
#include "Text.h"
#include "remat/Plan/Segments.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace remat {

/// The stack without wrappers: `jit(f)/jvp(h00)/add` becomes `f/h00/add`.
static std::string stripWrappers(std::string_view stack) {
  std::string plain;
  size_t wordBegin = 0;
  for (char c : stack) {
    if (c == '(') {
      plain.resize(wordBegin); // What stands before a parenthesis is a wrapper's name.
      continue;
    }
    if (c == ')')
      continue;
    plain += c;
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_')
      wordBegin = plain.size();
  }
  return plain;
}

/// Takes `:N` off the end.
static bool dropNumber(std::string_view &text) {
  size_t digits = text.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || text[digits] != ':' || digits + 1 == text.size())
    return false;
  text = text.substr(0, digits);
  return true;
}

/// The location without its source line.
static std::string_view dropSourceLine(std::string_view location) {
  std::string_view file = location;
  if (!dropNumber(file) || !dropNumber(file))
    return location;
  return location.substr(0, location.find(' ') == std::string_view::npos ? 0 : location.find(' '));
}

/// The name stacks in a location, wrappers stripped.
static std::vector<std::string> nameStacks(std::string_view location) {
  location = dropSourceLine(location);
  constexpr std::string_view separators = " \t\n\"";
  std::vector<std::string> stacks;
  while (true) {
    size_t begin = location.find_first_not_of(separators);
    if (begin == std::string_view::npos)
      return stacks;
    location.remove_prefix(begin);
    size_t end = std::min(location.find_first_of(separators), location.size());
    stacks.push_back(stripWrappers(location.substr(0, end)));
    location.remove_prefix(end);
  }
}

namespace {

class ScopeFinder {
public:
  explicit ScopeFinder(Pattern pattern) : pattern(std::move(pattern)) {}

  /// The path up to and with the outermost scope that matches; empty if none does.
  std::string maximalScope(std::string_view location) {
    auto known = scopeOf.find(location);
    if (known == scopeOf.end())
      known = scopeOf.emplace(location, search(location)).first;
    return known->second;
  }

  /// Names of the scopes seen.
  std::string seenScopes() const {
    constexpr size_t shown = 20;
    if (seen.empty())
      return "the ops' locations hold no scopes";
    std::string list = "the scopes are: ";
    size_t count = 0;
    for (const std::string &name : seen) {
      if (count == shown)
        return list + formatText(" and {} more", seen.size() - shown);
      list += (count++ ? ", " : "") + name;
    }
    return list;
  }

private:
  std::string search(std::string_view location) {
    std::string found;
    for (const std::string &stack : nameStacks(location)) {
      // The last component is the op itself.
      for (size_t begin = 0, end = stack.find('/'); end != std::string::npos;
           begin = end + 1, end = stack.find('/', begin)) {
        std::string component = stack.substr(begin, end - begin);
        if (component.empty())
          continue;
        seen.insert(component);
        if (found.empty() && pattern.matchesWhole(component))
          found = stack.substr(0, end);
      }
    }
    return found;
  }

  Pattern pattern;
  std::map<std::string_view, std::string> scopeOf;
  std::set<std::string> seen;
};

} // namespace

/// Inlined helpers can come without a location. Such an op belongs to a segment if all its readers do.
static void adoptOpsWithoutLocation(const Graph &graph, Segments &segments) {
  for (size_t i = graph.numOps(); i-- > 0;) {
    OpId op(i);
    if (graph.op(op).phase != Phase::Forward || !graph.op(op).location.empty())
      continue;
    std::optional<uint32_t> common;
    bool agree = true;
    for (size_t r = 0; r < graph.numResults(op); ++r)
      for (OpId user : graph.users(graph.result(op, r)))
        if (graph.op(user).phase == Phase::Forward) {
          agree &= !common || *common == segments.ofOp[user.index()];
          common = segments.ofOp[user.index()];
        }
    if (common && agree)
      segments.ofOp[i] = *common;
  }
}

Expected<Segments> scopeSegments(const Graph &graph, std::string_view regex) {
  Expected<Pattern> pattern = Pattern::parse(regex, formatText("segments 'scope:{}'", regex));
  if (!pattern)
    return pattern.error();
  ScopeFinder finder(std::move(*pattern));
  Segments segments{std::vector<uint32_t>(graph.numOps(), Segments::outside), 0};
  std::map<std::string, uint32_t> numberOf;
  for (size_t i = 0; i < graph.numOps(); ++i) {
    const OpInfo &op = graph.op(OpId(i));
    if (op.phase != Phase::Forward)
      continue;
    if (std::string scope = finder.maximalScope(op.location); !scope.empty())
      segments.ofOp[i] = numberOf.emplace(std::move(scope), numberOf.size()).first->second;
  }
  segments.count = numberOf.size();
  if (segments.count == 0)
    return makeError(formatText("segments 'scope:{}': no scope of a forward op matches", regex), {},
                     finder.seenScopes());
  adoptOpsWithoutLocation(graph, segments);
  return segments;
}

} // namespace remat
