//===- Clusters.cpp - Loops joined into kernels ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy, in program order: an op joins the cluster of one of its operands if the form allows it and no way leads from
// the cluster to the op through something outside. This joins producers with consumers only; siblings would lengthen
// the lives of values for the sake of an operand that is read once less.
//
//===----------------------------------------------------------------------===//

#include "Clusters.h"

#include "ClusterForm.h"
#include "ClusterPrepare.h"
#include "Dots.h"

#include "remat/IR/RematDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

#include <queue>

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Clusters of a block
//===----------------------------------------------------------------------===//

namespace {

struct Cluster {
  ClusterForm form;
  SmallVector<unsigned> ops; ///< Numbers in the block, ascending.
};

class Clusterer {
public:
  explicit Clusterer(Block &block) : block(block) {
    for (Operation &op : block.without_terminator()) {
      numbers[&op] = ops.size();
      ops.push_back(&op);
    }
    clusterOf.assign(ops.size(), none);
  }

  void run() {
    for (unsigned i = 0; i < ops.size(); ++i)
      if (auto generic = dyn_cast<linalg::GenericOp>(ops[i]); generic && !findMatmul(generic))
        place(generic, i);
    attachReshapes();
    for (Operation *op : sort())
      op->moveBefore(block.getTerminator());
    for (unsigned i = 0; i < clusters.size(); ++i)
      if (!clusters[i].ops.empty())
        makeKernel(i);
  }

private:
  static constexpr unsigned none = ~0u, mostMembers = 64;

  void place(linalg::GenericOp op, unsigned number) {
    if (hasNoInputs(op) && !isReadElsewhere(op))
      return;
    llvm::SetVector<unsigned> candidates;
    // Operands of the latest producers first: that disturbs the order least.
    for (unsigned producer : producersOf(number))
      if (clusterOf[producer] != none)
        candidates.insert(clusterOf[producer]);
    SmallVector<unsigned> sorted(candidates.begin(), candidates.end());
    llvm::sort(sorted, [&](unsigned a, unsigned b) { return clusters[a].ops.back() > clusters[b].ops.back(); });
    unsigned joined = none;
    for (unsigned candidate : sorted) {
      if (joined == none) {
        if (join(candidate, op, number))
          joined = candidate;
      } else if (merge(joined, candidate)) {
        joined = candidate < joined ? candidate : joined;
      }
    }
    if (joined != none)
      return;
    clusters.emplace_back();
    // An op that no cluster can hold stands alone in its kernel.
    (void)clusters.back().form.tryAdd(op);
    clusters.back().ops.push_back(number);
    clusterOf[number] = clusters.size() - 1;
  }

  /// A rebuilt op needs a kernel of its own only if something reads it that rebuilds nothing.
  bool isReadElsewhere(linalg::GenericOp op) {
    return llvm::any_of(op->getUsers(), [](Operation *user) {
      auto generic = dyn_cast<linalg::GenericOp>(user);
      return !generic || findMatmul(generic);
    });
  }

