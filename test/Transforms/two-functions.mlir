// RUN: remat-opt %s --split-input-file --pass-pipeline='builtin.module(remat{policy=save-nothing})' | FileCheck %s
// RUN: remat-opt %s --split-input-file --pass-pipeline='builtin.module(remat{policy=save-nothing loss-result=0})' 2>&1 | FileCheck %s --check-prefix=LOSS
// LOSS: remark: forward and backward are two functions; --loss-result=0 changes nothing

// The residual list (h, e) becomes (w, x): h and e are computed again in the backward function, from what forward was given. The cotangent
// stays behind the residuals; attributes of arguments and results stay with theirs.

// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[W:.*]]: tensor<4xf32> {my.name = "w"}, %[[X:.*]]: tensor<4xf32>) -> (tensor<f32> {my.name = "loss"}, tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[H:.*]] = "stablehlo.multiply"(%[[W]], %[[X]])
// CHECK: %[[E:.*]] = "stablehlo.exponential"(%[[H]])
// CHECK: %[[L:.*]] = "stablehlo.dot"(%[[E]], %[[X]])
// CHECK: return %[[L]], %[[W]], %[[X]] : tensor<f32>, tensor<4xf32>, tensor<4xf32>

// CHECK-LABEL: func.func @backward(
// CHECK-SAME: %[[W:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<4xf32>, %[[CT:.*]]: tensor<f32> {my.name = "ct"})
// CHECK: "stablehlo.optimization_barrier"
// CHECK: "stablehlo.multiply"
// CHECK: "stablehlo.exponential"
// CHECK: return %{{.*}} : tensor<4xf32>
func.func @forward(%w: tensor<4xf32> {my.name = "w"}, %x: tensor<4xf32>)
    -> (tensor<f32> {my.name = "loss"}, tensor<4xf32> {my.name = "h"}, tensor<4xf32> {my.name = "e"}) {
  %h = "stablehlo.multiply"(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = "stablehlo.exponential"(%h) : (tensor<4xf32>) -> tensor<4xf32>
  %l = "stablehlo.dot"(%e, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %l, %h, %e : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
func.func @backward(%h: tensor<4xf32>, %e: tensor<4xf32>, %ct: tensor<f32> {my.name = "ct"}) -> tensor<4xf32> {
  %c = "stablehlo.broadcast_in_dim"(%ct) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %0 = "stablehlo.multiply"(%c, %h) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.multiply"(%0, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A barrier hangs on the cotangent, which backward has anyway: with the primal result it would be a second residual.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: return %{{.*}}, %[[X]] : tensor<4xf32>, tensor<4xf32>
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[CT:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK: "stablehlo.optimization_barrier"(%[[X]], %[[CT]])
func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {remat.residuals = 3 : i64} {
  %1 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.tanh"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "stablehlo.tanh"(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %3, %x, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @backward(%x: tensor<4xf32>, %1: tensor<4xf32>, %2: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  %g3 = "stablehlo.multiply"(%ct, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g2 = "stablehlo.multiply"(%g3, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g1 = "stablehlo.multiply"(%g2, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g1 : tensor<4xf32>
}
