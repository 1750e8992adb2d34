#!/usr/bin/env python3
"""Checks that includes point one way: Plan <- IR <- Transforms <- Import <- CodeGen <- Cuda <- tools; Runtime alone, and below CodeGen; CudaRuntime on it,
and below Cuda.

usage: layering.py ROOT
Prints every include that points the wrong way and exits with 1 if there is one.
"""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "Plan": {"Plan"},
    "IR": {"Plan", "IR"},
    "Transforms": {"Plan", "IR", "Transforms"},
    "Import": {"Plan", "IR", "Transforms", "Import"},
    "CodeGen": {"Plan", "IR", "Transforms", "Import", "Runtime", "CodeGen"},
    "Cuda": {"Plan", "IR", "Transforms", "Runtime", "CodeGen", "CudaRuntime", "Cuda"},
    "Runtime": {"Runtime"},
    "CudaRuntime": {"Runtime", "CudaRuntime"},
}
WITHOUT_LLVM = {"Plan", "Runtime", "CudaRuntime"}


def wrong_includes(path, layer):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        include = re.match(r'\s*#\s*include\s*[<"]([^">]+)', line)
        if not include:
            continue
        target = re.match(r"remat/(\w+)/", include[1])
        if target and target[1] not in MAY_INCLUDE[layer]:
            yield f"{path}:{number}: error: {layer} must not include {target[1]}: {include[1]}"
        if layer in WITHOUT_LLVM and re.match(r"(mlir|llvm)(-c)?/", include[1]):
            yield f"{path}:{number}: error: {layer} must not include MLIR or LLVM: {include[1]}"


def main():
    root = pathlib.Path(sys.argv[1])
    found, files = [], 0
    for folder in ("include/remat", "lib"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".td", ".inc"):
                continue
            layer = path.relative_to(root / folder).parts[0]
            if layer not in MAY_INCLUDE:
                found.append(f"{path}: error: layer '{layer}' is not in {sys.argv[0]}")
                continue
            files += 1
            found += wrong_includes(path, layer)
    print("\n".join(found) or f"{files} files: includes point one way")
    sys.exit(1 if found or files == 0 else 0)


if __name__ == "__main__":
    main()
