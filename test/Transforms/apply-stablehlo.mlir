// RUN: remat-opt %s --policy=save-nothing -o - 2>/dev/null | FileCheck %s
// RUN: remat-opt %s --policy=save-nothing -o - 2>/dev/null | remat-opt --remat-check=fail -o /dev/null 2>&1 | FileCheck %s --check-prefix=SURVIVE
// RUN: remat-opt %s --policy=save-nothing -o - 2>/dev/null | FileCheck %s --check-prefix=LEGAL

// XLA and JAX know no attribute of ours, but pass frontend attributes through.
// LEGAL-NOT: {{[{ ]}}remat.phase
// LEGAL-NOT: remat.clone =
// LEGAL-NOT: remat.inplace

// A clone has the properties, attributes and types of its original; only what it reads is new (pytorch#141896).
// The constant is read where it stands. Values captured by a region are guarded like operands.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[X:.*]]: tensor<8x8xf32>, %[[W:.*]]: tensor<8x8xf32>)
// CHECK:         %[[C:.*]] = "stablehlo.constant"
// CHECK:         "stablehlo.dot_general"(%[[X]], %[[W]]) <[[PROPERTIES:{.*}]]> {mhlo.sharding = "{replicated}"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK:         %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:3 = "stablehlo.optimization_barrier"(%[[X]], %[[W]], %[[G]]) {mhlo.frontend_attributes = {remat.clones = "3", remat.id = "0", remat.operands = "3"}}
// CHECK-NEXT:    %[[H:.*]] = "stablehlo.dot_general"(%[[B]]#0, %[[B]]#1) <[[PROPERTIES]]> {mhlo.sharding = "{replicated}"}
// CHECK-NEXT:    %[[M:.*]] = "stablehlo.multiply"(%[[H]], %[[C]])
// CHECK-NEXT:    %[[R:.*]] = "stablehlo.case"(%{{.*}}) ({
// CHECK-NEXT:      %[[IN:.*]] = "stablehlo.tanh"(%[[M]])
// CHECK-NEXT:      "stablehlo.return"(%[[IN]])
// CHECK:         "stablehlo.multiply"(%[[R]], %[[G]])
// SURVIVE: remat-check: 3 of 3 recomputations survived in @main
module {
  func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>) {
    %c = "stablehlo.constant"() <{value = dense<2.0> : tensor<8x8xf32>}> : () -> tensor<8x8xf32>
    %i = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %h = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> {mhlo.sharding = "{replicated}"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %m = "stablehlo.multiply"(%h, %c) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = "stablehlo.case"(%i) ({
      %t = "stablehlo.tanh"(%m) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      "stablehlo.return"(%t) : (tensor<8x8xf32>) -> ()
    }) : (tensor<i32>) -> tensor<8x8xf32>
    %loss = "stablehlo.reduce"(%r, %zero) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %g0 = "stablehlo.broadcast_in_dim"(%loss) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x8xf32>
    %g = "stablehlo.negate"(%g0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %d = "stablehlo.multiply"(%r, %g) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %loss, %d : tensor<f32>, tensor<8x8xf32>
  }
}
