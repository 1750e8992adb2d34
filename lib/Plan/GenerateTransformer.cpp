//===- GenerateTransformer.cpp - Training steps of transformers ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPT-2's block: x + proj(attention(norm(x))), then x + fc2(gelu(fc(norm(x)))), without biases and dropout; 4-byte
// floats. The backward part is what a framework's derivative rules make: two dots for a dot, and rules that read the
// results they need.
//
//===----------------------------------------------------------------------===//

#include "Generators.h"
#include "Text.h"

#include <algorithm>

using namespace remat;

Knobs remat::transformerKnobs() {
  return Knobs{{{"layers", 12, 1, 1e5},
                {"dmodel", 768, 1, 1e6},
                {"heads", 12, 1, 1e5},
                {"seq", 1024, 1, 1e7},
                {"batch", 8, 1, 1e6},
                {"vocab", 50257, 1, 1e7}}};
}

namespace {

struct LayerWeights {
  ValueId norm1, qkv, proj, norm2, fc, fc2;
};

/// What a layer's backward part reads.
struct LayerValues {
  ValueId input, norm1, mean1, rstd1, qkv, q, k, v, probs, context, merged, middle, norm2, mean2, rstd2, fc, gelu;
};

class Transformer {
public:
  Transformer(std::string_view graphName, const Knobs &knobs)
      : layers(size_t(knobs.integer("layers"))), model(knobs.integer("dmodel")), heads(knobs.integer("heads")),
        sequence(knobs.integer("seq")), batch(knobs.integer("batch")), vocabulary(knobs.integer("vocab")),
        step(graphName) {}

  std::optional<Error> check() const {
    if (model % heads)
      return Error{formatText("dmodel={} is no multiple of heads={}", model, heads)};
    // The largest numbers in the graph are FLOPs; 64 bounds the ops of a layer, and those around all layers.
    double b = double(batch), s = double(sequence), d = double(model);
    double inLayer = std::max(32 * b * s * d * d, 2 * b * s * s * (d + double(heads)));
    double largest = std::max(inLayer, 4 * b * s * d * double(vocabulary));
    if (64 * (largest + inLayer * double(layers)) > 0x1p60)
      return Error{"the numbers of this step add up to more than 2^60", "",
                   "lower batch, seq, dmodel, vocab or layers, such as to batch=1"};
    return std::nullopt;
  }

  Expected<Graph> generate() {
    makeArguments();
    ValueId x = forward();
    lossAndBackward(x);
    return step.finish(results);
  }

private:
  int64_t tokens() const { return batch * sequence; }
  int64_t hiddenBytes() const { return 4 * tokens() * model; }
  int64_t scoreBytes() const { return 4 * batch * heads * sequence * sequence; }

  void makeArguments() {
    ids = step.argument("ids", 4 * tokens());
    labels = step.argument("labels", 4 * tokens());
    embedding = step.argument("wte.w", 4 * vocabulary * model);
    for (size_t i = 0; i < layers; ++i) {
      auto weight = [&](std::string_view name, int64_t elements) {
        return step.argument(formatText("h{}.{}.w", i, name), 4 * elements);
      };
      weights.push_back({weight("ln_1", 2 * model), weight("attn", 3 * model * model), weight("proj", model * model),
                         weight("ln_2", 2 * model), weight("fc", 4 * model * model), weight("fc2", 4 * model * model)});
    }
    finalNorm = step.argument("ln_f.w", 2 * model);
  }

  /// Adds an op in the current scope. Backward ops are named `d_…` and stand in JAX's `transpose(…)`.
  void op(std::string_view kind, OpClass opClass, std::string_view name, int64_t flops,
          std::initializer_list<ValueId> operands, std::vector<NewValue> made, int32_t batchDims = 0) {
    std::string prefix = scope.empty() ? std::string() : scope + ".";
    std::string opName = formatText("{}{}{}", inBackward ? "d_" : "", prefix, name);
    std::string place = scope.empty() ? std::string("model") : "model/" + scope;
    std::string location = formatText(inBackward ? "transpose({})/{}" : "{}/{}", place, name);
    for (NewValue &value : made)
      value.name = value.name.empty() ? opName : opName + "." + value.name;
    bool isNamed = !inBackward && (name == "attn_out" || name == "mlp_out");
    step.op({.name = opName,
             .kind = kind,
             .opClass = opClass,
             .phase = inBackward ? Phase::Backward : Phase::Forward,
             .flops = flops,
             .dotBatchDims = batchDims,
             .checkpointName = isNamed ? name : std::string_view(),
             .location = location},
            operands, made);
  }

