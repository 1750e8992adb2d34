// RUN: %S/Inputs/run.sh %s | FileCheck %s

// Updates at indices that are data. Expected values are XLA's.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {

  // The gradient of an embedding. Row 1 gets 1 + 100 and 2 + 200; rows -1 and 3 aren't there: their updates are dropped.
  %t0 = "stablehlo.constant"() <{value = dense<[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]> : tensor<3x2xf32>}> : () -> tensor<3x2xf32>
  %i0 = "stablehlo.constant"() <{value = dense<[[1], [3], [1], [-1], [0]]> : tensor<5x1xi32>}> : () -> tensor<5x1xi32>
  %u0 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0], [10.0, 20.0], [100.0, 200.0], [1000.0, 2000.0], [5.0, 6.0]]> : tensor<5x2xf32>}> : () -> tensor<5x2xf32>
  %r0 = "stablehlo.scatter"(%t0, %i0, %u0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      %c0 = "stablehlo.add"(%a0, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c0) : (tensor<f32>) -> ()
  }) : (tensor<3x2xf32>, tensor<5x1xi32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  %printed0 = tensor.cast %r0 : tensor<3x2xf32> to tensor<*xf32>
  call @printMemrefF32(%printed0) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}5, 6],
  // CHECK-NEXT: [101, 202],
  // CHECK-NEXT: [0, 0]]

  // Windows of 2 at 2, 4 and 3 in five elements: the one at 4 would end outside and is dropped as a whole. Of those that overlap, the last stays.
  %t1 = "stablehlo.constant"() <{value = dense<[0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<5xf32>}> : () -> tensor<5xf32>
  %i1 = "stablehlo.constant"() <{value = dense<[[2], [4], [3]]> : tensor<3x1xi32>}> : () -> tensor<3x1xi32>
  %u1 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>}> : () -> tensor<3x2xf32>
  %r1 = "stablehlo.scatter"(%t1, %i1, %u1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a1: tensor<f32>, %b1: tensor<f32>):
      "stablehlo.return"(%b1) : (tensor<f32>) -> ()
  }) : (tensor<5xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<5xf32>
  %printed1 = tensor.cast %r1 : tensor<5xf32> to tensor<*xf32>
  call @printMemrefF32(%printed1) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [0, 0, 1, 5, 6]

  // A batching dimension and single elements: row 0 gets 7 at 2, row 1 gets 8 at 0 (the gradient of take_along_axis).
  %t2 = "stablehlo.constant"() <{value = dense<[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %i2 = "stablehlo.constant"() <{value = dense<[[[2]], [[0]]]> : tensor<2x1x1xi32>}> : () -> tensor<2x1x1xi32>
  %u2 = "stablehlo.constant"() <{value = dense<[[7.0], [8.0]]> : tensor<2x1xf32>}> : () -> tensor<2x1xf32>
  %r2 = "stablehlo.scatter"(%t2, %i2, %u2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%a2: tensor<f32>, %b2: tensor<f32>):
      %c2 = "stablehlo.add"(%a2, %b2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c2) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<2x1x1xi32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %printed2 = tensor.cast %r2 : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%printed2) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}1, 1, 8],
  // CHECK-NEXT: [9, 1, 1]]

  // Two indices, [column, row], and a window dimension that comes first in the updates: none is left over, so single elements.
  // [2, 0] -> 0 + 1, [0, 1] -> 3 + 2, [2, 0] again -> 1 + 4.
  %t3 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0, 0.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %i3 = "stablehlo.constant"() <{value = dense<[[2, 0], [0, 1], [2, 0]]> : tensor<3x2xi32>}> : () -> tensor<3x2xi32>
  %u3 = "stablehlo.constant"() <{value = dense<[1.0, 2.0, 4.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %r3 = "stablehlo.scatter"(%t3, %i3, %u3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a3: tensor<f32>, %b3: tensor<f32>):
      %c3 = "stablehlo.add"(%a3, %b3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c3) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<3x2xi32>, tensor<3xf32>) -> tensor<2x3xf32>
  %printed3 = tensor.cast %r3 : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%printed3) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}1, 2, 5],
  // CHECK-NEXT: [5, 4, 5]]

  // Two operands at once: the larger number stays, with its label. Column 1 sees 5 over 1, then 4 doesn't win; column 2 keeps 9.
  %t4 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0, 9.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  %l4 = "stablehlo.constant"() <{value = dense<[[10, 11, 12]]> : tensor<1x3xi32>}> : () -> tensor<1x3xi32>
  %i4 = "stablehlo.constant"() <{value = dense<[1, 1, 2]> : tensor<3xi32>}> : () -> tensor<3xi32>
  %u4 = "stablehlo.constant"() <{value = dense<[[5.0, 4.0, 3.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  %m4 = "stablehlo.constant"() <{value = dense<[[20, 21, 22]]> : tensor<1x3xi32>}> : () -> tensor<1x3xi32>
  %r4:2 = "stablehlo.scatter"(%t4, %l4, %i4, %u4, %m4) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a4: tensor<f32>, %b4: tensor<i32>, %c4: tensor<f32>, %d4: tensor<i32>):
      %g4 = "stablehlo.compare"(%a4, %c4) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %e4 = "stablehlo.select"(%g4, %a4, %c4) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %f4 = "stablehlo.select"(%g4, %b4, %d4) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%e4, %f4) : (tensor<f32>, tensor<i32>) -> ()
  }) : (tensor<1x3xf32>, tensor<1x3xi32>, tensor<3xi32>, tensor<1x3xf32>, tensor<1x3xi32>) -> (tensor<1x3xf32>, tensor<1x3xi32>)
  %printed4 = tensor.cast %r4#0 : tensor<1x3xf32> to tensor<*xf32>
  call @printMemrefF32(%printed4) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}0, 5, 9]]
  %printed5 = tensor.cast %r4#1 : tensor<1x3xi32> to tensor<*xi32>
  call @printMemrefI32(%printed5) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}10, 20, 12]]

  // bf16 is rounded after every update: 256 + 1 is 256, twice.
  %t5 = "stablehlo.constant"() <{value = dense<[256.0]> : tensor<1xbf16>}> : () -> tensor<1xbf16>
  %i5 = "stablehlo.constant"() <{value = dense<[[0], [0]]> : tensor<2x1xi32>}> : () -> tensor<2x1xi32>
  %u5 = "stablehlo.constant"() <{value = dense<[1.0, 1.0]> : tensor<2xbf16>}> : () -> tensor<2xbf16>
  %r5 = "stablehlo.scatter"(%t5, %i5, %u5) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a5: tensor<bf16>, %b5: tensor<bf16>):
      %c5 = "stablehlo.add"(%a5, %b5) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%c5) : (tensor<bf16>) -> ()
  }) : (tensor<1xbf16>, tensor<2x1xi32>, tensor<2xbf16>) -> tensor<1xbf16>
  %bits6 = "stablehlo.convert"(%r5) : (tensor<1xbf16>) -> tensor<1xf32>
  %printed6 = tensor.cast %bits6 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%printed6) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [256]
  return
}
