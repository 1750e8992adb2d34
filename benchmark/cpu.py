#!/usr/bin/env python3
"""Runs graphs/bench with XLA:CPU and with remat-run, side by side, and prints the tables of docs/Results.md.

usage: cpu.py [--bin DIR] [--graphs DIR] [--only REGEX] [--rounds N] [--steps N] [--write docs/Results.md]

  --bin     where the tools are (default: build/bin)
  --graphs  the corpus (default: ../shared/graphs); tools/judge_mlir.py lies beside it
  --only    only graphs whose name matches
  --rounds  how often everybody has a turn (default: 3), so that a machine that grows slower does so for all
  --steps   timed steps of a turn, after one that isn't timed (default: 4)
  --write   replaces the text between the marks `<!-- begin cpu -->` and `<!-- end cpu -->` of the file

Needs jax (test/e2e/requirements.txt). XLA:CPU has its default flags; "1 thread" is one processor for the whole
process, on both sides. Least and median time are the least and the median of the turns'. Peak memory is XLA's temp
and output bytes against our arena, which holds the results too; neither counts the arguments. The error is that of
the checksums in expect.json, against f64, as a share of what is allowed: 30 times what computing in f32 costs, at
least 1e-5; the largest of all numbers of threads. More than 1 is an error of this program, but not where it is XLA's,
whose resnet50 is 7 times too far off on 1 thread (where the input of a ReLU is near 0, rounding decides). The load is
the system's average over a minute, this program's own share included.
"""
import argparse
import importlib.util
import json
import multiprocessing
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from results import ROOT, mib, row, write

POLICIES = [("save-everything", None), ("sqrt-n", None)]
# What a whole extra forward pass costs is asked of one graph.
OVERHEAD = ("save-nothing", "auto")


def policies(graph):
    return POLICIES + [OVERHEAD] * graph.name.startswith("gpt2.")


def beside(graph, suffix):
    return graph.with_name(graph.name.replace(".generic.mlir", suffix))


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def error_of_allowed(graph, arrays):
    """The worst output's distance from the checksums of f64, relative to what is allowed."""
    rules, expected, worst = load(graph.parent / "inputs.py"), json.loads(beside(graph, ".expect.json").read_text()), 0
    for i, (output, array) in enumerate(zip(expected["outputs"], arrays, strict=True)):
        found, exact = rules.checksum(i, array), output["f64"]
        distance = max(abs(found[key] - exact[key]) for key in ("sum", "sumabs", "wsum")) / (exact["sumabs"] or 1)
        worst = max(worst, distance / max(1e-5, 30 * output["noise"])) if distance == distance else float("inf")
    return worst


# XLA: one process for each number of threads, which compiles once and then steps whenever it is asked to.


def serve_xla(connection, graph, processors):
    os.sched_setaffinity(0, processors)
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    judge = load(graph.parents[2] / "tools" / "judge_mlir.py")
    executable, compile_seconds = judge.compile_(jax.devices()[0].client, judge.parse(str(graph)))
    arguments = [jax.device_put(a) for a in load(graph.parent / "inputs.py").make(beside(graph, ".args.tsv"))]

    def step():
        results = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        for (result,) in results:
            result.block_until_ready()
        return [result for (result,) in results]

    def time_step():
        start = time.perf_counter()
        results = step()
        seconds = time.perf_counter() - start
        del results  # Memory is given back outside of the time.
        return seconds

    memory = executable.get_compiled_memory_stats()
    connection.send({"compile": compile_seconds, "error": error_of_allowed(graph, step()),
                     "memory": (memory.temp_size_in_bytes, memory.output_size_in_bytes)})
    try:
        while steps := connection.recv():
            seconds = [time_step() for _ in range(1 + steps)][1:]
            connection.send((min(seconds), statistics.median(seconds)))
    except (EOFError, KeyboardInterrupt):
        pass  # Whoever asked is gone.


class Xla:
    """XLA:CPU on some processors."""

    name = "XLA:CPU"

    def __init__(self, graph, processors):
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve_xla, args=(theirs, graph, processors), daemon=True)
        self.process.start()
        theirs.close()
        facts = self.connection.recv()
        self.compile, self.error, self.turns = [facts["compile"]], facts["error"], []
        self.temp, self.outputs = facts["memory"]
        self.memory = f"{mib(self.temp)} + {mib(self.outputs)}"

    def turn(self, steps):
        self.connection.send(steps)
        self.turns.append(self.connection.recv())

    def close(self):
        self.connection.send(0)
        self.process.join()


class Remat:
    """remat-run under one policy on some processors; every turn compiles again."""

    def __init__(self, tool, graph, policy, segments, processors):
        self.name = policy + (f", {segments}" if segments else "")
        self.graph, self.processors, self.compile, self.turns = graph, processors, [], []
        self.command = [tool, graph, f"--policy={policy}", "--random-inputs=42", f"--threads={len(processors)}"]
        self.command += [f"--segments={segments}"] if segments else []
        self.check()

    def run(self, *flags):
        with tempfile.TemporaryDirectory() as directory:
            report = pathlib.Path(directory) / "report.json"
            subprocess.run([str(word) for word in [*self.command, f"--report={report}", *flags]], check=True,
                           capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, self.processors))
            return json.loads(report.read_text())

    def check(self):
        """Memory and results; not timed, for counting bytes takes time."""
        import numpy as np
        with tempfile.TemporaryDirectory() as directory:
            outputs = pathlib.Path(directory) / "outputs.npz"
            report = self.run(f"--outputs={outputs}")
            arrays = np.load(outputs)
            self.error = error_of_allowed(self.graph, [arrays[key] for key in sorted(arrays.files)])
        self.arena, self.overhead_flops = report["after"]["arena_bytes"], report["overhead_flops"]
        as_planned = report["measured_peak_bytes"] == report["planned_peak_bytes"]
        self.memory = mib(self.arena) + ("" if as_planned else ", NOT AS PLANNED")

    def turn(self, steps):
        report = self.run("--measure=false", f"--repeat={steps}")
        self.compile.append(report["compile_ms"] / 1000)
        self.turns.append((report["step_ms"]["min"] / 1000, report["step_ms"]["median"] / 1000))

    def close(self):
        pass


