//===- GenerateLayered.cpp - Random layered training steps -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forward layers as in Moccasin's random layered graphs (Bartan et al., 2023): every op reads its neighbour in the
// layer before, others of that layer with probability `ed`, and with probability `skip` one of an older layer. Unlike
// there, the backward part is what reverse-mode differentiation makes: one op for each forward op, which reads the
// gradient of its result and its operands or its result, and additions where several gradients meet.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "Random.h"
#include "Text.h"

#include <algorithm>

using namespace remat;

Knobs remat::layeredKnobs() {
  return Knobs{{{"n", 1000, 4, 5e7},
                {"seed", 1, 0, 0x1p53},
                {"width", 8, 1, 1000},
                {"ed", 0.2, 0, 1, false},
                {"skip", 0.1, 0, 1, false}}};
}

namespace {

struct ForwardOp {
  ValueId value;
  ValueId weight;              ///< A dot's second operand; invalid for the others.
  std::vector<uint32_t> reads; ///< Forward ops; empty: reads the batch.
  bool isRead = false;
};

class Layered {
public:
  Layered(std::string_view graphName, const Knobs &knobs)
      : n(size_t(knobs.integer("n"))), width(size_t(knobs.integer("width"))), edgeDensity(knobs.real("ed")),
        skip(knobs.real("skip")), random(uint64_t(knobs.integer("seed"))), step(graphName) {}

  Expected<Graph> generate() {
    chooseForward();
    makeForward();
    makeBackward();
    makeUpdates();
    return step.finish(results);
  }

private:
  static constexpr int64_t unitBytes = 64 << 10;
  static constexpr size_t skipLayers = 8;

  /// Chooses ops until the whole step has n of them. With F forward ops, E reads among them and S ops that none of them
  /// reads (the loss reads those) there are F + 1 forward ops, the loss's gradient, F gradients, and E + S - F
  /// additions.
  void chooseForward() {
    size_t edges = 0, unread = 0;
    while (true) {
      std::vector<uint32_t> reads = chooseReads();
      size_t newlyRead = size_t(std::ranges::count_if(reads, [&](uint32_t op) { return !forward[op].isRead; }));
      size_t total = forward.size() + 1 + 2 + (edges + reads.size()) + (unread + 1 - newlyRead);
      if (total > n)
        break;
      for (uint32_t op : reads)
        forward[op].isRead = true;
      edges += reads.size();
      unread = unread + 1 - newlyRead;
      forward.push_back({.value = {}, .weight = {}, .reads = std::move(reads)});
    }
    updateCount = n - (forward.size() + 2 + edges + unread);
  }

  std::vector<uint32_t> chooseReads() {
    std::vector<uint32_t> reads;
    size_t layer = forward.size() / width, column = forward.size() % width;
    if (layer == 0)
      return reads;
    uint32_t begin = uint32_t((layer - 1) * width);
    for (size_t i = 0; i < width; ++i)
      if (i == column || random.chance(edgeDensity))
        reads.push_back(begin + uint32_t(i));
    if (layer > 1 && random.chance(skip)) {
      size_t back = 2 + random.remainder(std::min(layer - 1, skipLayers));
      reads.push_back(uint32_t((layer - back) * width + random.remainder(width)));
    }
    return reads;
  }

  void makeForward() {
    // Arguments come before ops: the kinds are drawn first.
    ValueId batch = step.argument("batch", 8 * unitBytes);
    for (size_t i = 0; i < forward.size(); ++i)
      if (random.chance(0.4))
        forward[i].weight = step.argument(formatText("w{}", i), int64_t(1 + random.remainder(16)) * unitBytes);
    for (size_t i = 0; i < forward.size(); ++i)
      makeForwardOp(i, batch);
    std::vector<ValueId> unread;
    for (const ForwardOp &op : forward)
      if (!op.isRead)
        unread.push_back(op.value);
    OpInfo info{.name = "loss", .kind = "layered.loss", .opClass = OpClass::Reduction, .location = "loss"};
    NewValue loss{"loss", 4};
    step.op(info, unread, {&loss, 1});
    results.push_back(step.result(0));
  }

  void makeForwardOp(size_t i, ValueId batch) {
    ForwardOp &op = forward[i];
    std::vector<ValueId> operands;
    for (uint32_t read : op.reads)
      operands.push_back(forward[read].value);
    if (operands.empty())
      operands.push_back(batch);
    if (op.weight)
      operands.push_back(op.weight);
    std::string name = formatText("f{}", i), location = formatText("layer{}/{}", i / width, name);
    int64_t bytes = int64_t(1 + random.remainder(16)) * unitBytes;
    OpInfo info{.name = name, .kind = kind(i), .opClass = opClass(i), .location = location};
    info.flops = flops(i, bytes);
    NewValue result{name, bytes};
    step.op(info, operands, {&result, 1});
    op.value = step.result(0);
  }

