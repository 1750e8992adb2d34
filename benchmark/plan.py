#!/usr/bin/env python3
"""Plans instances of the literature under memory limits and prints the tables of docs/Results.md.

usage: plan.py [--bin DIR] [--shared DIR] [--parts LIST] [--only REGEX] [--effort N] [--torch PYTHON]
               [--layers N,N,...] [--budgets B,B,...] [--ops N,N,...] [--write docs/Results.md]

  --bin     where the tools are (default: build/bin)
  --shared  the folder of instances/ and tools/check_plan.py (default: ../shared)
  --parts   what to run (default: limits,arena,large and, with --torch, torch)
  --only    only rows whose name matches; a row's name is as in the table, such as 'rlg2 80 %'
  --effort  of the searches, in percent (default: 100)
  --torch   a Python with plan-requirements.txt: plans GPT-2 with PyTorch's partitioner too
  --layers  of those GPT-2s (default: 12,24,48,96)
  --budgets that PyTorch plans them for: activation_memory_budget (default: 1,0.7,0.5,0.3)
  --ops     of the generated graphs (default: 100000,1000000)
  --write   replaces the text between the marks `<!-- begin plan -->` and `<!-- end plan -->` of the file

Costs are roofline times, but FLOPs where the row says so. Overhead and bound are shares of the cost of every op once;
the bound holds for every plan that keeps the given order, and the gap is what lies between. Seconds are those of the
whole process, reading and writing included. Every plan is replayed by check_plan.py, which knows none of the planner:
its peak must be within the limit and its overhead the report's, and packings are looked at for overlaps. Published
figures were measured by their authors on their machines, in the given order; planning.md of the shared folder says
where each was read. The load is the system's average over a minute at the start and at the end.
"""
import argparse
import concurrent.futures
import csv
import dataclasses
import importlib.util
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from results import ROOT, mib, row, write

SAME_COST = 1e-6  # Percent: costs are sums of floats, and check_plan.py adds them in another order.


@dataclasses.dataclass(frozen=True)
class Case:
    """An instance under limits: (percent of the given order's peak, goal, what others reach)."""
    instance: str
    limits: tuple
    flops: bool = False


MOCCASIN = "Moccasin {} % in {} s"
CHECKMATE = "Checkmate {} % in {} s"
PYTORCH = "PyTorch 2.13 {} %"
GREEDY = "greedy {} %"
CASES = [
    Case("fcn8", ((90, "proven, < 2 s", f"{CHECKMATE.format('0.0', 6.3)}, {MOCCASIN.format('0.0', 3.1)}"),
                  (80, "proven, < 2 s", f"{CHECKMATE.format(0.1, 5.6)}, {MOCCASIN.format(0.1, 3.1)}"))),
    Case("unet", ((90, "proven, < 2 s", "–"), (80, "proven, < 2 s", "–"), (70, "–", "–"), (50, "–", "–"))),
    Case("vgg19", ((80, "–", "–"),)),
    Case("resnet50", ((90, "proven, < 2 s", f"{CHECKMATE.format(0.1, 434.1)}, {MOCCASIN.format(0.2, 65.2)}"),
                      (80, "≤ 0.291 %", f"{CHECKMATE.format(0.3, 485.3)}, {MOCCASIN.format(0.3, 69.3)}"))),
    Case("rlg2", ((90, "≤ 0.90 %, < 5 s; free 0 %", f"{CHECKMATE.format(0.9, 685.1)}, {MOCCASIN.format(0.9, 55.0)}"),
                  (80, "≤ 4.2 %, < 5 s; free 0 %", f"Checkmate none, {MOCCASIN.format(4.9, 639.5)}"))),
    Case("rlg4", ((90, "≤ 0.6 %, < 30 s; free ≤ 0.2 %", f"Checkmate none, {MOCCASIN.format(0.7, 3612.9)}"),
                  (80, "≤ 2.7 %, < 30 s; free ≤ 2.3 %", f"Checkmate none, {MOCCASIN.format(3.4, 3611.8)}"))),
    Case("aten/gpt2s_decomp", ((49, "≤ 6.5 %, < 10 s", f"{PYTORCH.format(10)}, {GREEDY.format(7.6)}"),
                               (40, "–", f"PyTorch none, {GREEDY.format(12.4)}"),
                               (35, "–", f"PyTorch none, {GREEDY.format(16)}"),
                               (30, "≤ 15 %, < 10 s", "PyTorch none, annealer 21.2 %"),
                               (25, "infeasible", "–"))),
    Case("aten/resnet50_decomp", ((50, "≤ 7 %", f"{PYTORCH.format(12.5)}, {GREEDY.format(7.7)}"),
                                  (30, "≤ 22 %", "PyTorch none, annealer 24.2 %"))),
    Case("aten/bert_decomp", ((57, "≤ 5 %", PYTORCH.format(14)), (35, "≤ 18 %", "PyTorch none"),
                              (30, "infeasible", "–"))),
    Case("aten/vgg16", ((60, "≤ 0.203 %", "CP solver 0.203 % (forward only), PyTorch none"),), flops=True),
    Case("aten/unet", ((50, "≤ 9.9 %", "CP solver 15.4 % (forward only), annealer 9.95 %, PyTorch none"),),
         flops=True),
]
# minimalloc's challenge, and how far above the capacity the best of three first-fit orders ends (planning.md).
CAPACITY = 1_048_576
FIRST_FIT = dict(zip("ABCDEFGHIJK", (1.290, 1.355, 1.352, 1.178, 1.369, 1.356, 1.356, 1.293, 1.410, 1.244, 1.290)))
OPS_OF_A_LAYER = 36  # Of --generate=transformer.
LARGE_GOAL = {100_000: "< 2 s, < 1 GB", 1_000_000: "< 30 s, < 1 GB"}


