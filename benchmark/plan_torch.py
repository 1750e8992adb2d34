#!/usr/bin/env python3
"""Traces GPT-2's training step with PyTorch, and has PyTorch's partitioner plan it; plan.py --torch runs it.

usage: plan_torch.py --layers N --out DIR [--budgets B,B,...]

  --layers   of GPT-2 (width 768, 12 heads, 50,257 words, 4 sequences of 512)
  --budgets  activation_memory_budget, the share of the saved bytes that PyTorch allows itself (default: 1,0.7,0.5,0.3)
  --out      where graph.json, a plan-B.json for every budget and facts.json (ops, seconds) are written

Needs torch (plan-requirements.txt); nothing is computed, tensors have shapes only. The graph is the joint graph that
torch.compile cuts in two, with inductor's decompositions. Of it are made, by the same rules as the graphs of
shared/instances/aten: an op for every node that computes (a view has no bytes and is its base), float32 bytes,
2mnk FLOPs for a dot and one for an element of anything else, time by a roofline of 19.5 TFLOP/s and 1.5 TB/s, and
gradients of parameters with 0 bytes, for they have a place of their own. A plan is what the partitioner's two graphs
run, the forward graph first, each in PyTorch's order. The seconds are those of the partitioner alone.
"""
import argparse
import copy
import json
import math
import pathlib
import time

import torch
import torch.nn.functional as F
from torch._functorch import config, partitioners
from torch._functorch.aot_autograd import aot_function
from torch._functorch.compile_utils import fx_graph_cse
from torch._inductor.decomposition import select_decomp_table
from torch._subclasses import FakeTensorMode

