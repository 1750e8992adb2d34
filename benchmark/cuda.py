#!/usr/bin/env python3
"""Compiles training steps for a GPU, and runs them where there is one; prints the tables of docs/Results.md.

usage: cuda.py [--bin DIR] [--graphs DIR] [--only REGEX] [--limits LIST] [--device NAME] [--repeat N] [--write docs/Results.md]

  --bin     where the tools are (default: build/bin)
  --graphs  the corpus (default: ../shared/graphs)
  --only    only graphs whose name matches
  --limits  shares of the peak in percent; 100 is the step as it came (default: 100,50,30)
  --device  whose speeds make plans (default: sm_90)
  --repeat  timed runs on the GPU (default: 20)
  --write   replaces the text between the marks `<!-- begin NAME -->` and `<!-- end NAME -->` of the file

cuda: what the host asks of a GPU in one step: launches of kernels, calls of cuBLASLt and cuDNN, copies; one is asked for each cluster, dot
and convolution, and what takes more is named with its reason. cuda-runs: every step on the GPU of this machine; inputs are random, results
of tiny graphs are compared with the reference, and every step with the CPU's. Without a GPU it is skipped, and the table says so.
"""
import argparse
import collections
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from results import ROOT, mib, row, write


def run(*words, timeout=3600):
    start = time.monotonic()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout)
    return done, time.monotonic() - start


def name_of(graph):
    return graph.name.split(".generic")[0]


def limit_flags(limit):
    return [] if limit == 100 else [f"--memory-limit={limit}%"]


def reasons(calls):
    """What takes more than a call, by reason: how many, and the calls they take together."""
    found = collections.defaultdict(lambda: [0, 0])
    for exception in calls["exceptions"]:
        found[exception["reason"]][0] += exception["times"]
        found[exception["reason"]][1] += exception["times"] * exception["calls"]
    return found


def compile_table(options, graphs):
    lines = [row(["step", "limit", "arena MiB", "overhead", "clusters", "launches", "cuBLASLt", "cuDNN", "copies", "waits", "s"]),
             row(["---"] * 11)]
    named = collections.defaultdict(dict)
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory) / "report.json"
        for graph in graphs:
            for limit in options.limits:
                done, seconds = run(options.bin / "remat-opt", graph, *limit_flags(limit), "--emit=cubin", f"--device={options.device}",
                                    f"--report={report}", "-o", pathlib.Path(directory) / "step.cubin")
                if done.returncode:
                    message = re.sub(r".*error: ", "", done.stderr.strip().split("\n")[0])
                    lines.append(row([name_of(graph), f"{limit} %", message, *[""] * 8]))
                    continue
                made = json.loads(report.read_text())
                calls = made["gpu_calls"]
                for reason, (count, total) in reasons(calls).items():
                    named[reason].setdefault(name_of(graph), (count, total))
                lines.append(row([name_of(graph), f"{limit} %", mib(made["after"]["arena_bytes"]), f"{100 * made['overhead_cost']:.2f} %",
                                  calls["clusters"], calls["launches"], calls["cublaslt"], calls["cudnn"], calls["copies"], calls["waits"],
                                  f"{seconds:.1f}"]))
                print(lines[-1], file=sys.stderr)
    lines += ["", "One call each, but for:", ""]
    for reason, by_graph in sorted(named.items()):
        lines.append(f"- {reason}: " + ", ".join(f"{graph} {count} ({total} calls)" for graph, (count, total) in by_graph.items()))
    return "\n".join(lines)


def references(graph):
    """Flags for the arguments and for what the results must be."""
    arrays, expected = (graph.with_name(f"{name_of(graph)}.{kind}.npz") for kind in ("inputs", "outputs"))
    return [f"--inputs={arrays}", f"--expect={expected}"] if arrays.exists() and expected.exists() else ["--random-inputs=42"]


def run_table(options, graphs):
    lines = [row(["step", "limit", "step ms (median)", "arena MiB", "allocated as planned", "GPU memory grew by MiB", "error against CPU"]),
             row(["---"] * 7)]
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory) / "report.json"
        for graph in graphs:
            for limit in options.limits:
                verified = [] if ".full" in graph.name else ["--verify"]
                done, _ = run(options.bin / "remat-run", graph, *limit_flags(limit), "--device=cuda", f"--repeat={options.repeat}", *verified,
                              *references(graph), f"--report={report}")
                if "no CUDA driver" in done.stderr or "can't run steps on a GPU" in done.stderr:
                    return "Skipped: " + done.stderr.strip().split("\n")[0].replace("remat-run: error: ", "") + "."
                if done.returncode:
                    lines.append(row([name_of(graph), f"{limit} %", "WRONG: " + done.stderr.strip().replace("\n", "; "), *[""] * 4]))
                    continue
                made = json.loads(report.read_text())
                arena = made["after"]["arena_bytes"]
                error = made.get("max_error_against_cpu")
                lines.append(row([name_of(graph), f"{limit} %", f"{made['step_ms']['median']:.3f}", mib(arena),
                                  "yes" if made["measured_peak_bytes"] == arena else "NOT AS PLANNED", mib(made["device_growth_bytes"]),
                                  "–" if error is None else f"{error:.2g}"]))
                print(lines[-1], file=sys.stderr)
    return "\n".join(lines + ["", f"{datetime.date.today()}."])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--graphs", type=pathlib.Path, default=ROOT.parent / "shared" / "graphs")
    parser.add_argument("--only", default=r"^(gpt2|gpt2_scan|bert_base|bert_large|resnet50|unet)\.full|llama")
    parser.add_argument("--limits", type=lambda text: [int(limit) for limit in text.split(",")], default=[100, 50, 30])
    parser.add_argument("--device", default="sm_90")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    graphs = [graph for folder in ("jax", "bench") for graph in sorted((options.graphs.resolve() / folder).glob("*.generic.mlir"))]
    graphs = [graph for graph in graphs if re.search(options.only, graph.name)]
    if not graphs:
        sys.exit(f"cuda.py: error: no graphs in {options.graphs}")
    tables = {"cuda": compile_table(options, graphs), "cuda-runs": run_table(options, graphs)}
    for name, text in tables.items():
        print(text + "\n")
        if options.write:
            write(options.write, name, text)
    if any("WRONG" in text or "NOT AS PLANNED" in text for text in tables.values()):
        sys.exit("cuda.py: error: results or memory are not as expected")


if __name__ == "__main__":
    main()
