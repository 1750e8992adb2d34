// RUN: remat-opt %s --remat-print-op-model -o /dev/null | FileCheck %s

// CHECK-LABEL: @elementwise
func.func @elementwise(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %p: tensor<4x8xi1>) {
  // 32 elements, 1 FLOP each; 3 × 128 bytes. Either operand may be overwritten.
  // CHECK: stablehlo.add elementwise flops=32 bytes=384 workspace=0 recomputable inplace=0,1
  %0 = "stablehlo.add"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // An exponential counts 8, a division 4.
  // CHECK: stablehlo.exponential elementwise flops=256
  %1 = "stablehlo.exponential"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.divide elementwise flops=128
  %2 = "stablehlo.divide"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // i1 takes a byte: 32 + 128 + 128 + 128; the predicate is too narrow to be overwritten.
  // CHECK: stablehlo.select elementwise flops=32 bytes=416 workspace=0 recomputable inplace=1,2
  %3 = "stablehlo.select"(%p, %a, %b) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: chlo.erf elementwise flops=256 {{.*}} recomputable
  %4 = "chlo.erf"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: @views
func.func @views(%a: tensor<4x8xf32>, %b: tensor<2xf32>) {
  // CHECK: stablehlo.reshape view flops=0 bytes=0 workspace=0 recomputable view=0
  %0 = "stablehlo.reshape"(%a) : (tensor<4x8xf32>) -> tensor<32xf32>
  // CHECK: stablehlo.optimization_barrier view flops=0 bytes=0 {{.*}} view=0,1
  %1:2 = "stablehlo.optimization_barrier"(%a, %b) : (tensor<4x8xf32>, tensor<2xf32>) -> (tensor<4x8xf32>, tensor<2xf32>)
  // The same width is a view, another one isn't.
  // CHECK: stablehlo.bitcast_convert view {{.*}} view=0
  %2 = "stablehlo.bitcast_convert"(%a) : (tensor<4x8xf32>) -> tensor<4x8xi32>
  // CHECK: stablehlo.bitcast_convert elementwise flops=128 bytes=256 workspace=0 recomputable{{$}}
  %3 = "stablehlo.bitcast_convert"(%a) : (tensor<4x8xf32>) -> tensor<4x8x4xi8>
  // CHECK: remat.barrier view {{.*}} recomputable view=0{{$}}
  %4 = remat.barrier %a after(%b : tensor<2xf32>) {id = 0 : i64} : tensor<4x8xf32>
  // CHECK: remat.name view {{.*}} recomputable view=0{{$}}
  %5 = remat.name %a "a" : tensor<4x8xf32>
  return
}

// CHECK-LABEL: @data_movement
func.func @data_movement(%a: tensor<4x8xf32>, %i: tensor<i32>, %u: tensor<1x8xf32>) -> tensor<4x8xf32> {
  // CHECK: stablehlo.constant constant flops=0 bytes=0 workspace=0 recomputable
  %c = "stablehlo.constant"() <{value = dense<0.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
  // Only what is made moves: 64 bytes.
  // CHECK: stablehlo.iota data-movement flops=0 bytes=64 workspace=0 recomputable
  %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<16xf32>
  // CHECK: stablehlo.transpose data-movement flops=0 bytes=256
  %1 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // A slice reads what it takes, not its source: 2 × 32, and two indices.
  // CHECK: stablehlo.dynamic_slice data-movement flops=0 bytes=72
  %2 = "stablehlo.dynamic_slice"(%a, %i, %i) <{slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  // Into a value that nobody else reads an update is written in place: 2 × 32 + 8.
  // CHECK: stablehlo.dynamic_update_slice data-movement flops=0 bytes=72 {{.*}} inplace=0
  %3 = "stablehlo.dynamic_update_slice"(%c, %u, %i, %i) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  // An argument is copied first: 2 × 128 more.
  // CHECK: stablehlo.dynamic_update_slice data-movement flops=0 bytes=328
  %4 = "stablehlo.dynamic_update_slice"(%a, %u, %i, %i) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  // Comparator (1) × 32 × log2(8).
  // CHECK: stablehlo.sort data-movement flops=96
  %5 = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %6 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%6) : (tensor<i1>) -> ()
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: chlo.top_k data-movement flops=32
  %7:2 = "chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %3 : tensor<4x8xf32>
}

// CHECK-LABEL: @reductions
func.func @reductions(%a: tensor<4x8xf32>, %z: tensor<f32>, %s: tensor<2x4xf32>) {
  // One addition for each of 32 inputs; 128 + 4 + 16 bytes.
  // CHECK: stablehlo.reduce reduction flops=32 bytes=148 workspace=0 recomputable
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // 8 results × a window of 2 × 2.
  // CHECK: stablehlo.reduce_window reduction flops=32
  %2 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
  // 8 sources × (a comparison for each of 4 places + one addition).
  // CHECK: stablehlo.select_and_scatter reduction flops=40
  %3 = "stablehlo.select_and_scatter"(%a, %s, %z) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: @run_once
func.func @run_once(%a: tensor<4x8xf32>, %z: tensor<f32>, %state: tensor<2xui64>) {
  // CHECK: stablehlo.rng_bit_generator random {{.*}} once
  %0:2 = "stablehlo.rng_bit_generator"(%state) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  // CHECK: stablehlo.all_reduce collective {{.*}} once
  %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.custom_call opaque {{.*}} once{{$}}
  %3 = "stablehlo.custom_call"(%a) <{call_target_name = "f"}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // What is in a body decides too.
  // CHECK: stablehlo.reduce reduction {{.*}} once
  %4 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %5 = "stablehlo.custom_call"(%x, %y) <{call_target_name = "f"}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%5) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: foreign.op opaque flops=0 bytes=256 workspace=0 once unknown
  %6 = "foreign.op"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // Tokens have no bytes.
  // CHECK: stablehlo.outfeed opaque flops=0 bytes=128 workspace=0 once{{$}}
  %token = "foreign.token"() : () -> !stablehlo.token
  %7 = "stablehlo.outfeed"(%a, %token) : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
