#!/usr/bin/env python3
"""Prints a step of small independent computations whose shapes and types are where kernels go wrong: rows of every kind of length (one
thread, a part of a warp, a warp, a block, longer than registers hold), columns that no strip divides, vectors with a rest, narrow types.

usage: make_shapes.py rows|columns|points|types|moves|joins|tiles|float8|pairs
"""
import sys


class Step:
    def __init__(self):
        self.arguments, self.lines, self.results = [], [], []

    def argument(self, shape, element="f32"):
        name, kind = f"%a{len(self.arguments)}", tensor(shape, element)
        self.arguments.append(f"{name}: {kind}")
        return name, kind

    def op(self, name, operands, kind, attributes="", region=""):
        result = f"%v{len(self.lines)}"
        values, kinds = ", ".join(o[0] for o in operands), ", ".join(o[1] for o in operands)
        self.lines.append(f'{result} = "stablehlo.{name}"({values}){region}{attributes} : ({kinds}) -> {kind}')
        return result, kind

    def constant(self, value, element="f32"):
        return self.op("constant", [], tensor([], element), f" {{value = dense<{value}> : {tensor([], element)}}}")

    def reduce(self, combiner, operand, init, dims, kind):
        element = init[1]
        region = (f' ({{\n^bb0(%p: {element}, %q: {element}):\n  %s = "stablehlo.{combiner}"(%p, %q) : ({element}, {element}) -> {element}'
                  f'\n  "stablehlo.return"(%s) : ({element}) -> ()\n}})')
        return self.op("reduce", [operand, init], kind, attributes=f" {{dimensions = array<i64: {numbers(dims)}>}}", region=region)

    def broadcast(self, operand, dims, kind):
        dims = f": {numbers(dims)}" if dims else ""
        return self.op("broadcast_in_dim", [operand], kind, f" {{broadcast_dimensions = array<i64{dims}>}}")

    def result(self, value):
        self.results.append(value)

    def text(self):
        kinds = ", ".join(kind for _, kind in self.results)
        values = ", ".join(name for name, _ in self.results)
        body = "\n".join(self.lines)
        return (f"module {{\nfunc.func public @main({', '.join(self.arguments)}) -> ({kinds}) {{\n{body}\n"
                f"return {values} : {kinds}\n}}\n}}\n")


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def numbers(values):
    return ", ".join(map(str, values))


def softmax(step, rows, length, element="f32", inner=None):
    """max, exp(x - max), sum, divide; `inner`: the row as several dimensions."""
    inner = inner or [length]
    shape, dims = [rows] + inner, list(range(1, 1 + len(inner)))
    x = step.argument(shape, element)
    row = tensor([rows], element)
    low = step.constant({"f32": "0xFF800000", "bf16": "0xFF80", "f16": "0xFC00"}[element], element)
    most = step.broadcast(step.reduce("maximum", x, low, dims, row), [0], x[1])
    e = step.op("exponential", [step.op("subtract", [x, most], x[1])], x[1])
    total = step.reduce("add", e, step.constant("0.0", element), dims, row)
    step.result(step.op("divide", [e, step.broadcast(total, [0], x[1])], x[1]))
    step.result(total)


def rows(step):
    for count, length in [(1, 1), (7, 1), (3, 2), (5, 3), (33, 4), (1, 5), (9, 12), (4, 31), (17, 64), (2, 100), (3, 127), (2, 128), (5, 300),
                          (2, 512), (2, 513), (3, 516), (2, 1000), (1, 1021), (2, 1024), (3, 3000), (1, 16384), (2, 16388), (1, 20001)]:
        softmax(step, count, length)
    # Rows in parts: as one launch, for the second sum needs the first, and as two.
    softmax(step, 1, 262148)
    x = step.argument([3, 300001])
    squares = step.op("multiply", [x, x], x[1])
    step.result(step.reduce("add", squares, step.constant("0.0"), [1], tensor([3], "f32")))
    step.result(squares)
    step.result(step.reduce("maximum", step.argument([200000], "i32"), step.constant("-5", "i32"), [0], tensor([], "i32")))
    softmax(step, 3, 12, inner=[4, 3])
    softmax(step, 2, 60, inner=[5, 3, 4])


def columns(step):
    for count, width in [(1, 7), (2, 4), (3, 33), (5, 32), (17, 36), (100, 1), (64, 128), (1025, 5), (3000, 12)]:
        x, y = step.argument([count, width]), step.argument([count, width])
        product = step.op("multiply", [x, y], x[1])
        step.result(product)
        step.result(step.reduce("add", product, step.constant("0.5"), [0], tensor([width], "f32")))
    for shape, dims in [([4, 3, 5, 8], [0, 1]), ([4, 3, 5, 8], [1, 2]), ([2, 50, 3], [1])]:
        kept = [size for d, size in enumerate(shape) if d not in dims]
        step.result(step.reduce("add", step.argument(shape), step.constant("0.0"), dims, tensor(kept, "f32")))


