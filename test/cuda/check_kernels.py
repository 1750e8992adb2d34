#!/usr/bin/env python3
"""Assembles the kernels of steps for all targets and looks at what comes out.

usage: check_kernels.py PTXAS NVDISASM|none WORK-FOLDER STEP.mlir...
For every step and target: remat-run writes PTX, ptxas takes it, no kernel has a stack or spills a register. With nvdisasm, of row
kernels whose rows four elements divide: whether they load and store 128 bits at once. Prints a line a step; exits with 1 if anything
is otherwise.
"""
import pathlib
import re
import subprocess
import sys

TARGETS = ("sm_80", "sm_90", "sm_100")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def kernels_of(log):
    """By name: registers, and the bytes of stack and spills."""
    found, name = {}, None
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)'", line):
            name = match[1]
            found[name] = [0, 0]
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            if name:
                found[name][1] += sum(map(int, match.groups()))
        elif match := re.search(r"Used (\d+) registers", line):
            found[name][0] = int(match[1])
    return found


def wide_accesses(ptx, sass):
    """Of row kernels that move vectors of four f32 in PTX: how many there are, and how many do in machine code."""
    bodies = dict(re.findall(r"\.visible \.entry (remat_rows_\w+)\((.*?)\n}", ptx, re.S))
    wide = {name for name, body in bodies.items() if re.search(r"(ld|st)\.global\.(v4\.b32|v2\.b64)", body)}
    code, name = {}, None
    for line in sass.splitlines():
        if match := re.match(r"\s*\.text\.(\w+):", line):
            name = match[1]
        elif re.search(r"(LDG|STG)\.E\S*\.128", line):
            code[name] = code.get(name, 0) + 1
    return len(wide), sum(name in code for name in wide)


def check(ptxas, nvdisasm, work, step):
    report, wrong = [], []
    for target in TARGETS:
        ptx, cubin = work / f"{step.stem}.{target}.ptx", work / f"{step.stem}.{target}.cubin"
        run("remat-run", step, "--emit=ptx", f"--device={target}", "-o", ptx)
        kernels = kernels_of(run(ptxas, "-v", f"-arch={target}", "-o", cubin, ptx))
        if len(kernels) != ptx.read_text().count(".visible .entry"):
            wrong.append(f"{target}: {len(kernels)} kernels were assembled")
        wrong += [f"{target}: {name} has {local} bytes of local memory" for name, (_, local) in kernels.items() if local]
        report.append(f"{target}: {len(kernels)} kernels, at most {max(r for r, _ in kernels.values())} registers")
        if nvdisasm != "none":
            expected, found = wide_accesses(ptx.read_text(), run(nvdisasm, cubin))
            report[-1] += f", {found} of {expected} row kernels with 128-bit accesses"
            if found != expected:
                wrong.append(f"{target}: {expected - found} row kernels lost their 128-bit accesses")
    print(step.name.split(".generic")[0] + ": " + "; ".join(report), flush=True)
    return wrong


def main():
    ptxas, nvdisasm, work, *steps = sys.argv[1:]
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    wrong = [f"{step}: {text}" for step in steps for text in check(ptxas, nvdisasm, work, pathlib.Path(step))]
    print("\n".join(wrong) or "as expected")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
