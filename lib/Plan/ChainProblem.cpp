//===- ChainProblem.cpp - A chain in numbers ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stage ends behind every forward op after which a single value is still to be read by forward ops, and behind the
// last one. Backward ops are then dealt out to the stages from the last one down. A value that one stage hands on to
// the next may be read by the backward ops of both; an op that reads nothing else goes to the later stage, whose input
// the value is, since that is held for its backward ops anyway.
//
//===----------------------------------------------------------------------===//

#include "ChainProblem.h"

#include <algorithm>
#include <cmath>

namespace remat {

namespace {

class Recognizer {
public:
  Recognizer(const Graph &graph, std::span<const double> costs, const std::vector<bool> &mayRepeat)
      : graph(graph), costs(costs), mayRepeat(mayRepeat), stageOf(graph.numOps(), 0), isResult(graph.numValues()),
        lastRead(graph.numValues(), 0) {}

  std::optional<ChainProblem> run() {
    if (!splitPhases() || !hasPlainOps())
      return std::nullopt;
    for (ValueId value : graph.results())
      isResult[graph.base(value).index()] = true;
    findStages();
    if (ends.size() < 2 || !dealOutReaders())
      return std::nullopt;
    dealOutOthers();
    findSaved();
    problem.graph = &graph;
    chooseUnit();
    for (size_t i = 0; i < ends.size(); ++i)
      problem.stages.push_back(makeStage(i));
    measureBackward();
    return std::move(problem);
  }

private:
  /// Calls `visit` with each storage that the op reads, some of them more than once.
  template <typename Visit>
  void forReads(size_t op, Visit visit) const {
    for (ValueId operand : graph.operands(OpId(op)))
      if (ValueId base = graph.base(operand); takesBytes(base))
        visit(base);
  }
  /// Calls `visit` with each storage that the op makes.
  template <typename Visit>
  void forMade(size_t op, Visit visit) const {
    for (size_t r = 0; r < graph.numResults(OpId(op)); ++r)
      if (ValueId value = graph.result(OpId(op), r); !graph.isView(value) && takesBytes(value))
        visit(value);
  }
  bool takesBytes(ValueId base) const { return !graph.isArgument(base) && graph.value(base).bytes > 0; }
  int64_t bytesOf(ValueId base) const { return base ? graph.value(base).bytes : 0; }
  size_t makerOf(ValueId base) const { return graph.producer(base).index(); }
  bool isForward(ValueId base) const { return makerOf(base) < forwardCount; }
  bool makesViews(size_t op) const { return graph.numResults(OpId(op)) > 0 && graph.isView(graph.result(OpId(op), 0)); }

  bool splitPhases() {
    while (forwardCount < graph.numOps() && graph.op(OpId(forwardCount)).phase == Phase::Forward)
      ++forwardCount;
    for (size_t i = forwardCount; i < graph.numOps(); ++i)
      if (graph.op(OpId(i)).phase == Phase::Forward)
        return false;
    return forwardCount > 0 && forwardCount < graph.numOps();
  }

  /// Nothing is overwritten, and views are free to be made anew.
  bool hasPlainOps() const {
    for (size_t i = 0; i < graph.numOps(); ++i) {
      size_t views = 0;
      for (size_t r = 0; r < graph.numResults(OpId(i)); ++r) {
        const ValueInfo &info = graph.value(graph.result(OpId(i), r));
        if (info.inplaceOf)
          return false;
        views += info.viewOf.isValid();
      }
      if (views > 0 && (views < graph.numResults(OpId(i)) || costs[i] != 0 || graph.op(OpId(i)).workspaceBytes != 0 ||
                        mustRunOnce(i)))
        return false;
    }
    return true;
  }

  bool mustRunOnce(size_t op) const { return graph.mustRunOnce(OpId(op)) || (!mayRepeat.empty() && !mayRepeat[op]); }

