//===- Exact.cpp - Best plans of tiny graphs ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A* search. A state is which ops have run and, by value, the instance of its storage that it is bound to, if
// that is still alive. Instances are dropped late: only when the next execution does not fit, and then as if they had
// died at their last read. So a state needs no account of the past, and where all fits there is no choice. What must
// run again since it is gone and still needed bounds what is to come.
//
//===----------------------------------------------------------------------===//

#include "remat/Plan/Exact.h"
#include "remat/Plan/Simulator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <queue>

namespace remat {

namespace {

constexpr size_t maxValues = ExactLimits::values;

/// By value: 0 if it cannot be read, else the number of an instance among those of the same storage. Numbers are given
/// in the order of values, so that equal states are equal bytes.
struct State {
  std::array<uint64_t, 2> labels{};
  uint32_t done = 0;

  unsigned label(size_t value) const { return labels[value / 16] >> (value % 16 * 4) & 15; }
  void setLabel(size_t value, unsigned label) {
    labels[value / 16] &= ~(uint64_t(15) << (value % 16 * 4));
    labels[value / 16] |= uint64_t(label) << (value % 16 * 4);
  }
  /// A bit for every value that can be read.
  uint32_t present() const { return gather(labels[0]) | gather(labels[1]) << 16; }
  bool operator==(const State &) const = default;
  size_t hash() const {
    uint64_t h = labels[0] * 0x9e3779b97f4a7c15u ^ (labels[1] + done) * 0xc2b2ae3d27d4eb4fu;
    return (h ^ h >> 29) * 0xbf58476d1ce4e5b9u >> 20;
  }

private:
  /// Bit i is whether the i-th group of four bits is not 0.
  static uint32_t gather(uint64_t x) {
    x = (x | x >> 1 | x >> 2 | x >> 3) & 0x1111111111111111u;
    x = (x | x >> 3) & 0x0303030303030303u;
    x = (x | x >> 6) & 0x000f000f000f000fu;
    x = (x | x >> 12) & 0x000000ff000000ffu;
    return (x | x >> 24) & 0xffffu;
  }
};

/// What the search needs of an op; values are numbered anew.
struct SearchOp {
  std::vector<uint8_t> operands, results;
  std::vector<int8_t> viewOf, inplaceOf; ///< By result; -1 if none, or if it is an argument that nothing overwrites.
  std::vector<bool> ofStorage;           ///< By result: it has a storage of its own.
  uint32_t before = 0;                   ///< The ops that make what it reads.
  uint32_t reads = 0, makes = 0;         ///< Bits of its operands, and of those results that anything reads.
  bool once = false;
  double cost = 0;
  int64_t workspaceBytes = 0;
};

/// The graph in the form the search works on.
struct SearchGraph {
  static constexpr unsigned ownLabel = 14; ///< Of a view of an argument: an instance that takes no bytes.

  bool build(const Graph &graph, std::span<const double> costByOp) {
    if (graph.numOps() > ExactLimits::ops || !numberValues(graph))
      return false;
    for (size_t i = 0; i < graph.numOps(); ++i) {
      OpId op(i);
      SearchOp made;
      for (ValueId operand : graph.operands(op)) {
        if (int8_t number = numberOf[operand.index()]; number >= 0)
          made.operands.push_back(number);
        if (OpId maker = graph.producer(operand))
          made.before |= uint32_t(1) << maker.index();
      }
      for (size_t r = 0; r < graph.numResults(op); ++r) {
        const ValueInfo &info = graph.value(graph.result(op, r));
        made.results.push_back(numberOf[graph.result(op, r).index()]);
        made.viewOf.push_back(info.viewOf ? numberOf[info.viewOf.index()] : -1);
        made.inplaceOf.push_back(info.inplaceOf ? numberOf[info.inplaceOf.index()] : -1);
        made.ofStorage.push_back(!info.viewOf);
      }
      made.once = graph.mustRunOnce(op);
      made.cost = costByOp[i];
      made.workspaceBytes = graph.op(op).workspaceBytes;
      ops.push_back(std::move(made));
    }
    for (ValueId value : graph.results())
      if (int8_t number = numberOf[value.index()]; number >= 0)
        results |= uint32_t(1) << number;
    uint32_t everRead = results;
    for (SearchOp &op : ops) {
      for (uint8_t operand : op.operands)
        op.reads |= uint32_t(1) << operand;
      everRead |= op.reads;
    }
    for (SearchOp &op : ops)
      for (uint8_t result : op.results)
        op.makes |= (uint32_t(1) << result) & everRead;
    return true;
  }

