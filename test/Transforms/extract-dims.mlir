// RUN: remat-opt %s --dim=x.0=8 --emit=graph-json -o - | FileCheck %s --check-prefix=ONE
// RUN: remat-opt %s --dim=arg0.0=8,tanh.0.0=4,*=2 --emit=graph-json -o - | FileCheck %s --check-prefix=ALL
// RUN: remat-opt %s --dim=x.0=8 -o - | FileCheck %s --check-prefix=UNCHANGED
// RUN: not remat-opt %s --dim=x.0=8,x.1=9,tanh.0.1=3 --emit=graph-json -o - 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not remat-opt %s --emit=graph-json -o - 2>&1 | FileCheck %s --check-prefix=ARGUMENT

// One bound serves all: x is 8×4 floats, the dot's result 8×8.
// ONE: {"name": "x", "bytes": 128}
// ONE: "name": "tanh.0"{{.*}}"bytes": 128
// ONE: "name": "dot.1"{{.*}}"bytes": 256

// A value's own bound, else its operand's, else the one for all.
// ALL: {"name": "x", "bytes": 128}
// ALL: "name": "tanh.0"{{.*}}"bytes": 64
// ALL: "name": "dot.1"{{.*}}"bytes": 16

// UNCHANGED: "stablehlo.tanh"(%arg0) {{.*}} : (tensor<?x4xf32>) -> tensor<?x4xf32>

// RESULT: extract-dims.mlir:[[@LINE+9]]:{{.*}}: error: size of dimension 0 of the result of 'dot.1' is not known
// RESULT: note: give a bound with --dim=dot.1.0=N or --dim=*=N

// ARGUMENT: error: size of dimension 0 of argument 0 ('x') is not known
// ARGUMENT: note: give a bound with --dim=x.0=N or --dim=*=N

func.func @main(%x: tensor<?x4xf32> loc("x")) -> tensor<?x?xf32> {
  %0 = "stablehlo.tanh"(%x) {remat.phase = "forward"} : (tensor<?x4xf32>) -> tensor<?x4xf32>

  %1 = "stablehlo.dot"(%0, %0) {remat.phase = "forward"} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  %2 = "stablehlo.negate"(%1) {remat.phase = "backward"} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// 4·2^62 floats are more than int64 can count; so are 2^32 · 2^32 (extract-errors.mlir).
// RUN: not remat-opt %s --dim=*=4611686018427387904 --emit=graph-json -o - 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: the bytes of this graph add up to more than 2^60
// LARGE: note: check the shapes, and the bounds of dynamic dimensions

// A bound of nothing is a mistake.
// RUN: not remat-opt %s --dim=x.0=8,y.0=8 --emit=graph-json -o - 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: --dim=y.0: no dynamic dimension has this name
