// RUN: remat-opt %s --function=destination --emit=graph-json -o - | FileCheck %s --check-prefix=DEST
// RUN: remat-opt %s --function=donation --emit=graph-json -o - | FileCheck %s --check-prefix=DONATE
// RUN: remat-opt %s --function=donation --policy=save-nothing -o - | FileCheck %s --check-prefix=REWRITTEN

// fill takes bytes of its own (tensor.empty has none), the first dot its place. The second dot can't take the place of %m: it is read later.
// DEST: "name": "empty.1"{{.*}}"bytes": 0}
// DEST: "name": "fill.2"{{.*}}"results": [{"name": "fill.2", "bytes": 16}]
// DEST: "name": "matmul.3"{{.*}}"results": [{"name": "matmul.3", "bytes": 0, "view_of": "fill.2", "inplace_of": "fill.2"}]
// DEST: "name": "matmul.4"{{.*}}"results": [{"name": "matmul.4", "bytes": 16}]
func.func @destination(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant {remat.phase = "forward"} 0.0 : f32
  %empty = tensor.empty() {remat.phase = "forward"} : tensor<2x2xf32>
  %f = linalg.fill {remat.phase = "forward"} ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = linalg.matmul {remat.phase = "forward"} ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %n = linalg.matmul {remat.phase = "forward"} ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%m : tensor<2x2xf32>) -> tensor<2x2xf32>
  %g = arith.mulf %n, %m {remat.phase = "backward"} : tensor<2x2xf32>
  return %g : tensor<2x2xf32>
}

// The new parameter takes the old one's place. The momentum takes two steps, both in place: m·c, then + g. The second parameter is read after
// its update is made, and the third is no operand of what makes its result: no place is taken.
// DONATE: {"name": "arg0", "bytes": 16, "donated": true}
// DONATE: "name": "subtract.4"{{.*}}"view_of": "arg0", "inplace_of": "arg0"
// DONATE: "name": "multiply.5"{{.*}}"view_of": "arg1", "inplace_of": "arg1"
// DONATE: "name": "add.6"{{.*}}"view_of": "multiply.5", "inplace_of": "multiply.5"
// DONATE: "name": "subtract.7"{{.*}}"results": [{"name": "subtract.7", "bytes": 16}]

// The rewritten function overwrites the same: else remat-opt says that its peak isn't the planned one.
// REWRITTEN: "stablehlo.optimization_barrier"
func.func @donation(%w: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %m: tensor<4xf32> {jax.buffer_donor = true},
                    %v: tensor<4xf32> {tf.aliasing_output = 3 : i32}, %x: tensor<4xf32>)
    -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = "stablehlo.tanh"(%w) {remat.phase = "forward"} : (tensor<4xf32>) -> tensor<4xf32>
  %h = "stablehlo.multiply"(%a, %x) {remat.phase = "forward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = "stablehlo.dot"(%h, %x) {remat.phase = "forward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %g = "stablehlo.multiply"(%h, %x) {remat.phase = "backward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %w1 = "stablehlo.subtract"(%w, %g) {remat.phase = "backward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %mc = "stablehlo.multiply"(%m, %x) {remat.phase = "backward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %m1 = "stablehlo.add"(%mc, %g) {remat.phase = "backward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %v1 = "stablehlo.subtract"(%v, %g) {remat.phase = "backward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %late = "stablehlo.add"(%v, %v1) {remat.phase = "backward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %loss, %w1, %m1, %v1, %late : tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