class Wrong(Exception):
    """A plan that is not what its report says."""


@dataclasses.dataclass
class Run:
    code: int
    messages: str
    seconds: float
    user_seconds: float
    rss: int

    def why(self):
        """The error in a few words."""
        first = self.messages.splitlines()[0] if self.messages else f"exit {self.code}"
        floor = re.search(r"needs at least (\d+)", first)
        return f"infeasible: needs {mib(int(floor[1]))} MiB" if floor else first.removeprefix("remat-plan: error: ")


def start_tool(command):
    with tempfile.TemporaryFile("w+") as messages:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        return Run(process.returncode, messages.read(), seconds, used.ru_utime, used.ru_maxrss * 1024)


class Bench:
    def __init__(self, options):
        self.options, self.wrong = options, []
        # Linux counts what the starting process had in memory as the started one's; this one holds large graphs.
        spawn = multiprocessing.get_context("spawn")
        self.starter = concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn)
        self.instances = options.shared / "instances"
        spec = importlib.util.spec_from_file_location("check_plan", options.shared / "tools" / "check_plan.py")
        self.judge = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.judge)

    def wants(self, name):
        return re.search(self.options.only, name)

    def tool(self, name, *arguments):
        """One run: a Run; a failure of the tool is a result too."""
        return self.starter.submit(start_tool, [str(word) for word in [self.options.bin / name, *arguments]]).result()

    def overhead(self, graph, plan, limit, flops=False):
        """Of a plan file in percent, and its peak, by check_plan.py alone."""
        if flops:
            graph = dict(graph, ops=[dict(op, cost_ns=op["flops"]) for op in graph["ops"]])
        order = [op["name"] for op in graph["ops"]]
        steps = [step["op"] for step in json.loads(plan.read_text())["steps"]]
        _, _, once, _ = self.judge.replay(graph, order)
        try:
            peak, _, cost, _ = self.judge.replay(graph, steps)
        except ValueError as illegal:
            raise Wrong(str(illegal)) from None
        if limit and peak > limit:
            raise Wrong(f"peak {peak} above the limit {limit}")
        return 100 * (cost - once) / once, peak

    def plan(self, graph, source, flags, flops=False, effort=None):
        """Runs remat-plan and replays what it made: (Run, report, peak in bytes); no report where there is no plan.
        `graph` may be a function, for a graph that is too large to lie around while others are measured."""
        with tempfile.TemporaryDirectory() as name:
            plan, report = pathlib.Path(name) / "plan.json", pathlib.Path(name) / "report.json"
            run = self.tool("remat-plan", source, *flags, "-o", plan, f"--report={report}",
                            f"--effort={effort or self.options.effort}")
            if run.code:
                return run, None, None
            made = json.loads(report.read_text())
            graph = graph() if callable(graph) else graph
            overhead, peak = self.overhead(graph, plan, made["memory_limit_bytes"], flops)
        if abs(overhead - 100 * made["overhead_flops" if flops else "overhead_cost"]) > SAME_COST:
            raise Wrong(f"overhead {overhead} % is not the report's")
        if peak != made["after"]["peak_bytes"]:
            raise Wrong(f"peak {peak} is not the report's")
        made["overhead_percent"] = overhead
        return run, made, peak

    def failed(self, name, wrong):
        self.wrong.append(f"{name}: {wrong}")
        return f"WRONG: {wrong}"


