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
// Ops that only move data, and ops without operands
//===----------------------------------------------------------------------===//

/// An op whose result's elements are elements of its only input.
static bool onlyMoves(linalg::GenericOp op) {
  Block *body = op.getBody();
  return op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 && op.getNumReductionLoops() == 0 &&
         llvm::hasSingleElement(*body) && body->getTerminator()->getOperand(0) == body->getArgument(0) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         op.getDpsInputOperand(0)->get().getType() != op.getResultTypes()[0];
}

/// Lets a matrix product write its result the way its only reader, a transpose, wants it.
static void absorbTransposes(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto mover = dyn_cast<linalg::GenericOp>(op);
    if (!mover || !onlyMoves(mover))
      continue;
    AffineMap read = mover.getMatchingIndexingMap(mover.getDpsInputOperand(0));
    auto dot = mover.getDpsInputOperand(0)->get().getDefiningOp<linalg::GenericOp>();
    if (!read.isPermutation() || !dot || !dot->hasOneUse() || !findMatmul(dot))
      continue;
    AffineMap written = dot.getMatchingIndexingMap(dot.getDpsInitOperand(0));
    SmallVector<AffineExpr> results(written.getNumResults());
    for (auto [from, to] : llvm::zip(written.getResults(), read.getResults()))
      results[cast<AffineDimExpr>(to).getPosition()] = from;
    SmallVector<AffineMap> maps = dot.getIndexingMapsArray();
    maps.back() = AffineMap::get(written.getNumDims(), 0, results, dot.getContext());
    auto fill = dot.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
    if (!fill)
      continue;
    OpBuilder builder(dot);
    auto type = cast<RankedTensorType>(mover.getResultTypes()[0]);
    Value empty = tensor::EmptyOp::create(builder, dot.getLoc(), type.getShape(), type.getElementType());
    Value start = linalg::FillOp::create(builder, dot.getLoc(), fill.getInputs()[0], empty).getResult(0);
    auto turned = linalg::GenericOp::create(builder, dot.getLoc(), type, dot.getInputs(), start, maps,
                                            dot.getIteratorTypesArray());
    IRMapping mapping;
    dot.getRegion().cloneInto(&turned.getRegion(), mapping);
    mover.getResult(0).replaceAllUsesWith(turned.getResult(0));
    mover.erase();
    dot.erase();
  }
}

/// The loops' sizes must follow from the operands' shapes.
static bool determinesLoops(ArrayRef<AffineMap> maps) {
  llvm::SmallBitVector seen(maps.front().getNumDims());
  for (AffineMap map : maps)
    for (AffineExpr expression : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expression))
        seen.set(dim.getPosition());
  return seen.all();
}

/// Lets readers of moved data read it where it came from. A matrix product must stay one.
static void absorbMovement(Block &block) {
  for (Operation &inner : block) {
    auto reader = dyn_cast<linalg::GenericOp>(inner);
    if (!reader)
      continue;
    bool isMatmul = findMatmul(reader).has_value();
    for (OpOperand *input : reader.getDpsInputOperands())
      while (auto mover = input->get().getDefiningOp<linalg::GenericOp>()) {
        if (!onlyMoves(mover))
          break;
        SmallVector<AffineMap> maps = reader.getIndexingMapsArray(), before = maps;
        unsigned number = input->getOperandNumber();
        maps[number] = mover.getMatchingIndexingMap(mover.getDpsInputOperand(0)).compose(maps[number]);
        Value moved = input->get();
        if (!determinesLoops(maps))
          break;
        reader.setIndexingMapsAttr(Builder(reader.getContext()).getAffineMapArrayAttr(maps));
        input->set(mover.getDpsInputOperand(0)->get());
        if (!findAccess(reader, *input) || (isMatmul && !findMatmul(reader))) {
          reader.setIndexingMapsAttr(Builder(reader.getContext()).getAffineMapArrayAttr(before));
          input->set(moved);
          break;
        }
      }
  }
}

/// Iota and the like.
static bool hasNoInputs(linalg::GenericOp op) {
  bool reads = op.getNumDpsInputs() != 0;
  op.getBody()->walk([&](tensor::ExtractOp) { reads = true; });
  return !reads && op.getNumReductionLoops() == 0;
}

/// What a kernel rebuilds instead of reading it from a buffer.
static bool isRebuilt(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue()) || !isa<ShapedType>(value.getType());
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return isRebuilt(fill.getInputs()[0]);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return isa<tensor::EmptyOp>(op) || (generic && hasNoInputs(generic));
}

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
          collectInput(operand, op);
      });
  }

  void collectInput(Value value, Operation *member) {
    Operation *maker = value.getDefiningOp();
    bool isLocal = maker ? member->isProperAncestor(maker) || inside.contains(maker)
                         : member->isAncestor(value.getParentBlock()->getParentOp());
    if (isLocal || isRebuilt(value) || inputs.contains(value))
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

/// Gives every reader of a reshape one of its own.
static void splitReshapes(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      while (!op.use_empty() && !op.hasOneUse()) {
        Operation *copy = OpBuilder(&op).clone(op);
        op.getResult(0).getUses().begin()->set(copy->getResult(0));
      }
}

static void dropBarriers(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isa<BarrierOp, NameOp>(op)) {
      op.getResult(0).replaceAllUsesWith(op.getOperand(0));
      op.erase();
    }
}

