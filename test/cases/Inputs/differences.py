"""Writes R085's rule for N chains: x + c for each, differences of neighbours N - 1 times over, and a sum of the first of each row's."""
import json
import sys

n, rows = int(sys.argv[1]), 4


def op(name, kind, operands):
    return {"name": name, "op": kind, "class": "elementwise", "phase": "forward", "operands": operands,
            "results": [{"name": name, "bytes": 64}], "cost_ns": 1, "flops": 16}


ops, firsts = [op(f"r0_{i}", "addc", ["x"]) for i in range(n)], ["r0_0"]
for r in range(1, rows):
    ops += [op(f"r{r}_{i}", "sub", [f"r{r - 1}_{i}", f"r{r - 1}_{r - 1}"]) for i in range(r, n)]
    firsts.append(f"r{r}_{r}")
ops.append(op("loss", "sumall", firsts))
ops.append(dict(op("g", "ones", []), phase="backward"))
ops += [dict(op(f"g{i}", "mul", ["g", f"r{rows - 1}_{i}"]), phase="backward") for i in range(rows - 1, n)]
json.dump({"schema": 1, "name": f"differences{n}", "arguments": [{"name": "x", "bytes": 64}], "ops": ops,
           "results": ["loss"] + [f"g{i}" for i in range(rows - 1, n)]}, sys.stdout)
