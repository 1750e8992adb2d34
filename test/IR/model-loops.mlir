// RUN: remat-opt %s --remat-print-op-model -o /dev/null | FileCheck %s

// A counted loop: 3 trips of an exponential (8 × 4) and the counter (1), and the condition (1): 3 × 34.
// Inner peak: the body holds constant (0) + counter (4) + exponential (16) = 20; the condition's i1 takes 1.
// CHECK-LABEL: @counted
// CHECK: stablehlo.while loop flops=102 {{.*}} workspace=20 recomputable trips=3
// CHECK-NEXT: {{^}}    stablehlo.compare elementwise
// CHECK-NEXT: {{^}}    stablehlo.constant constant
// CHECK-NEXT: {{^}}    stablehlo.add elementwise
// CHECK-NEXT: {{^}}    stablehlo.exponential elementwise
func.func @counted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %start = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %limit = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%start, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %1 = "stablehlo.compare"(%i, %limit) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = "stablehlo.exponential"(%v) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%2, %3) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// The limit is carried unchanged, the step comes first, and the comparison includes the limit: 2, 4, 6 … 10 are 5 trips.
// CHECK-LABEL: @carried_limit
// CHECK: stablehlo.while loop {{.*}} recomputable trips=5
func.func @carried_limit() -> tensor<i32> {
  %start = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %limit = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
  %two = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%start, %limit) ({
  ^bb0(%i: tensor<i32>, %n: tensor<i32>):
    %1 = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %n: tensor<i32>):
    %2 = "stablehlo.add"(%two, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%2, %n) : (tensor<i32>, tensor<i32>) -> ()
  }) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  return %0#0 : tensor<i32>
}

// The limit is an argument: unknown, counted once, and never cloned.
// CHECK-LABEL: @unknown
// CHECK: stablehlo.while loop flops=2 {{.*}} once{{$}}
// CHECK: loops_with_unknown_trip_count=1
func.func @unknown(%n: tensor<i32>) -> tensor<i32> {
  %start = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %0 = "stablehlo.while"(%start) ({
  ^bb0(%i: tensor<i32>):
    %1 = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    %2 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%2) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// A branch adds the peak of its larger region, 16 + 16 (t is read by u, and u is returned), and counts both regions.
// CHECK-LABEL: @branch
// CHECK: stablehlo.if loop flops=96 {{.*}} workspace=32 recomputable trips=1
func.func @branch(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    %t = "stablehlo.exponential"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %u = "stablehlo.exponential"(%t) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%u) : (tensor<4xf32>) -> ()
  }, {
    %t = "stablehlo.exponential"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%t) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @scf_for
// CHECK: scf.for loop flops=160 {{.*}} workspace=16 recomputable trips=5
func.func @scf_for(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c2 = arith.constant 2 : index
  %0 = scf.for %i = %c0 to %c10 step %c2 iter_args(%v = %x) -> tensor<4xf32> {
    %1 = math.exp %v : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Destination-passing style in a loop: the carried tensor is overwritten where it stands, so the body has no bytes of its own.
// CHECK-LABEL: @scf_for_in_place
// CHECK: scf.for loop {{.*}} workspace=0 recomputable trips=10
func.func @scf_for_in_place(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %0 = scf.for %i = %c0 to %c10 step %c1 iter_args(%v = %x) -> tensor<4xf32> {
    %1 = linalg.fill ins(%zero : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @scf_while
// CHECK: scf.while loop {{.*}} once{{$}}
func.func @scf_while(%p: i1) {
  scf.while : () -> () {
    scf.condition(%p)
  } do {
    scf.yield
  }
  return
}

// A mark around a layer that nobody dissolved is a loop of one trip.
// CHECK-LABEL: @region
// CHECK: remat.region loop flops=32 {{.*}} workspace=16 recomputable trips=1
func.func @region(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = remat.region "layer" -> tensor<4xf32> {
    %1 = "stablehlo.exponential"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    remat.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
