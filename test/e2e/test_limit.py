"""Memory limits, from the flag to the rewritten program: what the report claims is what independent judges find. How
good plans are is what benchmark/plan.py looks at; here a little search is enough."""
import json
import math
import re
import signal
import subprocess
import time
from collections import Counter

import pytest

from conftest import ALL, BIN, corpus, remat_opt
from test_rewrites import inputs_of
from test_run import arguments, remat_run

CASES = {
    "gpt2.tiny": ("80%", "50%"),
    "bert_base.tiny": ("80%", "50%"),
    "resnet50.tiny": ("60%",),
    "moe.tiny": ("80%",),
    "lstm.tiny": ("95%",),
    "gpt2.tiny.raw": ("60%",),
    "gpt2_dropout.tiny.raw": ("60%",),
}
# XLA compiles them, which takes longer than all the rest.
RUN_BY_XLA = {("gpt2.tiny", "50%", "free"), ("lstm.tiny", "95%", "given")}


def find(name):
    for graph in corpus():
        if graph.name.split(".generic")[0] == name:
            return graph
    pytest.skip(f"needs {name} of the shared folder")


def effort(graph):
    """Seconds for everyone; a graph of thousands of ops takes as many in a hundredth."""
    return "--effort=1" if graph.stat().st_size > 400_000 else "--effort=5"


def plan(graph, directory, *flags):
    """Runs remat-opt: (rewritten file, report, plan)."""
    out, report, steps = directory / "out.mlir", directory / "report.json", directory / "plan.json"
    run = remat_opt(graph, effort(graph), *flags, "-o", out, f"--report={report}", f"--plan-out={steps}")
    assert run.returncode == 0, (flags, run.stderr)
    return out, json.loads(report.read_text()), json.loads(steps.read_text())


def planner_graph(graph, directory):
    path = directory / "graph.json"
    run = remat_opt(graph, "--emit=graph-json", "-o", path)
    assert run.returncode == 0, run.stderr
    return json.loads(path.read_text())


def check_replay(check_plan, graph, report, made):
    """The judge's peaks and costs are the report's; returns the plan's peak."""
    order, steps = [op["name"] for op in graph["ops"]], [step["op"] for step in made["steps"]]
    base_peak, _, base_cost, _ = check_plan.replay(graph, order)
    peak, _, cost, _ = check_plan.replay(graph, steps)
    assert base_peak == report["before"]["peak_bytes"]
    assert peak == report["after"]["peak_bytes"] == made["peak_bytes"]
    assert cost / base_cost - 1 == pytest.approx(report["overhead_cost"], abs=1e-9)
    works = [op["name"] for op in graph["ops"] if op["class"] not in ("constant", "view")]
    recomputed = sum(map(Counter(steps).get, works)) - len(works)
    assert recomputed == sum(op["times"] for op in report["recomputed"]) == report["recomputed_ops"]
    if report["order"] == "given":
        assert list(dict.fromkeys(steps)) == order, "first executions stand as they were"
    return peak


def check_bounds(report):
    """What is said to be proven is not below what was found, and the gap is the distance between the two."""
    bound, after = report["lower_bound"], report["after"]
    assert 0 < bound["peak_bytes"] <= after["peak_bytes"]
    base = report["before"]["cost_ns"]
    assert base <= bound["cost_ns"] * (1 + 1e-9) and bound["cost_ns"] <= after["cost_ns"] * (1 + 1e-9)
    assert bound["gap"] == pytest.approx((after["cost_ns"] - bound["cost_ns"]) / base, abs=1e-9)


@pytest.mark.parametrize("order", ["given", "free"])
@pytest.mark.parametrize("name, limit", [(name, limit) for name, limits in CASES.items() for limit in limits])
def test_keeps_the_limit(name, limit, order, judge, check_plan, tmp_path):
    """The plan's peak is within the limit, on the planner's graph and in the program that came out of it."""
    graph = find(name)
    out, report, made = plan(graph, tmp_path, f"--memory-limit={limit}", f"--order={order}")
    before, after = report["before"]["peak_bytes"], report["after"]["peak_bytes"]
    assert report["memory_limit_bytes"] == math.ceil(before * int(limit[:-1]) / 100) and report["order"] == order
    assert check_replay(check_plan, planner_graph(graph, tmp_path), report, made) <= report["memory_limit_bytes"]
    check_bounds(report)
    verdict = judge.compare(str(graph), str(out))
    assert verdict["ok"], verdict["reasons"]
    assert verdict["unguarded_clones"] <= 0
    assert verdict["peak_bytes"] == [before, after]
    if ALL or (name, limit, order) in RUN_BY_XLA:
        inputs = inputs_of(graph)
        verdict = judge.equal(str(graph), str(out), str(inputs) if inputs else None)
        assert verdict["ok"], (verdict["verdict"], verdict["worst"])


def test_more_memory_never_costs_more(tmp_path):
    """One ladder of limits is searched whatever the limit is; twice the same limit, the same plan."""
    graph, overheads = find("gpt2.tiny"), []
    for percent in (100, 90, 80, 65, 50):
        _, report, made = plan(graph, tmp_path, f"--memory-limit={percent}%", "--order=given")
        overheads.append(report["overhead_cost"])
    assert overheads == sorted(overheads) and overheads[0] == 0 < overheads[-1]
    assert plan(graph, tmp_path, "--memory-limit=50%", "--order=given")[2] == made