  std::vector<SearchOp> ops;
  std::vector<int64_t> bytes; ///< By value: of the storage it lives in.
  std::vector<uint8_t> group; ///< By value: the first value of the same storage.
  uint32_t results = 0;       ///< Bits of those of the function.
  uint32_t bases = 0;         ///< Bits of those that are not in another value's storage.
  State initial;              ///< Arguments that something overwrites are alive.

private:
  bool numberValues(const Graph &graph) {
    numberOf.assign(graph.numValues(), -1);
    std::vector<bool> overwritten(graph.numValues());
    for (size_t v = 0; v < graph.numValues(); ++v)
      if (ValueId target = graph.value(ValueId(v)).inplaceOf)
        overwritten[graph.base(target).index()] = true;
    for (size_t v = 0; v < graph.numValues(); ++v) {
      ValueId base = graph.base(ValueId(v));
      if (v < graph.numArguments() && !overwritten[v])
        continue;
      if (bytes.size() == maxValues)
        return false;
      bool ofArgument = graph.isArgument(base);
      numberOf[v] = bytes.size();
      group.push_back(numberOf[base.index()] >= 0 ? numberOf[base.index()] : bytes.size());
      if (group.back() == bytes.size())
        bases |= uint32_t(1) << bytes.size();
      bytes.push_back(ofArgument ? 0 : graph.value(base).bytes);
      if (v < graph.numArguments())
        initial.setLabel(numberOf[v], 1);
    }
    std::array<size_t, maxValues> sizes{};
    return std::ranges::none_of(group, [&](uint8_t first) { return ++sizes[first] >= ownLabel; });
  }

  std::vector<int8_t> numberOf;
};

class Search {
public:
  Search(const SearchGraph &graph, int64_t limitBytes, FirstExecutions order, size_t mostStates)
      : graph(graph), limitBytes(limitBytes), order(order), mostStates(mostStates), slots(1024, none) {}

  ExactStatus run() {
    uint32_t all = graph.ops.size() == 32 ? ~uint32_t(0) : (uint32_t(1) << graph.ops.size()) - 1;
    visit(graph.initial, 0, none, none);
    while (!queue.empty()) {
      if (nodes.size() > mostStates)
        return ExactStatus::GaveUp;
      Entry entry = queue.top();
      queue.pop();
      if (nodes[entry.node].settled)
        continue;
      nodes[entry.node].settled = true;
      if (nodes[entry.node].state.done == all && !(graph.results & ~nodes[entry.node].state.present())) {
        goal = entry.node;
        return ExactStatus::Optimal;
      }
      expand(entry.node);
    }
    return ExactStatus::Infeasible;
  }

  double cost() const { return nodes[goal].cost; }

  Plan plan() const {
    Plan found;
    for (uint32_t node = goal; node != none; node = nodes[node].parent)
      if (nodes[node].op != none)
        found.steps.push_back(OpId(nodes[node].op));
    std::ranges::reverse(found.steps);
    return found;
  }

private:
  static constexpr uint32_t none = ~uint32_t(0);

  struct Node {
    State state;
    double cost;
    uint32_t parent, op; ///< How it was reached; no op where something was dropped.
    bool settled = false;
  };
  struct Entry {
    double cost; ///< So far and at least to come.
    int left;    ///< Ops that have not run: of equal costs the one nearest to the end comes first.
    uint32_t node;
    bool operator<(const Entry &other) const {
      return cost != other.cost ? cost > other.cost : left != other.left ? left > other.left : node < other.node;
    }
  };

