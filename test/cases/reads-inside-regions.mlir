// Ops with regions: what a body reads from outside, branches that read by themselves, loops in loops (R071, R073, R074).

// RUN: remat-opt %s --function=R071 --policy=save-nothing | FileCheck %s --check-prefix=R071
// W is read by the loop's body alone: it stays alive for the clone, whose body reads it through the barrier.
// R071-LABEL: func.func @R071(
// R071:       %[[B:.*]]:{{[0-9]+}} = "stablehlo.optimization_barrier"(%arg0, %arg1
// R071:       stablehlo.while"(%{{.*}}, %[[B]]#0)
// R071:       stablehlo.dot_general"(%{{.*}}, %[[B]]#1)
// R071:       return
func.func @R071(%c0: tensor<24x24xf32>, %w: tensor<24x24xf32>) -> (tensor<f32>, tensor<24x24xf32>) {
  %i0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %n = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %r:2 = "stablehlo.while"(%i0, %c0) ({
  ^bb0(%i: tensor<i32>, %v: tensor<24x24xf32>):
    %1 = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<24x24xf32>):
    %2 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = "stablehlo.dot_general"(%v, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
    "stablehlo.return"(%2, %3) : (tensor<i32>, tensor<24x24xf32>) -> ()
  }) : (tensor<i32>, tensor<24x24xf32>) -> (tensor<i32>, tensor<24x24xf32>)
  %loss = "stablehlo.dot_general"(%r#1, %r#1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<f32>
  %g = "stablehlo.cosine"(%r#1) : (tensor<24x24xf32>) -> tensor<24x24xf32>
  return %loss, %g : tensor<f32>, tensor<24x24xf32>
}

// RUN: remat-opt %s --function=R073 --policy=save-nothing -o /dev/null --report=- 2>/dev/null | FileCheck %s --check-prefix=R073
// Each branch reads one value, but both are alive up to the case: a (4096) + b (2048) + result (4) + the branch's slice (4).
// R073: peak bytes {{.*}}6152 {{.*}} 6152
// R073-NEXT: at op {{.*}}case.2
func.func @R073(%i: tensor<i32>, %x: tensor<1024xf32>, %y: tensor<512xf32>) -> tensor<f32> {
  %a = "stablehlo.sine"(%x) {remat.phase = "forward"} : (tensor<1024xf32>) -> tensor<1024xf32>
  %b = "stablehlo.sine"(%y) {remat.phase = "forward"} : (tensor<512xf32>) -> tensor<512xf32>
  %r = "stablehlo.case"(%i) ({
    %s = "stablehlo.slice"(%a) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<1024xf32>) -> tensor<1xf32>
    %t = "stablehlo.reshape"(%s) : (tensor<1xf32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }, {
    %s = "stablehlo.slice"(%b) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<512xf32>) -> tensor<1xf32>
    %t = "stablehlo.reshape"(%s) : (tensor<1xf32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) {remat.phase = "forward"} : (tensor<i32>) -> tensor<f32>
  return %r : tensor<f32>
}

// RUN: remat-opt %s --function=R074 --policy=save-nothing -o %t.mlir
// RUN: FileCheck %s --check-prefix=R074 --input-file=%t.mlir
// A loop in a loop whose inner trip count is 1 is cloned as a flat one is.
// R074-LABEL: func.func @R074(
// R074-COUNT-2: stablehlo.while
// R074:         stablehlo.optimization_barrier
// R074-COUNT-2: stablehlo.while
// R074:         return
func.func @R074(%c0: tensor<256xf32>) -> (tensor<f32>, tensor<256xf32>) {
  %i0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %n = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %r:2 = "stablehlo.while"(%i0, %c0) ({
  ^bb0(%i: tensor<i32>, %v: tensor<256xf32>):
    %1 = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<256xf32>):
    %2 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %k:2 = "stablehlo.while"(%i0, %v) ({
    ^bb0(%j: tensor<i32>, %u: tensor<256xf32>):
      %4 = "stablehlo.compare"(%j, %one) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%4) : (tensor<i1>) -> ()
    }, {
    ^bb0(%j: tensor<i32>, %u: tensor<256xf32>):
      %5 = "stablehlo.add"(%j, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %6 = "stablehlo.sine"(%u) : (tensor<256xf32>) -> tensor<256xf32>
      "stablehlo.return"(%5, %6) : (tensor<i32>, tensor<256xf32>) -> ()
    }) : (tensor<i32>, tensor<256xf32>) -> (tensor<i32>, tensor<256xf32>)
    "stablehlo.return"(%2, %k#1) : (tensor<i32>, tensor<256xf32>) -> ()
  }) : (tensor<i32>, tensor<256xf32>) -> (tensor<i32>, tensor<256xf32>)
  %loss = "stablehlo.dot"(%r#1, %r#1) : (tensor<256xf32>, tensor<256xf32>) -> tensor<f32>
  %g = "stablehlo.cosine"(%r#1) : (tensor<256xf32>) -> tensor<256xf32>
  return %loss, %g : tensor<f32>, tensor<256xf32>
}