def test_device_memory_counts_arguments(tmp_path):
    """--device-memory=arguments + L is --memory-limit=L."""
    graph = find("gpt2.tiny")
    _, limited, made = plan(graph, tmp_path, "--memory-limit=60%", "--order=given")
    device = limited["resident_bytes"] + limited["memory_limit_bytes"]
    _, report, same = plan(graph, tmp_path, f"--device-memory={device}", "--order=given")
    assert report["memory_limit_bytes"] == limited["memory_limit_bytes"]
    assert same["steps"] == made["steps"]


def test_pareto(tmp_path):
    """From the cheapest to the smallest: every plan is larger and cheaper than the next."""
    graph = find("gpt2.tiny")
    _, report, _ = plan(graph, tmp_path, "--memory-limit=80%", "--pareto=6", "--order=given")
    front = [(point["overhead_cost"], point["peak_bytes"]) for point in report["pareto"]]
    assert 2 <= len(front) <= 6
    assert all(one[0] < next_[0] and one[1] > next_[1] for one, next_ in zip(front, front[1:]))


@pytest.mark.parametrize("order", ["given", "free"])
@pytest.mark.parametrize("name", ["gpt2.tiny", "resnet50.tiny", "lstm.tiny"])
def test_below_the_floor(name, order, check_plan, tmp_path):
    """The error names the floor and values that set it, and nothing is written."""
    graph = find(name)
    files = [tmp_path / file for file in ("out.mlir", "plan.json", "report.json")]
    given = planner_graph(graph, tmp_path)
    limit = check_plan.replay(given, [op["name"] for op in given["ops"]])[0] // 10
    run = remat_opt(graph, f"--memory-limit={limit}", f"--order={order}", "-o", files[0],
                    f"--plan-out={files[1]}", f"--report={files[2]}")
    assert run.returncode == 1 and not any(file.exists() for file in files)
    message = re.search(rf"error: no plan fits into {limit} bytes: .* needs at least (\d+)\n.*note: (.*)", run.stderr)
    assert message and int(message[1]) > limit, run.stderr
    sizes = {r["name"]: r["bytes"] for op in given["ops"] for r in op["results"]}
    named = re.findall(r"'([^']+)' \((\d+) bytes\)", message[2])
    assert named and all(sizes[value] == int(size) for value, size in named), run.stderr
    assert "must be alive" in message[2] and sum(int(size) for _, size in named) <= int(message[1])


def interrupt(command, seconds):
    """Runs a search that would take hours and ends it after some seconds: (exit code, messages)."""
    # Who was started in the background ignores the signal, and so would the search.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [str(word) for word in command]
    search = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    signal.signal(signal.SIGINT, handler)
    time.sleep(seconds)
    assert search.poll() is None, search.stderr.read()
    search.send_signal(signal.SIGINT)
    _, messages = search.communicate(timeout=60)
    return search.returncode, messages


@pytest.mark.parametrize("tool", ["remat-opt", "remat-plan"])
def test_interrupted(tool, check_plan, tmp_path):
    """SIGINT in the middle of a search: the best plan so far, whole."""
    graph = find("gpt2.tiny")
    given = planner_graph(graph, tmp_path)
    steps, report = tmp_path / "plan.json", tmp_path / "report.json"
    files = [graph, f"--plan-out={steps}", "-o", tmp_path / "o.mlir"]
    if tool == "remat-plan":
        files = [tmp_path / "graph.json", "-o", steps]
    flags = ["--memory-limit=70%", "--order=given", "--effort=1000000", f"--report={report}"]
    code, messages = interrupt([BIN / tool, *files, *flags], 4)
    assert code == 0, messages
    made, said = json.loads(steps.read_text()), json.loads(report.read_text())
    assert made["interrupted"] is True and said["interrupted"] is True
    assert check_replay(check_plan, given, said, made) <= said["memory_limit_bytes"]


@pytest.mark.parametrize("seconds", [0.1, 0.4])
def test_interrupted_at_once(seconds, check_plan, tmp_path):
    """Too early for a plan perhaps: then it is an error and nothing is written, else the plan is whole."""
    graph, steps = find("resnet50.tiny"), tmp_path / "plan.json"
    command = [BIN / "remat-opt", graph, "--memory-limit=50%", "--effort=1000000", "-o", tmp_path / "o.mlir",
               f"--plan-out={steps}"]
    code, messages = interrupt(command, seconds)
    files = [tmp_path / "o.mlir", steps]
    if code == 0:
        made = json.loads(steps.read_text())
        peak = check_plan.replay(planner_graph(graph, tmp_path), [step["op"] for step in made["steps"]])[0]
        assert made["interrupted"] is True and peak == made["peak_bytes"] and files[0].exists()
    else:
        # Before the search begins, nobody listens to the signal.
        assert code in (1, -signal.SIGINT) and not any(file.exists() for file in files), messages


@pytest.mark.parametrize("name, limit", [("gpt2.tiny", "60%"), ("moe.tiny", "80%"), ("mlp8.tiny", "70%")])
def test_runs_within_the_limit(name, limit, tmp_path):
    """What is measured is what was planned, the arena is within the limit, and the bits are the original's."""
    graph = find(name)
    flags = [f"--memory-limit={limit}", effort(graph), "--verify", "--threads=2"]
    report, _ = remat_run(graph, tmp_path, *flags, arguments(graph))
    assert report["measured_peak_bytes"] == report["planned_peak_bytes"] > 0
    assert report["planned_peak_bytes"] <= report["after"]["arena_bytes"] <= report["memory_limit_bytes"]
    assert report["verified"] is True