def points(step):
    for shape in ([], [1], [3], [4], [7], [1023], [3, 5], [3, 8], [1030], [2, 3, 4, 5]):
        x, y = step.argument(shape), step.argument(shape)
        step.result(step.op("tanh", [step.op("add", [step.op("multiply", [x, y], x[1]), x], x[1])], x[1]))
    for name in ("exponential", "log", "log_plus_one", "exponential_minus_one", "sqrt", "rsqrt", "floor", "ceil", "abs", "sign", "logistic",
                 "round_nearest_even", "negate", "cbrt"):
        x = step.argument([41])
        step.result(step.op(name, [x], x[1]))
    for name in ("divide", "maximum", "minimum", "power", "atan2", "remainder"):
        x, y = step.argument([41]), step.argument([41])
        step.result(step.op(name, [x, y], x[1]))


def types(step):
    for element in ("bf16", "f16"):
        # A thread has eight neighbours where eight divide the length, four where four do.
        for count, length in [(3, 5), (5, 24), (4, 64), (3, 68), (2, 600), (3, 2048), (2, 16384), (1, 20008)]:
            softmax(step, count, length, element)
        x = step.argument([1029], element)
        step.result(step.op("add", [x, x], x[1]))
        x = step.argument([5, 33], element)
        step.result(step.reduce("add", x, step.constant("0.0", element), [0], tensor([33], element)))
    for element in ("i8", "ui8", "i16", "i32", "ui32", "i64", "f64"):
        for shape, dims in [([3, 40], [1]), ([40, 3], [0]), ([2, 700], [1])]:
            x = step.argument(shape, element)
            kept = [size for d, size in enumerate(shape) if d not in dims]
            low = step.constant("0", element) if element != "f64" else step.constant("0.0", element)
            step.result(step.op("add", [x, x], x[1]))
            for combiner in ("add", "maximum"):
                step.result(step.reduce(combiner, x, low, dims, tensor(kept, element)))
    x, y = step.argument([6, 37]), step.argument([6, 37])
    less = step.op("compare", [x, y], tensor([6, 37], "i1"), " {comparison_direction = #stablehlo<comparison_direction LT>}")
    step.result(less)
    step.result(step.op("select", [less, x, y], x[1]))
    step.result(step.reduce("or", less, step.constant("false", "i1"), [1], tensor([6], "i1")))
    step.result(step.op("convert", [x], tensor([6, 37], "bf16")))


def moves(step):
    x = step.argument([6, 8])
    step.result(step.op("transpose", [x], tensor([8, 6], "f32"), " {permutation = array<i64: 1, 0>}"))
    y = step.argument([3, 4, 5])
    step.result(step.op("transpose", [y], tensor([5, 3, 4], "f32"), " {permutation = array<i64: 2, 0, 1>}"))
    step.result(step.op("reverse", [x], x[1], " {dimensions = array<i64: 1>}"))
    step.result(step.op("slice", [x], tensor([2, 3], "f32"),
                        " {start_indices = array<i64: 1, 1>, limit_indices = array<i64: 4, 7>, strides = array<i64: 2, 2>}"))
    step.result(step.op("concatenate", [x, step.argument([6, 3]), x], tensor([6, 19], "f32"), " {dimension = 1 : i64}"))
    step.result(step.op("concatenate", [step.argument([0]), step.argument([3])], tensor([3], "f32"), " {dimension = 0 : i64}"))
    step.result(step.op("pad", [x, step.argument([])], tensor([9, 18], "f32"),
                        " {edge_padding_low = array<i64: 1, -1>, edge_padding_high = array<i64: 2, 4>, interior_padding = array<i64: 0, 1>}"))
    i, j = step.argument([], "i32"), step.argument([], "i32")
    step.result(step.op("dynamic_slice", [x, i, j], tensor([2, 5], "f32"), " {slice_sizes = array<i64: 2, 5>}"))
    step.result(step.op("dynamic_update_slice", [x, step.argument([2, 5]), i, j], x[1]))
    step.result(step.op("iota", [], tensor([5, 9], "i32"), " {iota_dimension = 1 : i64}"))
    step.result(step.broadcast(step.argument([9]), [1], tensor([5, 9], "f32")))


