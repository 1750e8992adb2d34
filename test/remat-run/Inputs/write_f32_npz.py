#===- write_f32_npz.py - Arrays of f32 given as text ----------------------===#
#
# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Writes FILE SHAPE VALUES...: one array of f32 for each list of values, all of one shape, such as 2x3."""

import struct
import sys
import zipfile


def main():
    path, shape, *arrays = sys.argv[1:]
    sizes = "".join(f"{size}, " for size in shape.split("x"))
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({sizes}), }}"
    # The header ends in a line break, and the data starts at a multiple of 64 bytes.
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with zipfile.ZipFile(path, "w") as archive:
        for number, text in enumerate(arrays):
            values = [float(value) for value in text.split(",")]
            data = struct.pack(f"<{len(values)}f", *values)
            start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
            archive.writestr(f"{number:04d}_array.npy", start + header.encode("latin1") + data)


main()
