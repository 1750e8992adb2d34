"""Writes the arrays of an .npz file as bare data, one behind the other in the order of their names.

usage: npz-data.py IN.npz OUT.bin
"""
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as archive, open(sys.argv[2], "wb") as out:
    for name in sorted(archive.namelist()):
        array = archive.read(name)
        # The .npy header: magic (6), version (2), length of the text (2 bytes in version 1), the text.
        assert array[:8] == b"\x93NUMPY\x01\x00", name
        out.write(array[10 + int.from_bytes(array[8:10], "little"):])