  /// The least cost of what must run again: the ops whose results are gone, but are a result of the function or read by
  /// an op that has not run or that must run again itself. Infinite if one of them must run once.
  double leastToCome(const State &state) const {
    uint32_t present = state.present(), needed = graph.results;
    for (size_t i = 0; i < graph.ops.size(); ++i)
      needed |= state.done >> i & 1 ? 0 : graph.ops[i].reads;
    double sum = 0;
    for (size_t i = graph.ops.size(); i-- > 0;)
      if (const SearchOp &op = graph.ops[i]; (state.done >> i & 1) && (op.makes & needed & ~present)) {
        if (op.once)
          return INFINITY;
        sum += op.cost;
        needed |= op.reads;
      }
    return sum;
  }

  void visit(const State &state, double cost, uint32_t parent, uint32_t op) {
    double toCome = leastToCome(state);
    if (toCome == INFINITY)
      return;
    if (2 * nodes.size() > slots.size())
      rehash();
    uint32_t &slot = slotOf(state);
    if (slot == none) {
      slot = nodes.size();
      nodes.push_back({state, cost, parent, op});
    } else if (cost < nodes[slot].cost) {
      nodes[slot].cost = cost;
      nodes[slot].parent = parent;
      nodes[slot].op = op;
    } else {
      return;
    }
    queue.push({cost + toCome, int(graph.ops.size()) - std::popcount(state.done), slot});
  }

  uint32_t &slotOf(const State &state) {
    size_t mask = slots.size() - 1, at = state.hash() & mask;
    while (slots[at] != none && !(nodes[slots[at]].state == state))
      at = (at + 1) & mask;
    return slots[at];
  }

  void rehash() {
    slots.assign(slots.size() * 4, none);
    for (uint32_t node = 0; node < nodes.size(); ++node)
      slotOf(nodes[node].state) = node;
  }

  void expand(uint32_t node) {
    const State state = nodes[node].state;
    const double cost = nodes[node].cost;
    const uint32_t present = state.present();
    // Values that every execution that did not fit reads; but a view may be made anew of another instance, and then the
    // one that it was a view of is free.
    uint32_t keep = ~uint32_t(0);
    bool full = false;
    size_t next = std::popcount(state.done);
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      const SearchOp &op = graph.ops[i];
      bool again = state.done >> i & 1;
      if (again ? op.once || !(op.makes & ~present) : order == FirstExecutions::GivenOrder && i != next)
        continue;
      if ((op.before & ~state.done) || (op.reads & ~present))
        continue;
      State after = state;
      if (execute(i, after) <= limitBytes) {
        visit(after, again ? cost + op.cost : cost, node, i);
        continue;
      }
      keep &= op.reads & graph.bases;
      full = true;
    }
    if (full)
      dropEach(node, keep);
  }

  /// Visits the states with one instance less, but for those that hold a value of `keep`.
  void dropEach(uint32_t node, uint32_t keep) {
    const State state = nodes[node].state;
    for (size_t v = 0; v < graph.bytes.size(); ++v) {
      unsigned label = state.label(v);
      if (label == 0 || graph.bytes[v] == 0)
        continue;
      State less = state;
      bool first = true, kept = false;
      for (size_t w = 0; w < graph.bytes.size(); ++w)
        if (graph.group[w] == graph.group[v] && state.label(w) == label) {
          first &= w >= v;
          kept |= keep >> w & 1;
          less.setLabel(w, 0);
        }
      if (!first || kept)
        continue;
      canonicalize(less, graph.group[v]);
      visit(less, nodes[node].cost, node, none);
    }
  }

