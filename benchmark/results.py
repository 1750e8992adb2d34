#!/usr/bin/env python3
"""Plans every graph of the corpus under every policy and prints the tables of docs/Results.md.

usage: results.py [--bin DIR] [--graphs DIR] [--only REGEX] [--xla] [--write docs/Results.md]

  --bin     where the tools are (default: build/bin)
  --graphs  the corpus (default: ../shared/graphs)
  --only    only graphs whose name matches
  --xla     also compile graphs/bench with XLA:CPU, as they are, with jax.checkpoint and rewritten, and table XLA's own temp bytes
            (needs jax and tools/judge_mlir.py beside the corpus)
  --write   replaces the text between the marks `<!-- begin NAME -->` and `<!-- end NAME -->` of the file

Sizes are MiB of the peak and of the residuals under the memory model of docs/Planning.md; overhead is in FLOPs of dots and
everything else as the report counts them. Every plan is checked by the tool's verifier; nothing here is timed but the planning.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
POLICIES = ["save-everything", "save-nothing", "save-dots", "save-dots-no-batch-dims", "save-larger-than=1MiB"]
SCOPES = "scope:h[0-9]+"


def configurations(graph):
    for policy in POLICIES:
        for segments in ["none", "auto"] + ([SCOPES] if "scopes" in graph.name else []):
            if policy != "save-everything" or segments == "none":
                yield policy, segments
    yield "sqrt-n", None


def run(tool, graph, policy, segments, directory):
    """One run of remat-opt: (report, seconds); raises CalledProcessError with the tool's message."""
    report = directory / "report.json"
    command = [tool, graph, f"--policy={policy}", "-o", directory / "out.mlir", f"--report={report}"]
    if segments:
        command.append(f"--segments={segments}")
    start = time.monotonic()
    subprocess.run([str(x) for x in command], check=True, capture_output=True, text=True)
    return json.loads(report.read_text()), time.monotonic() - start


def mib(value):
    return f"{value / 2**20:,.1f}"


def row(cells):
    return "| " + " | ".join(str(c) for c in cells) + " |"


def corpus_table(tool, graphs):
    lines = [row(["graph", "ops", "policy", "segments", "peak MiB", "of save-everything", "residual MiB", "recomputed ops",
                  "overhead FLOPs", "overhead time"]), row(["---"] * 10)]
    slowest = (0, "")
    with tempfile.TemporaryDirectory() as name:
        for graph in graphs:
            for policy, segments in configurations(graph):
                report, seconds = run(tool, graph, policy, segments, pathlib.Path(name))
                slowest = max(slowest, (seconds, f"{graph.name} {policy}"))
                before, after = report["before"], report["after"]
                share = after["peak_bytes"] / before["peak_bytes"] if before["peak_bytes"] else 1
                lines.append(row([graph.name.split(".mlir")[0].replace(".generic", ""), report["ops"], policy, segments or "sqrt",
                                  mib(after["peak_bytes"]), f"{100 * share:.1f} %", mib(after["residual_bytes"]),
                                  report["recomputed_ops"], f"{100 * report['overhead_flops']:.2f} %",
                                  f"{100 * report['overhead_cost']:.2f} %"]))
    lines.append("")
    lines.append(f"Slowest run, reading and writing included: {slowest[0]:.2f} s ({slowest[1]}).")
    return "\n".join(lines)


def xla_table(tool, graphs):
    """XLA:CPU's temp bytes: as JAX exports the step, with jax.checkpoint where the corpus has it, and rewritten."""
    judge = ROOT.parent / "shared" / "tools" / "judge_mlir.py"

    def temp(path):
        out = subprocess.run([sys.executable, judge, "xla_memory", path], check=True, capture_output=True, text=True)
        return json.loads(out.stdout.splitlines()[-1])["temp_size_in_bytes"]

    settings = [("save-nothing", "none"), ("save-nothing", "auto"), ("save-dots", "none"), ("sqrt-n", None)]
    lines = [row(["graph", "as exported", "jax.checkpoint"] + [f"{p}, {s or 'sqrt'}" for p, s in settings]), row(["---"] * 7)]
    with tempfile.TemporaryDirectory() as name:
        for graph in graphs:
            if "_ckpt" in graph.name:
                continue
            checkpointed = graph.with_name(graph.name.replace(".bench", "_ckpt.bench", 1))
            cells = [graph.name.split(".bench")[0], mib(temp(graph)), mib(temp(checkpointed)) if checkpointed.exists() else "–"]
            for policy, segments in settings:
                run(tool, graph, policy, segments, pathlib.Path(name))
                cells.append(mib(temp(pathlib.Path(name) / "out.mlir")))
            lines.append(row(cells))
    return "\n".join(lines)


def write(path, name, text):
    document = path.read_text()
    pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.S)
    if not pattern.search(document):
        sys.exit(f"results.py: error: {path} has no marks for '{name}'")
    path.write_text(pattern.sub(lambda m: m[1] + text + "\n" + m[2], document))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--graphs", type=pathlib.Path, default=ROOT.parent / "shared" / "graphs")
    parser.add_argument("--only", default="")
    parser.add_argument("--xla", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    tool = options.bin / "remat-opt"

    def find(folder, pattern):
        return [g for g in sorted((options.graphs / folder).glob(pattern)) if re.search(options.only, g.name)]

    tables = {"corpus": corpus_table(tool, find("jax", "*.generic.mlir") + find("jax-raw", "*.mlir"))}
    if options.xla:
        tables["xla"] = xla_table(tool, find("bench", "*.bench.generic.mlir"))
    for name, text in tables.items():
        print(text, end="\n\n")
        if options.write:
            write(options.write, name, text)


if __name__ == "__main__":
    main()
