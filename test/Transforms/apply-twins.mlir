// RUN: remat-opt %s --policy=save-nothing 2>/dev/null | FileCheck %s

// The user computes exp(x) twice. Both clones fall into one group, where CSE would merge them although the plan counts on
// two: the second gets a barrier of its own.
// CHECK:      %[[B:.*]]:2 = "stablehlo.optimization_barrier"(%arg0, %[[G:.*]])
// CHECK-NEXT: %[[P:.*]] = "stablehlo.exponential"(%[[B]]#0)
// CHECK-NEXT: %[[B2:.*]] = "stablehlo.optimization_barrier"(%[[B]]#0) {mhlo.frontend_attributes = {remat.clones = "0"
// CHECK-NEXT: %[[Q:.*]] = "stablehlo.exponential"(%[[B2]])
// CHECK-NEXT: "stablehlo.multiply"(%[[P]], %[[Q]])
func.func @main(%x: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %p = "stablehlo.exponential"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %q = "stablehlo.exponential"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %s = "stablehlo.add"(%p, %q) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %loss = "stablehlo.reduce"(%s, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %g = "stablehlo.broadcast_in_dim"(%loss) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
  %d = "stablehlo.multiply"(%p, %q) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %e = "stablehlo.multiply"(%d, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %loss, %e : tensor<f32>, tensor<8xf32>
}