  OpClass opClass(size_t i) const {
    if (forward[i].weight)
      return OpClass::Dot;
    return i % 7 == 3 ? OpClass::Reduction : i % 7 == 5 ? OpClass::DataMovement : OpClass::Elementwise;
  }
  std::string_view kind(size_t i) const {
    switch (opClass(i)) {
    case OpClass::Dot:
      return "layered.dot";
    case OpClass::Reduction:
      return "layered.normalize";
    case OpClass::DataMovement:
      return "layered.transpose";
    default:
      return "layered.map";
    }
  }
  /// A dot does 512 multiply-adds for each element of its result (floats of 4 bytes), the others one operation.
  int64_t flops(size_t i, int64_t bytes) const { return opClass(i) == OpClass::Dot ? bytes / 4 * 1024 : bytes / 4; }

  void makeBackward() {
    gradients.resize(forward.size());
    std::vector<NewValue> parts;
    std::vector<uint32_t> readers;
    for (size_t i = 0; i < forward.size(); ++i)
      if (!forward[i].isRead) {
        parts.push_back({formatText("d_loss.f{}", i), step.bytes(forward[i].value)});
        readers.push_back(uint32_t(i));
      }
    OpInfo info{.name = "d_loss",
                .kind = "layered.loss_grad",
                .opClass = OpClass::Elementwise,
                .phase = Phase::Backward,
                .location = "transpose(loss)"};
    step.op(info, results, parts);
    std::vector<ValueId> made;
    for (size_t k = 0; k < parts.size(); ++k)
      made.push_back(step.result(k));
    for (size_t k = 0; k < parts.size(); ++k)
      gradients[readers[k]] = made[k];
    for (size_t i = forward.size(); i-- > 0;)
      makeGradient(i);
  }

  /// The gradients of op i's operands, from that of its result. A dot and a normalization need their operands, a map
  /// its result (as tanh and exp do), a transpose nothing.
  void makeGradient(size_t i) {
    const ForwardOp &op = forward[i];
    std::vector<ValueId> operands{gradients[i]};
    OpClass kindOfOp = opClass(i);
    if (kindOfOp == OpClass::Dot || kindOfOp == OpClass::Reduction)
      for (uint32_t read : op.reads)
        operands.push_back(forward[read].value);
    else if (kindOfOp == OpClass::Elementwise)
      operands.push_back(op.value);
    if (op.weight)
      operands.push_back(op.weight);
    std::string name = formatText("b{}", i), location = formatText("transpose(layer{})/f{}", i / width, i);
    std::vector<NewValue> parts;
    for (uint32_t read : op.reads)
      parts.push_back({formatText("{}.f{}", name, read), step.bytes(forward[read].value)});
    if (op.weight)
      parts.push_back({formatText("{}.w", name), step.bytes(op.weight)});
    if (parts.empty())
      parts.push_back({formatText("{}.batch", name), 8 * unitBytes});
    OpInfo info{.name = name, .kind = kind(i), .opClass = kindOfOp, .phase = Phase::Backward, .location = location};
    info.flops = 2 * flops(i, step.bytes(op.value));
    step.op(info, operands, parts);
    std::vector<ValueId> made;
    for (size_t k = 0; k < parts.size(); ++k)
      made.push_back(step.result(k));
    if (op.weight || op.reads.empty())
      results.push_back(made.back());
    for (size_t k = 0; k < op.reads.size(); ++k)
      accumulate(op.reads[k], made[k], i);
  }

  void accumulate(uint32_t into, ValueId part, size_t reader) {
    if (!gradients[into]) {
      gradients[into] = part;
      return;
    }
    std::string name = formatText("a{}.{}", into, reader);
    std::string location = formatText("transpose(layer{})/f{}", into / width, into);
    NewValue sum{name, step.bytes(part)};
    ValueId operands[] = {gradients[into], part};
    OpInfo info{.name = name,
                .kind = "layered.add",
                .opClass = OpClass::Elementwise,
                .phase = Phase::Backward,
                .flops = sum.bytes / 4,
                .location = location};
    step.op(info, operands, {&sum, 1});
    gradients[into] = step.result(0);
  }

  /// What is missing to n: ops that scale gradients, as an optimizer does.
  void makeUpdates() {
    for (size_t i = 0; i < updateCount; ++i) {
      ValueId &gradient = results[results.size() - 1 - i % (results.size() - 1)];
      std::string name = formatText("u{}", i);
      NewValue scaled{name, step.bytes(gradient)};
      OpInfo info{.name = name,
                  .kind = "layered.scale",
                  .opClass = OpClass::Elementwise,
                  .phase = Phase::Backward,
                  .flops = scaled.bytes / 4,
                  .location = "update"};
      step.op(info, {&gradient, 1}, {&scaled, 1});
      gradient = step.result(0);
    }
  }

  size_t n, width;
  double edgeDensity, skip;
  Random random;
  StepBuilder step;
  std::vector<ForwardOp> forward;
  std::vector<ValueId> gradients, results;
  size_t updateCount = 0;
};

} // namespace

Expected<Graph> remat::generateLayered(std::string_view graphName, const Knobs &knobs) {
  return Layered(graphName, knobs).generate();
}
