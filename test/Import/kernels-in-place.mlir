// RUN: remat-opt %s --split-input-file \
// RUN:   --pass-pipeline="builtin.module(remat-import,remat-inline-kernels,one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map})" \
// RUN:   | FileCheck %s

// The loops of kernels carry tensors. Bufferized they write where they read: no copy, and no buffer but those of the
// results and of a sort's row of numbers.

// CHECK-LABEL: func.func @main
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: memref.store
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @main(%table: tensor<9x4xf32>, %indices: tensor<6x1xi32>, %updates: tensor<6x4xf32>) -> tensor<9x4xf32> {
  %0 = "stablehlo.scatter"(%table, %indices, %updates) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<9x4xf32>, tensor<6x1xi32>, tensor<6x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: memref.alloc() {{.*}}: memref<300xindex>
// CHECK: memref.alloc() {{.*}}: memref<300xindex>
// CHECK: memref.alloc() {{.*}}: memref<300x2xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @main(%x: tensor<300x2xf32>) -> tensor<300x2xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }) : (tensor<300x2xf32>) -> tensor<300x2xf32>
  return %0 : tensor<300x2xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: memref.alloc() {{.*}}: memref<4x3xf32>
// CHECK: memref.alloc() {{.*}}: memref<4x3xi32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @main(%x: tensor<4x100xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %0:2 = "chlo.top_k"(%x) <{k = 3 : i64}> : (tensor<4x100xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return %0#0, %0#1 : tensor<4x3xf32>, tensor<4x3xi32>
}

// -----

// The gradient of a pooling, and a running sum.
// CHECK-LABEL: func.func @main
// CHECK: memref.alloc() {{.*}}: memref<9xf32>
// CHECK: memref.alloc() {{.*}}: memref<9xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @main(%x: tensor<9xf32>, %s: tensor<4xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %zero) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  %1 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[8, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 9>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  return %0, %1 : tensor<9xf32>, tensor<9xf32>
}
