// RUN: remat-opt %s --split-input-file --pass-pipeline='builtin.module(remat-phases)' | FileCheck %s
// No names: what the loss needs is forward; what else leads to a gradient (a result with an argument's type) is backward.

// A metric behind the loss is forward, as is a running mean that is updated there: it has an argument's type, but touches neither the
// gradients nor a dot.

// CHECK-LABEL: func.func @metrics
// CHECK: "stablehlo.dot"(%arg1, %arg0){{.*}}"forward"
// CHECK: "stablehlo.dot"{{.*}}"forward"
// CHECK: "stablehlo.maximum"{{.*}}"forward"
// CHECK: "stablehlo.constant"{{.*}}"forward"
// CHECK: "stablehlo.multiply"{{.*}}"backward"
// CHECK: "stablehlo.dot"{{.*}}"backward"
// CHECK: "stablehlo.add"{{.*}}"forward"
func.func @metrics(%w: tensor<4x4xf32>, %x: tensor<2x4xf32>, %y: tensor<4xf32>, %mean: tensor<2x4xf32>)
    -> (tensor<f32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<f32>) {
  %h = "stablehlo.dot"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %loss = "stablehlo.dot"(%h, %y) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<f32>
  %metric = "stablehlo.maximum"(%loss, %loss) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %one = "stablehlo.constant"() <{value = dense<1.0> : tensor<2x4xf32>}> : () -> tensor<2x4xf32>
  %dh = "stablehlo.multiply"(%one, %h) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %dw = "stablehlo.dot"(%x, %dh) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %new = "stablehlo.add"(%mean, %h) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %loss, %dw, %new, %metric : tensor<f32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<f32>
}

// -----

// Two microbatches: the loss is done last, but the first gradient's dot, which it doesn't need, shows where the backward part starts. The
// second microbatch's forward ops are forward.

// CHECK-LABEL: func.func @microbatches
// CHECK: "stablehlo.tanh"(%arg1){{.*}}"forward"
// CHECK: "stablehlo.dot"{{.*}}"forward"
// CHECK: "stablehlo.dot"{{.*}}"backward"
// CHECK: "stablehlo.tanh"(%arg2){{.*}}"forward"
// CHECK: "stablehlo.dot"{{.*}}"forward"
// CHECK: "stablehlo.dot"{{.*}}"backward"
// CHECK: "stablehlo.add"{{.*}}"forward"
// CHECK: "stablehlo.add"{{.*}}"backward"
func.func @microbatches(%w: tensor<4xf32>, %x0: tensor<4xf32>, %x1: tensor<4xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<4xf32>) {
  %h0 = "stablehlo.tanh"(%x0) : (tensor<4xf32>) -> tensor<4xf32>
  %l0 = "stablehlo.dot"(%h0, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %d0 = "stablehlo.dot"(%seed, %h0) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %h1 = "stablehlo.tanh"(%x1) : (tensor<4xf32>) -> tensor<4xf32>
  %l1 = "stablehlo.dot"(%h1, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %d1 = "stablehlo.dot"(%seed, %h1) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = "stablehlo.add"(%l0, %l1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %dw = "stablehlo.add"(%d0, %d1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %loss, %dw : tensor<f32>, tensor<4xf32>
}

// -----

// The function says that result 1 is the loss.

// CHECK-LABEL: func.func @marked
// CHECK: "stablehlo.dot"{{.*}}"forward"
// CHECK: "stablehlo.tanh"{{.*}}"forward"
// CHECK: "stablehlo.multiply"{{.*}}"backward"
func.func @marked(%w: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) attributes {remat.loss = 1 : i64} {
  %d = "stablehlo.dot"(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %l = "stablehlo.tanh"(%d) : (tensor<f32>) -> tensor<f32>
  %g = "stablehlo.multiply"(%l, %x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g, %l : tensor<4xf32>, tensor<f32>
}