def percent(value):
    """0 without digits after the point: sums of floats apart, it is exact."""
    return "0 %" if abs(value) < SAME_COST else f"{value:.4f} %"


def is_proven(report):
    gap = report["lower_bound"]["gap"]
    return gap is not None and 100 * gap < SAME_COST


def table(heads, rows):
    return [row(heads), row(["---"] * len(heads)), *rows]


def note_progress(line):
    print(line, file=sys.stderr, flush=True)  # It takes minutes: what there is so far.
    return line


def limit_cells(bench, name, graph, path, flags, flops):
    """Both orders of one row: (cells, cells); the bound is of the given order."""
    given, free = [], []
    for order, cells in (("given", given), ("free", free)):
        try:
            run, report, peak = bench.plan(graph, path, [*flags, f"--order={order}"], flops)
        except Wrong as wrong:
            cells += [bench.failed(f"{name}, {order}", wrong)] + ["–"] * (4 if order == "given" else 1)
            continue
        seconds = f"{run.seconds:.1f}"
        if order == "free":
            free += [percent(report["overhead_percent"]) if report else run.why(), seconds]
        elif report:
            gap = 100 * report["lower_bound"]["gap"]
            bound = max(report["overhead_percent"] - gap, 0)
            given += [percent(report["overhead_percent"]), percent(bound),
                      "proven" if is_proven(report) else percent(gap), seconds,
                      f"{peak / report['memory_limit_bytes']:.4f}"]
        else:
            given += [run.why(), "–", "–", seconds, "–"]
    return given + free


def limits(bench):
    heads = ["instance, limit", "overhead", "bound", "gap", "s", "peak / limit", "free order", "s", "goal",
             "published or tried before"]
    lines, missing = [], []
    for case in bench.options.cases:
        path, graph = bench.instances / f"{case.instance}.json", None
        if not path.exists():
            missing.append(case.instance)
            continue
        for share, goal, others in case.limits:
            name = f"{case.instance} {share} %" + ", FLOPs" * case.flops
            if not bench.wants(name):
                continue
            graph = graph or json.loads(path.read_text())
            flags = [f"--memory-limit={share}%", "--cost=flops" if case.flops else "--cost=time"]
            cells = limit_cells(bench, name, graph, path, flags, case.flops)
            lines.append(note_progress(row([name, *cells, goal, others])))
    return table(heads, lines) + skipped(missing)


def skipped(names):
    return ["", f"Skipped, for there is no such file: {', '.join(names)}."] if names else []


def most_alive(buffers):
    """The bytes of the worst moment."""
    changes = {}
    for buffer in buffers:
        changes[buffer["lower"]] = changes.get(buffer["lower"], 0) + buffer["size"]
        changes[buffer["upper"]] = changes.get(buffer["upper"], 0) - buffer["size"]
    alive = most = 0
    for moment in sorted(changes):
        alive += changes[moment]
        most = max(most, alive)
    return most