  void findStages() {
    for (size_t i = 0; i < forwardCount; ++i)
      forReads(i, [&](ValueId base) { lastRead[base.index()] = i; });
    size_t crossing = 0, sum = 0; // Storages that are still to be read, and the sum of their indices.
    bool makesAny = false;
    for (size_t i = 0; i < forwardCount; ++i) {
      size_t begin = ends.empty() ? 0 : ends.back();
      forMade(i, [&](ValueId base) {
        makesAny = true;
        crossing += lastRead[base.index()] > i;
        sum += lastRead[base.index()] > i ? base.index() : 0;
      });
      std::vector<ValueId> ended;
      forReads(i, [&](ValueId base) {
        if (lastRead[base.index()] == i && std::ranges::find(ended, base) == ended.end())
          ended.push_back(base);
      });
      for (ValueId base : ended) {
        --crossing;
        sum -= base.index();
      }
      bool isEnd = crossing == 0 ? makesAny : crossing == 1 && makerOf(ValueId(sum)) >= begin;
      if (isEnd || i + 1 == forwardCount) {
        ends.push_back(i + 1);
        outputs.push_back(crossing == 1 ? ValueId(sum) : ValueId());
        makesAny = false;
      }
      stageOf[i] = isEnd || i + 1 == forwardCount ? ends.size() - 1 : ends.size();
    }
    addEmptyStage();
  }

  /// Where one value of the last stage is read by backward ops, it is handed on to a stage without forward ops: it may
  /// be held or made anew as any other.
  void addEmptyStage() {
    ValueId read;
    for (size_t i = forwardCount; i < graph.numOps(); ++i) {
      bool isSecond = false;
      forReads(i, [&](ValueId base) {
        if (!isForward(base) || stageOf[makerOf(base)] + 1 != ends.size())
          return;
        isSecond |= read && read != base;
        read = base;
      });
      if (isSecond)
        return;
    }
    if (!read)
      return;
    outputs.back() = read;
    ends.push_back(forwardCount);
    outputs.push_back({});
    hasEmptyStage = true;
  }

  /// Gives every backward op that reads forward values the last stage that it may belong to.
  bool dealOutReaders() {
    size_t current = ends.size() - 1;
    bool isEmptyRead = false;
    for (size_t i = forwardCount; i < graph.numOps(); ++i) {
      size_t least = 0, most = current;
      bool reads = false;
      forReads(i, [&](ValueId base) {
        if (!isForward(base))
          return;
        size_t stage = stageOf[makerOf(base)];
        least = std::max(least, stage);
        most = std::min(most, outputs[stage] == base && stage + 1 < ends.size() ? stage + 1 : stage);
        reads = true;
      });
      if (least > most)
        return false;
      if (reads)
        current = most;
      stageOf[i] = reads ? current : none;
      isEmptyRead |= stageOf[i] + 1 == ends.size();
    }
    if (hasEmptyStage && !isEmptyRead) {
      ends.pop_back();
      outputs.pop_back();
      outputs.back() = {};
    }
    return ends.size() >= 2;
  }

  /// Backward ops between those of two stages run before what runs again between the stages, up to where least is alive
  /// then.
  void dealOutOthers() {
    measureGradients();
    size_t current = ends.size() - 1;
    for (size_t i = forwardCount; i < graph.numOps();) {
      size_t next = i;
      while (next < graph.numOps() && stageOf[next] == none)
        ++next;
      size_t cut = next;
      if (next < graph.numOps() && stageOf[next] != current)
        for (size_t at = next; at-- > i;)
          if (gradients[at - forwardCount] < gradients[cut - forwardCount])
            cut = at;
      for (; i < next; ++i)
        stageOf[i] = i < cut ? current : stageOf[next];
      if (next < graph.numOps())
        current = stageOf[i++];
    }
  }

