func.func @main(%x: tensor<8x256xf32>) -> (tensor<f32>, tensor<8x256xf32>) {
  %w = "stablehlo.constant"() <{value = dense_resource<weights> : tensor<256x256xf32>}> : () -> tensor<256x256xf32>
  %h = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x256xf32>, tensor<256x256xf32>) -> tensor<8x256xf32>
  %a = "stablehlo.tanh"(%h) : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %loss = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<f32>
  %g = "stablehlo.multiply"(%a, %h) : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %dx = "stablehlo.dot_general"(%g, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<8x256xf32>, tensor<256x256xf32>) -> tensor<8x256xf32>
  return %loss, %dx : tensor<f32>, tensor<8x256xf32>
}

{-# dialect_resources: { builtin: { weights: "WEIGHTS" } } #-}