def pad(step, operand, shape, element, low, high, interior):
    kind = tensor([size + before + after + max(size - 1, 0) * between
                   for size, before, after, between in zip(shape, low, high, interior)], element)
    return step.op("pad", [operand, step.argument([], element)], kind,
                   f" {{edge_padding_low = array<i64: {numbers(low)}>, edge_padding_high = array<i64: {numbers(high)}>, "
                   f"interior_padding = array<i64: {numbers(interior)}>}}")


def concatenate(step, operands, shape, dim, element="f32"):
    return step.op("concatenate", operands, tensor(shape, element), f" {{dimension = {dim} : i64}}")


def joins(step):
    """Pads whose ends lie inside of a vector, at its ends and far from any element; what is cut off, and between elements; with element-wise
    neighbours. Concatenations of few and many, whose pieces move one to 16 bytes at once."""
    for element in ("f32", "bf16", "i1", "f8E5M2", "f64"):
        for shape, low, high, interior in [([37], [3], [2], [0]), ([64], [64], [128], [0]), ([3], [5], [70], [0]), ([5, 32], [0, 32], [0, 64], [0, 0]),
                                           ([5, 33], [2, -1], [1, -2], [0, 0]), ([4, 9], [1, 0], [0, 3], [2, 1]), ([9, 20], [-3, -3], [-1, 2], [1, 2])]:
            step.result(pad(step, step.argument(shape, element), shape, element, low, high, interior))
    # The gradient of a split: one launch.
    parts = [pad(step, step.argument([6, 16]), [6, 16], "f32", [0, 16 * i], [0, 32 - 16 * i], [0, 0]) for i in range(3)]
    step.result(step.op("add", [step.op("add", parts[:2], parts[0][1]), parts[2]], parts[0][1]))
    zeros = step.broadcast(step.constant("0.0"), [], tensor([4, 8], "f32"))
    step.result(concatenate(step, [zeros, step.argument([4, 8])], [4, 16], 1))
    counting = step.op("iota", [], tensor([7], "i32"), " {iota_dimension = 0 : i64}")
    step.result(concatenate(step, [counting, step.argument([5], "i32")], [12], 0, "i32"))
    for element in ("f32", "bf16", "i1", "f8E5M2"):
        for sizes in ([8, 8], [3, 5, 1], [16, 7, 32, 16], [16, 32, 16, 16, 48], [4, 8, 4, 12, 4, 4], [1, 2, 3, 4, 5, 6, 7]):
            step.result(concatenate(step, [step.argument([3, size], element) for size in sizes], [3, sum(sizes)], 1, element))
        step.result(concatenate(step, [step.argument([size, 4], element) for size in (2, 1, 5, 1, 3)], [12, 4], 0, element))


def transpose(step, operand, shape, order, element="f32"):
    kind = tensor([shape[d] for d in order], element)
    return step.op("transpose", [operand], kind, f" {{permutation = array<i64: {numbers(order)}>}}")


def tiles(step):
    """Operands that are read transposed: full tiles, rests of both loops, four neighbours and one, among other loops, with other operands."""
    for shape, order in [([64, 96], [1, 0]), ([36, 40], [1, 0]), ([33, 72], [1, 0]), ([72, 33], [1, 0]), ([35, 67], [1, 0]),
                         ([3, 40, 52], [0, 2, 1]), ([40, 3, 52], [2, 1, 0]), ([2, 24, 5, 7], [0, 2, 3, 1]), ([7, 200], [1, 0])]:
        x = step.argument(shape)
        y = step.argument([shape[d] for d in order])
        step.result(step.op("add", [transpose(step, x, shape, order), y], y[1]))
    for element in ("f64", "bf16", "f16", "i8", "i32", "i1"):
        x, y = step.argument([50, 68], element), step.argument([68, 50], element)
        step.result(step.op("maximum", [transpose(step, x, [50, 68], [1, 0], element), y], y[1]))
    # More operands than shared memory takes, and one that lies along another loop than the first.
    many = [transpose(step, step.argument([48, 20]), [48, 20], [1, 0]) for _ in range(7)]
    total = many[0]
    for other in many[1:]:
        total = step.op("add", [total, other], other[1])
    step.result(total)
    a, b = step.argument([40, 20, 24]), step.argument([24, 40, 20])
    step.result(step.op("add", [transpose(step, a, [40, 20, 24], [2, 1, 0]), transpose(step, b, [24, 40, 20], [0, 2, 1])], tensor([24, 20, 40], "f32")))
    x = step.argument([40, 90])
    part = step.op("slice", [x], tensor([20, 37], "f32"),
                   " {start_indices = array<i64: 3, 5>, limit_indices = array<i64: 23, 42>, strides = array<i64: 1, 1>}")
    step.result(transpose(step, part, [20, 37], [1, 0]))