  /// Whether all readers of `op` sum it up by columns: then it belongs to them, or it would be stored for them.
  static bool feedsColumnSumsOnly(linalg::GenericOp op) {
    return !op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) {
      auto generic = dyn_cast<linalg::GenericOp>(user);
      if (!generic || generic.getNumReductionLoops() == 0)
        return false;
      ClusterForm form;
      return form.tryAdd(generic) && form.columnReduction();
    });
  }

  bool join(unsigned candidate, linalg::GenericOp op, unsigned number) {
    Cluster &cluster = clusters[candidate];
    if (cluster.form.members().empty() || cluster.form.members().size() >= mostMembers)
      return false;
    if (!cluster.form.columnReduction() && op.getNumReductionLoops() == 0 && feedsColumnSumsOnly(op))
      return false;
    ClusterForm extended = cluster.form;
    if (!extended.tryAdd(op))
      return false;
    // Sums by columns walk the space in their own order: a cluster that stores values stays as it is.
    if (extended.columnReduction() && !cluster.form.columnReduction() && storesValues(cluster, op))
      return false;
    if (leadsOutside(candidate, producersOf(number), candidate))
      return false;
    cluster.form = std::move(extended);
    cluster.ops.push_back(number);
    clusterOf[number] = candidate;
    return true;
  }

  bool storesValues(const Cluster &cluster, Operation *next) {
    for (unsigned number : cluster.ops)
      for (Operation *user : ops[number]->getUsers())
        if (user != next && (!numbers.contains(user) || clusterOf[numbers[user]] != clusterOf[number]) &&
            !(isa<linalg::GenericOp>(user) &&
              linalg::GenericOp(cast<linalg::GenericOp>(user)).getNumReductionLoops() != 0))
          return true;
    return false;
  }

  /// Makes one cluster of two, the earlier numbered.
  bool merge(unsigned a, unsigned b) {
    if (a == b)
      return false;
    SmallVector<unsigned> all;
    llvm::append_range(all, clusters[a].ops);
    llvm::append_range(all, clusters[b].ops);
    llvm::sort(all);
    if (all.size() > mostMembers || clusters[b].form.members().empty())
      return false;
    ClusterForm form;
    for (unsigned number : all)
      if (!form.tryAdd(cast<linalg::GenericOp>(ops[number])))
        return false;
    if (form.columnReduction().has_value() !=
        (clusters[a].form.columnReduction().has_value() && clusters[b].form.columnReduction().has_value()))
      return false;
    if (reaches(a, b) || reaches(b, a))
      return false;
    unsigned kept = std::min(a, b), gone = std::max(a, b);
    clusters[kept].form = std::move(form);
    clusters[kept].ops = std::move(all);
    clusters[gone] = Cluster();
    for (unsigned number : clusters[kept].ops)
      clusterOf[number] = kept;
    return true;
  }

  /// Numbers of the ops of this block that make what op `number` reads, in regions too.
  SmallVector<unsigned> producersOf(unsigned number) {
    llvm::SetVector<unsigned> producers;
    ops[number]->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *maker = findBase(operand).getDefiningOp())
          if (auto found = numbers.find(maker); found != numbers.end() && found->second != number)
            producers.insert(found->second);
    });
    return producers.takeVector();
  }

  /// Whether a way leads from the cluster through something outside of it to b's members.
  bool reaches(unsigned from, unsigned to) {
    SmallVector<unsigned> producers;
    for (unsigned member : clusters[to].ops)
      for (unsigned producer : producersOf(member))
        if (clusterOf[producer] != to)
          producers.push_back(producer);
    return leadsOutside(from, producers, to);
  }

  /// Whether one of the ops `producers` that is outside of cluster `from` depends on it. Both ends may be one cluster.
  bool leadsOutside(unsigned from, ArrayRef<unsigned> producers, unsigned to) {
    unsigned first = clusters[from].ops.front();
    llvm::SmallDenseSet<unsigned> seen;
    SmallVector<unsigned> stack;
    auto push = [&](unsigned number) {
      unsigned cluster = clusterOf[number];
      if (cluster == none) {
        if (number > first && seen.insert(number).second)
          stack.push_back(number);
        return;
      }
      for (unsigned member : clusters[cluster].ops)
        if (clusters[cluster].ops.back() > first && seen.insert(member).second)
          stack.push_back(member);
    };
    for (unsigned producer : producers)
      if (clusterOf[producer] != from && clusterOf[producer] != to)
        push(producer);
    while (!stack.empty()) {
      unsigned number = stack.pop_back_val();
      for (unsigned producer : producersOf(number)) {
        if (clusterOf[producer] == from)
          return true;
        push(producer);
      }
    }
    return false;
  }

  /// A reshape goes where its only reader goes.
  void attachReshapes() {
    for (unsigned i = ops.size(); i-- > 0;) {
      if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(ops[i]) || !ops[i]->hasOneUse())
        continue;
      auto reader = numbers.find(*ops[i]->getUsers().begin());
      if (reader == numbers.end() || clusterOf[reader->second] == none)
        continue;
      clusterOf[i] = clusterOf[reader->second];
      attached[clusterOf[i]].push_back(i);
    }
  }

  /// The ops in an order that keeps clusters together, each at the place of its last member where operands allow it.
  SmallVector<Operation *> sort() {
    // Nodes are clusters and single ops, named by their last op.
    auto nodeOf = [&](unsigned number) {
      return clusterOf[number] == none ? number : clusters[clusterOf[number]].ops.back();
    };
    std::vector<SmallVector<unsigned>> readers(ops.size());
    std::vector<unsigned> waiting(ops.size());
    for (unsigned i = 0; i < ops.size(); ++i)
      for (unsigned producer : directProducersOf(i))
        if (nodeOf(producer) != nodeOf(i)) {
          readers[nodeOf(producer)].push_back(nodeOf(i));
          ++waiting[nodeOf(i)];
        }
    std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
    for (unsigned i = 0; i < ops.size(); ++i)
      if (nodeOf(i) == i && waiting[i] == 0)
        ready.push(i);
    SmallVector<Operation *> order;
    while (!ready.empty()) {
      unsigned node = ready.top();
      ready.pop();
      for (unsigned member : clusterOf[node] == none ? SmallVector<unsigned>{node} : membersOf(clusterOf[node]))
        order.push_back(ops[member]);
      for (unsigned reader : readers[node])
        if (--waiting[reader] == 0)
          ready.push(reader);
    }
    assert(order.size() == ops.size() && "a cluster reads what it makes in a roundabout way");
    return order;
  }

  /// With the reshapes between them, in program order.
  SmallVector<unsigned> membersOf(unsigned cluster) {
    SmallVector<unsigned> members(clusters[cluster].ops);
    llvm::append_range(members, attached[cluster]);
    llvm::sort(members);
    return members;
  }

  SmallVector<unsigned> directProducersOf(unsigned number) {
    llvm::SetVector<unsigned> producers;
    ops[number]->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto found = numbers.find(operand.getDefiningOp()); found != numbers.end() && found->second != number)
          producers.insert(found->second);
    });
    return producers.takeVector();
  }

  void makeKernel(unsigned cluster);

  Block &block;
  SmallVector<Operation *> ops;
  DenseMap<Operation *, unsigned> numbers;
  SmallVector<unsigned> clusterOf;
  SmallVector<Cluster, 0> clusters;
  DenseMap<unsigned, SmallVector<unsigned>> attached; ///< Reshapes, by cluster.
};

