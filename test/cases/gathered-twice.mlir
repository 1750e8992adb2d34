// Collectives that are repeated cost communication, and hang where ranks disagree (R026, R027).

// RUN: remat-opt %s --function=R026 --policy=save-nothing -o %t.mlir --report=%t.json
// RUN: FileCheck %s --check-prefix=SAVED --input-file=%t.json
// RUN: cmp %s %t.mlir
// RUN: remat-opt %s --function=R027 --policy=save-nothing | FileCheck %s

// Both exchanges run once: r is saved, 16 x 16 x 4 = 1024 bytes, and as h is needed for nothing else nothing is rewritten.
// SAVED: "recomputed_ops": 0,
// SAVED: "saved": [
// SAVED-NEXT: "all_to_all.1", "bytes": 1024
// SAVED-NOT: "value"
// SAVED: "recomputed": [
func.func @R026(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>) {
  %h = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = "stablehlo.all_to_all"(%h) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %loss = "stablehlo.dot_general"(%r, %r) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<f32>
  %c = "stablehlo.cosine"(%r) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %g = "stablehlo.all_to_all"(%c) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
  return %loss, %g : tensor<f32>, tensor<16x16xf32>
}

// The gathered weight is saved, its reshape costs nothing: only the dot behind both is cloned.
// CHECK-LABEL: func.func @R027(
// CHECK:     stablehlo.all_gather
// CHECK:     stablehlo.optimization_barrier
// CHECK-NOT: stablehlo.all_gather
// CHECK:     stablehlo.dot_general
// CHECK-NOT: stablehlo.all_gather
// CHECK:     return
func.func @R027(%x: tensor<16x16xf32>, %ws: tensor<128xf32>) -> (tensor<f32>, tensor<16x16xf32>) {
  %wf = "stablehlo.all_gather"(%ws) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> : (tensor<128xf32>) -> tensor<256xf32>
  %wt = "stablehlo.reshape"(%wf) : (tensor<256xf32>) -> tensor<16x16xf32>
  %h = "stablehlo.dot_general"(%x, %wt) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %loss = "stablehlo.dot_general"(%h, %h) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<f32>
  %gh = "stablehlo.cosine"(%h) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %gx = "stablehlo.dot_general"(%gh, %wt) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %loss, %gx : tensor<f32>, tensor<16x16xf32>
}
