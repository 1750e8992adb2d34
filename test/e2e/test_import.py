"""Every tiny graph, imported and compiled by upstream's passes, computes what JAX computed."""
import re
import struct

import numpy as np
import pytest

from conftest import ALL, BIN, SHARED
from test_rewrites import inputs_of
from upstream import Function

# Upstream's loops add up in one long chain. Batch norms behind batch norms blow the rounding of that up until ReLUs
# switch; these models are checked in f64 alone.
DEEP = ("resnet50", "efficientnet_b0")
# Not in TOLERANCE.tsv, measured like its rows: JAX's f32 against f64, worst output, relative to its largest magnitude.
ROUNDING = {"efficientnet_b0": 1.2e-4, "resnet50_sgdm": 2.8e-4}


def model_of(graph):
    return graph.name.split(".")[0]


def rounding(graph):
    """What computing in f32 costs the model."""
    rows = [row.split("\t") for row in (SHARED / "graphs" / "TOLERANCE.tsv").read_text().splitlines()[1:]]
    known = ROUNDING | {row[0]: float(row[3]) for row in rows}
    model = model_of(graph)
    # `gpt2_ckpt` computes what `gpt2` does.
    return known.get(model, known.get(model.split("_")[0], 1e-5 / 30))


def load(graph):
    """The model's inputs and JAX's outputs by name."""
    inputs = inputs_of(graph)
    if inputs is None or not SHARED.is_dir():
        pytest.skip("no inputs and outputs")
    given, outputs = np.load(inputs), np.load(str(inputs).replace(".inputs.", ".outputs."))
    return [given[key] for key in sorted(given.files)], {key: outputs[key] for key in sorted(outputs.files)}


def difference(found, expected):
    """The largest one, relative to the largest magnitude."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    largest = np.abs(expected).max(initial=0)
    return np.abs(found - expected).max(initial=0) / max(largest, np.finfo(np.float32).tiny)


def in_f64(text):
    """The same graph with f64 in place of f32; None where it looks at the bits of floats."""
    if "bitcast_convert" in text or "bf16" in text:
        return None
    as_double = lambda match: f"0x{struct.pack('>d', *struct.unpack('>f', bytes.fromhex(match[1]))).hex().upper()}>"
    text = re.sub(r"0x([0-9A-F]{8})>(?= : tensor<[0-9x]*f32>)", as_double, text)
    return re.sub(r"(?<![A-Za-z0-9_])f32(?=[>,)])", "f64", text.replace("xf32", "xf64"))


def skip_slow(graph):
    """Upstream's loops take long to compile, and test_run.py looks at the same numbers through our own."""
    if not ALL and (graph.stat().st_size >= 200_000 or ".raw" in graph.name):
        pytest.skip("REMAT_E2E=all runs it")


def test_import(graph, tiny_graph, tmp_path):
    """As it is, within 30 times what f32 costs."""
    skip_slow(graph)
    if "bf16" in graph.name or model_of(graph).startswith(DEEP):
        pytest.skip("has a test of its own")
    inputs, outputs = load(graph)
    for (key, expected), found in zip(outputs.items(), Function(BIN / "remat-opt", graph, tmp_path)(inputs), strict=True):
        assert difference(found, expected) <= 30 * rounding(graph), key


def test_import_in_f64(graph, tiny_graph, tmp_path):
    """In f64 what differs is JAX's own rounding, so an error of import can't hide behind ours."""
    if not ALL:
        pytest.skip("REMAT_E2E=all runs it")
    text = in_f64(graph.read_text())
    if text is None:
        pytest.skip("looks at the bits of floats")
    inputs, outputs = load(graph)
    (tmp_path / "f64.mlir").write_text(text)
    found = Function(BIN / "remat-opt", tmp_path / "f64.mlir", tmp_path)(inputs)
    for (key, expected), array in zip(outputs.items(), found, strict=True):
        # The gradient of a bias in front of a batch norm is zero; JAX's is all rounding.
        if np.abs(array).max(initial=0) < 1e-9:
            assert np.abs(expected).max(initial=0) < 1e-5, key
        else:
            assert difference(expected, array) <= 1.5 * rounding(graph), key


def test_import_bf16(graph, tiny_graph, judge, tmp_path):
    """JAX's outputs come from an XLA that keeps values inside a fusion in f32 (and differ by 2.4e-2 from those of one
    that doesn't); import rounds every result, so XLA computes the graph once more and does so too (see conftest)."""
    if "bf16" not in graph.name:
        pytest.skip("not bf16")
    import jax
    inputs, _ = load(graph)
    program = judge.load(str(graph))
    client = jax.devices()[0].client
    arrays, _ = judge.read_inputs(str(inputs_of(graph)), program, 0)
    expected = judge.execute(client, judge.compile_(client, program.module)[0], arrays)
    for i, (ours, xla) in enumerate(zip(Function(BIN / "remat-opt", graph, tmp_path)(inputs), expected, strict=True)):
        assert difference(ours, xla) <= 2e-2, i
