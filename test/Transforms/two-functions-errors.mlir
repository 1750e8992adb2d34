// RUN: remat-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(remat)'

// expected-error @+2 {{'f' is the forward function, but there is none for the other part}}
// expected-note @+1 {{mark it with remat.phase = "backward"}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {remat.phase = "forward"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+2 {{no number of residuals fits: the last results of 'fwd' must be the first arguments of 'bwd', and a cotangent must follow for each of the others}}
// expected-note @+1 {{say how many residuals there are with remat.residuals = N : i64 on 'fwd'}}
func.func @fwd(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %l = "stablehlo.dot"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %l, %x : tensor<f32>, tensor<4xf32>
}
func.func @bwd(%x: tensor<8xf32>, %ct: tensor<f32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error @+2 {{the last 1 or the last 2 results of 'fwd' may be residuals}}
// expected-note @+1 {{say how many residuals there are}}
func.func @fwd(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  return %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @bwd(%x: tensor<4xf32>, %y: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{the last 2 results of 'fwd' are not the first arguments of 'bwd'}}
func.func @fwd(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) attributes {remat.residuals = 2 : i64} {
  %l = "stablehlo.dot"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %l, %x : tensor<f32>, tensor<4xf32>
}
// expected-note @+1 {{its arguments are ('tensor<4xf32>', 'tensor<f32>')}}
func.func @bwd(%x: tensor<4xf32>, %ct: tensor<f32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
