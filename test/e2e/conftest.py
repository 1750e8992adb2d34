"""Where the tools, the corpus and the judges are, and one cached run of remat-opt per graph and setting."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("REMAT_BIN", ROOT / "build" / "bin"))
SHARED = pathlib.Path(os.environ.get("REMAT_SHARED", ROOT.parent / "shared"))
# Every graph in every setting (an hour); without it the large graphs run in a few settings only.
ALL = os.environ.get("REMAT_E2E") == "all"

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Without it XLA keeps bf16 values inside a fusion in f32, and what it fuses shows in the bits.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_allow_excess_precision=false"
sys.setrecursionlimit(10000)

SETTINGS = [
    ("save-nothing", "none"),
    ("save-nothing", "auto"),
    ("save-dots", "none"),
    ("sqrt-n", None),
    ("save-dots", "auto"),
    ("save-dots-no-batch-dims", "none"),
    ("save-larger-than=64KiB", "none"),
    ("save-everything", "none"),
]
FEW = SETTINGS[:4]


def corpus():
    """The StableHLO graphs of the shared corpus, or the few that the repository holds."""
    folders = [SHARED / "graphs" / "jax", SHARED / "graphs" / "jax-raw"]
    if not folders[0].is_dir():
        folders = [ROOT / "test" / "Inputs" / "graphs"]
    return [g for f in folders for g in sorted(f.glob("*.mlir")) if ".pretty." not in g.name and ".linalg." not in g.name]


def scopes_of(graph):
    return [("save-nothing", "scope:h[0-9]+")] if "scopes" in graph.name else []


def settings_to_judge(graph):
    """The full-size graphs are judged in a few settings, the others in all."""
    return (SETTINGS if ALL or ".full." not in graph.name else FEW) + scopes_of(graph)


def settings_to_run(graph):
    """Compiling is what takes the time: thousands of ops are compiled in one setting."""
    large = graph.stat().st_size > 400_000
    return (SETTINGS if ALL else FEW[3:] if large else FEW) + scopes_of(graph)


def pytest_generate_tests(metafunc):
    if "graph" in metafunc.fixturenames:
        graphs = [g for g in corpus() if "tiny_graph" not in metafunc.fixturenames or ".tiny" in g.name]
        metafunc.parametrize("graph", graphs, ids=[g.name.replace(".generic", "").removesuffix(".mlir") for g in graphs])


@pytest.fixture
def tiny_graph(graph):
    return graph


def remat_opt(*arguments):
    return subprocess.run([str(BIN / "remat-opt"), *map(str, arguments)], capture_output=True, text=True)


def rewrite(graph, policy, segments, directory):
    """Runs remat-opt; returns the rewritten file and the report."""
    out, report = directory / "out.mlir", directory / "report.json"
    flags = [f"--policy={policy}"] + ([f"--segments={segments}"] if segments else [])
    run = remat_opt(graph, *flags, "-o", out, f"--report={report}")
    assert run.returncode == 0, run.stderr
    return out, json.loads(report.read_text())


def load_tool(name):
    """A judge of the shared folder as a module; skips the test where there is none."""
    path = SHARED / "tools" / f"{name}.py"
    if not path.exists():
        pytest.skip(f"needs the judge {name}.py of the shared folder")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def judge():
    return load_tool("judge_mlir")


@pytest.fixture(scope="session")
def check_plan():
    return load_tool("check_plan")