  ValueId one(std::string_view kind, OpClass opClass, std::string_view name, int64_t flops,
              std::initializer_list<ValueId> operands, int64_t bytes, int32_t batchDims = 0) {
    op(kind, opClass, name, flops, operands, {{"", bytes}}, batchDims);
    return step.result(0);
  }
  ValueId map(std::string_view kind, std::string_view name, std::initializer_list<ValueId> operands, int64_t bytes) {
    return one(kind, OpClass::Elementwise, name, bytes / 4, operands, bytes);
  }
  ValueId view(std::string_view name, ValueId of, int64_t bytes) {
    op("reshape", OpClass::View, name, 0, {of}, {{"", bytes, of}});
    return step.result(0);
  }
  /// `rows` x `inner` times `inner` x `columns`.
  ValueId dot(std::string_view name, ValueId a, ValueId b, int64_t rows, int64_t inner, int64_t columns) {
    return one("dot", OpClass::Dot, name, 2 * rows * inner * columns, {a, b}, 4 * rows * columns);
  }
  /// One of attention's dots: batch and heads are batch dimensions.
  ValueId headDot(std::string_view name, ValueId a, ValueId b, int64_t bytes) {
    return one("dot", OpClass::Dot, name, 2 * tokens() * sequence * model, {a, b}, bytes, 2);
  }
  void norm(std::string_view name, ValueId x, ValueId weight, ValueId &y, ValueId &mean, ValueId &rstd) {
    op("layer_norm", OpClass::Reduction, name, 8 * tokens() * model, {x, weight},
       {{"", hiddenBytes()}, {"mean", 4 * tokens()}, {"rstd", 4 * tokens()}});
    y = step.result(0), mean = step.result(1), rstd = step.result(2);
  }

  ValueId forward() {
    scope = "";
    ValueId x = one("gather", OpClass::DataMovement, "embed", 0, {embedding, ids}, hiddenBytes());
    for (size_t i = 0; i < layers; ++i) {
      scope = formatText("h{}", i);
      saved.emplace_back().input = x;
      x = forwardMlp(weights[i], saved[i], forwardAttention(weights[i], saved[i]));
    }
    scope = "";
    return x;
  }

  ValueId forwardAttention(const LayerWeights &w, LayerValues &s) {
    norm("ln_1", s.input, w.norm1, s.norm1, s.mean1, s.rstd1);
    s.qkv = dot("qkv", s.norm1, w.qkv, tokens(), model, 3 * model);
    op("split_heads", OpClass::DataMovement, "split", 0, {s.qkv},
       {{"q", hiddenBytes()}, {"k", hiddenBytes()}, {"v", hiddenBytes()}});
    s.q = step.result(0), s.k = step.result(1), s.v = step.result(2);
    ValueId scores = headDot("scores", s.q, s.k, scoreBytes());
    s.probs = one("softmax", OpClass::Reduction, "softmax", 5 * scoreBytes() / 4, {scores}, scoreBytes());
    s.context = headDot("context", s.probs, s.v, hiddenBytes());
    ValueId transposed = one("transpose", OpClass::DataMovement, "merge", 0, {s.context}, hiddenBytes());
    s.merged = view("merged", transposed, hiddenBytes());
    ValueId out = dot("attn_out", s.merged, w.proj, tokens(), model, model);
    return s.middle = map("add", "residual_1", {s.input, out}, hiddenBytes());
  }

  ValueId forwardMlp(const LayerWeights &w, LayerValues &s, ValueId x) {
    norm("ln_2", x, w.norm2, s.norm2, s.mean2, s.rstd2);
    s.fc = dot("fc", s.norm2, w.fc, tokens(), model, 4 * model);
    s.gelu = map("gelu", "gelu", {s.fc}, 4 * hiddenBytes());
    ValueId out = dot("mlp_out", s.gelu, w.fc2, tokens(), 4 * model, model);
    return map("add", "residual_2", {x, out}, hiddenBytes());
  }

