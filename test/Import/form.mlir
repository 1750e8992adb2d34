// RUN: remat-opt %s --remat-import | FileCheck %s

// The imported form: maps say how operands are read, and integers have lost their signedness.

// CHECK-DAG: #[[IDENTITY:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (0, d1)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d0 mod 4, d1 * 2 + 1)>
// CHECK-DAG: #[[REVERSE:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 7)>
// CHECK-DAG: #[[KEPT:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xbf16>, %[[U:.*]]: tensor<4x8xi32>, %[[S:.*]]: tensor<bf16>)
func.func @main(%x: tensor<4x8xbf16>, %u: tensor<4x8xui32>, %s: tensor<bf16>)
    -> (tensor<4x8xui32>, tensor<4xbf16>, tensor<8x8xbf16>, tensor<6x8xbf16>, tensor<2x4x4xbf16>, tensor<4x8xbf16>,
        tensor<2x3x2xbf16>) {
  // An element-wise op is a loop nest of its own; unsigned division by zero is all ones.
  // CHECK: linalg.generic {indexing_maps = [#[[IDENTITY]], #[[IDENTITY]], #[[IDENTITY]]], iterator_types = ["parallel", "parallel"]} ins(%[[U]], %[[U]]
  // CHECK: arith.divui
  %divided = "stablehlo.divide"(%u, %u) : (tensor<4x8xui32>, tensor<4x8xui32>) -> tensor<4x8xui32>

  // A slice, a broadcast of one row, and a reverse are maps of generics that yield what they read.
  // CHECK: linalg.generic {indexing_maps = [#[[FIRST]], #[[IDENTITY]]]
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: bf16, %{{.*}}: bf16):
  // CHECK-NEXT: linalg.yield %[[IN]] : bf16
  %slice = "stablehlo.slice"(%x) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 1, 8>, strides = array<i64: 1, 2>}> : (tensor<4x8xbf16>) -> tensor<1x4xbf16>
  // CHECK: linalg.generic {indexing_maps = [#[[ROW]], #[[IDENTITY]]]
  %rows = "stablehlo.broadcast_in_dim"(%slice) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x4xbf16>) -> tensor<8x4xbf16>
  // CHECK: linalg.generic {indexing_maps = [#[[REVERSE]], #[[IDENTITY]]]
  %reversed = "stablehlo.reverse"(%x) <{dimensions = array<i64: 1>}> : (tensor<4x8xbf16>) -> tensor<4x8xbf16>

  // A sum of bf16 has an accumulator of f32 and is rounded once.
  // CHECK: %[[ZERO:.*]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK: %[[ACCUMULATORS:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<4xf32>)
  // CHECK: linalg.generic {indexing_maps = [#[[IDENTITY]], #[[KEPT]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]] : tensor<4x8xbf16>) outs(%[[ACCUMULATORS]]
  // CHECK: arith.extf
  // CHECK: arith.addf %{{.*}} : f32
  // CHECK: linalg.generic
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  %sum = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %r = "stablehlo.add"(%a, %b) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
    "stablehlo.return"(%r) : (tensor<bf16>) -> ()
  }) : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xbf16>

  // A dot with both operands transposed: no transposes, but maps.
  // CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "reduction"]}
  // CHECK: arith.mulf %{{.*}} : f32
  // CHECK: arith.addf %{{.*}} : f32
  // CHECK: arith.truncf
  %dot = "stablehlo.dot_general"(%x, %rows) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<8x8xbf16>

  // Row i of a pad by one row is row i - 1 of the operand where that is one of 0, …, 3: a loop with a clamped index.
  // CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<bf16>) outs(%{{.*}} : tensor<6x8xbf16>)
  // CHECK: ^bb0(%[[PADDING:.*]]: bf16, %{{.*}}: bf16):
  // CHECK-NEXT: %[[I:.*]] = linalg.index 0 : index
  // CHECK-NEXT: %[[BACK:.*]] = arith.constant -1 : index
  // CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[I]], %[[BACK]] : index
  // CHECK-NEXT: %[[ROWS:.*]] = arith.constant 4 : index
  // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]], %[[ROWS]] : index
  // CHECK-NEXT: %[[LAST:.*]] = arith.constant 3 : index
  // CHECK-NEXT: %[[SAFE:.*]] = arith.minui %[[ROW]], %[[LAST]] : index
  // CHECK-NEXT: %[[J:.*]] = linalg.index 1 : index
  // CHECK-NEXT: %[[ELEMENT:.*]] = tensor.extract %[[X]][%[[SAFE]], %[[J]]] : tensor<4x8xbf16>
  // CHECK-NEXT: arith.select %[[INSIDE]], %[[ELEMENT]], %[[PADDING]] : bf16
  %padded = "stablehlo.pad"(%x, %s) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 1, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<6x8xbf16>

  // CHECK: tensor.expand_shape %[[X]] {{\[\[}}0, 1], [2]] output_shape [2, 2, 8]
  // CHECK: tensor.collapse_shape
  %halves = "stablehlo.reshape"(%x) : (tensor<4x8xbf16>) -> tensor<2x2x8xbf16>
  %other = "stablehlo.reshape"(%halves) : (tensor<2x2x8xbf16>) -> tensor<2x4x4xbf16>

  // The barriers of results that are read: one behind both operands, one behind it.
  // CHECK: %[[FIRST:.*]] = remat.barrier %{{.*}} after(%[[X]] : tensor<4x8xbf16>) {id = 0 : i64}
  // CHECK-NEXT: %[[SECOND:.*]] = remat.barrier %[[X]] after(%[[FIRST]] : tensor<4x8xbf16>) {id = 1 : i64}
  %barrier:2 = "stablehlo.optimization_barrier"(%reversed, %x) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> (tensor<4x8xbf16>, tensor<4x8xbf16>)
  %both = "stablehlo.add"(%barrier#0, %barrier#1) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>

  // CHECK: remat.convolution %{{.*}}, %{{.*}} {lhs_dilation = array<i64: 1>, lhs_dims = array<i64: 0, 2, 1>, padding = array<i64: 1, 0>, result_dims = array<i64: 2, 1, 0>, rhs_dilation = array<i64: 1>, rhs_dims = array<i64: 2, 1, 0>, strides = array<i64: 2>} : (tensor<2x2x8xbf16>, tensor<1x3x8xbf16>) -> tensor<2x3x2xbf16>
  %kernel = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<1x3x8xbf16>
  %conv = "stablehlo.convolution"(%halves, %kernel) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, o, i]->[0, f, b]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2x2x8xbf16>, tensor<1x3x8xbf16>) -> tensor<2x3x2xbf16>
  return %divided, %sum, %dot, %padded, %other, %both, %conv : tensor<4x8xui32>, tensor<4xbf16>, tensor<8x8xbf16>, tensor<6x8xbf16>, tensor<2x4x4xbf16>, tensor<4x8xbf16>, tensor<2x3x2xbf16>
}
