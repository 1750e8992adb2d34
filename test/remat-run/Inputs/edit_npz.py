"""Copies an .npz file with one array changed, by Python's own library alone.

usage: edit_npz.py IN.npz OUT.npz (drop | rename=NEW | shape=4,2 | type=<f8 | nan | cut) KEY

drop takes it away, nan makes its first element NaN, cut takes its last byte; of another shape or type it is all zeros.
Elements are of 4 bytes.
"""
import math
import re
import sys
import zipfile


def edit(array, change, value):
    """The bytes of a .npy file: magic and version, 2 bytes of length, the header, the elements."""
    length = 10 + int.from_bytes(array[8:10], "little")
    header, data = array[10:length].decode(), array[length:]
    if change == "shape":
        header = re.sub(r"'shape': \([^)]*\)", f"'shape': ({value})", header)
        data = bytes(4 * math.prod(map(int, value.split(","))))
    elif change == "type":
        header = re.sub(r"'descr': '[^']*'", f"'descr': '{value}'", header)
        data = bytes(len(data) // 4 * int(value[-1]))
    elif change == "nan":
        data = b"\x00\x00\xc0\x7f" + data[4:]
    elif change == "cut":
        data = data[:-1]
    header = header.encode()
    return array[:8] + len(header).to_bytes(2, "little") + header + data


def main():
    source, target, change, key = sys.argv[1:]
    change, _, value = change.partition("=")
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(target, "w") as made:
        for name in given.namelist():
            if name != key + ".npy":
                made.writestr(name, given.read(name))
            elif change == "rename":
                made.writestr(value + ".npy", given.read(name))
            elif change != "drop":
                made.writestr(name, edit(given.read(name), change, value))


if __name__ == "__main__":
    main()
