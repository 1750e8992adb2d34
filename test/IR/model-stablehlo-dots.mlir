// RUN: remat-opt %s --remat-print-op-model -o /dev/null | FileCheck %s

// CHECK-LABEL: @dots
func.func @dots(%a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>, %c: tensor<4x8xf32>, %d: tensor<8x16xf32>, %e: tensor<8xf32>) {
  // 2 × (2·4·16) × 8; bytes: 256 + 1024 + 512.
  // CHECK: stablehlo.dot_general dot flops=2048 bytes=1792 workspace=0 recomputable batch_dims=1
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  // The same in the attribute dictionary, where older exports have it: 2 × (4·16) × 8.
  // CHECK: stablehlo.dot_general dot flops=1024 bytes=896 workspace=0 recomputable{{$}}
  %1 = "stablehlo.dot_general"(%c, %d) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // Nothing contracted: an outer product.
  // CHECK: stablehlo.dot_general dot flops=128
  %2 = "stablehlo.dot_general"(%e, %e) <{dot_dimension_numbers = #stablehlo.dot<>}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  // CHECK: stablehlo.dot dot flops=1024
  %3 = "stablehlo.dot"(%c, %d) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: mhlo.dot dot flops=1024
  %4 = "mhlo.dot"(%c, %d) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: total dot_flops=5248 conv_flops=0
  return
}

// CHECK-LABEL: @convolutions
func.func @convolutions(%x: tensor<1x4x4x3xf32>, %w: tensor<3x3x3x5xf32>, %y: tensor<1x2x2x5xf32>) {
  // 3 × 3 taps, padded by 1: 2 × 3 channels × 80 results × 9 taps = 4320; without padding taps a row of 4 meets 2 + 3 + 3 + 2 = 10 taps, so
  // 2 × 3 × 5 × 10 × 10 = 3000.
  // CHECK: stablehlo.convolution convolution flops=4320 valid=3000 bytes=1052 workspace=0 recomputable
  %0 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>, window_strides = array<i64: 1, 1>}> : (tensor<1x4x4x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x4x4x5xf32>
  // The raw form of the same.
  // CHECK: stablehlo.convolution convolution flops=4320 valid=3000
  %1 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>}> : (tensor<1x4x4x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x4x4x5xf32>
  // A gradient: the input has holes (lhs_dilation 2), so of the 3 taps over 1 0 1 padded by 1, 2 results meet 1 and 1 meets 2 … a row of 3
  // results meets 1 + 2 + 1 = 4 elements: 2 × 5 × 3 × 4 × 4 = 480 of 2 × 5 × 27 × 9 = 2430.
  // CHECK: stablehlo.convolution convolution flops=2430 valid=480
  %2 = "stablehlo.convolution"(%y, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 2>, padding = dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>}> : (tensor<1x2x2x5xf32>, tensor<3x3x3x5xf32>) -> tensor<1x3x3x3xf32>
  // CHECK: total dot_flops=0 conv_flops=11070 conv_flops_valid=6480
  return
}