def check_packing(buffers):
    """Every buffer within the capacity, and none over another that is alive with it."""
    for i, one in enumerate(buffers):
        if one["offset"] < 0 or one["offset"] + one["size"] > CAPACITY:
            raise Wrong(f"buffer {one['id']} is outside of the arena")
        for other in buffers[:i]:
            together = one["lower"] < other["upper"] and other["lower"] < one["upper"]
            below = one["offset"] + one["size"] <= other["offset"]
            above = other["offset"] + other["size"] <= one["offset"]
            if together and not below and not above:
                raise Wrong(f"buffers {one['id']} and {other['id']} overlap")


def read_buffers(path):
    with open(path) as file:
        lines = list(csv.DictReader(file))
    return [{key: value if key == "id" else int(value) for key, value in line.items()} for line in lines]


def arena(bench):
    heads = ["arena of 1,048,576", "buffers", "most alive / capacity", "packed", "s", "goal",
             "first fit, best of three"]
    lines, missing = [], []
    for letter, first_fit in FIRST_FIT.items():
        path, name = bench.instances / "arena" / f"{letter}.csv", f"arena/{letter}"
        if not bench.wants(name):
            continue
        if not path.exists():
            missing.append(name)
            continue
        buffers = read_buffers(path)
        with tempfile.TemporaryDirectory() as directory:
            out = pathlib.Path(directory) / "out.csv"
            run = bench.tool("remat-pack", path, f"--capacity={CAPACITY}", "-o", out)
            packed = "yes"
            try:
                if run.code:
                    raise Wrong(run.messages.splitlines()[0])
                placed = read_buffers(out)
                if sorted((b["id"], b["lower"], b["upper"], b["size"]) for b in placed) != \
                        sorted((b["id"], b["lower"], b["upper"], b["size"]) for b in buffers):
                    raise Wrong("buffers are not those of the instance")
                check_packing(placed)
            except Wrong as wrong:
                packed = bench.failed(name, wrong)
        lines.append(note_progress(row([name, len(buffers), f"{most_alive(buffers) / CAPACITY:.3f}", packed,
                                        f"{run.seconds:.2f}", "< 1 s", f"{first_fit:.3f} of the capacity"])))
    return table(heads, lines) + skipped(missing)


def large(bench):
    heads = ["generated, 80 %", "order", "ops", "overhead", "bound", "peak / limit", "s", "of it planning", "user s",
             "MiB", "goal"]
    lines = []
    for ops in bench.options.ops:
        # A million ops of the usual width have more FLOPs than fit.
        width = ",dmodel=128,heads=4,seq=128,batch=1" if ops > 500_000 else ""
        for kind in (f"layered:n={ops},seed=1", f"transformer:layers={ops // OPS_OF_A_LAYER}{width}"):
            for order in ("given", "free"):
                if bench.wants(kind):
                    lines.append(note_progress(large_row(bench, kind, order, LARGE_GOAL.get(ops, "–"))))
    return table(heads, lines)


def large_row(bench, kind, order, goal):
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "graph.json"

        def graph():
            made = bench.tool("remat-plan", f"--generate={kind}", "--emit=graph-json", "-o", path)
            if made.code:
                raise Wrong(made.messages)
            return json.loads(path.read_text())

        try:
            run, report, peak = bench.plan(graph, f"--generate={kind}", ["--memory-limit=80%", f"--order={order}"])
        except Wrong as wrong:
            return row([kind, order, "–", bench.failed(f"{kind}, {order}", wrong)] + ["–"] * 6 + [goal])
    if not report:
        return row([kind, order, "–", run.why(), "–", "–", f"{run.seconds:.1f}", "–", f"{run.user_seconds:.1f}",
                    mib(run.rss), goal])
    bound = max(report["overhead_percent"] - 100 * report["lower_bound"]["gap"], 0)
    return row([kind, order, f"{report['ops']:,}", percent(report["overhead_percent"]), percent(bound),
                f"{peak / report['memory_limit_bytes']:.4f}", f"{run.seconds:.1f}", f"{report['plan_seconds']:.1f}",
                f"{run.user_seconds:.1f}", mib(run.rss), goal])


# How ours plan what PyTorch has planned: (name, order, effort; none: that of the other tables).
TURNS = [("given order", "given", None), ("given, effort 1", "given", 1), ("free order", "free", None)]


