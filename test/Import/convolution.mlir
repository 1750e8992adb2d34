// RUN: %S/Inputs/run.sh %s | FileCheck %s

// convolution, written as loops by remat-decompose-convolution: every attribute, groups, layouts.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF64(tensor<*xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI64(tensor<*xi64>) attributes {llvm.emit_c_interface}

func.func @main() {

  // One dimension, [1 2 3 4] * [1 10]: 1 + 20 = 21, 2 + 30 = 32, 3 + 40 = 43.
  %1 = "stablehlo.constant"() <{value = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %2 = "stablehlo.constant"() <{value = dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>}> : () -> tensor<2x1x1xf32>
  %3 = "stablehlo.convolution"(%1, %2) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1>, padding = dense<[[0, 0]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>
  %4 = "stablehlo.reshape"(%3) : (tensor<1x3x1xf32>) -> tensor<3xf32>
  %5 = tensor.cast %4 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%5) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [21, 32, 43]

  // Padding 1 and 2: 0 + 10 = 10 in front; 4 and 0 behind.
  %6 = "stablehlo.constant"() <{value = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %7 = "stablehlo.constant"() <{value = dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>}> : () -> tensor<2x1x1xf32>
  %8 = "stablehlo.convolution"(%6, %7) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1>, padding = dense<[[1, 2]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x6x1xf32>
  %9 = "stablehlo.reshape"(%8) : (tensor<1x6x1xf32>) -> tensor<6xf32>
  %10 = tensor.cast %9 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%10) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [10, 21, 32, 43, 4, 0]

  // Negative padding: 2 3 only.
  %11 = "stablehlo.constant"() <{value = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %12 = "stablehlo.constant"() <{value = dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>}> : () -> tensor<2x1x1xf32>
  %13 = "stablehlo.convolution"(%11, %12) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1>, padding = dense<[[-1, -1]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x1x1xf32>
  %14 = "stablehlo.reshape"(%13) : (tensor<1x1x1xf32>) -> tensor<1xf32>
  %15 = tensor.cast %14 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%15) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [32]

  // Stride 2: 21, 43.
  %16 = "stablehlo.constant"() <{value = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %17 = "stablehlo.constant"() <{value = dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>}> : () -> tensor<2x1x1xf32>
  %18 = "stablehlo.convolution"(%16, %17) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 2>, padding = dense<[[0, 0]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1xf32>
  %19 = "stablehlo.reshape"(%18) : (tensor<1x2x1xf32>) -> tensor<2xf32>
  %20 = tensor.cast %19 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%20) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [21, 43]

  // Left dilation 2, 1 0 2 0 3 0 4: 1, 20, 2, 30, 3, 40.
  %21 = "stablehlo.constant"() <{value = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %22 = "stablehlo.constant"() <{value = dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>}> : () -> tensor<2x1x1xf32>
  %23 = "stablehlo.convolution"(%21, %22) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1>, padding = dense<[[0, 0]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 2>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x6x1xf32>
  %24 = "stablehlo.reshape"(%23) : (tensor<1x6x1xf32>) -> tensor<6xf32>
  %25 = tensor.cast %24 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%25) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, 20, 2, 30, 3, 40]

  // Right dilation 2, 1 0 10: 1 + 30 = 31, 2 + 40 = 42.
  %26 = "stablehlo.constant"() <{value = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %27 = "stablehlo.constant"() <{value = dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>}> : () -> tensor<2x1x1xf32>
  %28 = "stablehlo.convolution"(%26, %27) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1>, padding = dense<[[0, 0]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 2>, window_reversal = array<i1: false>}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1xf32>
  %29 = "stablehlo.reshape"(%28) : (tensor<1x2x1xf32>) -> tensor<2xf32>
  %30 = tensor.cast %29 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%30) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [31, 42]

  // Reversed kernel, 10 1: 10 + 2 = 12, 20 + 3 = 23, 30 + 4 = 34.
  %31 = "stablehlo.constant"() <{value = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %32 = "stablehlo.constant"() <{value = dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>}> : () -> tensor<2x1x1xf32>
  %33 = "stablehlo.convolution"(%31, %32) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1>, padding = dense<[[0, 0]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: true>}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>
  %34 = "stablehlo.reshape"(%33) : (tensor<1x3x1xf32>) -> tensor<3xf32>
  %35 = tensor.cast %34 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%35) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [12, 23, 34]

  // Everything at once.
  %36 = "stablehlo.constant"() <{value = dense<[[[2.0, -3.0], [1.0, -3.0], [0.0, -3.0], [-2.0, -2.0], [-1.0, 2.0]], [[1.0, 2.0], [3.0, 1.0], [0.0, 0.0], [1.0, 0.0], [3.0, 3.0]]]> : tensor<2x5x2xf32>}> : () -> tensor<2x5x2xf32>
  %37 = "stablehlo.constant"() <{value = dense<[[[-2.0, 1.0, -1.0], [0.0, 2.0, 2.0]], [[2.0, -3.0, 3.0], [-3.0, 2.0, -2.0]]]> : tensor<2x2x3xf32>}> : () -> tensor<2x2x3xf32>
  %38 = "stablehlo.convolution"(%36, %37) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 2>, padding = dense<[[2, -1]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 3>, rhs_dilation = array<i64: 2>, window_reversal = array<i1: true>}> : (tensor<2x5x2xf32>, tensor<2x2x3xf32>) -> tensor<2x6x3xf32>
  %39 = "stablehlo.reshape"(%38) : (tensor<2x6x3xf32>) -> tensor<36xf32>
  %40 = tensor.cast %39 : tensor<36xf32> to tensor<*xf32>
  call @printMemrefF32(%40) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [36] {{.*}}data =
  // CHECK-NEXT: [-4, -4, -8, 13, -12, 12, 0, 0, 0, 0, -6, -6, 9, -6, 6, 0, 0, 0, -2, 5, 3, -4, 1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

  // Two dimensions.
  %41 = "stablehlo.constant"() <{value = dense<[[[[-3.0, -3.0], [3.0, 1.0], [-3.0, 0.0]], [[0.0, 1.0], [-3.0, -2.0], [-1.0, 1.0]], [[0.0, 2.0], [-1.0, -1.0], [-1.0, 0.0]], [[-3.0, 3.0], [-3.0, 2.0], [-3.0, 3.0]]], [[[-1.0, 2.0], [1.0, 0.0], [3.0, -1.0]], [[1.0, -1.0], [2.0, -1.0], [1.0, 0.0]], [[1.0, 2.0], [-1.0, 3.0], [3.0, -3.0]], [[-3.0, 3.0], [1.0, 0.0], [2.0, -1.0]]]]> : tensor<2x4x3x2xf32>}> : () -> tensor<2x4x3x2xf32>
  %42 = "stablehlo.constant"() <{value = dense<[[[[1.0, 0.0], [-2.0, -1.0]], [[1.0, -1.0], [-2.0, 2.0]]], [[[-2.0, 2.0], [1.0, -1.0]], [[-1.0, -1.0], [1.0, 2.0]]], [[[2.0, -1.0], [-3.0, -1.0]], [[1.0, 3.0], [-3.0, -2.0]]]]> : tensor<3x2x2x2xf32>}> : () -> tensor<3x2x2x2xf32>
  %43 = "stablehlo.convolution"(%41, %42) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1, 2>, padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>}> : (tensor<2x4x3x2xf32>, tensor<3x2x2x2xf32>) -> tensor<2x4x2x2xf32>
  %44 = "stablehlo.reshape"(%43) : (tensor<2x4x2x2xf32>) -> tensor<32xf32>
  %45 = tensor.cast %44 : tensor<32xf32> to tensor<*xf32>
  call @printMemrefF32(%45) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [32] {{.*}}data =
  // CHECK-NEXT: [1, -10, 1, -6, 2, -3, -2, -2, -23, -18, -16, -3, 11, -5, 8, -9, 13, 3, -5, 6, -24, -16, 18, 3, -3, 7, -1, 8, -2, -5, 4, 8]

  // Other layouts.
  %46 = "stablehlo.constant"() <{value = dense<[[[[2.0, 3.0, -3.0], [-3.0, 1.0, -1.0], [1.0, -2.0, 3.0], [0.0, 3.0, 2.0]], [[1.0, -2.0, 2.0], [-3.0, 0.0, -1.0], [3.0, -2.0, 3.0], [-3.0, 1.0, 1.0]]], [[[3.0, -1.0, 3.0], [1.0, 3.0, -2.0], [2.0, 3.0, -3.0], [-1.0, 1.0, -3.0]], [[0.0, 1.0, 2.0], [3.0, -1.0, 0.0], [0.0, 3.0, -2.0], [0.0, -3.0, -1.0]]]]> : tensor<2x2x4x3xf32>}> : () -> tensor<2x2x4x3xf32>
  %47 = "stablehlo.constant"() <{value = dense<[[[[3.0, 1.0], [-1.0, 3.0], [1.0, 3.0]], [[-1.0, 0.0], [-2.0, 2.0], [-3.0, -1.0]]], [[[-3.0, 0.0], [2.0, 2.0], [-1.0, 0.0]], [[-2.0, 2.0], [2.0, 1.0], [3.0, 3.0]]]]> : tensor<2x2x3x2xf32>}> : () -> tensor<2x2x3x2xf32>
  %48 = "stablehlo.convolution"(%46, %47) <{dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[f, b, 0, 1]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>, padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>}> : (tensor<2x2x4x3xf32>, tensor<2x2x3x2xf32>) -> tensor<2x2x4x3xf32>
  %49 = "stablehlo.reshape"(%48) : (tensor<2x2x4x3xf32>) -> tensor<48xf32>
  %50 = tensor.cast %49 : tensor<48xf32> to tensor<*xf32>
  call @printMemrefF32(%50) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [48] {{.*}}data =
  // CHECK-NEXT: [10, -5, 1, 8, 12, -14, -5, 28, -12, 15, 2, 2, -2, 12, -9, 16, -21, 12, 21, -12, 1, 7, -3, -2, 4, -6, -4, -20, 3, 7, 11, -1, 18, -12, 29, -9, 10, 2, 12, 13, 5, -20, -6, -16, -4, -3, -30, 5]

  // The layouts of a gradient.
  %51 = "stablehlo.constant"() <{value = dense<[[[[-2.0, -2.0], [-3.0, 0.0], [-3.0, -1.0]], [[2.0, -2.0], [3.0, 3.0], [3.0, 2.0]], [[1.0, -3.0], [3.0, 3.0], [3.0, 3.0]], [[-3.0, -2.0], [-3.0, -1.0], [3.0, 0.0]]], [[[-3.0, 1.0], [3.0, 0.0], [2.0, -2.0]], [[3.0, 3.0], [-1.0, 1.0], [-2.0, -3.0]], [[0.0, 2.0], [3.0, 2.0], [-1.0, -2.0]], [[3.0, 1.0], [-1.0, 0.0], [2.0, -3.0]]]]> : tensor<2x4x3x2xf32>}> : () -> tensor<2x4x3x2xf32>
  %52 = "stablehlo.constant"() <{value = dense<[[[[3.0, -2.0], [-1.0, 3.0], [-3.0, -2.0]], [[2.0, 0.0], [-3.0, 3.0], [2.0, -3.0]]], [[[0.0, -2.0], [1.0, 3.0], [1.0, -3.0]], [[2.0, 0.0], [-3.0, 3.0], [-1.0, 0.0]]]]> : tensor<2x2x3x2xf32>}> : () -> tensor<2x2x3x2xf32>
  %53 = "stablehlo.convolution"(%51, %52) <{dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 1, 0, o]->[0, 1, b, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: true, false>}> : (tensor<2x4x3x2xf32>, tensor<2x2x3x2xf32>) -> tensor<2x1x2x2xf32>
  %54 = "stablehlo.reshape"(%53) : (tensor<2x1x2x2xf32>) -> tensor<8xf32>
  %55 = tensor.cast %54 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%55) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [0, 38, 8, 6, -1, -13, 6, -9]

  // Two groups of features: 4 in, 2 each.
  %56 = "stablehlo.constant"() <{value = dense<[[[[2.0, -3.0, -3.0, 1.0], [-2.0, 2.0, 0.0, 1.0], [-2.0, -1.0, 0.0, 3.0]], [[-2.0, 2.0, -1.0, 1.0], [-2.0, 1.0, 0.0, -1.0], [3.0, 3.0, -1.0, -3.0]], [[-2.0, 0.0, 0.0, 0.0], [-2.0, 2.0, 2.0, -2.0], [-3.0, 2.0, 2.0, 1.0]]]]> : tensor<1x3x3x4xf32>}> : () -> tensor<1x3x3x4xf32>
  %57 = "stablehlo.constant"() <{value = dense<[[[[-3.0, 2.0, 3.0, 2.0], [-3.0, -3.0, 0.0, 1.0]], [[2.0, -1.0, -3.0, -1.0], [-3.0, -3.0, -2.0, 3.0]]], [[[3.0, -3.0, 1.0, 3.0], [-3.0, -2.0, 3.0, 2.0]], [[-2.0, 3.0, 2.0, 2.0], [-1.0, 1.0, 1.0, -3.0]]]]> : tensor<2x2x2x4xf32>}> : () -> tensor<2x2x2x4xf32>
  %58 = "stablehlo.convolution"(%56, %57) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 2 : i64, window_strides = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>}> : (tensor<1x3x3x4xf32>, tensor<2x2x2x4xf32>) -> tensor<1x2x2x4xf32>
  %59 = "stablehlo.reshape"(%58) : (tensor<1x2x2x4xf32>) -> tensor<16xf32>
  %60 = tensor.cast %59 : tensor<16xf32> to tensor<*xf32>
  call @printMemrefF32(%60) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [16] {{.*}}data =
  // CHECK-NEXT: [-16, 6, -10, 0, -19, 11, -14, 15, -11, -9, 1, 6, -8, -24, 10, -6]

  // Depthwise.
  %61 = "stablehlo.constant"() <{value = dense<[[[-3.0, 3.0, -1.0], [-3.0, 0.0, -1.0], [0.0, 0.0, -1.0]]]> : tensor<1x3x3xf32>}> : () -> tensor<1x3x3xf32>
  %62 = "stablehlo.constant"() <{value = dense<[[[0.0, 3.0, 2.0]], [[0.0, 1.0, -3.0]]]> : tensor<2x1x3xf32>}> : () -> tensor<2x1x3xf32>
  %63 = "stablehlo.convolution"(%61, %62) <{dimension_numbers = #stablehlo.conv<[b, f, 0]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 3 : i64, window_strides = array<i64: 1>, padding = dense<[[0, 0]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>}> : (tensor<1x3x3xf32>, tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  %64 = "stablehlo.reshape"(%63) : (tensor<1x2x3xf32>) -> tensor<6xf32>
  %65 = tensor.cast %64 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%65) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [0, -9, 0, 0, -1, 3]

  // Two groups of batches.
  %66 = "stablehlo.constant"() <{value = dense<[[[[-1.0, 1.0], [3.0, -1.0], [-2.0, 1.0]], [[0.0, 3.0], [3.0, 2.0], [1.0, -1.0]], [[3.0, -3.0], [-2.0, -2.0], [0.0, -2.0]]], [[[3.0, 3.0], [-2.0, 2.0], [2.0, 1.0]], [[-2.0, 3.0], [1.0, 3.0], [0.0, -2.0]], [[3.0, 0.0], [0.0, -3.0], [3.0, -3.0]]], [[[1.0, 1.0], [-3.0, 0.0], [2.0, 1.0]], [[2.0, 1.0], [-2.0, 2.0], [1.0, -2.0]], [[-1.0, 2.0], [3.0, 0.0], [3.0, 2.0]]], [[[0.0, 0.0], [-1.0, 2.0], [-3.0, 2.0]], [[0.0, 3.0], [3.0, 0.0], [-3.0, 1.0]], [[0.0, 3.0], [0.0, -1.0], [-3.0, 2.0]]]]> : tensor<4x3x3x2xf32>}> : () -> tensor<4x3x3x2xf32>
  %67 = "stablehlo.constant"() <{value = dense<[[[[-2.0, -2.0, 1.0, -3.0], [2.0, -1.0, 2.0, -1.0]], [[-1.0, 1.0, 3.0, 0.0], [-1.0, 3.0, -2.0, 3.0]]], [[[1.0, 1.0, 3.0, 0.0], [-2.0, -3.0, -3.0, 3.0]], [[1.0, 3.0, -3.0, 0.0], [1.0, 1.0, -1.0, -2.0]]]]> : tensor<2x2x2x4xf32>}> : () -> tensor<2x2x2x4xf32>
  %68 = "stablehlo.convolution"(%66, %67) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[0, 1, b, f]>, batch_group_count = 2 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>}> : (tensor<4x3x3x2xf32>, tensor<2x2x2x4xf32>) -> tensor<2x2x2x4xf32>
  %69 = "stablehlo.reshape"(%68) : (tensor<2x2x2x4xf32>) -> tensor<32xf32>
  %70 = tensor.cast %69 : tensor<32xf32> to tensor<*xf32>
  call @printMemrefF32(%70) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [32] {{.*}}data =
  // CHECK-NEXT: [1, 3, 1, -5, -4, -10, -25, 15, -8, -5, -12, 22, -2, -3, 7, 5, 6, 10, -24, 5, 6, 11, 7, 8, -2, -8, 7, -6, 12, 4, 2, -13]

  // No spatial dimension: a matrix product.
  %71 = "stablehlo.constant"() <{value = dense<[[0.0, 1.0, 3.0], [-3.0, 2.0, 3.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %72 = "stablehlo.constant"() <{value = dense<[[3.0, -2.0], [-3.0, 1.0], [-3.0, -3.0]]> : tensor<3x2xf32>}> : () -> tensor<3x2xf32>
  %73 = "stablehlo.convolution"(%71, %72) <{dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64>, padding = dense<> : tensor<0x2xi64>, lhs_dilation = array<i64>, rhs_dilation = array<i64>, window_reversal = array<i1>}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %74 = "stablehlo.reshape"(%73) : (tensor<2x2xf32>) -> tensor<4xf32>
  %75 = tensor.cast %74 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%75) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [-12, -8, -24, -1]

  // Integers.
  %76 = "stablehlo.constant"() <{value = dense<[[[-3, 1], [-2, 3], [3, 0], [1, -3]]]> : tensor<1x4x2xi32>}> : () -> tensor<1x4x2xi32>
  %77 = "stablehlo.constant"() <{value = dense<[[[-2, 1], [-1, 1]], [[-2, -1], [-3, -3]]]> : tensor<2x2x2xi32>}> : () -> tensor<2x2x2xi32>
  %78 = "stablehlo.convolution"(%76, %77) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1>, padding = dense<[[0, 0]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>}> : (tensor<1x4x2xi32>, tensor<2x2x2xi32>) -> tensor<1x3x2xi32>
  %79 = "stablehlo.reshape"(%78) : (tensor<1x3x2xi32>) -> tensor<6xi32>
  %80 = tensor.cast %79 : tensor<6xi32> to tensor<*xi32>
  call @printMemrefI32(%80) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [0, -9, -5, -2, 1, 11]

  // bf16 adds up in f32: 256 + 1 + 1 = 258.
  %81 = "stablehlo.constant"() <{value = dense<[[[256.0], [1.0], [1.0]]]> : tensor<1x3x1xbf16>}> : () -> tensor<1x3x1xbf16>
  %82 = "stablehlo.constant"() <{value = dense<[[[1.0]], [[1.0]], [[1.0]]]> : tensor<3x1x1xbf16>}> : () -> tensor<3x1x1xbf16>
  %83 = "stablehlo.convolution"(%81, %82) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1>, padding = dense<[[0, 0]]> : tensor<1x2xi64>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, window_reversal = array<i1: false>}> : (tensor<1x3x1xbf16>, tensor<3x1x1xbf16>) -> tensor<1x1x1xbf16>
  %84 = "stablehlo.convert"(%83) : (tensor<1x1x1xbf16>) -> tensor<1x1x1xf32>
  %85 = "stablehlo.reshape"(%84) : (tensor<1x1x1xf32>) -> tensor<1xf32>
  %86 = tensor.cast %85 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%86) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [258]
  return
}
