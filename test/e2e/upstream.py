"""Compiles an imported function by upstream's passes alone and calls it: what import means, without code of ours."""
import ctypes
import os
import pathlib
import re
import subprocess

import ml_dtypes
import numpy as np

LLVM = pathlib.Path(os.environ.get("REMAT_LLVM", "/usr/lib/llvm-22"))

TYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i64": np.int64,
         "i32": np.int32, "i16": np.int16, "i8": np.int8, "i1": np.bool_}

PIPELINE = pathlib.Path(__file__).resolve().parents[1] / "Import" / "Inputs" / "upstream.pipeline"


def call(*command, text=None):
    run = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    return run.stdout


class Function:
    """A compiled function on numpy arrays."""

    def __init__(self, remat_opt, graph, directory):
        self.inputs, self.outputs = signature(call(remat_opt, graph, "--remat-import"))
        # Results are out-parameters and all pointers are bare; bf16 is computed in f32, rounded after every op.
        pipeline = PIPELINE.read_text().replace("\n", "").replace("BARE", "true")
        lowered = call(remat_opt, graph, f"--pass-pipeline=builtin.module({pipeline})")
        llvm, library = directory / "f.ll", directory / "f.so"
        llvm.write_text(call(LLVM / "bin" / "mlir-translate", "--mlir-to-llvmir", "-", text=lowered))
        call(LLVM / "bin" / "clang", "-O0", "-w", "-ffp-contract=off", "-shared", "-fPIC", llvm, "-o", library, "-lm",
             f"-L{LLVM}/lib", "-lmlir_c_runner_utils", f"-Wl,-rpath,{LLVM}/lib")
        self.entry = ctypes.CDLL(str(library)).main
        self.entry.restype = None

    def __call__(self, arrays):
        assert len(arrays) == len(self.inputs)
        given = [np.ascontiguousarray(array).astype(dtype).reshape(shape)
                 for array, (shape, dtype) in zip(arrays, self.inputs)]
        made = [np.full(shape, 77, dtype) for shape, dtype in self.outputs]
        self.entry(*[ctypes.c_void_p(array.ctypes.data) for array in given + made])
        return made


def signature(module):
    """Shapes and types of the main function's arguments and results."""
    header = re.search(r"func\.func (?:public )?@main\((.*?)\) -> (.*?) \{\n", module, re.S)
    return [[parse_type(text) for text in re.findall(r"tensor<([^>]*)>", part)] for part in header.groups()]


def parse_type(text):
    *sizes, element = text.split("x")
    return tuple(map(int, sizes)), TYPES[element]