/// Removes what nobody reads any more; such ops have no effects in the imported form.
static void dropDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!op.hasTrait<OpTrait::IsTerminator>() && isOpTriviallyDead(&op))
      op.erase();
}

/// Whether an operand is only looked at for its shape, or is an element that is read when the program is made.
static bool needsNoBuffer(OpOperand &operand) {
  Operation *reader = operand.getOwner();
  if (auto generic = dyn_cast<linalg::GenericOp>(reader))
    return generic.isDpsInit(&operand);
  return isa<linalg::FillOp, tensor::ExtractOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reader);
}

/// A kernel that fills a buffer, for the readers that need one: loops, results, libraries.
static void materializeFills(Block &block) {
  constexpr int64_t mostConstantElements = 4096;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.getNumResults() != 1 || !isa<linalg::FillOp, tensor::EmptyOp, arith::ConstantOp>(op) ||
        !isRebuilt(op.getResult(0)))
      continue;
    auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    if (!type || (isa<arith::ConstantOp>(op) && type.getNumElements() <= mostConstantElements))
      continue;
    if (llvm::all_of(op.getUses(), needsNoBuffer))
      continue;
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(&op);
    auto kernel = KernelOp::create(builder, op.getLoc(), TypeRange(type), ValueRange(), nullptr);
    Block *body = builder.createBlock(&kernel.getBody());
    Value scalar;
    if (auto fill = dyn_cast<linalg::FillOp>(op))
      scalar = builder.clone(*fill.getInputs()[0].getDefiningOp())->getResult(0);
    else if (auto constant = dyn_cast<arith::ConstantOp>(op))
      scalar = arith::ConstantOp::create(builder, op.getLoc(),
                                         cast<SplatElementsAttr>(constant.getValue()).getSplatValue<TypedAttr>());
    Value filled = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(), type.getElementType());
    if (scalar)
      filled = linalg::FillOp::create(builder, op.getLoc(), scalar, filled).getResult(0);
    YieldOp::create(builder, op.getLoc(), filled);
    (void)body;
    op.getResult(0).replaceUsesWithIf(kernel.getResult(0), [](OpOperand &use) {
      return !needsNoBuffer(use) && !isa<KernelOp>(use.getOwner()->getParentOp());
    });
  }
}

/// Copies the scalar ops that `value` is made of, and their 0-d tensors as arguments of `body`.
static Value copyScalar(OpBuilder &builder, Value value, Block *body, SmallVectorImpl<Value> &inputs,
                        IRMapping &mapping) {
  if (mapping.contains(value))
    return mapping.lookup(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands()) {
    if (mapping.contains(operand))
      continue;
    if (isa<RankedTensorType>(operand.getType())) {
      inputs.push_back(operand);
      mapping.map(operand, body->addArgument(operand.getType(), operand.getLoc()));
    } else {
      copyScalar(builder, operand, body, inputs, mapping);
    }
  }
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// A program takes a branch by a number in a buffer: 0 for `then`, 1 for `else`. A kernel makes it of the condition.
static void numberBranches(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch || !branch.getCondition().getDefiningOp())
      continue;
    OpBuilder builder(branch);
    Location loc = branch.getLoc();
    auto type = RankedTensorType::get({}, builder.getI32Type());
    auto region = std::make_unique<Region>();
    auto *body = new Block();
    region->push_back(body);
    builder.setInsertionPointToStart(body);
    SmallVector<Value> inputs;
    IRMapping mapping;
    Value condition = copyScalar(builder, branch.getCondition(), body, inputs, mapping);
    Value zero = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
    Value one = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 1);
    Value number = arith::SelectOp::create(builder, loc, condition, zero, one);
    Value tensor = tensor::FromElementsOp::create(builder, loc, type, number);
    YieldOp::create(builder, loc, tensor);
    builder.setInsertionPoint(branch);
    auto kernel = KernelOp::create(builder, loc, TypeRange(type), inputs, nullptr);
    kernel.getBody().takeBody(*region);
    Value taken = tensor::ExtractOp::create(builder, loc, kernel.getResult(0), ValueRange());
    Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, taken,
                                         arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0));
    branch.getConditionMutable().assign(isZero);
  }
}

static void formClusters(Block &block) {
  for (Operation &op : block)
    if (isa<scf::WhileOp, scf::IfOp, scf::IndexSwitchOp, scf::ForOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          formClusters(inner);
  numberBranches(block);
  dropBarriers(block);
  absorbTransposes(block);
  absorbMovement(block);
  dropDead(block);
  splitReshapes(block);
  Clusterer(block).run();
  materializeFills(block);
  dropDead(block);
}

/// Element-wise ops on tensors become loops; scalars that are made of constants become constants.
static void prepare(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  // That a block doesn't settle within the usual number of rounds changes speed alone.
  (void)applyPatternsGreedily(function, std::move(patterns));
}

void formClusters(func::FuncOp function) {
  prepare(function);
  formClusters(function.front());
}

} // namespace remat
