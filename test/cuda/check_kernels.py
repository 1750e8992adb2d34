#!/usr/bin/env python3
"""Assembles the kernels of steps for all targets and looks at what comes out.

usage: check_kernels.py [--nvdisasm=PROGRAM] WORK-FOLDER STEP.mlir...
For every step and target: remat-run makes machine code by way of PTX, and has code for all of the step; no kernel has a stack, and so none spills a register. With nvdisasm, of row kernels that load or store 128 bits at once
in PTX: whether all those accesses are still that wide in machine code. Prints a line a step; exits with 1 if anything is otherwise.
"""
import argparse
import collections
import pathlib
import re
import struct
import subprocess
import sys

TARGETS = ("sm_80", "sm_90", "sm_100")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def kernels_of(cubin):
    """By name: registers, and the bytes of the stack. They are attributes in the section `.nv.info`, by number of the symbol."""
    sections, = struct.unpack_from("<Q", cubin, 40)
    count, names_number = struct.unpack_from("<HH", cubin, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, sections + 64 * i) for i in range(count)]

    def text(table, offset):
        begin = headers[table][4] + offset
        return cubin[begin:cubin.index(0, begin)].decode()

    by_name = {text(names_number, header[0]): header for header in headers}
    symbols = by_name[".symtab"]

    def symbol(number):
        return text(symbols[6], struct.unpack_from("<I", cubin, symbols[4] + 24 * number)[0])

    found, (place, size) = {}, by_name[".nv.info"][4:6]
    end, with_size, frame_size, register_count = place + size, 4, 0x11, 0x2F
    while place < end:
        form, attribute, length = struct.unpack_from("<BBH", cubin, place)
        if form == with_size and attribute in (frame_size, register_count):
            number, value = struct.unpack_from("<II", cubin, place + 4)
            if symbol(number).startswith("remat_"):
                found.setdefault(symbol(number), [0, 0])[attribute == frame_size] = value
        place += 4 + (length if form == with_size else 0)
    return found


def narrowed(ptx, sass):
    """How many row kernels move 128 bits at once in PTX, and which of them do so less often in machine code."""
    bodies = re.findall(r"\.visible \.entry (remat_rows_\w+)\((.*?)\n}", ptx, re.S)
    wide = {name: len(re.findall(r"(?:ld|st)\.global(?:\.\w+)*\.(?:v4\.b32|v2\.b64)", body)) for name, body in bodies}
    code, name = collections.Counter(), None
    for line in sass.splitlines():
        if match := re.match(r"\s*\.text\.(\w+):", line):
            name = match[1]
        elif re.search(r"(LDG|STG)\.E\S*\.128", line):
            code[name] += 1
    return sum(count > 0 for count in wide.values()), [name for name, count in wide.items() if code[name] < count]


def check_target(arguments, step, target):
    """What there is to report, and what is wrong."""
    ptx, cubin = (arguments.work / f"{step.stem}.{target}.{kind}" for kind in ("ptx", "cubin"))
    run("remat-run", step, "--emit=cubin", f"--device={target}", "-o", cubin)
    kernels = kernels_of(cubin.read_bytes())
    wrong = [f"{name} has {stack} bytes of stack" for name, (_, stack) in kernels.items() if stack]
    report = f"{len(kernels)} kernels, at most {max(registers for registers, _ in kernels.values())} registers"
    if arguments.nvdisasm:
        run("remat-run", step, "--emit=ptx", f"--device={target}", "-o", ptx)
        if len(kernels) != ptx.read_text().count(".visible .entry"):
            wrong.append("not all kernels were assembled")
        wide, lost = narrowed(ptx.read_text(), run(arguments.nvdisasm, cubin))
        report += f", {wide} row kernels with 128-bit accesses"
        wrong += [f"{name} lost 128-bit accesses" for name in lost]
    return report, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvdisasm")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("steps", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    failures = []
    for step in arguments.steps:
        found = {target: check_target(arguments, step, target) for target in TARGETS}
        failures += [f"{step}: {target}: {text}" for target, (_, wrong) in found.items() for text in wrong]
        print(step.name.split(".generic")[0] + ": " + "; ".join(f"{target}: {report}" for target, (report, _) in found.items()), flush=True)
    print("\n".join(failures) or "as expected")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
