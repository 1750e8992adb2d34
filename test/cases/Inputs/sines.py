"""Writes a chain of N sines and its backward part: sines.py json N (256 KiB values, a planner graph) or sines.py mlir N (tensor<8xf32>)."""
import json
import sys


def planner_graph(n):
    def op(name, kind, phase, operands, size, op_class="elementwise"):
        return {"name": name, "op": kind, "class": op_class, "phase": phase, "operands": operands,
                "results": [{"name": name, "bytes": size}], "cost_ns": 1, "flops": 1}
    value = lambda i: f"h{i}" if i else "x"
    ops = [op(value(i), "sin", "forward", [value(i - 1)], 262144) for i in range(1, n + 1)]
    ops.append(op("loss", "sum", "forward", [value(n)], 4, "reduction"))
    ops.append(op(f"g{n}", "ones", "backward", [], 262144))
    ops += [op(f"g{i}", "sin_bwd", "backward", [value(i), f"g{i + 1}"], 262144) for i in reversed(range(n))]
    return {"schema": 1, "name": f"sines{n}", "arguments": [{"name": "x", "bytes": 262144}], "ops": ops, "results": ["loss", "g0"]}


def module(n):
    value, unary, binary = "tensor<8xf32>", "(tensor<8xf32>) -> tensor<8xf32>", "(tensor<8xf32>, tensor<8xf32>)"
    yield f"func.func @main(%h0: {value}) -> (tensor<f32>, {value}) {{"
    for i in range(n):
        yield f'  %h{i + 1} = "stablehlo.sine"(%h{i}) : {unary}'
    yield f'  %loss = "stablehlo.dot"(%h{n}, %h{n}) : {binary} -> tensor<f32>'
    yield f'  %g{n} = "stablehlo.cosine"(%h{n}) : {unary}'
    for i in reversed(range(n)):
        yield f'  %c{i} = "stablehlo.cosine"(%h{i}) : {unary}'
        yield f'  %g{i} = "stablehlo.multiply"(%c{i}, %g{i + 1}) : {binary} -> {value}'
    yield f"  return %loss, %g0 : tensor<f32>, {value}\n}}"


kind, count = sys.argv[1], int(sys.argv[2])
if kind == "json":
    json.dump(planner_graph(count), sys.stdout)
else:
    sys.stdout.writelines(line + "\n" for line in module(count))