def measure(tool, graph, options):
    """Runs all on one graph, in turns; returns {name: {threads: runner}} and the load of the machine."""
    everyone = sorted(os.sched_getaffinity(0))
    runners, load_average = {}, [os.getloadavg()[0]]
    for processors in (set(everyone), set(everyone[:1])):
        ours = [Remat(tool, graph, *policy, processors) for policy in policies(graph)]
        for runner in [Xla(graph, processors), *ours]:
            runners.setdefault(runner.name, {})[len(processors)] = runner
    for _ in range(options.rounds):
        for by_threads in runners.values():
            for runner in by_threads.values():
                runner.turn(options.steps)
        load_average.append(os.getloadavg()[0])
    for by_threads in runners.values():
        for runner in by_threads.values():
            runner.close()
    return runners, (min(load_average), max(load_average))


def least(runner):
    """Seconds of the fastest step."""
    return min(turn[0] for turn in runner.turns)


def seconds(runner):
    return f"{least(runner):.3f} / {statistics.median(turn[1] for turn in runner.turns):.3f}"


def spell_threads(count):
    return f"{count} thread{'s' * (count > 1)}"


def rows(name, runners, load_average):
    for who, by_threads in runners.items():
        most = by_threads[max(by_threads)]
        error = max(runner.error for runner in by_threads.values())
        is_wrong = error > 1 and who != Xla.name
        yield row([name, who] + [seconds(runner) for _, runner in sorted(by_threads.items(), reverse=True)] +
                  [most.memory, f"{statistics.median(most.compile):.2f}", f"{error:.2g}" + " WRONG" * is_wrong,
                   f"{load_average[0]:.1f}–{load_average[1]:.1f}"])


def ratio_row(name, runners):
    """Ours over XLA's: the least step times, the arena over XLA's temp bytes, compile times."""
    xla, cells = runners[Xla.name], [name]
    for policy, _ in POLICIES:
        cells += [f"{least(ours) / least(xla[threads]):.2f}"
                  for threads, ours in sorted(runners[policy].items(), reverse=True)]
    most = max(xla)
    for policy, _ in POLICIES:
        cells.append(f"{runners[policy][most].arena / xla[most].temp:.2f}")
    cells.append(f"{statistics.median(runners['sqrt-n'][most].compile) / xla[most].compile[0]:.2f}")
    return row(cells)


def overhead_line(name, runners):
    """What recomputation costs in time and in FLOPs."""
    ours, base = runners[", ".join(OVERHEAD)], runners["save-everything"]
    extra = {threads: least(ours[threads]) / least(base[threads]) - 1 for threads in sorted(ours, reverse=True)}
    times = ", ".join(f"{100 * share:+.1f} % on {spell_threads(threads)}" for threads, share in extra.items())
    return (f"{name} under {', '.join(OVERHEAD)} against save-everything: step time {times}; "
            f"FLOPs {100 * ours[1].overhead_flops:+.1f} %.")


def table(tool, graphs, options):
    threads = [spell_threads(count) for count in sorted({len(os.sched_getaffinity(0)), 1}, reverse=True)]
    heads = ["graph", "compiler, policy"] + [f"{count}, min / median s" for count in threads]
    heads += ["peak MiB", "compile s", "error of allowed", "load"]
    lines, ratios, overhead = [row(heads), row(["---"] * len(heads))], [], []
    for graph in graphs:
        name = graph.name.split(".bench")[0]
        runners, load_average = measure(tool, graph, options)
        lines += rows(name, runners, load_average)
        print("\n".join(lines[-len(runners):]), file=sys.stderr, flush=True)  # It takes minutes: what there is so far.
        ratios.append(ratio_row(name, runners))
        if ", ".join(OVERHEAD) in runners:
            overhead += ["", overhead_line(name, runners)]
    heads = ["ours / XLA's"] + [f"{policy}, {count}" for policy, _ in POLICIES for count in threads]
    heads += [f"{policy}, arena / temp" for policy, _ in POLICIES] + ["compile time"]
    return "\n".join(lines + ["", row(heads), row(["---"] * len(heads))] + ratios + overhead)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--graphs", type=pathlib.Path, default=ROOT.parent / "shared" / "graphs")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    found = sorted((options.graphs.resolve() / "bench").glob("*.bench.generic.mlir"))
    graphs = [graph for graph in found if re.search(options.only, graph.name)]
    if not graphs:
        sys.exit(f"cpu.py: error: no graphs in {options.graphs / 'bench'}")
    text = table((options.bin / "remat-run").resolve(), graphs, options)
    print(text)
    if options.write:
        write(options.write, "cpu", text)
    if "WRONG" in text or "NOT AS PLANNED" in text:
        sys.exit("cpu.py: error: results or memory are not as expected")


if __name__ == "__main__":
    main()
