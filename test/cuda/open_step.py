"""usage: open_step.py STEP.so REPORT.json: opens an emitted step for a GPU, and tries to load it without one."""

import ctypes
import json
import os
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = ""
library = ctypes.CDLL(sys.argv[1])
library.remat_cuda_error.restype = ctypes.c_char_p
library.remat_cuda_arena_bytes.restype = ctypes.c_int64
library.step_open.restype = ctypes.c_void_p
program = ctypes.c_void_p(library.step_open(None))
assert program, library.remat_cuda_error()
planned = json.load(open(sys.argv[2]))["after"]["arena_bytes"]
arena = library.remat_cuda_arena_bytes(program)
print("the arena is the report's" if arena == planned else f"the arena has {arena} bytes, the report says {planned}")
print("can be captured:", library.remat_cuda_can_be_captured(program))
print("load:", library.remat_cuda_error().decode() if library.remat_cuda_load(program) else "no error")
library.remat_cuda_close(program)
