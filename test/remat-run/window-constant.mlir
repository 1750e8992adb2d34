// Windows and a splat constant in one kernel: the constant is a scalar or a fill there, never a global of the module.
//
// REQUIRES: remat-run
// DEFINE: %{arrays} = %python %S/Inputs/write_f32_npz.py
// DEFINE: %{f64} = sed 's/xf32>/xf64>/g; s/tensor<f32>/tensor<f64>/g' %s
//
// With one place of padding before each row, row i is 2 * (x[i][j - 1] + x[i][j]) and
// max(x[i][j - 1] + x[i][j], 2): 0 1 2 becomes 0 2 6 and 2 2 3; 3 4 5 becomes 6 14 18 and 3 7 9.
//
// RUN: %{arrays} %t.x.npz 2x3 0,1,2,3,4,5
// RUN: %{arrays} %t.y.npz 2x3 0,2,6,6,14,18 2,2,3,3,7,9
// RUN: remat-run %s --inputs=%t.x.npz --expect=%t.y.npz --tolerance=0 --verify | FileCheck %s
// CHECK-DAG: verified
// CHECK-DAG: largest error 0 of

// The other element types.
//
// RUN: %{f64} > %t.f64.mlir && remat-run %t.f64.mlir --random-inputs=1 --verify
// RUN: sed 's/f32>/bf16>/g' %s > %t.bf16.mlir && remat-run %t.bf16.mlir --random-inputs=1 --verify
// RUN: sed 's/f32>/i32>/g; s/<0\.0>/<0>/; s/<2\.0>/<2>/' %s > %t.i32.mlir && remat-run %t.i32.mlir --random-inputs=1 --verify

// Divided and added.
//
// RUN: sed 's/stablehlo.multiply/stablehlo.divide/' %s > %t.div.mlir && remat-run %t.div.mlir --random-inputs=1 --verify
// RUN: sed 's/stablehlo.multiply/stablehlo.add/' %s > %t.add.mlir && remat-run %t.add.mlir --random-inputs=1 --verify

func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %zero = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %two = "stablehlo.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %sums = "stablehlo.reduce_window"(%x, %zero) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %twos = "stablehlo.broadcast_in_dim"(%two) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
  %scaled = "stablehlo.multiply"(%twos, %sums) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %larger = "stablehlo.maximum"(%sums, %twos) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %scaled, %larger : tensor<2x3xf32>, tensor<2x3xf32>
}