  /// By backward op: the bytes made by backward ops that are alive in front of it, and while it runs.
  void measureGradients() {
    size_t count = graph.numOps() - forwardCount;
    std::vector<int64_t> change(count + 1);
    gradients.assign(count + 1, 0);
    aliveAt.assign(count, 0);
    for (size_t i = forwardCount; i < graph.numOps(); ++i) {
      forMade(i, [&](ValueId base) { lastRead[base.index()] = isResult[base.index()] ? graph.numOps() : i; });
      forReads(i, [&](ValueId base) {
        if (!isForward(base))
          lastRead[base.index()] = std::max(lastRead[base.index()], i);
      });
    }
    int64_t alive = 0;
    for (size_t k = 0; k < count; ++k) {
      gradients[k] = alive;
      forMade(forwardCount + k, [&](ValueId base) {
        alive += bytesOf(base);
        if (size_t last = lastRead[base.index()]; last < graph.numOps())
          change[last - forwardCount] -= bytesOf(base);
      });
      aliveAt[k] = alive + graph.op(OpId(forwardCount + k)).workspaceBytes;
      alive += change[k];
    }
    gradients[count] = alive;
  }

  void chooseUnit() {
    double sum = 0;
    for (double cost : costs)
      sum += cost;
    if (sum > 0)
      problem.costUnit = std::exp2(std::ilogb(sum) - 49);
  }

  /// What is to be left when ops of a stage have run.
  struct Left {
    bool output, saved;
  };

  bool isLeft(size_t stage, ValueId base, Left left) const {
    return (left.output && base == outputs[stage]) || (left.saved && isSaved[base.index()]);
  }

  void findSaved() {
    isSaved = isResult;
    readsInput.assign(ends.size(), false);
    for (size_t i = forwardCount; i < graph.numOps(); ++i)
      forReads(i, [&](ValueId base) {
        if (isForward(base) && stageOf[makerOf(base)] == stageOf[i])
          isSaved[base.index()] = true;
        else if (isForward(base))
          readsInput[stageOf[i]] = true;
      });
  }

  ChainStage makeStage(size_t i) {
    ChainStage stage;
    stage.inputBytes = i == 0 ? 0 : bytesOf(outputs[i - 1]);
    stage.outputBytes = bytesOf(outputs[i]);
    stage.readsInput = readsInput[i];
    stage.savesOutput = outputs[i] && isSaved[outputs[i].index()];
    for (size_t op = beginOf(i); op < ends[i]; ++op)
      forMade(op, [&](ValueId base) { stage.savedBytes += isSaved[base.index()] ? bytesOf(base) : 0; });
    stage.savesOutputOnly = stage.savesOutput && stage.savedBytes == stage.outputBytes && !isResult[outputs[i].index()];
    stage.firstPass = makeRun(i, {.output = true, .saved = false}, true);
    stage.againPass = makeRun(i, {.output = true, .saved = false}, false);
    stage.firstSave = makeRun(i, {.output = true, .saved = true}, true);
    stage.againSave = makeRun(i, {.output = true, .saved = true}, false);
    stage.lastSave = makeRun(i, {.output = false, .saved = true}, false);
    return stage;
  }

  size_t beginOf(size_t stage) const { return stage == 0 ? 0 : ends[stage - 1]; }

  ChainRun makeRun(size_t stage, Left left, bool isFirst) {
    ChainRun run;
    std::vector<bool> needed(ends[stage] - beginOf(stage), isFirst);
    for (size_t op = ends[stage]; op-- > beginOf(stage);) {
      bool isNeeded = needed[op - beginOf(stage)];
      forMade(op, [&](ValueId base) { isNeeded |= isLeft(stage, base, left); });
      if (!isNeeded)
        continue;
      forReads(op, [&](ValueId base) {
        // Views are made anew where they are read.
        if (size_t maker = makerOf(base); maker >= beginOf(stage))
          needed[maker - beginOf(stage)] = true;
      });
      run.ops.push_back(OpId(op));
      run.cost += std::llround(costs[op] / problem.costUnit);
      run.isPossible &= isFirst || !mustRunOnce(op);
    }
    std::ranges::reverse(run.ops);
    measure(stage, left, run);
    return run;
  }