def float8(step):
    wide = tensor([9, 80], "f32")
    for element in ("f8E5M2", "f8E4M3FN"):
        x, y = step.argument([9, 80], element), step.argument([9, 80], element)
        step.result(step.op("convert", [x], wide))
        step.result(step.op("add", [x, y], x[1]))
        step.result(step.op("tanh", [x], x[1]))
        step.result(step.op("convert", [step.op("multiply", [step.op("convert", [x], wide), step.argument([9, 80])], wide)], x[1]))
        for other in ("bf16", "f16", "f64", "i32", "f8E4M3FN" if element == "f8E5M2" else "f8E5M2"):
            step.result(step.op("convert", [step.argument([77], element)], tensor([77], other)))
            step.result(step.op("convert", [step.argument([77], other)], tensor([77], element)))
        zero = step.constant("0.0", element)
        for shape, dims in [([9, 80], [1]), ([80, 9], [0]), ([3, 2048], [1]), ([2, 20000], [1])]:
            kept = [size for d, size in enumerate(shape) if d not in dims]
            for combiner in ("add", "maximum"):
                step.result(step.reduce(combiner, step.argument(shape, element), zero, dims, tensor(kept, element)))
        z = step.argument([48, 36], element)
        step.result(step.op("add", [transpose(step, z, [48, 36], [1, 0], element), step.argument([36, 48], element)], tensor([36, 48], element)))
        less = step.op("compare", [x, y], tensor([9, 80], "i1"), " {comparison_direction = #stablehlo<comparison_direction LT>}")
        step.result(step.op("select", [less, x, y], x[1]))
        step.result(step.op("concatenate", [x, y], tensor([18, 80], element), " {dimension = 0 : i64}"))
        scalar = tensor([], element)
        added = (f' ({{\n^bb0(%p: {scalar}, %q: {scalar}):\n  %s = "stablehlo.add"(%p, %q) : ({scalar}, {scalar}) -> {scalar}'
                 f'\n  "stablehlo.return"(%s) : ({scalar}) -> ()\n}})')
        step.result(step.op("scatter", [x, step.argument([4, 1], "i32"), step.argument([4, 80], element)], x[1], region=added, attributes=(
            " {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
            "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}")))
        smaller = (f' ({{\n^bb0(%p: {scalar}, %q: {scalar}):\n  %s = "stablehlo.compare"(%p, %q) {{comparison_direction = '
                   f'#stablehlo<comparison_direction LT>}} : ({scalar}, {scalar}) -> tensor<i1>'
                   f'\n  "stablehlo.return"(%s) : (tensor<i1>) -> ()\n}})')
        step.result(step.op("sort", [y], y[1], " {dimension = 1 : i64, is_stable = true}", smaller))


def narrow_pairs(step):
    """Sums of narrow types: alone, where a thread has more neighbours, and beside an f32, where it has four."""
    for element in ("bf16", "f16", "f8E5M2"):
        for shape in ([5, 64], [3, 2048], [2, 20000], [1, 262160]):
            for isAlone in (True, False):
                x, y = step.argument(shape, element), step.argument(shape, element)
                product = step.op("multiply", [x, y], x[1])
                step.result(step.reduce("add", product, step.constant("0.0", element), [1], tensor(shape[:1], element)))
                if not isAlone:
                    step.result(step.op("convert", [product], tensor(shape, "f32")))


def pairs(step):
    """Two clusters at a time that hold the same sum: alone, and read by others that keep its loops from being joined to one."""
    zero = step.constant("0.0")
    for shape in ([5, 4, 3], [3, 25, 12], [2, 4, 300], [2, 130, 128], [2, 1000, 300]):
        for isAlone in (True, False):
            x, y = step.argument(shape), step.argument(shape)
            product = step.op("multiply", [x, y], x[1])
            total = step.reduce("add", product, zero, [1, 2], tensor(shape[:1], "f32"))
            step.result(total)
            if not isAlone:
                bias = step.broadcast(step.argument(shape[2:]), [2], x[1])
                biased = step.op("add", [product, bias], x[1])
                step.result(step.op("divide", [biased, step.broadcast(total, [0], x[1])], x[1]))
    narrow_pairs(step)


def main():
    step = Step()
    {"rows": rows, "columns": columns, "points": points, "types": types, "moves": moves, "joins": joins, "tiles": tiles, "float8": float8,
     "pairs": pairs}[sys.argv[1]](step)
    print(step.text())


if __name__ == "__main__":
    main()
