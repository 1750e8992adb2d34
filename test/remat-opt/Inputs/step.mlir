func.func @main(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %a = math.sin %x : tensor<4xf32>
  %loss = linalg.reduce {arith.addf} ins(%a : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %init = tensor.empty() : tensor<4xf32>
  %g = linalg.broadcast ins(%loss : tensor<f32>) outs(%init : tensor<4xf32>) dimensions = [0]
  %d = arith.mulf %a, %g : tensor<4xf32>
  return %loss, %d : tensor<f32>, tensor<4xf32>
}