/// Copies a list of ops into a kernel.
class KernelBuilder {
public:
  explicit KernelBuilder(ArrayRef<Operation *> members) : members(members) {
    for (Operation *op : members)
      inside.insert(op);
  }

  void run() {
    collectInputs();
    collectResults();
    OpBuilder builder(members.back());
    SmallVector<Type> types;
    for (Value value : results)
      types.push_back(value.getType());
    SmallVector<Location> locations;
    for (Operation *op : members)
      locations.push_back(op->getLoc());
    // The last op's place stands for the kernel's, so that messages and profiles stay short.
    auto kernel = KernelOp::create(builder, members.back()->getLoc(), types, inputs.getArrayRef(), nullptr);
    Block *body = builder.createBlock(&kernel.getBody());
    for (Value input : inputs)
      mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (Operation *op : members)
      copy(builder, op);
    SmallVector<Value> yielded;
    for (Value value : results)
      yielded.push_back(mapping.lookup(value));
    YieldOp::create(builder, kernel.getLoc(), yielded);
    for (auto [value, result] : llvm::zip(results, kernel.getResults()))
      value.replaceUsesWithIf(result, [&](OpOperand &use) { return !isInside(use.getOwner()); });
    for (Operation *op : llvm::reverse(members))
      op->erase();
  }

private:
  bool isInside(Operation *op) {
    while (op && !inside.contains(op))
      op = op->getParentOp();
    return op != nullptr;
  }

  void collectInputs() {
    for (Operation *op : members)
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          collectInput(operand, op, /*needsBuffer=*/inner != op && isa<tensor::ExtractOp>(inner));
      });
  }

  /// What a body reads at computed indices must lie in a buffer, though it could be rebuilt.
  void collectInput(Value value, Operation *member, bool needsBuffer = false) {
    Operation *maker = value.getDefiningOp();
    bool isLocal = maker ? member->isProperAncestor(maker) || inside.contains(maker)
                         : member->isAncestor(value.getParentBlock()->getParentOp());
    if (isLocal || inputs.contains(value))
      return;
    if (needsBuffer && isa<RankedTensorType>(value.getType()))
      return (void)inputs.insert(value);
    if (isRebuilt(value))
      return;
    // Fills with what the kernel reads are rebuilt inside.
    if (auto fill = value.getDefiningOp<linalg::FillOp>())
      return collectInput(fill.getInputs()[0], member);
    if (auto extract = value.getDefiningOp<tensor::ExtractOp>(); extract && extract.getIndices().empty())
      return collectInput(extract.getTensor(), member);
    inputs.insert(value);
  }

  void collectResults() {
    for (Operation *op : members)
      for (Value value : op->getResults())
        if (isReadOutside(value))
          results.push_back(value);
  }

  bool isReadOutside(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) { return !isInside(user); });
  }

  /// The copy of what a member reads.
  Value rebuild(OpBuilder &builder, Value value) {
    if (mapping.contains(value))
      return mapping.lookup(value);
    Operation *maker = value.getDefiningOp();
    for (Value operand : maker->getOperands())
      rebuild(builder, operand);
    builder.clone(*maker, mapping);
    return mapping.lookup(value);
  }

  void copy(OpBuilder &builder, Operation *op) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (maker && !op->isProperAncestor(maker))
          rebuild(builder, operand);
      }
    });
    builder.clone(*op, mapping);
  }

  ArrayRef<Operation *> members;
  llvm::SmallPtrSet<Operation *, 16> inside;
  llvm::SetVector<Value> inputs;
  SmallVector<Value> results;
  IRMapping mapping;
};

} // namespace

void Clusterer::makeKernel(unsigned cluster) {
  // Reshapes of what comes from outside stay there: the kernel reads their buffer.
  llvm::SmallPtrSet<Operation *, 16> made;
  SmallVector<Operation *> members;
  for (unsigned number : membersOf(cluster)) {
    Operation *op = ops[number];
    if (isa<linalg::GenericOp>(op) || made.contains(findBase(op->getResult(0)).getDefiningOp())) {
      made.insert(op);
      members.push_back(op);
    }
  }
  KernelBuilder(members).run();
}

static void formClusters(Block &block) {
  for (Operation &op : block)
    if (isa<scf::WhileOp, scf::IfOp, scf::IndexSwitchOp, scf::ForOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          formClusters(inner);
  prepareBlock(block);
  Clusterer(block).run();
  finishBlock(block);
}

/// Element-wise ops on tensors become loops; scalars that are made of constants become constants.
static void prepare(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  // That a block doesn't settle within the usual number of rounds changes speed alone.
  (void)applyPatternsGreedily(function, std::move(patterns));
}

void makeKernel(ArrayRef<Operation *> members) { KernelBuilder(members).run(); }

void formClusters(func::FuncOp function) {
  prepare(function);
  formClusters(function.front());
}

} // namespace remat
