// RUN: remat-opt %s --remat-import --split-input-file | FileCheck %s

// A gather is one loop nest over its result; indices of one component are an input.
// CHECK: #[[BATCH:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[TABLE:.*]]: tensor<96x32xf32>, %[[INDICES:.*]]: tensor<2x16x1xi32>)
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[INDICES]] {{\[\[}}0], [1, 2]] : tensor<2x16x1xi32> into tensor<2x16xi32>
// CHECK: linalg.generic {indexing_maps = [#[[BATCH]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[FLAT]] : tensor<2x16xi32>)
// CHECK: tensor.extract %[[TABLE]]
func.func @main(%table: tensor<96x32xf32>, %indices: tensor<2x16x1xi32>) -> tensor<2x16x32xf32> {
  %0 = "stablehlo.gather"(%table, %indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<96x32xf32>, tensor<2x16x1xi32>) -> tensor<2x16x32xf32>
  return %0 : tensor<2x16x32xf32>
}

// -----

// A scatter writes into its operand; the window is the inner loop.
// CHECK-LABEL: func.func @main
// CHECK: remat.kernel{{ ?}}(%{{.*}}, %{{.*}}, %{{.*}}) {inplace = array<i64: 0>}
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK: arith.addf
func.func @main(%table: tensor<96x32xf32>, %indices: tensor<16x1xi32>, %updates: tensor<16x32xf32>) -> tensor<96x32xf32> {
  %0 = "stablehlo.scatter"(%table, %indices, %updates) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<96x32xf32>, tensor<16x1xi32>, tensor<16x32xf32>) -> tensor<96x32xf32>
  return %0 : tensor<96x32xf32>
}

// -----

// A start that has but one place isn't read, one that is constant is known in the kernel.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<8x2x16xf32>, %[[U:.*]]: tensor<1x2x16xf32>, %[[I:.*]]: tensor<i32>)
// CHECK: remat.kernel{{ ?}}(%[[X]], %[[I]]) :
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0, 0] [1, 2, 16] [1, 1, 1]
// CHECK: remat.kernel{{ ?}}(%[[X]], %[[U]], %[[I]]) {inplace = array<i64: 0>} :
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0, 0] [1, 2, 16] [1, 1, 1]
func.func @main(%x: tensor<8x2x16xf32>, %u: tensor<1x2x16xf32>, %i: tensor<i32>) -> (tensor<1x2x16xf32>, tensor<8x2x16xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0 = "stablehlo.dynamic_slice"(%x, %i, %zero, %zero) <{slice_sizes = array<i64: 1, 2, 16>}> : (tensor<8x2x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x16xf32>
  %1 = "stablehlo.dynamic_update_slice"(%x, %u, %i, %zero, %zero) : (tensor<8x2x16xf32>, tensor<1x2x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x2x16xf32>
  return %0, %1 : tensor<1x2x16xf32>, tensor<8x2x16xf32>
}
