// Tensors without elements. Every result with elements is what was computed minus what is expected, so all sums are 0:
// a sum over nothing is what it starts with, a product over nothing 0, a pad of nothing its padding.
//
// REQUIRES: remat-run
// DEFINE: %{rows} = {"shape": [3], "sum": 0, "sumabs": 0, "wsum": 0, "max": 0}
// DEFINE: %{matrix} = {"shape": [3, 4], "sum": 0, "sumabs": 0, "wsum": 0, "max": 0}
// RUN: echo '{"outputs": [%{rows}, %{rows}, %{rows}, %{rows}, %{matrix}, %{matrix}, %{matrix}, %{matrix}]}' > %t.json
// DEFINE: %{run} = remat-run %s --random-inputs=1 --expect=%t.json --tolerance=0 --verify
// RUN: %{run} --threads=2 | FileCheck %s
// RUN: %{run} --threads=1 | FileCheck %s
// CHECK: largest error 0 of
// CHECK: verified
//
// Without anything to compare: results that have no elements.
// RUN: remat-run %s --function=empty --random-inputs=1 --verify | FileCheck %s --check-prefix=EMPTY
// EMPTY: verified

module {
  func.func public @main(%a: tensor<3x0xf32>, %b: tensor<0x3xf32>, %c: tensor<0x4xf32>, %i: tensor<3x0xi32>, %x: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
    %half = "stablehlo.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
    %nine = "stablehlo.constant"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
    %halves = "stablehlo.constant"() {value = dense<0.5> : tensor<3xf32>} : () -> tensor<3xf32>
    %nines = "stablehlo.constant"() {value = dense<9.0> : tensor<3xf32>} : () -> tensor<3xf32>

    // Along rows: 0.5 + nothing.
    %sum = "stablehlo.reduce"(%a, %half) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<3x0xf32>, tensor<f32>) -> tensor<3xf32>
    %r0 = "stablehlo.subtract"(%sum, %halves) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>

    // Along columns, of an element-wise op.
    %exp = "stablehlo.exponential"(%b) : (tensor<0x3xf32>) -> tensor<0x3xf32>
    %columns = "stablehlo.reduce"(%exp, %half) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = "stablehlo.maximum"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
    %r1 = "stablehlo.subtract"(%columns, %halves) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>

    // Two at once: 0.5 and 9.
    %both:2 = "stablehlo.reduce"(%a, %i, %half, %nine) ({
    ^bb0(%p: tensor<f32>, %u: tensor<i32>, %q: tensor<f32>, %v: tensor<i32>):
      %s = "stablehlo.maximum"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %t = "stablehlo.add"(%u, %v) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%s, %t) : (tensor<f32>, tensor<i32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<3x0xf32>, tensor<3x0xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
    %r2 = "stablehlo.subtract"(%both#0, %halves) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %float = "stablehlo.convert"(%both#1) : (tensor<3xi32>) -> tensor<3xf32>
    %r3 = "stablehlo.subtract"(%float, %nines) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>

    // A product that sums nothing.
    %r4 = "stablehlo.dot_general"(%a, %c) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : (tensor<3x0xf32>, tensor<0x4xf32>) -> tensor<3x4xf32>

    // Nothing in front of x and behind it.
    %joined = "stablehlo.concatenate"(%c, %x, %c) {dimension = 0 : i64} : (tensor<0x4xf32>, tensor<3x4xf32>, tensor<0x4xf32>) -> tensor<3x4xf32>
    %r5 = "stablehlo.subtract"(%joined, %x) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>

    // Padding alone: 3 + 0 + 1 columns.
    %padded = "stablehlo.pad"(%a, %half) {edge_padding_low = array<i64: 0, 3>, edge_padding_high = array<i64: 0, 1>, interior_padding = array<i64: 0, 2>} : (tensor<3x0xf32>, tensor<f32>) -> tensor<3x4xf32>
    %padding = "stablehlo.constant"() {value = dense<0.5> : tensor<3x4xf32>} : () -> tensor<3x4xf32>
    %r6 = "stablehlo.subtract"(%padded, %padding) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>

    // Nothing is written into x.
    %zero = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %none = "stablehlo.slice"(%x) {start_indices = array<i64: 0, 2>, limit_indices = array<i64: 3, 2>, strides = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<3x0xf32>
    %updated = "stablehlo.dynamic_update_slice"(%x, %none, %zero, %zero) : (tensor<3x4xf32>, tensor<3x0xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %r7 = "stablehlo.subtract"(%updated, %x) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  }

  func.func public @empty(%a: tensor<3x0xf32>, %b: tensor<2x0xf32>) -> (tensor<3x0xf32>, tensor<2x0xf32>, tensor<0xf32>) {
    %0 = "stablehlo.tanh"(%a) : (tensor<3x0xf32>) -> tensor<3x0xf32>
    %1 = "stablehlo.concatenate"(%b, %b) {dimension = 1 : i64} : (tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<2x0xf32>
    %2 = "stablehlo.reshape"(%b) : (tensor<2x0xf32>) -> tensor<0xf32>
    return %0, %1, %2 : tensor<3x0xf32>, tensor<2x0xf32>, tensor<0xf32>
  }
}
