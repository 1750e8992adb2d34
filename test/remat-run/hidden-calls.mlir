// A call in the body of an op with one region: MLIR takes such an op of a dialect that it doesn't know for a symbol table,
// and finds no function for the call. It is inlined before that is checked. Windows of two: 1 + 2, 2 + 3, 3 + 4.
//
// REQUIRES: remat-run
// RUN: echo '{"outputs": [{"shape": [3], "sum": 0, "sumabs": 0, "wsum": 0, "max": 0}]}' > %t.json
// RUN: remat-run %s --random-inputs=1 --expect=%t.json --tolerance=0 | FileCheck %s
// CHECK: largest error 0 of
//
// What isn't there isn't found, hidden or not.
//
// RUN: sed 's/func.call @add/func.call @gone/' %s > %t.gone.mlir
// RUN: not remat-run %t.gone.mlir --random-inputs=1 2>&1 | FileCheck %s --check-prefix=GONE
// GONE: error: 'func.call' op 'gone' does not reference a valid function

func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%unused: tensor<f32>) -> (tensor<3xf32>) {
  %x = "stablehlo.constant"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %z = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = func.call @add(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) {window_dimensions = array<i64: 2>} : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
  %e = "stablehlo.constant"() {value = dense<[3.0, 5.0, 7.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %d = "stablehlo.subtract"(%r, %e) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}
