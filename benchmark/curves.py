#!/usr/bin/env python3
"""Plans full training steps under memory limits, as their clusters are stored, and prints tables of docs/Results.md.

usage: curves.py [--bin DIR] [--shared DIR] [--parts LIST] [--only REGEX] [--device NAME] [--write docs/Results.md]

  --bin     where the tools are (default: build/bin)
  --shared  the folder of graphs/ and tools/check_plan.py (default: ../shared)
  --parts   what to run (default: curves,claims,sqrt)
  --only    only graphs whose name matches
  --device  whose speeds make the costs (default: sm_90)
  --write   replaces the text between the marks `<!-- begin PART -->` and `<!-- end PART -->` of the file

curves: a Pareto curve in one run (--pareto), with a bound at each of its peaks. claims: what is quoted of recomputation
by layers, on the same models. sqrt: for every graph as it was written, sqrt-n, and our plan under a limit of the peak
that sqrt-n reaches. Overheads are shares of the roofline time, or FLOPs, of every op once, in the order as given but for
sqrt, since sqrt-n moves ops; every plan is replayed by check_plan.py, which knows none of the planner.
"""
import argparse
import json
import pathlib
import re
import tempfile

from plan import Bench, Wrong, note_progress, percent, table
from results import ROOT, mib, row, write

CURVES = ["gpt2", "bert_base", "bert_large", "resnet50"]
POINTS = 12
# (model, what is claimed of it, the peak that is left in percent, overhead in percent)
CLAIMS = [
    ("bert_base", "3 times the batch at +25 % time (Keras, per layer)", 100 / 3, 25),
    ("bert_large", "4 times the batch at +25 % time (Keras, per layer)", 25, 25),
    ("bert_large", "5 times less activation memory at +22.5 % time", 20, 15),
]


def full(bench, model):
    return bench.options.shared / "graphs" / "jax" / f"{model}.full.generic.mlir"


def clusters(bench, model, directory):
    """The graph of clusters of a full step: its file and what it holds."""
    path = directory / f"{model}.json"
    run = bench.tool("remat-run", full(bench, model), "--emit=graph-json", f"--device={bench.options.device}", "-o", path)
    if run.code:
        raise Wrong(run.messages)
    return path, json.loads(path.read_text())


def bound_at(bench, path, graph, peak):
    """What any plan in the given order with this peak costs at least, percent."""
    _, report, _ = bench.plan(graph, path, [f"--memory-limit={peak}", "--order=given"], effort=1)
    if not report:
        return None
    return max(0, report["overhead_percent"] - 100 * report["lower_bound"]["gap"])


def curve(bench, model):
    lines = []
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        path, graph = clusters(bench, model, directory)
        plans, report = directory / "plans.json", directory / "report.json"
        run = bench.tool("remat-plan", path, f"--pareto={POINTS}", "--order=given", "-o", plans, f"--report={report}")
        if run.code:
            raise Wrong(run.messages)
        points = json.loads(report.read_text())["pareto"]
        first = points[0]
        for plan, point in zip(json.loads(plans.read_text())["plans"], points, strict=True):
            one = directory / "one.json"
            one.write_text(json.dumps({"schema": 1, "graph": graph["name"], **plan}))
            overhead, peak = bench.overhead(graph, one, point["peak_bytes"])
            bound = 0 if point is first else bound_at(bench, path, graph, peak)
            lines.append(note_progress(row([
                model, mib(peak), f"{100 * peak / first['peak_bytes']:.1f} %", f"{overhead:.2f} %",
                "–" if bound is None else f"{bound:.2f} %",
                f"{100 * (point['flops'] - first['flops']) / first['flops']:.2f} %"])))
    lines.append(note_progress(row([f"{model}: {len(graph['ops'])} clusters, {run.seconds:.0f} s", "", "", "", "", ""])))
    return lines


def curves(bench):
    lines = []
    for model in CURVES:
        if bench.wants(model):
            lines += curve(bench, model)
    return table(["step", "peak MiB", "of the peak as given", "overhead", "bound", "overhead in FLOPs"], lines)


def claims(bench):
    lines = []
    for model, claim, share, goal in CLAIMS:
        if not bench.wants(model):
            continue
        with tempfile.TemporaryDirectory() as name:
            path, graph = clusters(bench, model, pathlib.Path(name))
            _, report, peak = bench.plan(graph, path, [f"--memory-limit={share:.3f}%", "--order=given"])
            if not report:
                raise Wrong(f"{model}: no plan")
            bound = max(0, report["overhead_percent"] - 100 * report["lower_bound"]["gap"])
            lines.append(note_progress(row([
                model, claim, f"{100 * peak / report['before']['peak_bytes']:.1f} %",
                f"{report['overhead_percent']:.2f} %", f"{bound:.2f} %", f"{100 * report['overhead_flops']:.2f} %",
                f"≤ {goal} %"])))
    return table(["step", "claimed", "peak, of the peak as given", "ours: overhead", "bound", "in FLOPs", "goal"], lines)


def sqrt(bench):
    lines = []
    for path in sorted((bench.options.shared / "graphs" / "jax").glob("*.generic.mlir")):
        model = path.name.removesuffix(".generic.mlir")
        if not bench.wants(model):
            continue
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            made, report = directory / "graph.json", directory / "report.json"
            run = bench.tool("remat-opt", path, "--emit=graph-json", f"--device={bench.options.device}", "-o", made)
            if run.code:
                raise Wrong(run.messages)
            run = bench.tool("remat-plan", made, "--policy=sqrt-n", "-o", directory / "plan.json", f"--report={report}")
            if run.code:
                raise Wrong(run.messages)
            theirs, graph = json.loads(report.read_text()), json.loads(made.read_text())
            peak, before = theirs["after"]["peak_bytes"], theirs["before"]["peak_bytes"]
            cells = [model, len(graph["ops"]), f"{100 * peak / before:.1f} %", percent(100 * theirs["overhead_cost"])]
            _, ours, _ = bench.plan(graph, made, [f"--memory-limit={peak}"], effort=10)
            if not ours or ours["overhead_percent"] > 100 * theirs["overhead_cost"] + 1e-6:
                cells.append(bench.failed(model, "sqrt-n is better"))
            else:
                cells.append(percent(ours["overhead_percent"]))
            lines.append(note_progress(row(cells)))
    return table(["graph", "ops", "peak of sqrt-n", "its overhead", "ours at that peak"], lines)


PARTS = {"curves": curves, "claims": claims, "sqrt": sqrt}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--only", default="")
    parser.add_argument("--device", default="sm_90")
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    options.effort = 100
    bench = Bench(options)
    for part in options.parts.split(","):
        lines = PARTS[part](bench)
        print("\n".join(lines))
        if options.write:
            write(options.write, part, "\n".join(lines))
    if bench.wrong:
        raise SystemExit("\n".join(bench.wrong))


if __name__ == "__main__":
    main()