WIDTH, HEADS, WORDS, BATCH, LENGTH = 768, 12, 50257, 4, 512
FLOPS_PER_NS, BYTES_PER_NS = 19.5e3, 1.5e3
DOTS = {"mm", "bmm", "addmm", "baddbmm"}
REDUCTIONS = {"sum", "mean", "var_mean", "amax"}
# They make no bytes: their result lies in their first operand.
VIEWS = {"view", "_unsafe_view", "reshape", "permute", "transpose", "t", "expand", "unsqueeze", "squeeze", "select",
         "slice", "split", "split_with_sizes", "alias", "detach", "as_strided", "getitem"}


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, mask):
        q, k, v = (t.view(BATCH, LENGTH, HEADS, -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).split(WIDTH, 2))
        scores = (q @ k.transpose(2, 3)) / math.sqrt(WIDTH // HEADS) + mask
        attended = (F.softmax(scores, -1) @ v).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)
        x = x + self.out(attended)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt2(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(WORDS, WIDTH), torch.nn.Embedding(LENGTH, WIDTH)
        self.blocks = torch.nn.ModuleList(Block() for _ in range(layers))
        self.norm = torch.nn.LayerNorm(WIDTH)

    def forward(self, tokens, targets):
        place = torch.arange(LENGTH)
        x = self.words(tokens) + self.places(place)
        mask = torch.where(place[:, None] >= place[None], 0.0, -math.inf)
        for block in self.blocks:
            x = block(x, mask)
        logits = self.norm(x) @ self.words.weight.T
        return F.cross_entropy(logits.view(-1, WORDS), targets.view(-1))


class Traced(Exception):
    """Ends compilation once the partitioner would run; carries its arguments."""


def trace(layers):
    """The joint graph and how the partitioner is called for it."""
    def stop(joint, inputs, **keywords):
        raise Traced(joint, inputs, keywords)

    with FakeTensorMode():
        model = Gpt2(layers)
        parameters = dict(model.named_parameters())
        step = lambda parameters, *data: torch.func.functional_call(model, parameters, data)
        data = [torch.zeros(BATCH, LENGTH, dtype=torch.int64) for _ in range(2)]
        compiled = aot_function(step, fw_compiler=lambda g, _: g, bw_compiler=lambda g, _: g, partition_fn=stop,
                                decompositions=select_decomp_table())
        try:
            compiled(parameters, *data)
        except Traced as traced:
            joint, inputs, keywords = traced.args
    # The partitioner begins so too; a plan's ops must be those of the graph.
    joint.graph.eliminate_dead_code()
    joint.graph = fx_graph_cse(joint.graph)
    joint.recompile()
    return joint, inputs, keywords


def name_of(node):
    """aten.mm.default is mm."""
    target = node.target
    return target.overloadpacket.__name__ if isinstance(target, torch._ops.OpOverload) else target.__name__


def is_view(node):
    return node.op == "call_function" and name_of(node) in VIEWS


def base(node):
    """The node whose bytes hold this one's value."""
    while is_view(node):
        node = node.args[0]
    return node


def tensors(node):
    value = node.meta["val"]
    return [t for t in (value if isinstance(value, (tuple, list)) else [value]) if isinstance(t, torch.Tensor)]


def bytes_of(node):
    return sum(t.numel() * t.element_size() for t in tensors(node))


def elements(node):
    return sum(t.numel() for t in tensors(node))


def flops(node):
    name = name_of(node)
    if name not in DOTS:
        return elements(node)
    return 2 * elements(node) * tensors(node.args[-2])[0].shape[-1]


def kind(name):
    return "dot" if name in DOTS else "reduction" if name in REDUCTIONS else "elementwise"


def planner_graph(joint, num_forward_outputs, name):
    """The joint graph as the planner reads it."""
    outputs = [base(n) if isinstance(n, torch.fx.Node) else None for n in joint.graph.output_node().args[0]]
    gradients = {n for n in outputs[num_forward_outputs:] if n}
    forward = needs(outputs[:num_forward_outputs])
    ops, arguments = [], []
    for node in joint.graph.nodes:
        if node.op == "placeholder":
            arguments.append({"name": node.name, "bytes": bytes_of(node)})
        if node.op != "call_function" or is_view(node):
            continue
        moved = bytes_of(node) + sum(bytes_of(n) for n in node.all_input_nodes)
        ops.append({"name": node.name, "op": name_of(node), "class": kind(name_of(node)),
                    "phase": "forward" if node in forward else "backward",
                    "operands": list(dict.fromkeys(base(n).name for n in node.all_input_nodes)),
                    "results": [{"name": node.name, "bytes": 0 if node in gradients else bytes_of(node)}],
                    "cost_ns": round(max(flops(node) / FLOPS_PER_NS, moved / BYTES_PER_NS), 3), "flops": flops(node)})
    return {"schema": 1, "name": name, "arguments": arguments, "ops": ops,
            "results": list(dict.fromkeys(n.name for n in outputs if n))}


def needs(outputs):
    """The nodes that outputs are computed from, themselves included."""
    found, waiting = set(), [n for n in outputs if n]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.all_input_nodes
    return found


def steps(module):
    return [n.name for n in module.graph.nodes if n.op == "call_function" and not is_view(n)]


def partition(joint, inputs, keywords, budget):
    """PyTorch's plan for one budget, and its seconds."""
    config.activation_memory_budget = budget
    joint = copy.deepcopy(joint)
    start = time.perf_counter()
    halves = partitioners.min_cut_rematerialization_partition(joint, inputs, **keywords)
    seconds = time.perf_counter() - start
    return [name for half in halves for name in steps(half)], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--budgets", default="1,0.7,0.5,0.3")
    options = parser.parse_args()
    start = time.perf_counter()
    joint, inputs, keywords = trace(options.layers)
    facts = {"torch": torch.__version__, "trace_seconds": time.perf_counter() - start, "seconds": {}}
    graph = planner_graph(joint, keywords["num_fwd_outputs"], f"gpt2_{options.layers}")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "graph.json").write_text(json.dumps(graph))
    for budget in options.budgets.split(","):
        ops, facts["seconds"][budget] = partition(joint, inputs, keywords, float(budget))
        plan = {"schema": 1, "graph": graph["name"], "steps": [{"op": op} for op in ops]}
        (options.out / f"plan-{budget}.json").write_text(json.dumps(plan))
        (options.out / "facts.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
