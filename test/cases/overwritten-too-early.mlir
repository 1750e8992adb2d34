// Values that are overwritten where they stand, or whose argument is donated, and are needed once more (R019, R020, R021, R025).

// RUN: remat-opt %s --function=R021 --policy=save-dots -o %t.mlir --report=%t.json
// RUN: FileCheck %s --check-prefix=R021 --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=KEPT --input-file=%t.json
// The activation overwrites the dot's result. save-dots keeps the result itself, 16 x 16 x 4 = 1024 bytes, and makes h2 and s
// again from it: no dot runs twice, and the clones read h, not what was written over it.
// R021-LABEL: func.func @R021(
// R021:       %[[H:.*]] = linalg.matmul
// R021:       linalg.exp ins(%[[H]]
// R021:       %[[B:.*]] = remat.barrier %[[H]] after(
// R021-NOT:   linalg.matmul
// R021:       %[[H2:.*]] = linalg.exp {remat.clone = {{.*}}} ins(%[[B]]
// R021:       math.tanh %[[H2]] {remat.clone =
// R021:       return
// KEPT: "saved": [
// KEPT-NEXT: "bytes": 1024
// KEPT-NOT: "value"
// KEPT: "recomputed": [
func.func @R021(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h2 = linalg.exp ins(%h : tensor<16x16xf32>) outs(%h : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = math.tanh %h2 : tensor<16x16xf32>
  %s1 = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s1 : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%s : tensor<16x16xf32>) outs(%s0 : tensor<f32>) dimensions = [0, 1]
  %g2 = arith.mulf %s, %s : tensor<16x16xf32>
  %gh = arith.mulf %h2, %g2 : tensor<16x16xf32>
  return %loss, %gh : tensor<f32>, tensor<16x16xf32>
}

// RUN: remat-opt %s --function=R019 --policy=save-nothing | FileCheck %s --check-prefix=R019
// Without a dot to keep, the whole chain from x is made again, into storage of its own.
// R019-LABEL: func.func @R019(
// R019:       %[[B:.*]] = remat.barrier %arg0 after(
// R019:       %[[A:.*]] = math.sin %[[B]] {remat.clone =
// R019:       linalg.exp {remat.clone = {{.*}}} ins(%[[A]] : {{.*}}outs(%[[A]] :
// R019:       return
func.func @R019(%x: tensor<256xf32>) -> (tensor<f32>, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = math.sin %x : tensor<256xf32>
  %a2 = linalg.exp ins(%a : tensor<256xf32>) outs(%a : tensor<256xf32>) -> tensor<256xf32>
  %s1 = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s1 : tensor<f32>) -> tensor<f32>
  %loss = linalg.dot ins(%a2, %a2 : tensor<256xf32>, tensor<256xf32>) outs(%s0 : tensor<f32>) -> tensor<f32>
  %g = arith.mulf %a2, %x : tensor<256xf32>
  return %loss, %g : tensor<f32>, tensor<256xf32>
}

// RUN: remat-opt %s --function=R025 --policy=save-nothing --emit=graph-json --plan-out=%t.plan | FileCheck %s --check-prefix=DONATED
// RUN: remat-opt %s --function=R025 --policy=save-nothing | FileCheck %s --check-prefix=R025
// x is donated and the update takes its place; exp(x) is made again before that, from x.
// DONATED: "arg0", "bytes": 1024, "donated": true
// DONATED: "subtract.5", "bytes": 0, "view_of": "arg0", "inplace_of": "arg0"
// R025-LABEL: func.func @R025(
// R025:       %[[B:.*]]:{{[0-9]+}} = "stablehlo.optimization_barrier"(%arg0
// R025:       stablehlo.exponential"(%[[B]]#0)
// R025:       stablehlo.subtract"(%arg0
// R025-NOT:   stablehlo.exponential
// R025:       return
func.func @R025(%x: tensor<16x16xf32> {tf.aliasing_output = 1 : i32}, %w: tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>) {
  %a = "stablehlo.exponential"(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %h = "stablehlo.dot_general"(%a, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %loss = "stablehlo.dot_general"(%h, %h) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<f32>
  %ga = "stablehlo.dot_general"(%h, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %gx = "stablehlo.multiply"(%a, %ga) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %x1 = "stablehlo.subtract"(%x, %gx) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %loss, %x1 : tensor<f32>, tensor<16x16xf32>
}

// RUN: remat-opt %s --function=R020 --policy=save-nothing -o %t.mlir --report=%t.json
// RUN: cmp %t.mlir %s
// RUN: FileCheck %s --check-prefix=R020 --input-file=%t.json
// buf is read, then its place is taken: r can't be made again behind that, so r is saved, 1024 bytes.
// R020: "saved": [
// R020-NEXT: "sine.0", "bytes": 1024
// R020-NOT: "value"
// R020: "recomputed": [
func.func @R020(%x: tensor<256xf32>, %buf: tensor<256xf32> {tf.aliasing_output = 2 : i32}, %upd: tensor<256xf32>) -> (tensor<f32>, tensor<256xf32>, tensor<256xf32>) {
  %r = "stablehlo.sine"(%buf) {remat.phase = "forward"} : (tensor<256xf32>) -> tensor<256xf32>
  %y = "stablehlo.multiply"(%r, %x) {remat.phase = "forward"} : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %buf1 = "stablehlo.add"(%buf, %upd) {remat.phase = "forward"} : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %loss = "stablehlo.dot"(%y, %y) {remat.phase = "forward"} : (tensor<256xf32>, tensor<256xf32>) -> tensor<f32>
  %g = "stablehlo.multiply"(%r, %x) {remat.phase = "backward"} : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  return %loss, %g, %buf1 : tensor<f32>, tensor<256xf32>, tensor<256xf32>
}
