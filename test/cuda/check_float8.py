#!/usr/bin/env python3
"""Conversions from and to numbers of eight bits against their definition.

usage: check_float8.py step > STEP.mlir
       check_float8.py check OUTPUTS.npz
The step widens all 256 codes of f8E5M2 and f8E4M3FN, and narrows f32s of every exponent and the first mantissa bits, with three endings:
nothing, the last bit, all further bits, so that ties and their neighbours are among them.
"""
import bisect
import math
import struct
import sys
import zipfile

FORMATS = {"f8E5M2": (2, 15), "f8E4M3FN": (3, 7)}  # Mantissa bits, bias.
ENDINGS = (0, 1, 0xFFFF)


def step():
    lines, results = [], []

    def op(text, kind, *operands):
        name = f"%v{len(lines)}"
        head, _, attributes = text.partition(" ")
        kinds = ", ".join(k for _, k in operands)
        lines.append(f'{name} = "stablehlo.{head}"({", ".join(n for n, _ in operands)}) {attributes} : ({kinds}) -> {kind}')
        return name, kind

    codes = op("iota {iota_dimension = 0 : i64}", "tensor<256xui8>")
    number = op("iota {iota_dimension = 0 : i64}", "tensor<65536xui32>")
    sixteen = op("constant {value = dense<16> : tensor<65536xui32>}", "tensor<65536xui32>")
    for element in FORMATS:
        results.append(op("convert", "tensor<256xf32>", op("bitcast_convert", f"tensor<256x{element}>", codes)))
        for ending in ENDINGS:
            low = op(f"constant {{value = dense<{ending}> : tensor<65536xui32>}}", "tensor<65536xui32>")
            bits = op("or", low[1], op("shift_left", low[1], number, sixteen), low)
            narrow = op("convert", f"tensor<65536x{element}>", op("bitcast_convert", "tensor<65536xf32>", bits))
            results.append(op("bitcast_convert", "tensor<65536xui8>", narrow))
    kinds = ", ".join(kind for _, kind in results)
    print("module {\nfunc.func public @main() -> (" + kinds + ") {")
    print("\n".join(lines))
    print(f"return {', '.join(name for name, _ in results)} : {kinds}\n}}\n}}")


def value_of(code, mantissa_bits, bias):
    """Of a code without sign, as if the largest exponent were like any other."""
    exponent, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
    if exponent:
        mantissa |= 1 << mantissa_bits
    return mantissa * 2.0 ** (max(exponent, 1) - bias - mantissa_bits)


def widen(code, element):
    mantissa_bits, bias = FORMATS[element]
    magnitude = code & 0x7F
    if element == "f8E5M2" and magnitude >= 0x7C:
        value = math.inf if magnitude == 0x7C else math.nan
    else:
        value = math.nan if magnitude == 0x7F else value_of(magnitude, mantissa_bits, bias)
    return -value if code & 0x80 else value


def narrow(bits, element, values):
    beyond, nan = (0x7C, 0x7E) if element == "f8E5M2" else (0x7F, 0x7F)
    sign, (x,) = bits >> 24 & 0x80, struct.unpack("<f", struct.pack("<I", bits & 0x7FFFFFFF))
    if math.isnan(x):
        return sign | nan
    above = bisect.bisect_left(values, x)
    if above >= beyond or math.isinf(x):
        # Half of the way to what would be the next number still rounds down to an even code.
        below = beyond - 1
        middle = (values[below] + values[below + 1]) / 2
        return sign | (below if x < middle or (x == middle and below % 2 == 0) else beyond)
    if values[above] == x:
        return sign | above
    middle = (values[above - 1] + values[above]) / 2
    return sign | (above if x > middle or (x == middle and above % 2 == 0) else above - 1)


def read(archive, name, kind):
    data = archive.read(name)
    header = int.from_bytes(data[8:10], "little")
    body = data[10 + header:]
    return [value for value, in struct.iter_unpack(kind, body)]


def check(path):
    wrong = 0
    with zipfile.ZipFile(path) as archive:
        names = iter(archive.namelist())
        for element in FORMATS:
            for code, found in enumerate(read(archive, next(names), "<f")):
                expected = widen(code, element)
                same = math.isnan(found) if math.isnan(expected) else struct.pack("<f", found) == struct.pack("<f", expected)
                if not same:
                    wrong += 1
                    print(f"{element} {code:#x}: expected {expected}, found {found}")
            values = [value_of(code, *FORMATS[element]) for code in range(129)]
            for ending in ENDINGS:
                for number, found in enumerate(read(archive, next(names), "<B")):
                    expected = narrow(number << 16 | ending, element, values)
                    if found != expected:
                        wrong += 1
                        if wrong < 20:
                            print(f"{element} of {number << 16 | ending:#x}: expected {expected:#x}, found {found:#x}")
    print(f"{wrong} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    step() if sys.argv[1] == "step" else check(sys.argv[2])
