// RUN: %S/Inputs/run.sh %s | FileCheck %s

// Stable sorts. Expected values are XLA's.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {

  // Down the columns, in total order: -0 is smaller than 0.
  %x0 = "stablehlo.constant"() <{value = dense<[[3.0, 0.0], [-1.0, -0.0], [2.0, 5.0], [0.5, 0xFF800000]]> : tensor<4x2xf32>}> : () -> tensor<4x2xf32>
  %r0 = "stablehlo.sort"(%x0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      %c0 = "stablehlo.compare"(%a0, %b0) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%c0) : (tensor<i1>) -> ()
  }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %printed0 = tensor.cast %r0 : tensor<4x2xf32> to tensor<*xf32>
  call @printMemrefF32(%printed0) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}-1, -inf],
  // CHECK-NEXT: [0.5, -0],
  // CHECK-NEXT: [2, 0],
  // CHECK-NEXT: [3, 5]]

  // By the first operand, largest first; the second goes along. Of equal keys the first stays first: 5 has the labels 1, 3, 4.
  %x1 = "stablehlo.constant"() <{value = dense<[[2, 5, 1, 5, 5]]> : tensor<1x5xi32>}> : () -> tensor<1x5xi32>
  %l1 = "stablehlo.constant"() <{value = dense<[[0, 1, 2, 3, 4]]> : tensor<1x5xi32>}> : () -> tensor<1x5xi32>
  %r1:2 = "stablehlo.sort"(%x1, %l1) <{dimension = -1 : i64, is_stable = true}> ({
    ^bb0(%a1: tensor<i32>, %b1: tensor<i32>, %c1: tensor<i32>, %d1: tensor<i32>):
      %e1 = "stablehlo.compare"(%a1, %b1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%e1) : (tensor<i1>) -> ()
  }) : (tensor<1x5xi32>, tensor<1x5xi32>) -> (tensor<1x5xi32>, tensor<1x5xi32>)
  %printed1 = tensor.cast %r1#0 : tensor<1x5xi32> to tensor<*xi32>
  call @printMemrefI32(%printed1) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}5, 5, 5, 2, 1]]
  %printed2 = tensor.cast %r1#1 : tensor<1x5xi32> to tensor<*xi32>
  call @printMemrefI32(%printed2) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}1, 3, 4, 0, 2]]

  // By two operands: the first decides, the second where the first are equal.
  %x2 = "stablehlo.constant"() <{value = dense<[1, 0, 1, 0]> : tensor<4xi32>}> : () -> tensor<4xi32>
  %l2 = "stablehlo.constant"() <{value = dense<[7, 9, 5, 8]> : tensor<4xi32>}> : () -> tensor<4xi32>
  %r2:2 = "stablehlo.sort"(%x2, %l2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a2: tensor<i32>, %b2: tensor<i32>, %c2: tensor<i32>, %d2: tensor<i32>):
      %e2 = "stablehlo.compare"(%a2, %b2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %f2 = "stablehlo.compare"(%a2, %b2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %g2 = "stablehlo.compare"(%c2, %d2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %h2 = "stablehlo.and"(%f2, %g2) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %k2 = "stablehlo.or"(%e2, %h2) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%k2) : (tensor<i1>) -> ()
  }) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  %printed3 = tensor.cast %r2#0 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%printed3) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [0, 0, 1, 1]
  %printed4 = tensor.cast %r2#1 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%printed4) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [8, 9, 5, 7]

  // Longer than insertion alone sorts (64), and not a whole number of blocks (16): the labels of equal keys rise.
  %x3 = "stablehlo.constant"() <{value = dense<[7, 5, 4, 2, 2, 0, 0, 0, 1, 7, 5, 8, 4, 5, 8, 6, 5, 4, 5, 8, 2, 7, 6, 0, 3, 7, 4, 0, 6, 6, 7, 1, 0, 7, 0, 4, 0, 2, 4, 3, 3, 0, 0, 1, 0, 6, 4, 5, 2, 5, 6, 3, 4, 8, 7, 8, 3, 6, 8, 5, 7, 6, 6, 3, 7, 1, 5, 6, 7, 4]> : tensor<70xi32>}> : () -> tensor<70xi32>
  %l3 = "stablehlo.constant"() <{value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69]> : tensor<70xi32>}> : () -> tensor<70xi32>
  %r3:2 = "stablehlo.sort"(%x3, %l3) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a3: tensor<i32>, %b3: tensor<i32>, %c3: tensor<i32>, %d3: tensor<i32>):
      %e3 = "stablehlo.compare"(%a3, %b3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%e3) : (tensor<i1>) -> ()
  }) : (tensor<70xi32>, tensor<70xi32>) -> (tensor<70xi32>, tensor<70xi32>)
  %printed5 = tensor.cast %r3#0 : tensor<70xi32> to tensor<*xi32>
  call @printMemrefI32(%printed5) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8]
  %printed6 = tensor.cast %r3#1 : tensor<70xi32> to tensor<*xi32>
  call @printMemrefI32(%printed6) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [5, 6, 7, 23, 27, 32, 34, 36, 41, 42, 44, 8, 31, 43, 65, 3, 4, 20, 37, 48, 24, 39, 40, 51, 56, 63, 2, 12, 17, 26, 35, 38, 46, 52, 69, 1, 10, 13, 16, 18, 47, 49, 59, 66, 15, 22, 28, 29, 45, 50, 57, 61, 62, 67, 0, 9, 21, 25, 30, 33, 54, 60, 64, 68, 11, 14, 19, 53, 55, 58]
  return
}