  void measure(size_t stage, Left left, ChainRun &run) {
    size_t count = run.ops.size(), inputEnd = 0;
    for (size_t k = 0; k < count; ++k) {
      forMade(run.ops[k].index(),
              [&](ValueId base) { lastRead[base.index()] = isLeft(stage, base, left) ? count : k; });
      forReads(run.ops[k].index(), [&](ValueId base) {
        if (makerOf(base) < beginOf(stage))
          inputEnd = k + 1;
        else
          lastRead[base.index()] = std::max(lastRead[base.index()], k);
      });
    }
    std::vector<int64_t> change(count + 1);
    int64_t alive = 0;
    for (size_t k = 0; k < count; ++k) {
      forMade(run.ops[k].index(), [&](ValueId base) {
        alive += bytesOf(base);
        change[lastRead[base.index()]] += bytesOf(base);
      });
      int64_t bytes = alive + graph.op(run.ops[k]).workspaceBytes;
      run.peakHeld = std::max(run.peakHeld, bytes);
      run.peakOwn = std::max(run.peakOwn, bytes + (k < inputEnd ? bytesOf(outputs[stage - 1]) : 0));
      alive -= change[k];
    }
  }

  void measureBackward() {
    int64_t resultBytes = 0; // Of the stages behind.
    for (size_t i = ends.size(), at = forwardCount; i-- > 0;) {
      ChainStage &stage = problem.stages[i];
      stage.gradientBytes = gradients[at - forwardCount] + resultBytes;
      size_t begin = at, inputEnd = at;
      std::vector<ValueId> read;
      for (; at < graph.numOps() && stageOf[at] == i; ++at) {
        stage.backward.ops.push_back(OpId(at));
        forReads(at, [&](ValueId base) {
          if (isForward(base) && stageOf[makerOf(base)] != i)
            inputEnd = at + 1;
          else if (isForward(base) && !isResult[base.index()])
            read.push_back(base), lastRead[base.index()] = at;
        });
      }
      std::ranges::sort(read);
      read.erase(std::unique(read.begin(), read.end()), read.end());
      std::vector<int64_t> change(at - begin);
      for (ValueId base : read)
        change[lastRead[base.index()] - begin] += bytesOf(base);
      int64_t saved = stage.savedBytes + resultBytes;
      for (size_t k = begin; k < at; ++k) {
        int64_t bytes = aliveAt[k - forwardCount] + saved;
        stage.backward.peakHeld = std::max(stage.backward.peakHeld, bytes);
        stage.backward.peakOwn = std::max(stage.backward.peakOwn, bytes + (k < inputEnd ? stage.inputBytes : 0));
        saved -= change[k - begin];
      }
      resultBytes = saved;
    }
  }

  static constexpr size_t none = ~size_t(0);

  const Graph &graph;
  std::span<const double> costs;
  const std::vector<bool> &mayRepeat;
  size_t forwardCount = 0;
  std::vector<size_t> ends;     ///< By stage: behind its last forward op.
  std::vector<ValueId> outputs; ///< By stage: what it hands on, if anything.
  std::vector<size_t> stageOf;  ///< By op.
  std::vector<bool> isResult;   ///< By storage.
  std::vector<bool> isSaved;    ///< By storage of the forward part: for its stage's backward ops, or as a result.
  std::vector<bool> readsInput; ///< By stage: its backward ops do.
  std::vector<size_t> lastRead; ///< By storage: of the same phase.
  std::vector<int64_t> gradients, aliveAt;
  bool hasEmptyStage = false;
  ChainProblem problem;
};

} // namespace

std::optional<ChainProblem> ChainProblem::recognize(const Graph &graph, std::span<const double> costs,
                                                    const std::vector<bool> &mayRepeat) {
  return Recognizer(graph, costs, mayRepeat).run();
}

} // namespace remat
