// RUN: %S/Inputs/run.sh %s | FileCheck %s

// Elements at indices that are data. Element [a, b] of the operands is the number ab, so the values say where they come from.
// Expected values are XLA's.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {

  // Rows of a table. Starts are clamped: -5 is row 0, 9 is row 3.
  %t0 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0, 2.0], [10.0, 11.0, 12.0], [20.0, 21.0, 22.0], [30.0, 31.0, 32.0]]> : tensor<4x3xf32>}> : () -> tensor<4x3xf32>
  %i0 = "stablehlo.constant"() <{value = dense<[[2], [-5], [9]]> : tensor<3x1xi32>}> : () -> tensor<3x1xi32>
  %r0 = "stablehlo.gather"(%t0, %i0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
  %printed0 = tensor.cast %r0 : tensor<3x3xf32> to tensor<*xf32>
  call @printMemrefF32(%printed0) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}20, 21, 22],
  // CHECK-NEXT: [0, 1, 2],
  // CHECK-NEXT: [30, 31, 32]]

  // Slices of 2x2 at two indices, [column, row]; the start of a slice is clamped so that all of it fits: row 3 is 2, column 2 is 1.
  %t1 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0, 2.0], [10.0, 11.0, 12.0], [20.0, 21.0, 22.0], [30.0, 31.0, 32.0]]> : tensor<4x3xf32>}> : () -> tensor<4x3xf32>
  %i1 = "stablehlo.constant"() <{value = dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  %r1 = "stablehlo.gather"(%t1, %i1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [1, 0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 2>}> : (tensor<4x3xf32>, tensor<2x2xi32>) -> tensor<2x2x2xf32>
  %printed1 = tensor.cast %r1 : tensor<2x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%printed1) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}[10, 11],
  // CHECK-NEXT: [20, 21]],
  // CHECK-NEXT: {{\[\[}}21, 22],
  // CHECK-NEXT: [31, 32]]]

  // Index vectors along the first dimension, offsets before the batch: columns 2 and 0 of rows 1 to 2 and 0 to 1.
  %t2 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0, 2.0], [10.0, 11.0, 12.0], [20.0, 21.0, 22.0], [30.0, 31.0, 32.0]]> : tensor<4x3xf32>}> : () -> tensor<4x3xf32>
  %i2 = "stablehlo.constant"() <{value = dense<[[1, 0], [2, 0]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  %r2 = "stablehlo.gather"(%t2, %i2) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [0, 1], index_vector_dim = 0>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1>}> : (tensor<4x3xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>
  %printed2 = tensor.cast %r2 : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%printed2) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}12, 0],
  // CHECK-NEXT: [22, 10]]

  // A batching dimension: one element of each row (take_along_axis). The indices have no dimension for the vector.
  %t3 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0, 2.0], [10.0, 11.0, 12.0], [20.0, 21.0, 22.0], [30.0, 31.0, 32.0]]> : tensor<4x3xf32>}> : () -> tensor<4x3xf32>
  %i3 = "stablehlo.constant"() <{value = dense<[[2], [0], [1], [7]]> : tensor<4x1xi32>}> : () -> tensor<4x1xi32>
  %r3 = "stablehlo.gather"(%t3, %i3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<4x3xf32>, tensor<4x1xi32>) -> tensor<4x1xf32>
  %printed3 = tensor.cast %r3 : tensor<4x1xf32> to tensor<*xf32>
  call @printMemrefF32(%printed3) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}2],
  // CHECK-NEXT: [10],
  // CHECK-NEXT: [21],
  // CHECK-NEXT: [32]]

  // Unsigned starts are large, not negative: 255 is clamped to the last row.
  %t4 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0, 2.0], [10.0, 11.0, 12.0], [20.0, 21.0, 22.0], [30.0, 31.0, 32.0]]> : tensor<4x3xf32>}> : () -> tensor<4x3xf32>
  %i4 = "stablehlo.constant"() <{value = dense<[255, 1]> : tensor<2xui8>}> : () -> tensor<2xui8>
  %r4 = "stablehlo.gather"(%t4, %i4) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<2xui8>) -> tensor<2x3xf32>
  %printed4 = tensor.cast %r4 : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%printed4) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}30, 31, 32],
  // CHECK-NEXT: [10, 11, 12]]

  // dynamic_slice: rows from 3, clamped to 2; columns from -1, clamped to 0.
  %t5 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0, 2.0], [10.0, 11.0, 12.0], [20.0, 21.0, 22.0], [30.0, 31.0, 32.0]]> : tensor<4x3xf32>}> : () -> tensor<4x3xf32>
  %i5 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %j5 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
  %r5 = "stablehlo.dynamic_slice"(%t5, %i5, %j5) <{slice_sizes = array<i64: 2, 2>}> : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  %printed5 = tensor.cast %r5 : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%printed5) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}20, 21],
  // CHECK-NEXT: [30, 31]]

  // dynamic_update_slice: rows from 1, columns from 5, clamped to 1. The operand is read again afterwards, unchanged.
  %t6 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0, 2.0], [10.0, 11.0, 12.0], [20.0, 21.0, 22.0], [30.0, 31.0, 32.0]]> : tensor<4x3xf32>}> : () -> tensor<4x3xf32>
  %u6 = "stablehlo.constant"() <{value = dense<[[-1.0, -2.0], [-3.0, -4.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %i6 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %j6 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %r6 = "stablehlo.dynamic_update_slice"(%t6, %u6, %i6, %j6) : (tensor<4x3xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  %printed6 = tensor.cast %r6 : tensor<4x3xf32> to tensor<*xf32>
  call @printMemrefF32(%printed6) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}0, 1, 2],
  // CHECK-NEXT: [10, -1, -2],
  // CHECK-NEXT: [20, -3, -4],
  // CHECK-NEXT: [30, 31, 32]]
  %printed7 = tensor.cast %t6 : tensor<4x3xf32> to tensor<*xf32>
  call @printMemrefF32(%printed7) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}0, 1, 2],
  // CHECK-NEXT: [10, 11, 12],
  // CHECK-NEXT: [20, 21, 22],
  // CHECK-NEXT: [30, 31, 32]]
  return
}
