// RUN: %S/Inputs/run.sh %s | FileCheck %s

// dot and dot_general: which dimension is what stands in the maps.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF64(tensor<*xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI64(tensor<*xi64>) attributes {llvm.emit_c_interface}

func.func @main() {
  %1 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %2 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>}> : () -> tensor<3x4xf32>
  // [1 2 3] . [1 5 9] = 1 + 10 + 27 = 38
  %3 = "stablehlo.dot_general"(%1, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %4 = "stablehlo.reshape"(%3) : (tensor<2x4xf32>) -> tensor<8xf32>
  %5 = tensor.cast %4 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%5) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [38, 44, 50, 56, 83, 98, 113, 128]
  %6 = "stablehlo.constant"() <{value = dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>}> : () -> tensor<3x2xf32>
  %7 = "stablehlo.constant"() <{value = dense<[[1.0, 5.0, 9.0], [2.0, 6.0, 10.0], [3.0, 7.0, 11.0], [4.0, 8.0, 12.0]]> : tensor<4x3xf32>}> : () -> tensor<4x3xf32>
  // The same with the left operand transposed, then with both.
  %8 = "stablehlo.dot_general"(%6, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %9 = "stablehlo.reshape"(%8) : (tensor<2x4xf32>) -> tensor<8xf32>
  %10 = tensor.cast %9 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%10) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [38, 44, 50, 56, 83, 98, 113, 128]
  %11 = "stablehlo.dot_general"(%6, %7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>}> : (tensor<3x2xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %12 = "stablehlo.reshape"(%11) : (tensor<2x4xf32>) -> tensor<8xf32>
  %13 = tensor.cast %12 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%13) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [38, 44, 50, 56, 83, 98, 113, 128]
  %14 = "stablehlo.constant"() <{value = dense<[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]]> : tensor<2x2x3xf32>}> : () -> tensor<2x2x3xf32>
  %15 = "stablehlo.constant"() <{value = dense<[[[-5.0, -4.0, -3.0], [-2.0, -1.0, 0.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]> : tensor<2x2x3xf32>}> : () -> tensor<2x2x3xf32>
  // Batch dimension 0.
  %16 = "stablehlo.dot_general"(%14, %15) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> tensor<2x2x2xf32>
  %17 = "stablehlo.reshape"(%16) : (tensor<2x2x2xf32>) -> tensor<8xf32>
  %18 = tensor.cast %17 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%18) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [-10, -1, -46, -10, 44, 107, 62, 152]
  // Batch dimension 1.
  %19 = "stablehlo.dot_general"(%14, %15) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> tensor<2x2x2xf32>
  %20 = "stablehlo.reshape"(%19) : (tensor<2x2x2xf32>) -> tensor<8xf32>
  %21 = tensor.cast %20 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%21) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [-10, 8, -82, 44, -10, 62, -28, 152]
  // Nothing is contracted.
  %22 = "stablehlo.dot_general"(%14, %15) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [2], rhs_batching_dimensions = [2]>}> : (tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> tensor<3x2x2x2x2xf32>
  %23 = "stablehlo.reshape"(%22) : (tensor<3x2x2x2x2xf32>) -> tensor<48xf32>
  %24 = tensor.cast %23 : tensor<48xf32> to tensor<*xf32>
  call @printMemrefF32(%24) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [48] {{.*}}data =
  // CHECK-NEXT: [0, 0, 0, 0, -15, -6, 3, 12, -30, -12, 6, 24, -45, -18, 9, 36, -4, -1, 2, 5, -16, -4, 8, 20, -28, -7, 14, 35, -40, -10, 20, 50, -6, 0, 6, 12, -15, 0, 15, 30, -24, 0, 24, 48, -33, 0, 33, 66]
  // Two dimensions are contracted; in another order on the right.
  %25 = "stablehlo.dot_general"(%14, %15) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 2], rhs_contracting_dimensions = [0, 2]>}> : (tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> tensor<2x2xf32>
  %26 = "stablehlo.reshape"(%25) : (tensor<2x2xf32>) -> tensor<4xf32>
  %27 = tensor.cast %26 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%27) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [34, 106, 16, 142]
  %28 = "stablehlo.constant"() <{value = dense<[[[-5.0, 1.0], [-2.0, 4.0]], [[-4.0, 2.0], [-1.0, 5.0]], [[-3.0, 3.0], [0.0, 6.0]]]> : tensor<3x2x2xf32>}> : () -> tensor<3x2x2xf32>
  %29 = "stablehlo.dot_general"(%14, %28) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 2], rhs_contracting_dimensions = [2, 0]>}> : (tensor<2x2x3xf32>, tensor<3x2x2xf32>) -> tensor<2x2xf32>
  %30 = "stablehlo.reshape"(%29) : (tensor<2x2xf32>) -> tensor<4xf32>
  %31 = tensor.cast %30 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%31) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [34, 106, 16, 142]
  %32 = "stablehlo.constant"() <{value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  // 1 + 4 + 9 = 14
  %33 = "stablehlo.dot_general"(%32, %32) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %34 = "stablehlo.reshape"(%33) : (tensor<f32>) -> tensor<1xf32>
  %35 = tensor.cast %34 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%35) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [14]
  // The outer product.
  %36 = "stablehlo.dot_general"(%32, %32) <{dot_dimension_numbers = #stablehlo.dot<>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %37 = "stablehlo.reshape"(%36) : (tensor<3x3xf32>) -> tensor<9xf32>
  %38 = tensor.cast %37 : tensor<9xf32> to tensor<*xf32>
  call @printMemrefF32(%38) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [9] {{.*}}data =
  // CHECK-NEXT: [1, 2, 3, 2, 4, 6, 3, 6, 9]

  // dot: matrix by vector, matrix by matrix.
  %39 = "stablehlo.dot"(%1, %32) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  %40 = tensor.cast %39 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%40) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [14, 32]
  %41 = "stablehlo.dot"(%1, %2) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %42 = "stablehlo.reshape"(%41) : (tensor<2x4xf32>) -> tensor<8xf32>
  %43 = tensor.cast %42 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%43) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [38, 44, 50, 56, 83, 98, 113, 128]

  // bf16 adds up in f32, the sum is rounded: 256 + 1 + 1 = 258; into f32 it is not rounded: 256 + 0.5 + 1 = 257.5.
  %44 = "stablehlo.constant"() <{value = dense<[256.0, 1.0, 1.0]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
  %45 = "stablehlo.constant"() <{value = dense<[1.0, 1.0, 1.0]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
  %46 = "stablehlo.dot_general"(%44, %45) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<bf16>
  %47 = "stablehlo.convert"(%46) : (tensor<bf16>) -> tensor<f32>
  %48 = "stablehlo.reshape"(%47) : (tensor<f32>) -> tensor<1xf32>
  %49 = tensor.cast %48 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%49) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [258]
  %50 = "stablehlo.constant"() <{value = dense<[1.0, 0.5, 1.0]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
  %51 = "stablehlo.dot_general"(%44, %50) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<f32>
  %52 = "stablehlo.reshape"(%51) : (tensor<f32>) -> tensor<1xf32>
  %53 = tensor.cast %52 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%53) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [257.5]

  // Integers: i8 into i32 by its signedness. -100 * 100 * 2 = -20000; 200 * 200 * 2 = 80000.
  %54 = "stablehlo.constant"() <{value = dense<[-100, -100]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %55 = "stablehlo.constant"() <{value = dense<[100, 100]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %56 = "stablehlo.dot_general"(%54, %55) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<2xi8>, tensor<2xi8>) -> tensor<i32>
  %57 = "stablehlo.reshape"(%56) : (tensor<i32>) -> tensor<1xi32>
  %58 = tensor.cast %57 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%58) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [-20000]
  %59 = "stablehlo.constant"() <{value = dense<[200, 200]> : tensor<2xui8>}> : () -> tensor<2xui8>
  %60 = "stablehlo.dot_general"(%59, %59) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<2xui8>, tensor<2xui8>) -> tensor<ui32>
  %61 = "stablehlo.convert"(%60) : (tensor<ui32>) -> tensor<i64>
  %62 = "stablehlo.reshape"(%61) : (tensor<i64>) -> tensor<1xi64>
  %63 = tensor.cast %62 : tensor<1xi64> to tensor<*xi64>
  call @printMemrefI64(%63) : (tensor<*xi64>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [80000]
  return
}
