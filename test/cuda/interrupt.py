"""usage: interrupt.py FOLDER STEP.mlir: signals remat-run while a ptxas that takes its time runs, and shows what it leaves behind."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

folder = pathlib.Path(sys.argv[1])
shutil.rmtree(folder, ignore_errors=True)
(folder / "toolkit" / "bin").mkdir(parents=True)
(folder / "temporary").mkdir()
started = folder / "started"
ptxas = folder / "toolkit" / "bin" / "ptxas"
ptxas.write_text(f"#!/bin/sh\ntouch {started}\nsleep 1\nexit 1\n")
ptxas.chmod(0o755)
environment = dict(os.environ, CUDA_HOME=str(folder / "toolkit"), TMPDIR=str(folder / "temporary"))
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    started.unlink(missing_ok=True)
    run = subprocess.Popen(["remat-run", sys.argv[2], "--emit=cubin", "--device=sm_90", "-o", folder / "step.cubin"],
                           env=environment, stderr=subprocess.PIPE, text=True)
    while not started.exists() and run.poll() is None:
        time.sleep(0.01)
    run.send_signal(number)
    said = run.communicate(timeout=60)[1].strip()
    left = [path.name for path in [*(folder / "temporary").iterdir(), *folder.glob("step*")]]
    print(f"exit status {run.returncode}, {said}; left: {left}")
