// A quarter of a million elements, 134 million multiplications, a convolution: enough for several threads.
func.func @main(%x: tensor<512x512xf32>, %image: tensor<4x32x32x16xf32>, %filter: tensor<3x3x16x16xf32>)
    -> (tensor<512x512xf32>, tensor<4x32x32x16xf32>) {
  %d = "stablehlo.dot_general"(%x, %x) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1]>} : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %t = "stablehlo.tanh"(%d) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %c = "stablehlo.convolution"(%image, %filter) {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, padding = dense<1> : tensor<2x2xi64>}
      : (tensor<4x32x32x16xf32>, tensor<3x3x16x16xf32>) -> tensor<4x32x32x16xf32>
  return %t, %c : tensor<512x512xf32>, tensor<4x32x32x16xf32>
}