def torch(bench):
    """PyTorch's partitioner and ours on the same joint graphs, at the peaks that PyTorch's plans have."""
    heads = ["GPT-2, layers", "ops", "PyTorch's budget", "peak", "of given order's", "PyTorch's overhead", "s"]
    for name, *_ in TURNS:
        heads += [f"ours, {name}", "s"]
    lines, versions = [], set()
    for layers in bench.options.layers:
        if not bench.wants(f"gpt2 {layers} layers"):
            continue
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            command = [bench.options.torch, "-W", "ignore", ROOT / "benchmark" / "plan_torch.py",
                       f"--layers={layers}"]
            made = subprocess.run([*command, f"--out={directory}", f"--budgets={bench.options.budgets}"],
                                  stderr=subprocess.PIPE, text=True)
            if made.returncode:
                sys.exit(f"plan.py: error: plan_torch.py failed\n{made.stderr}")
            facts = json.loads((directory / "facts.json").read_text())
            versions.add(facts["torch"])
            graph = json.loads((directory / "graph.json").read_text())
            for budget, seconds in facts["seconds"].items():
                lines.append(note_progress(torch_row(bench, layers, graph, directory, budget, seconds)))
    note = (f"PyTorch {', '.join(sorted(versions))}; its seconds are the partitioner's alone, ours the whole "
            "process's, followed by how many times less they are.")
    return table(heads, lines) + ["", note]


def torch_row(bench, layers, graph, directory, budget, seconds):
    theirs, peak = bench.overhead(graph, directory / f"plan-{budget}.json", None)
    base = bench.judge.replay(graph, [op["name"] for op in graph["ops"]])[0]
    cells = [layers, f"{len(graph['ops']):,}", budget, f"{mib(peak)} MiB", f"{100 * peak / base:.1f} %",
             percent(theirs), f"{seconds:.1f}"]
    for name, order, effort in TURNS:
        flags = [f"--memory-limit={peak}", f"--order={order}"]
        try:
            run, report, _ = bench.plan(graph, directory / "graph.json", flags, effort=effort)
            cells += [percent(report["overhead_percent"]) if report else run.why(),
                      f"{run.seconds:.1f} ({seconds / run.seconds:.1f})"]
        except Wrong as wrong:
            cells += [bench.failed(f"gpt2 {layers} layers, budget {budget}, {name}", wrong), "–"]
    return row(cells)


PARTS = {"limits": limits, "arena": arena, "large": large, "torch": torch}


def numbers(text):
    return [int(word) for word in text.split(",")]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--parts", type=lambda text: text.split(","))
    parser.add_argument("--only", default="")
    parser.add_argument("--effort", type=int, default=100)
    parser.add_argument("--torch")
    parser.add_argument("--layers", type=numbers, default=[12, 24, 48, 96])
    parser.add_argument("--budgets", default="1,0.7,0.5,0.3")
    parser.add_argument("--ops", type=numbers, default=[100_000, 1_000_000])
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    options.parts = options.parts or ["limits", "arena", "large"] + ["torch"] * bool(options.torch)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))} (there are {', '.join(PARTS)})")
    if "torch" in options.parts and not options.torch:
        parser.error("the part torch needs --torch=PYTHON, one that has plan-requirements.txt")
    if not (options.shared / "tools" / "check_plan.py").exists():
        parser.error(f"no tools/check_plan.py in {options.shared}, which confirms the plans")
    options.bin, options.cases = options.bin.resolve(), CASES
    return options


def main():
    bench = Bench(parse_arguments())
    load, texts = [os.getloadavg()[0]], []
    for part in bench.options.parts:
        texts.append("\n".join(PARTS[part](bench)))
        load.append(os.getloadavg()[0])
    texts.append(f"Load {min(load):.1f}–{max(load):.1f} on {len(os.sched_getaffinity(0))} processors; "
                 f"effort {bench.options.effort}.")
    text = "\n\n".join(texts)
    print(text)
    if bench.options.write:
        write(bench.options.write, "plan", text)
    if bench.wrong:
        sys.exit("plan.py: error: plans are not as reported: " + "; ".join(bench.wrong))


if __name__ == "__main__":
    main()
