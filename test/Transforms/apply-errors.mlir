// RUN: remat-opt %s --remat-apply --split-input-file --verify-diagnostics

// expected-error @below {{no plan: the function has no 'remat.plan'}}
// expected-note @below {{run remat-plan first}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.sin %x {remat.phase = "forward"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{'remat.plan' names op 1, but there are 1 ops}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {remat.plan = array<i64: 0, 1>} {
  %0 = math.sin %x {remat.phase = "forward"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{step 0: op 'sin.1' reads 'sin.0' before it is computed}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {remat.plan = array<i64: 1, 0>} {
  %0 = math.sin %x {remat.phase = "forward"} : tensor<4xf32>
  %1 = math.sin %0 {remat.phase = "forward"} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