  /// Executes an op; returns the bytes that are alive meanwhile.
  int64_t execute(size_t i, State &state) const {
    const SearchOp &op = graph.ops[i];
    const State before = state;
    int64_t overwrittenBytes = 0;
    uint32_t groups = 0;
    for (size_t r = 0; r < op.results.size(); ++r)
      if (int8_t target = op.inplaceOf[r]; target >= 0) {
        groups |= uint32_t(1) << graph.group[target];
        for (size_t w = 0; w < graph.bytes.size(); ++w)
          if (graph.group[w] == graph.group[target] && before.label(w) == before.label(target))
            state.setLabel(w, 0);
      }
    for (size_t r = 0; r < op.results.size(); ++r) {
      uint8_t value = op.results[r];
      groups |= uint32_t(1) << graph.group[value];
      unsigned label = 15;
      if (!op.ofStorage[r])
        label = op.viewOf[r] >= 0 ? before.label(op.viewOf[r]) : SearchGraph::ownLabel;
      state.setLabel(value, label);
    }
    // A place that is overwritten stays alive through a view of it, or ends here.
    for (int8_t target : op.inplaceOf)
      if (target >= 0 && !hasInstance(state, graph.group[target], before.label(target)))
        overwrittenBytes += graph.bytes[target];
    for (; groups != 0; groups &= groups - 1)
      canonicalize(state, std::countr_zero(groups));
    state.done |= uint32_t(1) << i;
    int64_t bytes = liveBytes(state) + overwrittenBytes + op.workspaceBytes;
    for (size_t r = 0; r < op.results.size(); ++r)
      if (!(op.makes >> op.results[r] & 1)) {
        state.setLabel(op.results[r], 0);
        canonicalize(state, graph.group[op.results[r]]);
      }
    return bytes;
  }

  bool hasInstance(const State &state, size_t group, unsigned label) const {
    for (size_t v = group; v < graph.bytes.size(); ++v)
      if (graph.group[v] == group && state.label(v) == label)
        return true;
    return false;
  }

  int64_t liveBytes(const State &state) const {
    int64_t sum = 0;
    std::array<uint16_t, maxValues> counted{};
    for (size_t v = 0; v < graph.bytes.size(); ++v)
      if (unsigned label = state.label(v); label != 0 && !(counted[graph.group[v]] >> label & 1)) {
        counted[graph.group[v]] |= 1 << label;
        sum += graph.bytes[v];
      }
    return sum;
  }

  void canonicalize(State &state, size_t group) const {
    std::array<uint8_t, 16> renamed{};
    uint8_t used = 0;
    for (size_t v = group; v < graph.bytes.size(); ++v)
      if (unsigned label = state.label(v); graph.group[v] == group && label != 0) {
        if (renamed[label] == 0)
          renamed[label] = ++used;
        state.setLabel(v, renamed[label]);
      }
  }

  const SearchGraph &graph;
  int64_t limitBytes;
  FirstExecutions order;
  size_t mostStates;
  std::vector<Node> nodes;
  std::vector<uint32_t> slots; ///< Hash table of nodes, a power of 2.
  std::priority_queue<Entry> queue;
  uint32_t goal = none;
};

ExactResult search(const Graph &graph, const SearchGraph &compact, int64_t limitBytes, FirstExecutions order,
                   size_t states) {
  Search search(compact, limitBytes, order, states);
  ExactResult result;
  result.status = search.run();
  if (result.status == ExactStatus::Optimal) {
    result.best.plan = search.plan();
    result.best.extraCost = search.cost();
    result.best.peakBytes = simulate(graph, result.best.plan).peakBytes;
  }
  return result;
}

} // namespace

ExactResult findExactPlan(const Graph &graph, std::span<const double> costByOp, int64_t limitBytes,
                          FirstExecutions order, size_t states) {
  SearchGraph compact;
  if (!compact.build(graph, costByOp))
    return {};
  return search(graph, compact, limitBytes, order, states);
}

std::optional<std::vector<ExactPlan>> findExactFront(const Graph &graph, std::span<const double> costByOp,
                                                     FirstExecutions order, size_t states) {
  SearchGraph compact;
  if (!compact.build(graph, costByOp))
    return std::nullopt;
  std::vector<ExactPlan> front;
  for (int64_t limitBytes = int64_t(1) << 62;;) {
    ExactResult result = search(graph, compact, limitBytes, order, states);
    if (result.status == ExactStatus::GaveUp)
      return std::nullopt;
    if (result.status == ExactStatus::Infeasible)
      return front;
    limitBytes = result.best.peakBytes - 1;
    if (!front.empty() && front.back().extraCost >= result.best.extraCost)
      front.back() = std::move(result.best);
    else
      front.push_back(std::move(result.best));
    if (limitBytes < 0)
      return front;
  }
}

} // namespace remat