  void lossAndBackward(ValueId x) {
    ValueId y, mean, rstd;
    norm("ln_f", x, finalNorm, y, mean, rstd);
    ValueId logits = dot("logits", y, embedding, tokens(), model, vocabulary);
    op("cross_entropy", OpClass::Reduction, "loss", 5 * tokens() * vocabulary, {logits, labels},
       {{"", 4}, {"logsumexp", 4 * tokens()}});
    ValueId loss = step.result(0), logsumexp = step.result(1);
    inBackward = true;
    ValueId dLogits = map("cross_entropy_grad", "loss", {logits, labels, logsumexp}, 4 * tokens() * vocabulary);
    ValueId dY = dot("logits", dLogits, embedding, tokens(), vocabulary, model);
    ValueId dHead = dot("logits_w", y, dLogits, model, tokens(), vocabulary);
    ValueId dNorm, g = normGradient("ln_f", dY, x, finalNorm, mean, rstd, dNorm);
    std::vector<std::vector<ValueId>> byLayer(layers);
    for (size_t i = layers; i-- > 0;) {
      scope = formatText("h{}", i);
      g = backwardLayer(weights[i], saved[i], g, byLayer[i]);
    }
    scope = "";
    ValueId scattered = one("scatter", OpClass::DataMovement, "embed", 0, {g, ids}, step.bytes(embedding));
    // In the order of the arguments.
    results = {loss, map("add", "wte", {dHead, scattered}, step.bytes(embedding))};
    for (const std::vector<ValueId> &layer : byLayer)
      results.insert(results.end(), layer.begin(), layer.end());
    results.push_back(dNorm);
  }

  ValueId normGradient(std::string_view name, ValueId g, ValueId x, ValueId weight, ValueId mean, ValueId rstd,
                       ValueId &dWeight) {
    op("layer_norm_grad", OpClass::Reduction, name, 16 * tokens() * model, {g, x, weight, mean, rstd},
       {{"", hiddenBytes()}, {"w", step.bytes(weight)}});
    dWeight = step.result(1);
    return step.result(0);
  }

  ValueId backwardLayer(const LayerWeights &w, const LayerValues &s, ValueId g, std::vector<ValueId> &gradients) {
    int64_t t = tokens(), d = model;
    ValueId dNorm1, dNorm2;
    ValueId dGelu = dot("mlp_out", g, w.fc2, t, d, 4 * d);
    ValueId dFc2 = dot("mlp_out_w", s.gelu, g, 4 * d, t, d);
    ValueId dFc = map("gelu_grad", "gelu", {dGelu, s.fc}, 4 * hiddenBytes());
    ValueId dNormed2 = dot("fc", dFc, w.fc, t, 4 * d, d);
    ValueId dFcWeight = dot("fc_w", s.norm2, dFc, d, t, 4 * d);
    ValueId dMiddle = normGradient("ln_2", dNormed2, s.middle, w.norm2, s.mean2, s.rstd2, dNorm2);
    g = map("add", "residual_2", {g, dMiddle}, hiddenBytes());
    ValueId dMerged = dot("attn_out", g, w.proj, t, d, d);
    ValueId dProj = dot("attn_out_w", s.merged, g, d, t, d);
    ValueId split = view("merged", dMerged, hiddenBytes());
    ValueId dContext = one("transpose", OpClass::DataMovement, "merge", 0, {split}, hiddenBytes());
    ValueId dProbs = headDot("context", dContext, s.v, scoreBytes());
    ValueId dV = headDot("context_v", s.probs, dContext, hiddenBytes());
    ValueId dScores = one("softmax_grad", OpClass::Reduction, "softmax", scoreBytes(), {dProbs, s.probs}, scoreBytes());
    ValueId dQ = headDot("scores", dScores, s.k, hiddenBytes());
    ValueId dK = headDot("scores_k", dScores, s.q, hiddenBytes());
    ValueId dQkv = one("merge_heads", OpClass::DataMovement, "split", 0, {dQ, dK, dV}, 3 * hiddenBytes());
    ValueId dNormed1 = dot("qkv", dQkv, w.qkv, t, 3 * d, d);
    ValueId dQkvWeight = dot("qkv_w", s.norm1, dQkv, d, t, 3 * d);
    ValueId dInput = normGradient("ln_1", dNormed1, s.input, w.norm1, s.mean1, s.rstd1, dNorm1);
    gradients = {dNorm1, dQkvWeight, dProj, dNorm2, dFcWeight, dFc2};
    return map("add", "residual_1", {g, dInput}, hiddenBytes());
  }

  size_t layers;
  int64_t model, heads, sequence, batch, vocabulary;
  StepBuilder step;
  std::string scope;
  bool inBackward = false;
  ValueId ids, labels, embedding, finalNorm;
  std::vector<LayerWeights> weights;
  std::vector<LayerValues> saved;
  std::vector<ValueId> results;
};

} // namespace

Expected<Graph> remat::generateTransformer(std::string_view graphName, const Knobs &knobs) {
  Transformer transformer(graphName, knobs);
  if (auto error = transformer.check())
    return std::move(*error);
  return transformer.generate();
}
